/* The table of bodies: palette, defaults, what each one has. Adding a body = a file in shaders/bodies/ and a
 * row here. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "renderer/desc.h"

/* What a body reacts to. A parameter that a body does not react to is left out of the key (api/key.c). */
enum body_trait {
    BODY_HAS_HEIGHT = 1 << 0,  /* terrain noise: sea_level, layers height and sea */
    BODY_HAS_CLOUDS = 1 << 1,  /* cloud_cover, cloud_stretch, cloud_ratio; layers clouds and shadow */
    BODY_HAS_CAPS = 1 << 2,    /* ice_caps */
    BODY_HAS_AIR = 1 << 3,     /* an atmosphere of its own */
    BODY_HAS_CRATERS = 1 << 4, /* layer craters */
    BODY_HAS_BANDS = 1 << 5,   /* layer bands */
    BODY_FILLS_FRAME = 1 << 6, /* no sphere: it may use each pixel of the frame; no rings, no air, no layers
                                * but color and grid */
    BODY_HAS_RIVERS = 1 << 7,  /* rivers */
    BODY_IS_LOCKED = 1 << 8,   /* the ground does not turn against the light, only clouds do */
    BODY_SHINES = 1 << 9,      /* by itself: no light falls on it */
};

#define BODY_STEPS_MAX 8 /* ground colours of one body, caps not counted */

/* Colours are 0xRRGGBB. */
struct body_info {
    const char *name;    /* the value of the parameter `type` */
    const char *summary; /* one sentence for people */
    unsigned traits;     /* enum body_trait */
    int steps;           /* ground colours, low to high */
    uint32_t ramp[BODY_STEPS_MAX];
    const uint32_t (*ramps)[BODY_STEPS_MAX]; /* of which the seed chooses one; NULL: `ramp` alone */
    int ramp_count;
    const char *roles;  /* what each step is, a letter each, for palette=generate and shading=ramp: water,
                         * shore,  land, rock, ice, hot, gas, void */
    unsigned glow_mask; /* bit i: ground step i shines by itself */
    uint32_t cap;       /* polar caps */
    uint32_t cloud;     /* core of a cloud, and its edge */
    uint32_t cloud_edge;
    uint32_t atmosphere; /* COLOR_AUTO stands for this one */
    int climate_milli;   /* cloud_cover is multiplied by this / 1000 */
    int bias_milli;      /* added to the terrain's height */
    int tilt_decideg;    /* added to the tilt that is asked for */
    int nod_decideg;     /* of a flat body: the seed changes the tilt by up to this, to either side, */
    int lean_decideg;    /* and turns the axis on the screen by up to this */
    int rings_percent;   /* of the seeds have rings when rings=auto */
    int sea_level_milli; /* defaults that differ from body to body */
    int cloud_cover_milli;
    int ice_caps_milli;
    int scale_centi;
    int rivers_milli;
    const char *noun;  /* the body in a sentence, with its article: "a gas giant"; NULL: its name */
    int shading;       /* enum shading: the default that suits it */
    unsigned sea_mask; /* bit i: ground step i is a sea, whatever of */
};

extern const struct body_info bodies[BODY_COUNT];
