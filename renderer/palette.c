/* palette.c -- from codes to colours, once for each distinct code of a result.
 * The formulas are the documents'; all arithmetic is + - * / on doubles in this order, so the colours are the
 * same on every machine. One thing is ours: clouds take half of the ground's cool tint, so that they don't
 * turn grey. Threads: one palette by one thread. */
#include "renderer/palette.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "renderer/bodies.h"
#include "renderer/palettes.h"
#include "renderer/ramp.h"
#include "renderer/scene.h"
#include "renderer/sky.h"
#include "shaders/codes.glsl"

#define HALO_ALPHA   0.55
#define LIMB_MIX     0.55
#define CLOUD_MIX    0.92
#define CLOUD_SHADOW 0.72
#define CLOUD_SHADE  0.2 /* light on the dark side of clouds with shading=ramp */
#define BOWL_LIGHT   0.60
#define RIM_LIGHT    1.28

struct rgb {
    double r, g, b; /* 0..1, may exceed it until packed */
};

/* Brightness in the dark and in full light, and how much of the cool tint the dark takes. */
static const struct light {
    double dark, bright, coolness;
} ground_light = {0.48, 1.08, 1.0}, cloud_light = {0.55, 1.0, 0.5};

/* From a code or a colour to an index; open addressing, at most half full. */
struct table {
    struct slot {
        uint32_t key;
        uint32_t index_plus_1; /* 0 = free */
        uint32_t count;        /* pixels of this code so far: at most PICTURE_PIXELS_MAX */
    } * slots;
    uint32_t size, used; /* size is a power of two */
};

#define SHIFT_SHIFT 24 /* keys of the table of codes: the code, and above it which shift of the ramp */
_Static_assert(CODE_NORMAL < 1u << SHIFT_SHIFT, "no code reaches it");

struct palette {
    struct planet_desc desc;
    int64_t cycle;       /* where in the cycle of the colours this frame stands, of ... */
    int64_t cycle_whole; /* ... a whole one; 0 <= cycle < cycle_whole */
    uint32_t shift;      /* bits of the keys of such frames: equal for equal colours */
    struct scheme scheme;
    struct table codes, known; /* known: the colours so far */
    uint32_t *colors;
    uint32_t count, capacity;
};

static struct rgb rgb_of(uint32_t hex)
{
    return (struct rgb){(hex >> 16 & 255) / 255.0, (hex >> 8 & 255) / 255.0, (hex & 255) / 255.0};
}

static struct rgb scaled(struct rgb c, double k)
{
    return (struct rgb){c.r * k, c.g * k, c.b * k};
}

static struct rgb mixed(struct rgb a, struct rgb b, double t)
{
    return (struct rgb){a.r + (b.r - a.r) * t, a.g + (b.g - a.g) * t, a.b + (b.b - a.b) * t};
}

static uint32_t byte_of(double v)
{
    double x = v < 0 ? 0 : v > 1 ? 1 : v;
    return (uint32_t)(x * 255.0 + 0.5);
}

static uint32_t packed(struct rgb c, double alpha)
{
    return RGBA(byte_of(c.r), byte_of(c.g), byte_of(c.b), byte_of(alpha));
}

/* Light falls in steps; what it leaves out turns cool instead of grey, so the dark side stays readable. */
static struct rgb lit(struct rgb c, double band, const struct light *light)
{
    struct rgb shade = scaled(c, light->dark + (light->bright - light->dark) * band);
    struct rgb cool = {shade.r * 0.7, shade.g * 0.8, shade.b * 1.2};
    return mixed(shade, cool, (1.0 - band) * light->coolness);
}

static struct rgb ground_color(const struct planet_desc *d, const struct scheme *s, uint32_t code,
                               double band)
{
    const struct body_info *body = &bodies[d->body];
    int step = (int)(code & CODE_STEP_MASK);
    struct rgb c = rgb_of(step < body->steps ? s->ramp[step] : s->cap);
    if (code & CODE_SHINE)
        return c;
    if (code & (CODE_BOWL | CODE_RIM))
        c = scaled(c, code & CODE_BOWL ? BOWL_LIGHT : RIM_LIGHT);
    struct rgb shaded = lit(c, band, &ground_light);
    if (body->glow_mask >> step & 1)
        return mixed(shaded, c, 1.0 - band * 0.5);
    return shaded;
}

static struct rgb atmosphere_color(const struct planet_desc *d, const struct scheme *s)
{
    return rgb_of(d->atmosphere >= 0 ? (uint32_t)d->atmosphere : s->atmosphere);
}

static double band_of(const struct planet_desc *d, uint32_t code)
{
    return (double)(code >> CODE_BAND_SHIFT & CODE_BAND_MASK) / d->shade_steps;
}

/* min_light lifts the dark and leaves full light as it is, so all bands stay apart. */
static double in_dark(const struct planet_desc *d, double band)
{
    double least = d->min_light_milli / 1000.0;
    return least + (1.0 - least) * band;
}

/* A shadow of a cloud, a hollow or a rim is the same material one band darker or lighter: no more tones. */
static struct rgb ramp_color(const struct planet_desc *d, const struct scheme *s, uint32_t code)
{
    const struct body_info *body = &bodies[d->body];
    int step = (int)(code & CODE_STEP_MASK);
    uint32_t cover = code >> CODE_COVER_SHIFT & CODE_COVER_MASK;
    double band = band_of(d, code), light = in_dark(d, band),
           one = 1.0 / (d->shade_steps < 3 ? 3 : d->shade_steps);
    bool cap = step >= body->steps;
    uint32_t base = cap ? s->cap : s->ramp[step];
    char role = cap ? 'i' : body->roles[step];
    if (cover >= COVER_EDGE) {
        base = cover == COVER_CORE ? s->cloud : s->cloud_edge;
        role = RAMP_CLOUD; /* two tones in the light and two in the shade */
        light = band >= 0.5 ? 1.0 : in_dark(d, CLOUD_SHADE);
    } else {
        if (body->glow_mask >> step & 1)
            return rgb_of(base);
        if (code & (CODE_BOWL | CODE_RIM))
            light += code & CODE_BOWL ? -one : one;
        if (cover == COVER_SHADOW && light >= one)
            light -= one;
    }
    struct rgb c = rgb_of(ramp_tone(base, role, light < -0.15 ? -0.15 : light > 1.3 ? 1.3 : light));
    return code & CODE_LIMB ? mixed(c, atmosphere_color(d, s), LIMB_MIX * 0.6) : c;
}

/* What moons are made of, dark to light: grey, ochre, ice, rust, dark rock. */
static const uint32_t moon_materials[][3] = {{0x6f6f7a, 0x95959c, 0xbdbcb8},
                                             {0x8a6a48, 0xb08d5c, 0xd6b984},
                                             {0x7fa2bd, 0xa9c9d9, 0xdcecf0},
                                             {0x7d4a3a, 0xa3664a, 0xc48a66},
                                             {0x6a6070, 0x887c86, 0xaba09f}};

static struct rgb moon_color(const struct planet_desc *d, uint32_t code, double band)
{
    int step = (int)(code & CODE_STEP_MASK);
    int material = scene_moon_material(d->seed, step / 3, (int)ARRAY_LEN(moon_materials));
    uint32_t base = moon_materials[material][step % 3];
    if (d->shading == SHADING_RAMP)
        return rgb_of(ramp_tone(base, 'r', band));
    return lit(rgb_of(base), band, &ground_light);
}

static struct rgb planet_color(const struct planet_desc *d, const struct scheme *s, uint32_t code)
{
    double band = in_dark(d, band_of(d, code));
    if (code & CODE_MOON)
        return moon_color(d, code, band);
    if (d->shading == SHADING_RAMP && !(code & CODE_SHINE))
        return ramp_color(d, s, code);
    uint32_t cover = code >> CODE_COVER_SHIFT & CODE_COVER_MASK;
    struct rgb c = ground_color(d, s, code, band);
    if (cover == COVER_SHADOW) {
        c = scaled(c, CLOUD_SHADOW);
    } else if (cover != COVER_NONE) {
        /* What shows through a cloud is the same ground everywhere: a cloud is one flat tone, not a copy of
         * the map. */
        struct rgb cloud = lit(rgb_of(cover == COVER_CORE ? s->cloud : s->cloud_edge), band, &cloud_light);
        c = mixed(ground_color(d, s, 1, band), cloud, CLOUD_MIX);
    }
    if (code & CODE_LIMB)
        c = mixed(c, atmosphere_color(d, s), LIMB_MIX);
    return c;
}

static struct rgb ring_color(const struct planet_desc *d, uint32_t code)
{
    struct rgb dark = {0.55, 0.42, 0.32}, light = {0.93, 0.84, 0.66};
    struct rgb c = mixed(dark, light, scene_ring_tone(d->seed, (int)(code & RING_STRIPE_MASK)));
    if (code & RING_DARK)
        c = lit(c, in_dark(d, 0.0), &ground_light);
    return c;
}

/* Colours of the layers that count instead of grading. */
static struct rgb layer_color(const struct planet_desc *d, const struct scheme *s, uint32_t value)
{
    static const uint32_t sea[] = {0x1f529e, 0x5c9e42};
    static const uint32_t clouds[] = {0x26304a, 0x26304a, 0xb2ccee, 0xffffff};
    static const uint32_t shadow[] = {0x808080, 0x000000, 0xffffff, 0xffffff};
    static const uint32_t rings[] = {0x505560, 0x3f7fff, 0xe0443a};
    switch ((enum layer)d->layer) {
    case LAYER_SEA:
        return rgb_of(sea[value & 1]);
    case LAYER_CLOUDS:
        return rgb_of(clouds[value & 3]);
    case LAYER_SHADOW:
        return rgb_of(shadow[value & 3]);
    case LAYER_BANDS:
        return rgb_of(s->ramp[value & CODE_STEP_MASK]);
    case LAYER_RINGS:
        return rgb_of(rings[value % 3]);
    case LAYER_LIGHT:
        return scaled((struct rgb){1, 1, 1}, (double)value / d->shade_steps);
    case LAYER_GRID:
        return (struct rgb){(value & 255) / 255.0, (value >> 8) / 255.0, 0};
    case LAYER_COLOR:
    case LAYER_DEPTH:
    case LAYER_HEIGHT:
    case LAYER_CRATERS:
    case LAYER_NORMAL:
    case LAYER_EMISSION:
    case LAYER_MASK:
    case LAYER_COUNT:
        break;
    }
    return scaled((struct rgb){1, 1, 1}, value / 255.0);
}

/* One way that a disc can look whose short axis is so long: `open` of 127, and the far side up. */
static void ring_normal(const struct planet_desc *d, int *ret_x, int *ret_y)
{
    struct scene scene;
    scene_make(d, &scene);
    double open = d->ring_open_milli / 1000.0, slant = sqrt(1.0 - open * open) * 127.0;
    *ret_x = (int)floor(-scene.sin_ring * slant + 0.5);
    *ret_y = (int)floor(scene.cos_ring * slant + 0.5);
}

/* x and y in 127ths; z is what is left of a unit vector, so that a set has at most 65,536 of them. */
static uint32_t normal_color(const struct planet_desc *d, uint32_t code)
{
    int x = 0, y = 0; /* of what shines and has no surface: to the viewer */
    if (code & CODE_NORMAL) {
        x = (int)(code & 255) - 128;
        y = (int)(code >> 8 & 255) - 128;
    } else if ((code >> CODE_KIND_SHIFT & CODE_KIND_MASK) == KIND_RING) {
        ring_normal(d, &x, &y);
    }
    int rest = 127 * 127 - x * x - y * y, z = 0;
    while (rest > z * z + z) /* the nearest to the root */
        z++;
    return RGBA(x + 128, y + 128, z + 128, 255);
}

/* Layers for engines: the picture's codes, or those of normals. Nothing, sky and halo are clear. */
static uint32_t engine_color(const struct planet_desc *d, const struct scheme *s, uint32_t code)
{
    uint32_t kind = code >> CODE_KIND_SHIFT & CODE_KIND_MASK;
    uint32_t cover = code >> CODE_COVER_SHIFT & CODE_COVER_MASK, step = code & CODE_STEP_MASK;
    if (d->layer == LAYER_NORMAL && (code & CODE_NORMAL))
        return normal_color(d, code);
    if (kind != KIND_PLANET && kind != KIND_RING)
        return 0;
    if (d->layer == LAYER_NORMAL)
        return normal_color(d, code);
    if (d->layer == LAYER_MASK)
        return RGBA(255, 255, 255, 255);
    bool glows = (code & CODE_SHINE) ||
                 (bodies[d->body].glow_mask >> step & 1 && cover != COVER_EDGE && cover != COVER_CORE);
    if (kind != KIND_PLANET || !glows)
        return RGBA(0, 0, 0, 255);
    return packed(ground_color(d, s, code | CODE_SHINE, 1.0), 1);
}

static bool for_engines(int32_t layer)
{
    return layer == LAYER_NORMAL || layer == LAYER_EMISSION || layer == LAYER_MASK;
}

static uint32_t full_color(const struct planet_desc *d, const struct scheme *s, uint32_t code)
{
    uint32_t kind = code >> CODE_KIND_SHIFT & CODE_KIND_MASK;
    if (for_engines(d->layer))
        return engine_color(d, s, code);
    if (code == 0)
        return d->background >= 0 ? packed(rgb_of((uint32_t)d->background), 1) : 0;
    if (d->layer != LAYER_COLOR)
        return packed(layer_color(d, s, code - 1), 1);
    if (code & CODE_OUTLINE)
        return packed(rgb_of((uint32_t)d->outline), 1);
    if (kind == KIND_PLANET)
        return packed(planet_color(d, s, code), 1);
    if (kind == KIND_RING)
        return packed(ring_color(d, code), 1);
    if (code & CODE_SKY || d->background >= 0) {
        uint32_t behind =
            code & CODE_SKY ? sky_color(d, (int)(code & CODE_STEP_MASK)) : (uint32_t)d->background;
        bool air = kind == KIND_HALO;
        return packed(mixed(rgb_of(behind), atmosphere_color(d, s), air ? HALO_ALPHA : 0), 1);
    }
    return packed(atmosphere_color(d, s), HALO_ALPHA);
}

/* The colour of a fixed palette: what is half clear is laid over black, for it has no such colours. */
static uint32_t fixed_color(const struct planet_desc *d, uint32_t color)
{
    double alpha = RGBA_A(color) / 255.0;
    struct rgb c =
        scaled((struct rgb){RGBA_R(color) / 255.0, RGBA_G(color) / 255.0, RGBA_B(color) / 255.0}, alpha);
    uint32_t rgb = byte_of(c.r) << 16 | byte_of(c.g) << 8 | byte_of(c.b);
    return packed(rgb_of(palettes_nearest(d->palette_source, rgb)), 1);
}

static uint32_t color_of(const struct planet_desc *d, const struct scheme *s, uint32_t code)
{
    uint32_t color = full_color(d, s, code);
    bool exact = for_engines(d->layer) && (d->layer != LAYER_EMISSION || color == RGBA(0, 0, 0, 255));
    return color && !exact && palettes_fixed(d->palette_source) ? fixed_color(d, color) : color;
}

uint32_t palette_color(const struct planet_desc *d, uint32_t code)
{
    struct scheme scheme;
    palettes_scheme(d, &scheme);
    return color_of(d, &scheme, code);
}

static struct slot *slot_of(const struct table *t, uint32_t key)
{
    uint32_t at = (key * 0x9e3779b1u >> 12) & (t->size - 1);
    while (t->slots[at].index_plus_1 && t->slots[at].key != key)
        at = (at + 1) & (t->size - 1);
    return &t->slots[at];
}

static enum err table_resize(struct table *t, uint32_t size)
{
    struct table bigger = {.slots = calloc(size, sizeof *bigger.slots), .size = size, .used = t->used};
    if (!bigger.slots)
        return ERR_OOM;
    for (uint32_t i = 0; i < t->size; i++)
        if (t->slots[i].index_plus_1)
            *slot_of(&bigger, t->slots[i].key) = t->slots[i];
    free(t->slots);
    *t = bigger;
    return ERR_NONE;
}

static enum err table_put(struct table *t, uint32_t key, uint32_t index)
{
    if (t->used * 2 >= t->size) {
        enum err err = table_resize(t, t->size * 4);
        if (err)
            return err;
    }
    *slot_of(t, key) = (struct slot){key, index + 1, 0};
    t->used++;
    return ERR_NONE;
}

enum err palette_create(const struct planet_desc *desc, struct palette **ret_palette)
{
    struct palette *p = calloc(1, sizeof *p);
    if (!p)
        return ERR_OOM;
    p->desc = *desc;
    palette_at_frame(p, 0);
    palettes_scheme(desc, &p->scheme);
    if (table_resize(&p->codes, 512) || table_resize(&p->known, 512)) {
        palette_destroy(p);
        return ERR_OOM;
    }
    *ret_palette = p;
    return ERR_NONE;
}

void palette_destroy(struct palette *p)
{
    if (!p)
        return;
    free(p->codes.slots);
    free(p->known.slots);
    free(p->colors);
    free(p);
}

/* Appends a colour that is not in the list. */
static enum err add_color(struct palette *p, uint32_t color)
{
    if (p->count == p->capacity) {
        uint32_t capacity = p->capacity ? p->capacity * 4 : 256;
        uint32_t *colors = realloc(p->colors, capacity * sizeof *colors);
        if (!colors)
            return ERR_OOM;
        p->colors = colors;
        p->capacity = capacity;
    }
    enum err err = table_put(&p->known, color, p->count);
    if (!err)
        p->colors[p->count++] = color;
    return err;
}

/* How far a run of `length` steps has moved on. */
static int run_shift(const struct palette *p, int length)
{
    return (int)(p->cycle * length / p->cycle_whole);
}

/* The code of the step whose colour this one has in this frame. */
static uint32_t shifted(const struct palette *p, uint32_t code)
{
    const struct body_info *body = &bodies[p->desc.body];
    int step = (int)(code & CODE_STEP_MASK), begin = step, end = step + 1;
    bool picture = p->desc.layer == LAYER_COLOR || p->desc.layer == LAYER_EMISSION;
    if (!p->shift || !picture || (code >> CODE_KIND_SHIFT & CODE_KIND_MASK) != KIND_PLANET ||
        step >= body->steps)
        return code;
    while (begin > 0 && body->roles[begin - 1] == body->roles[step])
        begin--;
    while (end < body->steps && body->roles[end] == body->roles[step])
        end++;
    int length = end - begin;
    return (code & ~CODE_STEP_MASK) | (uint32_t)(begin + (step - begin + run_shift(p, length)) % length);
}

void palette_at_frame(struct palette *p, int frame)
{
    const struct planet_desc *d = &p->desc;
    p->cycle_whole = (int64_t)d->frames * 1000000;
    p->cycle = ((int64_t)d->phase_micro * d->frames + (int64_t)frame * 1000000) * d->palette_offset;
    p->cycle = (p->cycle % p->cycle_whole + p->cycle_whole) % p->cycle_whole;
    /* Runs are at most BODY_STEPS_MAX long: these shifts together tell all colours apart. */
    p->shift = 0;
    for (int length = 2; length <= BODY_STEPS_MAX; length++)
        p->shift += (uint32_t)run_shift(p, length);
    p->shift <<= SHIFT_SHIFT;
}

/* The index of a code that is met for the first time. Two codes may be one colour: the list holds each colour
 * once. */
static enum err meet(struct palette *p, uint32_t code, uint32_t *ret_index)
{
    uint32_t color = color_of(&p->desc, &p->scheme, shifted(p, code));
    uint32_t known = slot_of(&p->known, color)->index_plus_1;
    if (!known) {
        enum err err = add_color(p, color);
        if (err)
            return err;
        known = p->count;
    }
    *ret_index = known - 1;
    return table_put(&p->codes, code | p->shift, known - 1);
}

enum err palette_resolve(struct palette *p, const uint32_t *codes, size_t count, uint16_t *index)
{
    for (size_t i = 0; i < count;) {
        uint32_t code = codes[i];
        struct slot *slot = slot_of(&p->codes, code | p->shift);
        uint32_t at = slot->index_plus_1 - 1;
        if (!slot->index_plus_1) {
            enum err err = meet(p, code, &at);
            if (err)
                return err;
            slot = slot_of(&p->codes, code | p->shift); /* the table may have grown */
        }
        size_t begin = i;
        do /* pixel art is areas: the next code is often the same */
            index[i++] = (uint16_t)at;
        while (i < count && codes[i] == code);
        slot->count += (uint32_t)(i - begin);
    }
    return ERR_NONE;
}

enum err palette_counts(const struct palette *p, struct code_count **ret_counts, int *ret_count)
{
    const struct table *t = &p->codes;
    struct code_count *counts = malloc((t->used + 1) * sizeof *counts); /* never 0 bytes */
    int n = 0;
    if (!counts)
        return ERR_OOM;
    for (uint32_t i = 0; i < t->size; i++)
        if (t->slots[i].index_plus_1)
            counts[n++] = (struct code_count){t->slots[i].key & ((1u << SHIFT_SHIFT) - 1), t->slots[i].count};
    *ret_counts = counts;
    *ret_count = n;
    return ERR_NONE;
}

uint32_t *palette_take_colors(struct palette *p, int *ret_count)
{
    uint32_t *colors = p->colors;
    *ret_count = (int)p->count;
    p->colors = NULL;
    p->count = p->capacity = 0;
    return colors;
}
