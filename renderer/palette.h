/* Codes to colours: the stage where a picture gets its palette. */
#pragma once

#include <stdint.h>

#include "renderer/base/attr.h"
#include "renderer/base/err.h"
#include "renderer/desc.h"
#include "renderer/frame_set.h"

struct palette;

/* For one result. ERR_OOM. */
MUST_USE enum err palette_create(const struct planet_desc *desc, struct palette **ret_palette);
void palette_destroy(struct palette *p); /* accepts NULL */

/* Turns `count` codes into indices. Each new colour gets the next index, in the order in which it is met.
 * ERR_OOM. */
MUST_USE enum err palette_resolve(struct palette *p, const uint32_t *codes, size_t count, uint16_t *index);

/* The ground's colours of what is resolved from now on are those of frame `frame` of the description: where
 * palette_offset is not 0 they move on through the steps of the same role. Frame 0 to begin with. */
void palette_at_frame(struct palette *p, int frame);

/* How many pixels had each code in all that was resolved so far; the caller frees *ret_counts with free().
 * ERR_OOM. */
MUST_USE enum err palette_counts(const struct palette *p, struct code_count **ret_counts, int *ret_count);

/* The colours met so far: moves the list to the caller, who frees it with free(). */
uint32_t *palette_take_colors(struct palette *p, int *ret_count);

/* The colour of one code, RGBA as in frame_set.h. Threads: any. */
uint32_t palette_color(const struct planet_desc *desc, uint32_t code);
