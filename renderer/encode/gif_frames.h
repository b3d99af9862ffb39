/* What a GIF must say so that each frame shows exactly: which rectangle to draw, whether to clear it
 * afterwards, and for how long to show it. Pure functions over planes of side * side palette indices, top row
 * first. Threads: any. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define GIF_OPAQUE (-1) /* no index is transparent */

struct gif_rect {
    int left, top, width, height; /* pixels before zoom; width and height are at least 1 */
};

struct gif_step {
    struct gif_rect
        rect;   /* holds every pixel that changes, and every pixel that must be cleared afterwards */
    bool clear; /* disposal 2: the rectangle is transparent before the next frame is drawn */
};

/* Plans the frame that follows on `canvas`, which is what a viewer shows before it (NULL = nothing yet).
 * `next` is the frame after it (NULL = none): pixels that are opaque in `frame` and transparent in `next`
 * have to be cleared, because drawing a transparent pixel leaves what was there. `transparent` is an index or
 * GIF_OPAQUE. A frame that equals the canvas gets a rectangle of 1 x 1 at the top left, for a GIF frame can't
 * be empty. */
void gif_frames_plan(const uint8_t *canvas, const uint8_t *frame, const uint8_t *next, int side,
                     int transparent, struct gif_step *ret_step);

/* Turns the canvas into what a viewer shows once `frame` was drawn and disposed of by `step`. */
void gif_frames_advance(uint8_t *canvas, const uint8_t *frame, int side, int transparent,
                        const struct gif_step *step);

/* The pixels of the step's rectangle, row by row, each in two spellings: `plain` is its index, `other` is the
 * transparent index where drawing nothing shows the same, else again its index. Both have width * zoom *
 * height * zoom entries. */
void gif_frames_cut(const uint8_t *canvas, const uint8_t *frame, int side, int transparent,
                    const struct gif_step *step, int zoom, uint8_t *ret_plain, uint8_t *ret_other);

/* Hundredths of a second to show frame `i` at `fps` (1..50). What rounding takes from one frame the next ones
 * get: the first n frames last round(100 * n / fps) together, and no frame less than 2, below which viewers
 * slow down. */
int gif_frames_delay_cs(int i, int fps);
