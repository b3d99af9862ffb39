/* Oklab (Ottosson 2020): colours by lightness, and by how red and how blue they are, so that equal steps look
 * equal. In + - * / on doubles alone: the same on every machine. Threads: any, all pure. */
#pragma once

#include <stdint.h>

struct oklab {
    double l, a, b; /* lightness 0..1; a red, -a green; b yellow, -b blue; chroma is about 0..0.3 */
};

/* A direction in the plane of a and b: a unit vector. */
struct hue {
    double a, b;
};

struct oklab oklab_of(uint32_t rgb); /* 0xRRGGBB */

/* The nearest sRGB colour of the same lightness and hue: chroma gives way. */
uint32_t oklab_rgb(struct oklab c);

double oklab_distance_squared(struct oklab a, struct oklab b);

double oklab_chroma(struct oklab c);

/* Of `degrees` (any), as Oklab counts them: 30 red, 90 yellow, 145 green, 195 cyan, 260 blue, 310 violet. */
struct hue hue_of_degrees(int degrees);

/* The hue of a colour; that of blue when it has none. */
struct hue hue_of(struct oklab c);

/* From one to the other by the shorter way; `share` 0..1 of it. Opposite ones: by the way of violet. */
struct hue hue_toward(struct hue from, struct hue to, double share);

struct oklab oklab_make(double lightness, double chroma, struct hue hue);
