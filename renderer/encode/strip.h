/* A row of colours as a PNG. */
#pragma once

#include <stdint.h>

#include "renderer/base/attr.h"
#include "renderer/base/blob.h"
#include "renderer/base/err.h"

/* One square of `zoom` x `zoom` pixels (1..32) for each of `count` colours (1..65536, packed as in
 * frame_set.h, no two equal), left to right. `key` is written as text. Appends to *out. ERR_OOM, ERR_ENCODE.
 * Threads: any. */
MUST_USE enum err strip_encode(const uint32_t *colors, int count, int zoom, const char *key,
                               struct blob *out);
