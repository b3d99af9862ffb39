/* scene.c -- from a description to the numbers that a kernel reads.
 * All arithmetic is + - * / on doubles, which IEEE 754 fixes; the results are rounded to float once, here, so
 * that every backend starts from the same bits. Threads: pure. */
#include "renderer/scene.h"

#include <math.h>

#include "renderer/base/angle.h"
#include "renderer/bodies.h"

_Static_assert(sizeof(struct scene) % 4 == 0, "4-byte scalars only");

#define RING_PLANET_RADIUS 0.55 /* of the frame: leaves room for rings and moons */
#define RING_STRIPES       9    /* floor((0.98 - 0.68) * 30) */
#define RING_GAP           0.22 /* below this hash a stripe is a gap */
#define RING_GRAZING       0.04 /* light along their plane, to this sine, casts no shadow */

/* Independent numbers from one seed: SplitMix64 (Steele, Lea, Flood 2014) jumped to its `stream`-th output.
 */
static uint64_t seed_stream(uint64_t seed, uint64_t stream)
{
    uint64_t z = seed + (stream + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

enum {
    STREAM_GROUND,
    STREAM_CAP,
    STREAM_CLOUD,
    STREAM_CRATER,
    STREAM_BAND,
    STREAM_RING,
    STREAM_GROUND_AT,
    STREAM_CLOUD_AT,
    STREAM_RIVER,
    /* A stripe of the rings has STREAM_RING + 16, 32 ...: these are beyond. */
    STREAM_VARY = 1000,
    STREAM_VARY_MORE,
    STREAM_NOD,
    STREAM_LEAN,
    STREAM_MOON_START = 1010,
    STREAM_MOON = 1020, /* and one more for each moon */
    STREAM_RAMP = 1042, /* so that the first few seeds, which people look at, differ */
    STREAM_PICK = 2000
};

/* A place in the noise, 0..64 cells on each axis, in 1024ths. */
static void seed_place(uint64_t bits, float *x, float *y, float *z)
{
    *x = (float)(bits & 0xffff) / 1024.0f;
    *y = (float)(bits >> 16 & 0xffff) / 1024.0f;
    *z = (float)(bits >> 32 & 0xffff) / 1024.0f;
}

int scene_ramp(uint64_t seed, int count)
{
    return (int)((seed_stream(seed, STREAM_RAMP) >> 32) * (uint64_t)count >> 32);
}

int scene_pick(uint64_t seed, int what, int count)
{
    return (int)((seed_stream(seed, STREAM_PICK + (uint64_t)what) >> 32) * (uint64_t)count >> 32);
}

static double stripe_tone(uint64_t seed, int stripe)
{
    return (double)(seed_stream(seed, STREAM_RING + 16 * ((uint64_t)stripe + 1)) >> 40) / 16777216.0;
}

/* A group has the mean tone of its stripes that are no gaps, and is a gap when all are. */
double scene_ring_tone(uint64_t seed, int code)
{
    if (code < RING_STRIPES)
        return stripe_tone(seed, code);
    bool whole = code == RING_STRIPES + RING_STRIPES / 3;
    int first = whole ? 0 : (code - RING_STRIPES) * 3, count = whole ? RING_STRIPES : 3, there = 0;
    double sum = 0;
    for (int i = first; i < first + count; i++)
        if (stripe_tone(seed, i) > RING_GAP) {
            sum += stripe_tone(seed, i);
            there++;
        }
    return there ? sum / there : 0;
}

/* Three numbers of 21 bits, 0 <= v < 1. */
static void seed_thirds(uint64_t bits, float *a, float *b, float *c)
{
    *a = (float)(bits & 0x1fffff) / 2097152.0f;
    *b = (float)(bits >> 21 & 0x1fffff) / 2097152.0f;
    *c = (float)(bits >> 42 & 0x1fffff) / 2097152.0f;
}

static void make_seeds(const struct planet_desc *d, struct scene *s)
{
    s->seed_ground = (uint32_t)seed_stream(d->seed, STREAM_GROUND);
    s->seed_cap = (uint32_t)seed_stream(d->seed, STREAM_CAP);
    s->seed_cloud = (uint32_t)seed_stream(d->seed, STREAM_CLOUD);
    s->seed_crater = (uint32_t)seed_stream(d->seed, STREAM_CRATER);
    s->seed_band = (uint32_t)seed_stream(d->seed, STREAM_BAND);
    s->seed_river = (uint32_t)seed_stream(d->seed, STREAM_RIVER);
    seed_place(seed_stream(d->seed, STREAM_GROUND_AT), &s->ground_x, &s->ground_y, &s->ground_z);
    seed_place(seed_stream(d->seed, STREAM_CLOUD_AT), &s->cloud_x, &s->cloud_y, &s->cloud_z);
    seed_thirds(seed_stream(d->seed, STREAM_VARY), &s->vary_a, &s->vary_b, &s->vary_c);
    seed_thirds(seed_stream(d->seed, STREAM_VARY_MORE), &s->vary_d, &s->vary_e, &s->vary_f);
}

static void make_light(const struct planet_desc *d, struct scene *s)
{
    double sin_azimuth, cos_azimuth, sin_elevation, cos_elevation;
    angle_sincos(d->light_azimuth_decideg, 3600, &sin_azimuth, &cos_azimuth);
    angle_sincos(d->light_elevation_decideg, 3600, &sin_elevation, &cos_elevation);
    s->light_x = (float)(cos_elevation * cos_azimuth);
    s->light_y = (float)(cos_elevation * sin_azimuth);
    s->light_z = (float)sin_elevation;
    bool from_viewer = d->light_elevation_decideg == 900 || d->light_elevation_decideg == -900;
    s->light_flat_x = from_viewer ? 0.0f : (float)cos_azimuth;
    s->light_flat_y = from_viewer ? 0.0f : (float)sin_azimuth;
    s->light_reach = (float)(from_viewer ? 0.0 : cos_elevation);
    s->shade_steps = (float)d->shade_steps;
    /* The documents' bands begin late: the first needs 0.65 of a band of light. With 1 each begins where it
     * should, the first where light falls at all. */
    s->light_bias = d->terminator == TERMINATOR_EXACT ? 1.0f : 0.35f;
}

/* By enum dither: how wide the dithered edge is, in bands, and the bits of an 8 x 8 matrix that it has. The
 * finer the matrix the wider, since each of its levels takes a part of it. */
static const struct edge {
    double width;
    uint32_t bits;
} edges[DITHER_COUNT] = {[DITHER_CHECKER] = {0.22, 1},
                         [DITHER_BAYER2] = {0.6, 2},
                         [DITHER_BAYER4] = {0.8, 4},
                         [DITHER_BAYER8] = {1.0, 6}};

static void make_shading(const struct planet_desc *d, struct scene *s)
{
    const struct edge *e = &edges[d->dither];
    s->rough = d->shading == SHADING_RAMP ? 0.75f : 0.0f;
    s->rough_scale = (float)(d->scale_centi / 100.0 * 0.8 + 0.6);
    s->dither = (float)(e->width * 0.5);
    s->dither_step = (float)(e->width / (1u << e->bits));
    s->dither_shift = 6 - e->bits;
}

static void make_clouds(const struct planet_desc *d, const struct body_info *body, struct scene *s)
{
    double cover = d->cloud_cover_milli / 1000.0 * (body->climate_milli / 1000.0);
    double scale = d->scale_centi / 100.0 * 1.5;
    s->has_clouds = (body->traits & BODY_HAS_CLOUDS) && d->cloud_cover_milli > 0;
    s->cloud_line = (float)(0.78 - 0.4 * cover);
    s->cloud_scale = (float)scale;
    s->cloud_scale_y = (float)(scale * (d->cloud_stretch_centi / 100.0));
}

/* A channel is at least about a pixel wide; noise changes by about half its range over a cell. */
static void make_rivers(const struct planet_desc *d, const struct body_info *body, double radius,
                        struct scene *s)
{
    double pixel = 2.0 / d->pixels / radius; /* on a planet of radius 1 */
    double cells = pixel * (d->scale_centi / 100.0);
    double depth = d->rivers_milli / 1000.0 * 0.3;
    s->river_depth = body->traits & BODY_HAS_RIVERS ? (float)depth : 0.0f;
    s->river_sharpness = (float)(1.0 / (cells * 0.5 + 0.004));
    s->river_narrowing = depth > 0 ? (float)(0.6 / depth) : 0.0f;
}

/* -most..most, another for each stream. */
static int seed_within(uint64_t seed, uint64_t stream, int most)
{
    return (int)((seed_stream(seed, stream) >> 32) * (uint64_t)(2 * most + 1) >> 32) - most;
}

/* Moons: from the planet outward, and how often each goes around while the planet turns once. Whole numbers,
 * so that every loop closes; lengths are planet radii, and the outermost edge stays within the frame. */
static const struct orbit {
    double distance, radius; /* and the seed adds up to a fifth to the radius */
    int ratio;
} orbits[MOONS_MAX] = {{1.30, 0.125, 3}, {1.44, 0.170, 2}, {1.56, 0.145, 1}};

/* Which orbits are taken by 1, 2 or 3 moons. */
static const int taken[MOONS_MAX + 1][MOONS_MAX] = {{0}, {1}, {0, 2}, {0, 1, 2}};

#define MOON_LEAN_DECIDEG 90 /* how far an orbit leans from the equator at most */

static double moon_radius(const struct planet_desc *d, int moon)
{
    double more = seed_within(d->seed, STREAM_MOON + (uint64_t)moon, 100) / 1000.0;
    return orbits[taken[d->moons][moon]].radius * (1.1 + more);
}

int scene_moon_material(uint64_t seed, int number, int count)
{
    return (int)((seed_stream(seed, STREAM_MOON + 4 + (uint64_t)number) >> 32) * (uint64_t)count >> 32);
}

static void make_moons(const struct planet_desc *d, struct scene *s)
{
    float *radii[MOONS_MAX][2] = {{&s->moon_ar, &s->moon_a_inverse},
                                  {&s->moon_br, &s->moon_b_inverse},
                                  {&s->moon_cr, &s->moon_c_inverse}};
    s->moons = (uint32_t)d->moons;
    for (int i = 0; i < d->moons; i++) {
        *radii[i][0] = (float)moon_radius(d, i);
        *radii[i][1] = (float)(1.0 / moon_radius(d, i));
    }
}

/* The ellipse on the screen is a circle whose plane is seen at the slant `open`; its lower half is before the
 * planet. */
static void make_ring_shadow(const struct planet_desc *d, struct scene *s)
{
    double sine, cosine, open = d->ring_open_milli / 1000.0;
    angle_sincos(d->ring_angle_decideg, 3600, &sine, &cosine);
    double up = sqrt(1.0 - open * open); /* exactly rounded, as IEEE 754 has it */
    s->ring_x = (float)(-sine * up);
    s->ring_y = (float)(cosine * up);
    s->ring_z = (float)open;
    double light = -sine * up * s->light_x + cosine * up * s->light_y + open * s->light_z;
    s->ring_casts = d->rings && (light > RING_GRAZING || light < -RING_GRAZING);
    s->ring_light = s->ring_casts ? (float)(1.0 / light) : 0.0f;
}

static void make_rings(const struct planet_desc *d, struct scene *s)
{
    double sine, cosine;
    angle_sincos(-d->ring_angle_decideg, 3600, &sine, &cosine); /* y runs down where rings are drawn */
    s->has_rings = (uint32_t)d->rings;
    s->sin_ring = (float)sine;
    s->cos_ring = (float)cosine;
    s->inverse_open = (float)(1000.0 / d->ring_open_milli);
    s->ring_stripes = 0;
    for (int i = 0; i <= RING_STRIPES + RING_STRIPES / 3; i++)
        if (scene_ring_tone(d->seed, i) > RING_GAP)
            s->ring_stripes |= 1u << i;
}

/* A flat body is never seen quite from its edge, where it would be thinner than a pixel. */
#define FLAT_TILT_MIN 40

static int tilt_of(const struct planet_desc *d, const struct body_info *body)
{
    int tilt = d->tilt_decideg + body->tilt_decideg + seed_within(d->seed, STREAM_NOD, body->nod_decideg);
    if (body->nod_decideg == 0 || tilt >= FLAT_TILT_MIN || tilt <= -FLAT_TILT_MIN)
        return tilt;
    return tilt < 0 ? -FLAT_TILT_MIN : FLAT_TILT_MIN;
}

/* Below this a circle of the equator counts as seen at this slant: a disc from its edge still has a height.
 */
#define SLANT_MIN 0.06

static void make_axis(const struct planet_desc *d, const struct body_info *body, struct scene *s)
{
    double sine, cosine;
    angle_sincos(tilt_of(d, body), 3600, &sine, &cosine);
    s->sin_tilt = (float)sine;
    s->cos_tilt = (float)cosine;
    double slant = sine < 0 ? -sine : sine;
    s->inverse_tilt = (float)(1.0 / (slant < SLANT_MIN ? SLANT_MIN : slant));
    angle_sincos(d->roll_decideg + seed_within(d->seed, STREAM_LEAN, body->lean_decideg), 3600, &sine,
                 &cosine);
    s->sin_roll = (float)sine;
    s->cos_roll = (float)cosine;
}

/* Tuned by eye, with a light that turns about the body. */
#define RELIEF        0.22
#define RELIEF_CRATER 0.33
#define RELIEF_PIXELS 1.5

static void make_relief(const struct planet_desc *d, const struct body_info *body, struct scene *s)
{
    double step = 2.0 / d->pixels * s->inverse_radius * RELIEF_PIXELS;
    s->relief_step = (float)step;
    s->relief = body->traits & BODY_HAS_HEIGHT ? (float)(RELIEF / step) : 0.0f;
    s->relief_floor = body->sea_mask ? s->sea_level : -1.0f;
    s->relief_craters = body->traits & BODY_HAS_CRATERS ? (float)RELIEF_CRATER : 0.0f;
}

bool scene_by_body(const struct scene *s)
{
    return s->layer == LAYER_COLOR ||
           (s->layer == LAYER_NORMAL && (bodies[s->body].traits & BODY_FILLS_FRAME));
}

void scene_make(const struct planet_desc *d, struct scene *ret_scene)
{
    const struct body_info *body = &bodies[d->body];
    struct scene s = {0};
    s.body = (uint32_t)d->body;
    s.side = (uint32_t)d->pixels;
    s.layer = (uint32_t)(d->layer == LAYER_EMISSION || d->layer == LAYER_MASK ? LAYER_COLOR : d->layer);
    s.two_over_side = (float)(2.0 / d->pixels);

    /* Without rings the disc leaves one pixel all around: that is where the halo goes. */
    double radius = d->rings || d->moons ? RING_PLANET_RADIUS : 1.0 - 2.0 / d->pixels;
    double halo = 1.0 + 2.0 / d->pixels / radius;
    s.inverse_radius = (float)(1.0 / radius);
    s.radius = (float)radius;
    s.halo_squared = (float)(halo * halo);

    make_axis(d, body, &s);

    s.scale = (float)(d->scale_centi / 100.0);
    s.sea_level = (float)((d->sea_level_milli - body->bias_milli) / 1000.0);
    s.cap_line = (float)(1.0 - d->ice_caps_milli / 1000.0 * 0.5);
    s.has_caps = (body->traits & BODY_HAS_CAPS) && d->ice_caps_milli > 0;
    s.has_air = d->atmosphere >= 0 || (d->atmosphere == COLOR_AUTO && (body->traits & BODY_HAS_AIR));
    make_seeds(d, &s);
    make_light(d, &s);
    make_shading(d, &s);
    make_clouds(d, body, &s);
    make_rivers(d, body, radius, &s);
    make_rings(d, &s);
    make_ring_shadow(d, &s);
    make_moons(d, &s);
    make_relief(d, body, &s);
    *ret_scene = s;
}

/* Where a moon stands: on its orbit, which leans a little from the equator, seen as the planet is. Of the
 * 4096 parts of a turn where it can start those are left out that are behind the planet, so that a still
 * shows it. */
static struct scene_place moon_place(const struct planet_desc *d, int moon, int64_t at, int64_t den)
{
    const struct orbit *o = &orbits[taken[d->moons][moon]];
    uint64_t bits = seed_stream(d->seed, STREAM_MOON_START);
    int64_t start =
        (int64_t)((bits >> 12 * moon & 0xfff) * 800 / 4096) + moon * 4096 / 3 + (int64_t)(bits >> 40 & 0xfff);
    start %= 4096;
    if (start > 2300 && start < 3840) /* 202 to 338 degrees: behind */
        start -= 1540;
    double sine, cosine, lean_sine, lean_cosine, tilt_sine, tilt_cosine, roll_sine, roll_cosine;
    angle_sincos(at * o->ratio * 4096 + start * den, den * 4096, &sine, &cosine);
    angle_sincos(seed_within(d->seed, STREAM_MOON + 8 + (uint64_t)moon, MOON_LEAN_DECIDEG), 3600, &lean_sine,
                 &lean_cosine);
    angle_sincos(tilt_of(d, &bodies[d->body]), 3600, &tilt_sine, &tilt_cosine);
    angle_sincos(d->roll_decideg, 3600, &roll_sine, &roll_cosine);
    double x = cosine * o->distance, depth = sine * o->distance;
    double y = depth * lean_sine, z = depth * lean_cosine;
    double high = y * tilt_cosine - z * tilt_sine, near = y * tilt_sine + z * tilt_cosine;
    return (struct scene_place){.x = (float)(x * roll_cosine - high * roll_sine),
                                .y = (float)(x * roll_sine + high * roll_cosine),
                                .z = (float)near};
}

struct scene_turn scene_turn_make(const struct planet_desc *d, int frame)
{
    /* Where the planet stands, in 1 / (frames * 10^6) turns: whole numbers, so that the last frame is the
     * first. */
    int64_t den = (int64_t)d->frames * 1000000;
    int64_t at = ((int64_t)d->phase_micro * d->frames + (int64_t)frame * 1000000) * d->turns;
    double sine, cosine;
    struct scene_turn turn = {0};
    bool locked = bodies[d->body].traits & BODY_IS_LOCKED;
    angle_sincos(locked ? 0 : at, den, &sine, &cosine);
    turn.sin_spin = (float)sine;
    turn.cos_spin = (float)cosine;
    angle_sincos(at * d->cloud_ratio, den, &sine, &cosine);
    turn.sin_cloud = (float)sine;
    turn.cos_cloud = (float)cosine;
    for (int i = 0; i < d->moons; i++)
        turn.moons[i] = moon_place(d, i, at, den);
    return turn;
}
