/* What of a drawn frame is what: codes counted, and where the body stands in the frame. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "renderer/desc.h"
#include "renderer/frame_set.h"

/* Pixels of the first frame. `sea`, `land` and `cap` are the ground, seen or under a cloud, and sum up to
 * `disc`; `cloud` and `night` lie over it. All but `frame` are 0 for a layer that is not the picture. */
struct census {
    uint32_t frame; /* all */
    uint32_t body;  /* of the body itself, whatever its shape */
    uint32_t ring, moon, air;
    uint32_t sea, land, cap, cloud, night;
};

/* Which of these the body has: a share that it lacks is no 0. */
struct census_has {
    bool ground; /* a sphere with a ground: sea (where it has seas) and land */
    bool sea, cap, cloud, night;
};

/* Lengths in pixels of the frame before zoom, from its top left corner, y down; angles counter-clockwise. */
struct census_place {
    double x, y;                                              /* the middle */
    double radius;                                            /* of the disc; 0: the body is none */
    double ring_inner, ring_outer, ring_open, ring_angle_deg; /* half the long axes; ring_outer 0: no rings */
    double light_x, light_y,
        light_z; /* unit vector to the light: x right, y up, z to the viewer; all 0: none */
};

/* All pure. `desc` is that of the frames. Threads: any. */
void census_count(const struct planet_desc *desc, const struct frame_set *frames, struct census *ret_census);
struct census_has census_has(const struct planet_desc *desc);
void census_place(const struct planet_desc *desc, struct census_place *ret_place);
