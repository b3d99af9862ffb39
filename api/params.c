/* params.c -- the table of parameters, made from params.def, and what can be said about a row.
 * Defaults stand in params.def or in the body's row and nowhere else; which parameters can change a picture
 * is decided in param_matters() and nowhere else. Threads: any, all of it is constant. */
#include "api/params.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "api/find.h"
#include "renderer/base/attr.h"
#include "renderer/bodies.h"
#include "renderer/palettes.h"
#include "renderer/renderer.h"

#define POWER_OF_TEN(n)                                                                                      \
    ((n) == 0   ? 1                                                                                          \
     : (n) == 1 ? 10                                                                                         \
     : (n) == 2 ? 100                                                                                        \
     : (n) == 3 ? 1000                                                                                       \
     : (n) == 4 ? 10000                                                                                      \
     : (n) == 5 ? 100000                                                                                     \
                : 1000000)
#define STEPS(number, places) ((int32_t)((number)*POWER_OF_TEN(places) + ((number) < 0 ? -0.5 : 0.5)))

/* First pass: what everybody may see. */
#define RANGE(low, high, places)                                                                             \
    .minimum = STEPS(low, places), .maximum = STEPS(high, places), .decimals = (places)
#define WORDS(...)                                                                                           \
    .words = (const char *const[])                                                                           \
    {                                                                                                        \
        __VA_ARGS__, NULL                                                                                    \
    }
#define BODIES_OR(word) .words = type_words
#define COLOR_WORDS(automatic, none, stars, nebula)                                                          \
    .words = (const char *const[COLOR_WORD_COUNT])                                                           \
    {                                                                                                        \
        automatic, none, stars, nebula                                                                       \
    }
#define FREE                                           .words = NULL
#define BY_SHADING(steps, word, ramp, ramp_word)       word ", " ramp_word " with shading=ramp"
#define BY_CONTACT(value, word, contact, contact_word) word ", " contact_word " for contact"
#define FIXED(number)                                  #number
#define WORD(value, text)                              text
#define BY_RINGS(without, with)                        #without ", " #with " with rings or moons"
#define BY_FORMAT(still, animated)                     #still " for png, " #animated " for all but png"
#define BY_BODY(field)                                 "by body"
#define LIKE_RINGS(without)                            #without ", ring_angle with rings"
#define PARAM(row, of_kind, field, allowed, fallback, in_unit, words_for_it)                                 \
    [PARAM_ROW_##row] = {.name = #row,                                                                       \
                         .kind = PARAM_##of_kind,                                                            \
                         .offset = offsetof(struct request, field),                                          \
                         allowed,                                                                            \
                         .default_text = fallback,                                                           \
                         .unit = in_unit,                                                                    \
                         .help = words_for_it},
static const char *const type_words[] = {
#define BODY(id, word, ...) #word,
#include "renderer/bodies.def"
#undef BODY
    "random", NULL};

const struct param params[] = {
#include "api/params.def"
};
#undef PARAM
#undef FIXED
#undef WORD
#undef BY_RINGS
#undef BY_FORMAT
#undef BY_BODY
#undef LIKE_RINGS
#undef BY_SHADING
#undef BY_CONTACT

const int param_count = PARAM_ROW_COUNT;
_Static_assert(PARAM_ROW_COUNT <= 64, "request.given has a bit for each row");

/* Second pass: where the default of a row comes from. Numbers are in the parameter's unit, not in steps. */
struct fallback {
    enum {
        FALLBACK_FIXED,
        FALLBACK_BY_RINGS,
        FALLBACK_BY_FORMAT,
        FALLBACK_BY_BODY,
        FALLBACK_LIKE_RINGS,
        FALLBACK_BY_SHADING,
        FALLBACK_BY_CONTACT,
        FALLBACK_WORD
    } rule;
    double number, other;
    size_t body_offset;
};
#define FIXED(x)                                                                                             \
    {                                                                                                        \
        .rule = FALLBACK_FIXED, .number = (x)                                                                \
    }
#define WORD(value, text)                                                                                    \
    {                                                                                                        \
        .rule = FALLBACK_WORD, .number = (value)                                                             \
    }
#define BY_RINGS(without, with)                                                                              \
    {                                                                                                        \
        .rule = FALLBACK_BY_RINGS, .number = (without), .other = (with)                                      \
    }
#define LIKE_RINGS(without)                                                                                  \
    {                                                                                                        \
        .rule = FALLBACK_LIKE_RINGS, .number = (without)                                                     \
    }
#define BY_FORMAT(still, animated)                                                                           \
    {                                                                                                        \
        .rule = FALLBACK_BY_FORMAT, .number = (still), .other = (animated)                                   \
    }
#define BY_BODY(field)                                                                                       \
    {                                                                                                        \
        .rule = FALLBACK_BY_BODY, .body_offset = offsetof(struct body_info, field)                           \
    }
#define BY_SHADING(steps, word, ramp, ramp_word)                                                             \
    {                                                                                                        \
        .rule = FALLBACK_BY_SHADING, .number = (steps), .other = (ramp)                                      \
    }
#define BY_CONTACT(value, word, contact, contact_word)                                                       \
    {                                                                                                        \
        .rule = FALLBACK_BY_CONTACT, .number = (value), .other = (contact)                                   \
    }
#define PARAM(row, kind, field, allowed, fallback, unit, help) [PARAM_ROW_##row] = fallback,
static const struct fallback fallbacks[] = {
#include "api/params.def"
};
#undef PARAM
#undef RANGE
#undef WORDS
#undef BODIES_OR
#undef COLOR_WORDS
#undef FREE

/* Third pass: each field has the type that its kind needs, each list of words has a word for each value. */
#define FIELD_NUMBER  int32_t
#define FIELD_CHOICE  int32_t
#define FIELD_COLOR   int32_t
#define FIELD_SPAN    int32_t
#define FIELD_PALETTE uint32_t *
#define FIELD_SEED    char *
#define FIELD_SWEEP   char *
#define PARAM(row, kind, field, ...)                                                                         \
    _Static_assert(_Generic(((struct request *)0)->field, FIELD_##kind : 1, default : 0),                    \
                   "type of the field of " #row);
#include "api/params.def"
#undef PARAM
#define RANGE(low, high, places)                                                                             \
    ((places) >= 0 && (places) <= 6 && (low) < (high) && (high)*1.0 * POWER_OF_TEN(places) <= 1e9 ? 1 : -1)
#define WORDS(...)                            (sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))
#define BODIES_OR(word)                       (sizeof type_words / sizeof *type_words - 1)
#define COLOR_WORDS(...)                      COLOR_WORD_COUNT
#define FREE                                  0
#define PARAM(row, kind, field, allowed, ...) WORD_COUNT_##row = (int)(allowed),
enum {
#include "api/params.def"
};
#undef PARAM
_Static_assert(WORD_COUNT_type == (int)BODY_COUNT + 1, "a word for each body, and random");
_Static_assert(WORD_COUNT_format == (int)FORMAT_COUNT, "a word for each format");
_Static_assert(WORD_COUNT_atlas == (int)ATLAS_ASEPRITE + 1, "a word for each form");
_Static_assert(WORD_COUNT_layer == (int)LAYER_COUNT, "a word for each layer");
_Static_assert(WORD_COUNT_dither == (int)DITHER_COUNT, "a word for each dither");
_Static_assert(WORD_COUNT_layers == (int)LAYERS_SPLIT + 1, "a word for each choice");
_Static_assert(WORD_COUNT_rings == (int)RINGS_ON + 1, "a word for each choice");
#define PARAM(row, kind, field, allowed, ...) _Static_assert(WORD_COUNT_##row >= 0, "range of " #row);
#include "api/params.def"
#undef PARAM

int param_find(const char *name, size_t len)
{
    for (int i = 0; len && i < PARAM_ROW_COUNT; i++) {
        const char *known = params[i].name;
        if (known[0] == name[0] && strlen(known) == len && !memcmp(known, name, len))
            return i;
    }
    return -1;
}

int32_t param_get(int i, const struct request *r)
{
    int32_t value;
    memcpy(&value, (const char *)r + params[i].offset, sizeof value);
    return value;
}

void param_put(int i, struct request *r, int32_t value)
{
    memcpy((char *)r + params[i].offset, &value, sizeof value);
}

const char *param_sweep_const(int i, const struct request *r)
{
    return (const char *)r + params[i].offset;
}

char *param_sweep(int i, struct request *r)
{
    return (char *)r + params[i].offset;
}

bool param_has_number(int i)
{
    return params[i].kind != PARAM_SEED && params[i].kind != PARAM_PALETTE && params[i].kind != PARAM_SWEEP;
}

static const struct body_info *settled_body(const struct request *r)
{
    assert(r->type >= 0 && r->type < BODY_COUNT);
    return &bodies[r->type];
}

int32_t param_default(int i, const struct request *r)
{
    const struct fallback *f = &fallbacks[i];
    double number = f->number;
    switch (f->rule) {
    case FALLBACK_BY_BODY:
        return *(const int *)(const void *)((const char *)settled_body(r) + f->body_offset);
    case FALLBACK_BY_SHADING:
        return (int32_t)(r->planet.shading == SHADING_RAMP ? f->other : number);
    case FALLBACK_BY_CONTACT:
        return (int32_t)(r->format == FORMAT_CONTACT ? f->other : number);
    case FALLBACK_WORD:
        return (int32_t)number;
    case FALLBACK_BY_RINGS:
        number = r->rings == RINGS_ON || r->planet.moons > 0 ? f->other : number;
        break;
    case FALLBACK_LIKE_RINGS:
        if (r->rings == RINGS_ON)
            return r->planet.ring_angle_decideg;
        break;
    case FALLBACK_BY_FORMAT:
        number = encoders[r->format].animated ? f->other : number;
        break;
    case FALLBACK_FIXED:
        break;
    }
    return STEPS(number, params[i].decimals);
}

const char *param_word_lacks(int i, int w)
{
    return i == PARAM_ROW_format ? encoders[w].lacks : NULL;
}

bool param_by_body(int i)
{
    return fallbacks[i].rule == FALLBACK_BY_BODY;
}

bool param_searches(int i)
{
    return i == PARAM_ROW_count || i == PARAM_ROW_from || params[i].kind == PARAM_SPAN;
}

/* Of a contact sheet everything that can change a cell, whatever the cell is; and `columns`. */
static bool contact_heeds(int i)
{
    switch (i) {
    case PARAM_ROW_fps:
    case PARAM_ROW_loops:
    case PARAM_ROW_margin:
    case PARAM_ROW_spacing:
    case PARAM_ROW_atlas:
    case PARAM_ROW_layers:
        return false;
    default:
        return !param_searches(i);
    }
}

bool param_matters(int i, const struct request *r)
{
    if (r->format == FORMAT_CONTACT)
        return contact_heeds(i);
    if (param_searches(i))
        return r->format == FORMAT_FIND && (params[i].kind != PARAM_SPAN || find_has(i, r));
    unsigned traits = settled_body(r)->traits;
    bool moves = r->planet.frames > 1;
    bool clouds = (traits & BODY_HAS_CLOUDS) && r->planet.cloud_cover_milli > 0;
    bool turns = !(traits & BODY_IS_LOCKED) || (clouds && r->planet.cloud_ratio != 0) || r->planet.moons > 0;
    bool sheet = r->format == FORMAT_SHEET || r->format == FORMAT_ATLAS;
    bool text_palette = r->format == FORMAT_GPL || r->format == FORMAT_HEX;
    bool palette = r->format == FORMAT_PALETTE || text_palette;
    bool data = r->planet.layer == LAYER_NORMAL || r->planet.layer == LAYER_MASK; /* no colours */
    switch (i) {
    case PARAM_ROW_background:
        return !data && r->planet.layer != LAYER_EMISSION;
    case PARAM_ROW_colors:
        return !data;
    case PARAM_ROW_fps:
    case PARAM_ROW_loops: /* of the forms of an atlas, one tells the time */
        return moves && !palette && (!sheet || (r->format == FORMAT_ATLAS && r->atlas == ATLAS_ASEPRITE));
    case PARAM_ROW_zoom:
        return !text_palette;
    case PARAM_ROW_columns:
    case PARAM_ROW_spacing:
        return sheet && (moves || r->layers == LAYERS_SPLIT);
    case PARAM_ROW_margin:
    case PARAM_ROW_layers:
        return sheet;
    case PARAM_ROW_atlas:
        return r->format == FORMAT_ATLAS;
    case PARAM_ROW_seeds:
    case PARAM_ROW_sweep_x:
    case PARAM_ROW_sweep_y:
        return false;
    case PARAM_ROW_turns: /* at phase 0 nothing has turned yet */
        return turns && (moves || r->planet.phase_micro != 0);
    case PARAM_ROW_phase:
        return (turns && r->planet.turns != 0) || r->planet.palette_offset != 0;
    case PARAM_ROW_palette_offset:
        return (moves || r->planet.phase_micro != 0) &&
               (r->planet.layer == LAYER_COLOR || r->planet.layer == LAYER_EMISSION);
    case PARAM_ROW_light_elevation:
    case PARAM_ROW_shade_steps:
    case PARAM_ROW_terminator:
        return !(traits & BODY_SHINES);
    case PARAM_ROW_light_azimuth: /* from the viewer, or from behind, there is no side */
        return !(traits & BODY_SHINES) && r->planet.light_elevation_decideg != 900 &&
               r->planet.light_elevation_decideg != -900;
    case PARAM_ROW_shading: /* also of what shines: the defaults of dither and clean go by it */
    case PARAM_ROW_dither:
        return r->planet.layer == LAYER_COLOR || r->planet.layer == LAYER_LIGHT;
    case PARAM_ROW_min_light:
        return !(traits & BODY_SHINES) && r->planet.layer == LAYER_COLOR;
    case PARAM_ROW_clean:
    case PARAM_ROW_outline:
        return r->planet.layer == LAYER_COLOR;
    case PARAM_ROW_sea_level:
        return traits & BODY_HAS_HEIGHT;
    case PARAM_ROW_rivers:
        return traits & BODY_HAS_RIVERS;
    case PARAM_ROW_cloud_cover:
        return traits & BODY_HAS_CLOUDS;
    case PARAM_ROW_cloud_stretch:
        return clouds;
    case PARAM_ROW_cloud_ratio:
        return clouds && r->planet.turns != 0 && (moves || r->planet.phase_micro != 0);
    case PARAM_ROW_ice_caps:
        return traits & BODY_HAS_CAPS;
    case PARAM_ROW_rings:
    case PARAM_ROW_moons:
    case PARAM_ROW_atmosphere:
        return !(traits & BODY_FILLS_FRAME);
    case PARAM_ROW_ring_angle:
    case PARAM_ROW_ring_open:
        return r->rings != RINGS_OFF;
    default: /* the rest always counts: a parameter kept without need costs a cache hit, one left out a
                picture */
        return true;
    }
}

/* By hand, since each key is made of these and snprintf was a third of its time. */
static size_t number_text(int32_t value, int decimals, char *ret_text)
{
    uint32_t rest = value < 0 ? -(uint32_t)value : (uint32_t)value;
    char digits[16]; /* the last one first, as they come */
    int count = 0, at = 0;
    do {
        digits[count++] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest || count <= decimals); /* at least one before the point */
    if (value < 0)
        ret_text[at++] = '-';
    int last = 0;
    while (last < decimals && digits[last] == '0')
        last++;
    while (count > last) {
        if (count == decimals)
            ret_text[at++] = '.';
        ret_text[at++] = digits[--count];
    }
    ret_text[at] = '\0';
    return (size_t)at;
}

static size_t word_text(const char *word, char *ret_text)
{
    size_t len = strlen(word);
    assert(len < PARAM_TEXT_BYTES);
    memcpy(ret_text, word, len + 1);
    return len;
}

static size_t span_text(int32_t span, char *ret_text)
{
    int low = SPAN_LOW(span), high = SPAN_HIGH(span);
    return (size_t)(low == high ? snprintf(ret_text, PARAM_TEXT_BYTES, "%d", low)
                                : snprintf(ret_text, PARAM_TEXT_BYTES, "%d..%d", low, high));
}

size_t param_text(int i, int32_t value, char ret_text[PARAM_TEXT_BYTES])
{
    const struct param *p = &params[i];
    switch (p->kind) {
    case PARAM_NUMBER:
        return number_text(value, p->decimals, ret_text);
    case PARAM_CHOICE:
        return word_text(p->words[value], ret_text);
    case PARAM_COLOR:
        if (value < 0)
            return word_text(p->words[COLOR_WORD_OF(value)], ret_text);
        return (size_t)snprintf(ret_text, PARAM_TEXT_BYTES, "%06" PRIx32, (uint32_t)value & 0xffffff);
    case PARAM_SPAN:
        return span_text(value, ret_text);
    case PARAM_PALETTE:
    case PARAM_SEED:
    case PARAM_SWEEP:
        break;
    }
    ret_text[0] = '\0';
    return 0;
}

static void number_allowed(const struct param *p, char *ret_text)
{
    char low[PARAM_TEXT_BYTES], high[PARAM_TEXT_BYTES], step[PARAM_TEXT_BYTES];
    number_text(p->minimum, p->decimals, low);
    number_text(p->maximum, p->decimals, high);
    number_text(1, p->decimals, step);
    if (p->decimals)
        snprintf(ret_text, PARAM_ALLOWED_BYTES, "a number from %s to %s, rounded to steps of %s", low, high,
                 step);
    else
        snprintf(ret_text, PARAM_ALLOWED_BYTES, "a whole number from %s to %s", low, high);
}

static void color_allowed(const struct param *p, char *ret_text)
{
    size_t n = 0;
    for (int w = 0; w < COLOR_WORD_COUNT; w++)
        if (p->words[w])
            n += (size_t)snprintf(ret_text + n, PARAM_ALLOWED_BYTES - n, "%s%s", n ? ", " : "", p->words[w]);
    snprintf(ret_text + n, PARAM_ALLOWED_BYTES - n, " or a colour of 3 or 6 hex digits such as ff8800");
}

static void choice_allowed(int i, char *ret_text)
{
    const char *const *words = params[i].words;
    int last = 0;
    size_t n = 0;
    for (int w = 0; words[w]; w++)
        last = param_word_lacks(i, w) ? last : w;
    for (int w = 0; words[w]; w++) {
        if (param_word_lacks(i, w))
            continue;
        const char *glue = n == 0 ? "" : w < last ? ", " : " or ";
        n += (size_t)snprintf(ret_text + n, PARAM_ALLOWED_BYTES - n, "%s%s", glue, words[w]);
        assert(n < PARAM_ALLOWED_BYTES);
    }
}

void param_allowed(int i, char ret_text[PARAM_ALLOWED_BYTES])
{
    const struct param *p = &params[i];
    size_t n = 0;
    switch (p->kind) {
    case PARAM_NUMBER:
        number_allowed(p, ret_text);
        return;
    case PARAM_CHOICE:
        choice_allowed(i, ret_text);
        return;
    case PARAM_COLOR:
        color_allowed(p, ret_text);
        return;
    case PARAM_PALETTE:
        for (int s = 0; s < PALETTE_SOURCE_COUNT; s++)
            if (palettes_name(s))
                n += (size_t)snprintf(ret_text + n, PARAM_ALLOWED_BYTES - n, "%s, ", palettes_name(s));
        assert(n < PARAM_ALLOWED_BYTES - 64);
        snprintf(ret_text + n - 2, PARAM_ALLOWED_BYTES - n + 2,
                 " or 2 to %d colours with commas such as 203040,ffeedd", PALETTE_MAX);
        return;
    case PARAM_SWEEP:
        snprintf(ret_text, PARAM_ALLOWED_BYTES, "%s",
                 i == PARAM_ROW_seeds
                     ? "seeds with commas, ranges such as 1..24 among them"
                     : "a parameter and its values, such as tilt:-90..90:5 (five of them) or type:gas,moon");
        return;
    case PARAM_SPAN:
        snprintf(ret_text, PARAM_ALLOWED_BYTES,
                 "a range of 0 to 100 such as 65..75, 65.. or ..10, the smaller first, or a whole number");
        return;
    case PARAM_SEED:
        snprintf(ret_text, PARAM_ALLOWED_BYTES, "text of 1 to %d bytes without control characters",
                 SEED_MAX_BYTES);
        return;
    }
}
