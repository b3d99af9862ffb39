/* What can be drawn: the renderer's input. Plain integers in named units, so that equal descriptions are
 * equal bytes (if cleared before they are filled) and no number depends on how it was spelled.
 * api/params.def says how each is asked for. */
#pragma once

#include <stdint.h>

enum body {
#define BODY(id, word, ...) BODY_##id,
#include "renderer/bodies.def"
#undef BODY
    BODY_COUNT
};

/* type=random chooses among the first so many: a new body must not change what a seed already shows. */
#define BODIES_AT_RANDOM 6

/* LAYER_COLOR is the picture; each other one shows one step of the way to it. */
enum layer {
    LAYER_COLOR,
    LAYER_GRID,    /* the pixel grid: red is u, green is v, over the whole frame */
    LAYER_DEPTH,   /* z of the sphere as grey */
    LAYER_HEIGHT,  /* terrain noise as grey */
    LAYER_SEA,     /* terrain noise cut in two by sea_level */
    LAYER_LIGHT,   /* light bands as grey */
    LAYER_CLOUDS,  /* both cloud tones */
    LAYER_SHADOW,  /* cloud white, ground under a cloud's shadow black, the rest grey */
    LAYER_CRATERS, /* distance to the nearest crater over its radius as grey */
    LAYER_BANDS,   /* number of the gas band, by colour */
    LAYER_RINGS,   /* front half blue, back half red, the disc grey */
    /* For engines that light sprites themselves: in place with the picture, clear where it shows nothing or
       air. */
    LAYER_NORMAL,   /* tangent-space normals: red x right, green y up, blue z to the viewer, 128 is 0 */
    LAYER_EMISSION, /* what shines by itself in its own colour, the rest black */
    LAYER_MASK,     /* white */
    LAYER_COUNT
};

/* How light falls: in even steps with round edges, or in tones made for each material whose edges the ground
 * roughens. */
enum shading { SHADING_STEPS, SHADING_RAMP };

/* What lies between two light bands, and between two tones of one material. */
enum dither { DITHER_NONE, DITHER_CHECKER, DITHER_BAYER2, DITHER_BAYER4, DITHER_BAYER8, DITHER_COUNT };

/* Where night begins: with little light left, or where the sphere turns away from the light. */
enum terminator { TERMINATOR_EARLY, TERMINATOR_EXACT };

/* A colour field holds 0xRRGGBB or one of these. */
#define COLOR_AUTO   (-1) /* what the body has */
#define COLOR_NONE   (-2) /* nothing is drawn */
#define COLOR_STARS  (-3) /* of a background alone, as is the next: renderer/sky.h */
#define COLOR_NEBULA (-4)

/* Where the colours of a picture come from. */
enum palette_source {
    PALETTE_AUTO,     /* the body */
    PALETTE_LIST,     /* `palette` */
    PALETTE_GENERATE, /* the seed */
#define PALETTE(id, word, ...) PALETTE_##id,
#include "renderer/palettes.def"
#undef PALETTE
    PALETTE_SOURCE_COUNT
};

#define PALETTE_MAX 16
#define FRAMES_MAX  240
#define PIXELS_MAX  1024
#define MOONS_MAX   3

/* Angles grow counter-clockwise on the screen, x to the right, y up, z to the viewer. */
struct planet_desc {
    uint64_t seed;                   /* every bit counts */
    int32_t body;                    /* enum body */
    int32_t layer;                   /* enum layer */
    int32_t pixels;                  /* side of the frame, 8..1024 */
    int32_t frames;                  /* 1..240 */
    int32_t turns;                   /* turns of the planet over all frames, -4..4 */
    int32_t phase_micro;             /* where frame 0 stands in the loop, millionths of it, 0..1000000 */
    int32_t light_azimuth_decideg;   /* where the light stands on the screen, -1800..1800; 0 right, 900 top */
    int32_t light_elevation_decideg; /* -900..900; 900 from the viewer, 0 from the side */
    int32_t shade_steps;             /* bands of light, 1..16 */
    int32_t scale_centi;             /* noise frequency on the unit sphere, hundredths, 25..1600 */
    int32_t sea_level_milli;         /* height of the sea in thousandths, 0..1000 */
    int32_t rivers_milli;            /* how far rivers reach inland, 0..1000; 0 for none */
    int32_t cloud_cover_milli;       /* 0..1000; the body's climate scales it */
    int32_t cloud_stretch_centi;     /* how many times faster cloud noise varies along the axis, 100..400 */
    int32_t cloud_ratio;             /* turns of the clouds for each turn of the ground, 0..4 */
    int32_t ice_caps_milli;          /* size of the polar caps, 0..1000 */
    int32_t tilt_decideg;            /* north pole toward the viewer, -900..900 */
    int32_t roll_decideg;            /* turn of the axis on the screen, -1800..1800 */
    int32_t rings;                   /* 0 or 1 */
    int32_t ring_angle_decideg;      /* turn of the ring on the screen, -1800..1800 */
    int32_t ring_open_milli;         /* short axis over long axis, 20..1000 */
    int32_t atmosphere;              /* colour, COLOR_AUTO or COLOR_NONE */
    int32_t background;              /* colour, COLOR_NONE, COLOR_STARS or COLOR_NEBULA */
    int32_t palette_count;           /* colours in `palette`; 0 unless palette_source is PALETTE_LIST */
    uint32_t palette[PALETTE_MAX];   /* 0xRRGGBB, ramp order, low to high; unused ones are 0 */
    int32_t palette_source;          /* enum palette_source */
    int32_t colors;                  /* most colours of the result, clear ones not counted, 1..256; 0 = all */
    int32_t shading;                 /* enum shading */
    int32_t dither;                  /* enum dither */
    int32_t clean;                   /* 0 or 1: single pixels join their surroundings */
    int32_t min_light_milli;         /* light in the dark, thousandths of full light, 0..1000 */
    int32_t moons;                   /* 0..MOONS_MAX; 0 for a body that fills the frame */
    int32_t outline;                 /* colour of one pixel around the silhouette, or COLOR_NONE */
    int32_t terminator;              /* enum terminator */
    int32_t palette_offset;          /* times the ground's colours cycle through those of their role over all
                                      * frames, -8..8 */
};
