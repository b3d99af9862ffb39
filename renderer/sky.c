/* sky.c -- stars and nebulae, made once for each result and laid behind all its frames.
 * The noise is that of the kernels with a lattice that repeats, so the picture tiles. It is here and not in a
 * kernel because it stands still: one frame of it serves all. Threads: pure. */
#include "renderer/sky.h"

#include <stdlib.h>

#include "renderer/oklab.h"
#include "renderer/scene.h"
#include "shaders/codes.glsl"

#define PICK_HUE   16 /* of scene_pick(): palettes have the first ones */
#define PICK_TURN  17
#define PICK_NOISE 18

#define GAS_TONES  6
#define FIRST_STAR (GAS_TONES + 1)

#define OCTAVES   4
#define GAS_CELLS 3    /* across the frame, of the coarsest octave */
#define GAS_FROM  0.49 /* less noise is dark: half of the sky */
#define GAS_STEP  0.052

/* One pixel in so many is a star; one in so many of the larger ones has a cross of five. */
#define STAR_EVERY  130
#define CROSS_EVERY 1100

static uint32_t hash(uint32_t x, uint32_t y, uint32_t seed)
{
    uint32_t h = x * 0x8da6b343u ^ y * 0xd8163841u ^ seed;
    h = (h ^ h >> 15) * 0x85ebca6bu;
    h = (h ^ h >> 13) * 0xc2b2ae35u;
    return h ^ h >> 16;
}

static double fade(double t)
{
    return t * t * (3.0 - 2.0 * t);
}

/* 0..1; u and v are 0..1 over the frame, on a lattice of `cells` that begins again at the edge. */
static double noise(double u, double v, uint32_t cells, uint32_t seed)
{
    double x = u * cells, y = v * cells;
    uint32_t x0 = (uint32_t)x, y0 = (uint32_t)y;
    double fx = fade(x - x0), fy = fade(y - y0);
    double corner[2][2];
    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t k = 0; k < 2; k++)
            corner[i][k] = hash((x0 + k) % cells, (y0 + i) % cells, seed + cells) / 4294967296.0;
    double top = corner[0][0] + (corner[0][1] - corner[0][0]) * fx;
    double low = corner[1][0] + (corner[1][1] - corner[1][0]) * fx;
    return top + (low - top) * fy;
}

static double wrapped(double u)
{
    return u < 0 ? u + 1.0 : u >= 1.0 ? u - 1.0 : u;
}

static double fbm(double u, double v, uint32_t seed)
{
    double sum = 0, gain = 0.5;
    for (uint32_t i = 0, cells = GAS_CELLS; i < OCTAVES; i++, cells *= 2, gain *= 0.5)
        sum += noise(u, v, cells, seed) * gain;
    return sum;
}

/* 0 where there is none. The gas is drawn out along folds of another noise, and its edges are dithered. */
static uint32_t gas_tone(int x, int y, int side, uint32_t seed)
{
    static const int bayer[4][4] = {{0, 8, 2, 10}, {12, 4, 14, 6}, {3, 11, 1, 9}, {15, 7, 13, 5}};
    double u = (x + 0.5) / side, v = (y + 0.5) / side;
    double bend = (fbm(u, v, seed + 77) - 0.47) * 0.35;
    double n = fbm(wrapped(u + bend), wrapped(v - bend), seed);
    double tones = (n - GAS_FROM) / GAS_STEP + (bayer[y & 3][x & 3] + 0.5) / 16.0 * 0.6 - 0.3;
    return tones < 0 ? 0 : tones >= GAS_TONES ? GAS_TONES : (uint32_t)tones + 1;
}

static void put_star(uint32_t *sky, int side, int x, int y, uint32_t tone)
{
    uint32_t *at = &sky[(y + side) % side * side + (x + side) % side];
    if ((*at & CODE_STEP_MASK) < tone)
        *at = CODE_SKY | tone;
}

static void add_stars(uint32_t *sky, int side, uint32_t seed)
{
    for (int y = 0; y < side; y++)
        for (int x = 0; x < side; x++) {
            uint32_t h = hash((uint32_t)x, (uint32_t)y, seed ^ 0x5bd1e995u);
            if (h % CROSS_EVERY == 7) {
                put_star(sky, side, x, y, FIRST_STAR + 4);
                for (int i = -1; i < 2; i += 2) {
                    put_star(sky, side, x + i, y, FIRST_STAR + 1);
                    put_star(sky, side, x, y + i, FIRST_STAR + 1);
                }
            } else if (h % STAR_EVERY == 3) {
                put_star(sky, side, x, y, FIRST_STAR + (h >> 20) % 4);
            }
        }
}

enum err sky_make(const struct planet_desc *desc, uint32_t **ret_sky)
{
    int side = desc->pixels;
    *ret_sky = NULL;
    if (desc->layer != LAYER_COLOR || (desc->background != COLOR_STARS && desc->background != COLOR_NEBULA))
        return ERR_NONE;
    uint32_t *sky = malloc((size_t)side * (size_t)side * sizeof *sky);
    if (!sky)
        return ERR_OOM;
    uint32_t seed = (uint32_t)scene_pick(desc->seed, PICK_NOISE, 0x7fffffff);
    for (int y = 0; y < side; y++)
        for (int x = 0; x < side; x++)
            sky[y * side + x] =
                CODE_SKY | (desc->background == COLOR_NEBULA ? gas_tone(x, y, side, seed) : 0);
    add_stars(sky, side, seed);
    *ret_sky = sky;
    return ERR_NONE;
}

void sky_apply(const struct planet_desc *desc, const uint32_t *sky, uint32_t *codes)
{
    for (int i = 0; i < desc->pixels * desc->pixels; i++)
        if (codes[i] == 0 || codes[i] == CODE_HALO)
            codes[i] |= sky[i];
}

/* Gas goes from violet-black to a light of another hue, which the seed turns by as much as it likes. */
uint32_t sky_color(const struct planet_desc *desc, int tone)
{
    static const uint32_t stars[] = {0x4a5478, 0x7d86a8, 0xb4bcd8, 0xf0e2c8, 0xffffff};
    int hue = 180 + scene_pick(desc->seed, PICK_HUE, 200),
        /* cyan to red: others look like mould */ turn = scene_pick(desc->seed, PICK_TURN, 121) - 60;
    if (tone >= FIRST_STAR)
        return stars[tone - FIRST_STAR];
    if (tone == 0)
        return desc->background == COLOR_STARS ? 0x0a0c16
                                               : oklab_rgb(oklab_make(0.15, 0.03, hue_of_degrees(hue)));
    return oklab_rgb(
        oklab_make(0.19 + 0.055 * tone, 0.045 + 0.012 * tone, hue_of_degrees(hue + turn * tone / GAS_TONES)));
}
