/* codes.glsl -- what a kernel says of a pixel: the layout of a code. C and GLSL at once: kernels make codes,
 * renderer/palette.c gives each its colour, tests read them. 0 is nothing. A layer's codes are in layers.glsl. */

/* What kind of thing is there. */
#define CODE_KIND_SHIFT 14
#define CODE_KIND_MASK 3u
#define KIND_NOTHING 0u
#define KIND_PLANET 1u
#define KIND_HALO 2u
#define KIND_RING 3u
#define CODE_PLANET 0x4000u
#define CODE_HALO 0x8000u
#define CODE_RING 0xc000u

/* Of a planet. */
#define CODE_STEP_MASK 15u /* ground step; the number of the body's steps is its cap */
#define CODE_BOWL 0x10u    /* within a crater */
#define CODE_RIM 0x20u     /* on its rim */
#define CODE_BAND_SHIFT 6  /* light band, 0 in the dark .. shade_steps in full light */
#define CODE_BAND_MASK 31u
#define CODE_COVER_SHIFT 11
#define CODE_COVER_MASK 3u
#define COVER_NONE 0u
#define COVER_SHADOW 1u /* of a cloud */
#define COVER_EDGE 2u
#define COVER_CORE 3u
#define CODE_LIMB 0x2000u /* air before the ground, at the disc's edge */

#define CODE_MOON (1u << 18)  /* not the planet but a moon: the step is 3 x its number + one of three tones */
#define CODE_SHINE (1u << 16) /* the ground step's own colour, unlit, whatever the band */

#define CODE_SKY (1u << 20)     /* tone of the sky in the step's place, alone or with CODE_HALO: renderer/sky.c adds it */
#define CODE_OUTLINE (1u << 17) /* beside what is drawn: not a kernel's, renderer/touch_up.c adds it */
/* Of layer=normal: x + 128 and y + 128 of a vector of length 127, y << 8; z follows. */
#define CODE_NORMAL (1u << 21)

/* Of the rings. */
#define RING_STRIPE_MASK 15u /* stripe 0..8 or group 9..12, see rings.glsl */
#define RING_DARK 16u        /* in the planet's shadow */
#define RING_FRONT 32u       /* before the planet */

/* Where a pixel stands in the 8 x 8 matrix of Bayer (1973), 0..63; d is x ^ y. The highest bit alone is a checkerboard,
 * the highest two are the 2 x 2 matrix, four the 4 x 4 one. */
#define BAYER_LEVEL(d, y)                                                                                             \
    (((d & 1u) << 5) | ((y & 1u) << 4) | ((d & 2u) << 2) | ((y & 2u) << 1) | ((d & 4u) >> 1) | ((y & 4u) >> 2))
