/* The one colour table of a GIF, and where each colour of a frame set went in it. */
#pragma once

#include <stdint.h>

#include "renderer/base/attr.h"
#include "renderer/base/err.h"
#include "renderer/frame_set.h"

#define GIF_TABLE_MAX 256

/* `rgb` is 0xRRGGBB; entries from `used` on are black and name no pixel. */
struct gif_colors {
    uint32_t rgb[GIF_TABLE_MAX];
    int used;        /* colours and the transparent index, 1..256 */
    int bits;        /* the table has 1 << bits entries, 1..8 */
    int transparent; /* its index, or GIF_OPAQUE */
    uint8_t *map;    /* color_count entries: colour of the frame set -> index */
};

/* Alpha 0 becomes the transparent index, every other colour is laid over black. If there are more than fit,
 * the nearest are merged, weighted by their pixels, in integers: equal sets give equal tables on every
 * machine. More than one frame gets a transparent index even when all is opaque, for pixels that do not
 * change, unless 256 colours leave no room. On success gif_colors_finish() frees what *ret_colors holds.
 * ERR_OOM. */
MUST_USE enum err gif_colors_make(const struct frame_set *frames, struct gif_colors *ret_colors);
void gif_colors_finish(struct gif_colors *colors); /* accepts a zeroed one */
