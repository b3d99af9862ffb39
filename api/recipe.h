/* From a picture back to its request: each file carries its key as text. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "api/request.h"
#include "renderer/base/blob.h"

/* Finds the key in the beginning of a PNG, GIF or WebP file of any origin, and finishes the request it stands
 * for. Ours is before the first pixel, so a few KiB are enough. ERR_RECIPE (no picture, none of ours, or a
 * recipe that was altered), ERR_REVISION; then *ret_fault says why. Threads: any. */
MUST_USE enum err recipe_read(const uint8_t *file, size_t len, struct request *ret_request,
                              struct request_fault *ret_fault);

/* JSON: key, url, code and every parameter of a finished request. Appends to *out. ERR_OOM. Threads: any. */
MUST_USE enum err recipe_write(const struct request *r, struct blob *out);
