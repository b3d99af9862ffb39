/* scene.c -- from a description to the numbers that a kernel reads.
 * All arithmetic is + - * / on doubles, which IEEE 754 fixes; the results are rounded to float once, here, so
 * that every backend starts from the same bits. Threads: pure. */
#include "renderer/scene.h"

#include "renderer/base/angle.h"
#include "renderer/bodies.h"

_Static_assert(sizeof(struct scene) % 4 == 0, "4-byte scalars only");

#define RING_PLANET_RADIUS 0.55 /* of the frame: leaves room for the rings */
#define RING_STRIPES       9    /* floor((0.98 - 0.68) * 30) */
#define RING_GAP           0.22 /* below this hash a stripe is a gap */

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
    s->lamp_streets = (float)(1.0 / (pixel * 3.0));
    s->lamp_sharpness = (float)(1.0 / (cells * 0.6 + 0.002));
}

static void make_rings(const struct planet_desc *d, double radius, struct scene *s)
{
    double sine, cosine;
    angle_sincos(-d->ring_angle_decideg, 3600, &sine, &cosine); /* y runs down where rings are drawn */
    s->has_rings = (uint32_t)d->rings;
    s->sin_ring = (float)sine;
    s->cos_ring = (float)cosine;
    s->inverse_open = (float)(1000.0 / d->ring_open_milli);
    s->ring_shadow = (float)(radius * 0.97);
    s->ring_stripes = 0;
    for (int i = 0; i <= RING_STRIPES + RING_STRIPES / 3; i++)
        if (scene_ring_tone(d->seed, i) > RING_GAP)
            s->ring_stripes |= 1u << i;
}

/* -most..most, another for each stream. */
static int seed_within(uint64_t seed, uint64_t stream, int most)
{
    return (int)((seed_stream(seed, stream) >> 32) * (uint64_t)(2 * most + 1) >> 32) - most;
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
    double radius = d->rings ? RING_PLANET_RADIUS : 1.0 - 2.0 / d->pixels;
    double halo = 1.0 + 2.0 / d->pixels / radius;
    s.inverse_radius = (float)(1.0 / radius);
    s.halo_squared = (float)(halo * halo);

    make_axis(d, body, &s);

    s.scale = (float)(d->scale_centi / 100.0);
    s.sea_level = (float)((d->sea_level_milli - body->bias_milli) / 1000.0);
    s.cap_line = (float)(1.0 - d->ice_caps_milli / 1000.0 * 0.5);
    s.has_caps = (body->traits & BODY_HAS_CAPS) && d->ice_caps_milli > 0;
    s.has_air = d->atmosphere >= 0 || (d->atmosphere == COLOR_AUTO && (body->traits & BODY_HAS_AIR));
    make_seeds(d, &s);
    make_light(d, &s);
    make_clouds(d, body, &s);
    make_rivers(d, body, radius, &s);
    make_rings(d, radius, &s);
    make_relief(d, body, &s);
    *ret_scene = s;
}

struct scene_turn scene_turn_make(const struct planet_desc *d, int frame)
{
    /* Where the planet stands, in 1 / (frames * 10^6) turns: whole numbers, so that the last frame is the
     * first. */
    int64_t den = (int64_t)d->frames * 1000000;
    int64_t at = ((int64_t)d->phase_micro * d->frames + (int64_t)frame * 1000000) * d->turns;
    double sine, cosine;
    struct scene_turn turn;
    bool locked = bodies[d->body].traits & BODY_IS_LOCKED;
    angle_sincos(locked ? 0 : at, den, &sine, &cosine);
    turn.sin_spin = (float)sine;
    turn.cos_spin = (float)cosine;
    angle_sincos(at * d->cloud_ratio, den, &sine, &cosine);
    turn.sin_cloud = (float)sine;
    turn.cos_cloud = (float)cosine;
    return turn;
}
