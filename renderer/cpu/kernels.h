/* The kernels as the CPU runs them: one table for each instruction set. */
#pragma once

#include <stdint.h>

#include "renderer/scene.h"

/* Draws rows row_begin..row_end-1 of one frame into `codes`, which is the whole frame (side * side). */
typedef void kernel_rows(const struct scene *scene, const struct scene_turn *turn, int row_begin, int row_end,
                         uint32_t *codes);

struct kernels {
    const char *name; /* "sse2", ... */
    int lanes;
    kernel_rows *body[BODY_COUNT];
    kernel_rows *layer;
};

extern const struct kernels kernels_sse2, kernels_avx2, kernels_avx512, kernels_neon;

/* Columns begin..end-1 of a row are where the planet, its halo or the rings can be; a little generous. The
 * rest is 0. */
struct kernel_span {
    int planet_begin, planet_end;
    int rings_begin, rings_end;
};
struct kernel_span kernel_span_of_row(const struct scene *scene, int row);
