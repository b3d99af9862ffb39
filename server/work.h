/* How much processor time a picture will take, before it is drawn: pixels times what a pixel has taken
 * lately, for its body and its format. The queue is bounded and ordered by it. */
#pragma once

#include <stdint.h>

#include "api/request.h"
#include "renderer/desc.h"
#include "renderer/encode/encoder.h"

#define WORK_LEAST_NS 100000u /* what a request costs besides its pixels: never free, however small */

/* Picoseconds a pixel. Threads: one at a time (the pipeline's lock). */
struct work {
    uint64_t draw_ps[BODY_COUNT + 1]; /* the last one is that of every layer but the picture */
    uint64_t encode_ps[FORMAT_COUNT]; /* a pixel of the file: zoom counts */
};

void work_init(struct work *w);

/* Of a finished request. At least WORK_LEAST_NS; grows with pixels, zoom and frames. */
uint64_t work_estimate_ns(const struct work *w, const struct request *r);

/* What a picture took, on all threads together. */
void work_learn(struct work *w, const struct request *r, uint64_t render_ns, uint64_t encode_ns);
