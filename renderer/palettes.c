/* palettes.c -- fixed palettes, and the one that is made from the seed.
 *
 * What is made keeps the lightness of the body's own steps, since that is what tells sea from land and makes
 * lava glow, and gives each role (struct body_info.roles) a hue and a chroma. The hues stand to each other as
 * one of a few harmonies; within a role dark steps lean to blue and light ones to yellow, as light does.
 * Threads: any, all pure. */
#include "renderer/palettes.h"

#include <stddef.h>

#include "renderer/base/attr.h"
#include "renderer/bodies.h"
#include "renderer/oklab.h"
#include "renderer/scene.h"

static const struct fixed {
    const char *name;
    const uint32_t *rgb;
    size_t count;
} fixed[PALETTE_SOURCE_COUNT] = {
    [PALETTE_AUTO] = {.name = "auto"},
    [PALETTE_GENERATE] = {.name = "generate"},
#define PALETTE(id, word, ...)                                                                               \
    [PALETTE_##id] = {#word, (const uint32_t[]){__VA_ARGS__},                                                \
                      sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)},
#include "renderer/palettes.def"
#undef PALETTE
};

const char *palettes_name(int source)
{
    return fixed[source].name;
}

bool palettes_fixed(int source)
{
    return fixed[source].count > 0;
}

uint32_t palettes_nearest(int source, uint32_t rgb)
{
    const struct fixed *p = &fixed[source];
    struct oklab c = oklab_of(rgb);
    size_t best = 0;
    double least = 100;
    for (size_t i = 0; i < p->count; i++) {
        double d = oklab_distance_squared(c, oklab_of(p->rgb[i]));
        if (d < least) {
            least = d;
            best = i;
        }
    }
    return p->rgb[best];
}

/* Degrees from the hue of water to that of land, and to what is hot. */
static const struct harmony {
    int land, hot;
} harmonies[] = {
    {40, 200},               /* neighbours, and one opposite */
    {-45, 160},              /* neighbours the other way */
    {150, 210},              /* split opposites */
    {-150, 180}, {120, 240}, /* thirds */
    {180, 150},  {75, -105},
};

/* What the seed chooses. */
struct choice {
    int water, land, hot; /* degrees */
    double vivid;         /* of all chroma */
};

static struct choice choose(uint64_t seed)
{
    const struct harmony *h = &harmonies[scene_pick(seed, 0, (int)ARRAY_LEN(harmonies))];
    int water = scene_pick(seed, 1, 360);
    return (struct choice){
        .water = water,
        .land = water + h->land + scene_pick(seed, 2, 21) - 10,
        .hot = water + h->hot,
        .vivid = 0.85 + scene_pick(seed, 3, 31) / 100.0,
    };
}

/* Dark yellow is mud: it goes to orange or to green, whichever is nearer. */
static int clear_of_mud(int degrees, double lightness)
{
    int d = (degrees % 360 + 360) % 360;
    if (lightness > 0.72 || d < 65 || d > 135)
        return d;
    return d < 100 ? 55 : 142;
}

static uint32_t tone(const struct choice *c, int degrees, double lightness, double chroma)
{
    struct hue hue = hue_of_degrees(clear_of_mud(degrees, lightness));
    hue = hue_toward(hue, hue_of_degrees(lightness < 0.6 ? 280 : 95), lightness < 0.6 ? 0.14 : 0.10);
    /* Neither near black nor near white has a colour room for much chroma; little of it there is clean. */
    double room = lightness * (1.15 - lightness) * 3.0;
    return oklab_rgb(oklab_make(lightness, chroma * c->vivid * (room > 1 ? 1 : room), hue));
}

static uint32_t role_color(const struct choice *c, char role, double l)
{
    switch (role) {
    case 'w':
        return tone(c, c->water, l, 0.125);
    case 's': /* between the land and yellow */
        return tone(c, c->land + 25, l, 0.085);
    case 'l':
        return tone(c, c->land, l, 0.130);
    case 'r':
        return tone(c, c->land - 20, l, 0.060);
    case 'i':
        return tone(c, c->water, l, 0.055);
    case 'h': /* what glows is full of colour, and nearly white where it is lightest */
        return tone(c, c->hot, l, l > 0.93 ? 0.06 : 0.175);
    case 'g': /* turns a little as it grows light */
        return tone(c, c->water + (int)(l * 60), l, 0.105);
    default:
        return tone(c, c->water, l, 0.02);
    }
}

static void generate(const struct planet_desc *d, const uint32_t *own, struct scheme *s)
{
    const struct body_info *body = &bodies[d->body];
    struct choice c = choose(d->seed);
    for (int i = 0; i < body->steps; i++)
        s->ramp[i] = role_color(&c, body->roles[i], oklab_of(own[i]).l);
    s->cap = tone(&c, c.water, 0.965, 0.03);
    s->cloud = tone(&c, c.water, 0.975, 0.02);
    s->cloud_edge = tone(&c, c.water, 0.86, 0.05);
    s->atmosphere = tone(&c, body->roles[0] == 'h' ? c.hot : c.water, 0.76, 0.12);
}

void palettes_scheme(const struct planet_desc *d, struct scheme *ret)
{
    const struct body_info *body = &bodies[d->body];
    const uint32_t *own = body->ramps ? body->ramps[scene_ramp(d->seed, body->ramp_count)] : body->ramp;
    *ret = (struct scheme){
        .cap = body->cap,
        .cloud = body->cloud,
        .cloud_edge = body->cloud_edge,
        .atmosphere = body->atmosphere,
    };
    int steps = body->steps, count = d->palette_count;
    for (int i = 0; i < steps; i++) /* a list of another length is spread over the steps */
        ret->ramp[i] = count ? d->palette[((count - 1) * i * 2 + steps - 1) / (2 * (steps - 1))] : own[i];
    if (d->palette_source == PALETTE_GENERATE)
        generate(d, own, ret);
}
