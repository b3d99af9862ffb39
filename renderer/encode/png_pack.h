/* From a frame to the bytes that a PNG compresses: palette, bit depth, filtered rows. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "renderer/base/attr.h"
#include "renderer/base/err.h"
#include "renderer/frame_set.h"

#define PNG_PALETTE_MAX 256

enum png_kind { PNG_INDEXED, PNG_RGB, PNG_RGBA };

struct png_plan {
    enum png_kind kind;
    int depth;                         /* bits: 1, 2, 4 or 8 with a palette, else 8 */
    int palette_count;                 /* 0 unless indexed */
    int clear_count;                   /* the first so many of the palette have alpha under 255 */
    uint32_t palette[PNG_PALETTE_MAX]; /* packed as in frame_set */
    uint8_t *map;                      /* colour of the set -> index; NULL unless indexed */
    int width_px;                      /* side * zoom */
    size_t row_bytes;                  /* without the filter byte */
};

/* Chooses for frame 0 of the set. ERR_OOM. Free with png_plan_finish(). */
MUST_USE enum err png_plan_make(const struct frame_set *set, int zoom, struct png_plan *ret_plan);
void png_plan_finish(struct png_plan *plan); /* accepts a zeroed one */

/* Bytes of the whole picture as a PNG compresses it: rows of 1 + row_bytes. */
size_t png_packed_bytes(const struct png_plan *plan);

/* Writes them to dst, each pixel as zoom x zoom. `cancel` may be NULL. ERR_OOM, ERR_CANCELLED. */
MUST_USE enum err png_pack(const struct png_plan *plan, const struct frame_set *set, int zoom,
                           const atomic_bool *cancel, uint8_t *dst);
