/* What changes from one frame to the next, for formats whose frames may be smaller than the canvas. */
#pragma once

#include <stdint.h>

/* Pixels before zoom; width and height are at least 1. */
struct area {
    int left, top, width, height;
};

/* The smallest area that holds every pixel in which two frames of side x side indices differ; a frame can't
 * be empty, so of two that are equal it is the first pixel. Threads: any. */
struct area area_changed(const uint16_t *shown, const uint16_t *frame, int side);
