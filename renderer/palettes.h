/* Palettes that have a name. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "renderer/desc.h"

/* One colour for each role, 0xRRGGBB. */
struct scheme {
    uint32_t ramp[16]; /* ground steps, low to high */
    uint32_t cap, cloud, cloud_edge, atmosphere;
};

/* The name of a source (enum palette_source) as it stands in a request; NULL for PALETTE_LIST. */
const char *palettes_name(int source);

/* True if the finished colours of this source are those of a fixed palette. */
bool palettes_fixed(int source);

/* The colour of the fixed palette that looks nearest to 0xRRGGBB. */
uint32_t palettes_nearest(int source, uint32_t rgb);

/* The body's own colours, or those of the list, or made from the seed. */
void palettes_scheme(const struct planet_desc *desc, struct scheme *ret_scheme);
