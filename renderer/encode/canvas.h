/* Any rectangle of indexed pixels as a PNG. */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "renderer/base/attr.h"
#include "renderer/base/blob.h"
#include "renderer/base/err.h"

/* `index` has width * height entries, top row first; colours are as in frame_set.h. */
struct canvas {
    int width, height;
    uint16_t *index;
    uint32_t *colors;
    int color_count; /* 1..65536 */
};

/* Each pixel becomes `zoom` x `zoom` (1..32). `key` is written as text; `cancel` may be NULL. Appends to
 * *out. ERR_OOM, ERR_ENCODE, ERR_CANCELLED. Threads: any. */
MUST_USE enum err canvas_encode(const struct canvas *canvas, int zoom, const char *key,
                                const atomic_bool *cancel, struct blob *out);
