/* All frames of one result, as indices into one list of colours. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* How many pixels have a code (shaders/codes.glsl). */
struct code_count {
    uint32_t code, count;
};

/* `index` has frames * side * side entries, frame by frame, top row first, left to right. `colors` are 8-bit
 * sRGB, straight alpha, packed R | G << 8 | B << 16 | A << 24; no two are equal; alpha-0 colours are all
 * written 0. Each colour is used by at least one pixel. Threads: immutable once made. */
struct frame_set {
    uint16_t *index;
    uint32_t *colors;
    int color_count; /* 1..65536 */
    int side;        /* pixels before zoom */
    int frames;
    struct code_count *codes; /* of the first frame: each code that is there, once, in no order */
    int code_count;
};

#define FRAME_SET_COLORS_MAX 65536

#define RGBA(r, g, b, a) ((uint32_t)(r) | (uint32_t)(g) << 8 | (uint32_t)(b) << 16 | (uint32_t)(a) << 24)
#define RGBA_R(c)        ((uint8_t)(c))
#define RGBA_G(c)        ((uint8_t)((c) >> 8))
#define RGBA_B(c)        ((uint8_t)((c) >> 16))
#define RGBA_A(c)        ((uint8_t)((c) >> 24))

/* Frees what it holds and zeroes it. Accepts a zeroed one. */
void frame_set_finish(struct frame_set *set);
