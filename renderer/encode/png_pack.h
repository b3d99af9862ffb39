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
#define PNG_NO_CLEAR    (-1)

/* The largest picture (api/request.h: 32 Mi pixels) in RGBA is 128 MiB, and a little for the filter bytes. */
#define PNG_PACKED_MAX_BYTES ((size_t)160 << 20)

enum png_kind { PNG_INDEXED, PNG_RGB, PNG_RGBA };

/* What is wanted beside the colours of the set: a colour that shows nothing. */
enum png_clear {
    PNG_CLEAR_UNASKED, /* the set as it is */
    PNG_CLEAR_CHEAP,   /* if it costs no other kind or depth */
    PNG_CLEAR_NEEDED   /* at any cost; only a set of 65,536 opaque colours can't have it */
};

struct png_plan {
    enum png_kind kind;
    int depth;                         /* bits: 1, 2, 4 or 8 with a palette, else 8 */
    int palette_count;                 /* 0 unless indexed */
    int clear_count;                   /* the first so many of the palette have alpha under 255 */
    uint32_t palette[PNG_PALETTE_MAX]; /* packed as in frame_set */
    uint8_t *map;                      /* colour of the set, or `clear` -> index; NULL unless indexed */
    int clear; /* stands for the colour that shows nothing, in rows: one of the set, or the number behind its
                  last; PNG_NO_CLEAR */
    const struct frame_set *set; /* not owned */
};

/* Chooses for all frames of the set, which outlives the plan. ERR_OOM. Free with png_plan_finish(). */
MUST_USE enum err png_plan_make(const struct frame_set *set, enum png_clear clear, struct png_plan *ret_plan);
void png_plan_finish(struct png_plan *plan); /* accepts a zeroed one */

/* Bytes of a picture as a PNG compresses it: rows with a filter byte each. Sides in pixels of the file. */
size_t png_packed_bytes(const struct png_plan *plan, int width_px, int height_px);

/* Packs row after row. Threads: one at a time. */
struct png_packer {
    const struct png_plan *plan;
    uint8_t *scratch; /* three rows; NULL with a palette */
    uint8_t *row, *above, *trial;
    size_t row_bytes; /* without the filter byte */
    uint8_t *dst;
};

/* For rows of `width_px` pixels of the file; png_packer_put() writes at `dst`. ERR_OOM. */
MUST_USE enum err png_packer_init(struct png_packer *p, const struct png_plan *plan, int width_px,
                                  uint8_t *dst);
void png_packer_finish(struct png_packer *p); /* accepts a zeroed one */

/* `pixels` has `count` colours of the set (or plan->clear); each becomes `wide` x `high` pixels. */
void png_packer_put(struct png_packer *p, const uint16_t *pixels, int count, int wide, int high);

/* Packs a whole picture of width x height pixels before zoom, rows `stride` apart. `cancel` may be NULL.
 * ERR_OOM, ERR_CANCELLED. */
struct png_rect {
    const uint16_t *index;
    size_t stride;
    int width, height;
};
MUST_USE enum err png_pack(const struct png_plan *plan, const struct png_rect *rect, int zoom,
                           const atomic_bool *cancel, uint8_t *dst);
