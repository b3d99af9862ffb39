/* facts.c -- the document of format=json.
 *
 * Whatever a program wants to know of a picture before or instead of decoding it: what each parameter came
 * to, how the same body is asked for as a picture, where disc, rings and light are, which colours there are.
 * Counts are of the first frame's codes (renderer/census.h). Lengths are in pixels of the file, so zoom
 * counts. Threads: any. */
#include "api/facts.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/code.h"
#include "api/json_out.h"
#include "api/key.h"
#include "api/params.h"
#include "renderer/bodies.h"
#include "renderer/census.h"
#include "renderer/renderer.h"

#define LENGTH_STEPS 1000.0  /* a thousandth of a pixel */
#define SHARE_STEPS  10000.0 /* a hundredth of a percent */

struct request facts_picture(const struct request *r, enum format format)
{
    struct request out = *r;
    struct request_fault fault;
    out.format = (int32_t)format;
    if (!encoders[format].animated)
        param_put(PARAM_ROW_frames, &out, 1);
    if (request_finish(&out, &fault)) /* cannot be: it has no more pixels than the one that was finished */
        return *r;
    return out;
}

static json_t *rounded(double value, double steps)
{
    return json_real(round(value * steps) / steps + 0.0); /* no -0.0 */
}

static json_t *color_text(uint32_t rgb)
{
    return json_sprintf("%06x", rgb & 0xffffff);
}

static json_t *palette_json(const struct request *r)
{
    if (!r->planet.palette_count)
        return json_string("auto");
    json_t *out = json_array();
    for (int i = 0; i < r->planet.palette_count; i++)
        json_array_append_new(out, color_text(r->planet.palette[i]));
    return out;
}

static json_t *value_json(const struct request *r, int i)
{
    char text[PARAM_TEXT_BYTES];
    switch (params[i].kind) {
    case PARAM_NUMBER:
        return json_steps(param_get(i, r), params[i].decimals);
    case PARAM_CHOICE:
    case PARAM_COLOR:
        param_text(i, param_get(i, r), text);
        return json_string(text);
    case PARAM_PALETTE:
        return palette_json(r);
    case PARAM_SWEEP: /* of a contact sheet and of a search, which have no facts */
    case PARAM_SPAN:
    case PARAM_SEED:
        break;
    }
    return json_stringn(r->seed, r->seed_len);
}

json_t *facts_request(const struct request *r)
{
    json_t *out = json_object();
    for (int i = 0; i < param_count; i++)
        if (params[i].kind != PARAM_SWEEP && !param_searches(i))
            json_object_set_new(out, params[i].name, value_json(r, i));
        else if (params[i].kind == PARAM_SWEEP && *param_sweep_const(i, r))
            json_object_set_new(out, params[i].name, json_string(param_sweep_const(i, r)));
    return out;
}

static json_t *pictures_json(const struct request *r)
{
    json_t *out = json_object();
    for (int f = 0; f < FORMAT_COUNT; f++) {
        if (!encoders[f].encode)
            continue;
        struct request picture = facts_picture(r, (enum format)f);
        struct key key;
        char code[CODE_MAX_BYTES];
        key_make(&picture, &key);
        code_make(&picture, code);
        json_object_set_new(out, encoders[f].name,
                            json_pack("{s:o, s:s, s:s}", "url", json_sprintf("/planet?%s", key.text), "key",
                                      key.text, "code", code));
    }
    return out;
}

static json_t *disc_json(const struct census_place *p, int zoom)
{
    if (p->radius == 0)
        return json_null();
    return json_pack("{s:o, s:o, s:o}", "x", rounded(p->x * zoom, LENGTH_STEPS), "y",
                     rounded(p->y * zoom, LENGTH_STEPS), "radius", rounded(p->radius * zoom, LENGTH_STEPS));
}

static json_t *rings_json(const struct census_place *p, int zoom)
{
    if (p->ring_outer == 0)
        return json_null();
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "x", rounded(p->x * zoom, LENGTH_STEPS), "y",
                     rounded(p->y * zoom, LENGTH_STEPS), "inner", rounded(p->ring_inner * zoom, LENGTH_STEPS),
                     "outer", rounded(p->ring_outer * zoom, LENGTH_STEPS), "open",
                     rounded(p->ring_open, LENGTH_STEPS), "angle", rounded(p->ring_angle_deg, LENGTH_STEPS));
}

static json_t *light_json(const struct census_place *p)
{
    if (p->light_x == 0 && p->light_y == 0 && p->light_z == 0)
        return json_null();
    return json_pack("{s:o, s:o, s:o}", "x", rounded(p->light_x, SHARE_STEPS), "y",
                     rounded(p->light_y, SHARE_STEPS), "z", rounded(p->light_z, SHARE_STEPS));
}

static void add_share(json_t *out, bool there, const char *name, uint32_t part, uint32_t whole)
{
    if (there && whole)
        json_object_set_new(out, name, rounded((double)part / whole, SHARE_STEPS));
}

json_t *facts_shares(const struct request *r, const struct census *c)
{
    struct census_has has = census_has(&r->planet);
    json_t *out = json_object();
    add_share(out, r->planet.layer == LAYER_COLOR, "body", c->body, c->frame);
    add_share(out, has.sea, "sea", c->sea, c->body);
    add_share(out, has.ground, "land", c->land, c->body);
    add_share(out, has.cap, "cap", c->cap, c->body);
    add_share(out, has.cloud, "cloud", c->cloud, c->body);
    add_share(out, has.night, "night", c->night, c->body);
    return out;
}

struct color_count {
    uint32_t color, count, index;
};

/* Most first; of equals, the one that was met first. */
static int compare_counts(const void *a, const void *b)
{
    const struct color_count *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static json_t *colors_json(const struct frame_set *frames)
{
    size_t pixels = (size_t)frames->side * (size_t)frames->side;
    struct color_count *counts = calloc((size_t)frames->color_count, sizeof(*counts));
    json_t *out = json_array();
    if (!counts) {
        json_decref(out);
        return NULL;
    }
    for (int i = 0; i < frames->color_count; i++)
        counts[i] = (struct color_count){frames->colors[i], 0, (uint32_t)i};
    for (size_t i = 0; i < pixels; i++)
        counts[frames->index[i]].count++;
    qsort(counts, (size_t)frames->color_count, sizeof(*counts), compare_counts);
    for (int i = 0; i < frames->color_count && i < FACTS_COLORS_MAX && counts[i].count; i++) {
        uint32_t c = counts[i].color;
        uint32_t rgb = (uint32_t)RGBA_R(c) << 16 | (uint32_t)RGBA_G(c) << 8 | RGBA_B(c);
        json_array_append_new(out, json_pack("{s:o, s:i, s:o}", "color", color_text(rgb), "alpha",
                                             (int)RGBA_A(c), "share",
                                             rounded((double)counts[i].count / (double)pixels, SHARE_STEPS)));
    }
    free(counts);
    return out;
}

enum err facts_write(const struct request *r, const struct frame_set *frames, struct blob *out)
{
    const struct body_info *body = &bodies[r->planet.body];
    struct key key;
    struct census census;
    struct census_place place;
    char alt[FACTS_ALT_BYTES];
    key_make(r, &key);
    census_count(&r->planet, frames, &census);
    census_place(&r->planet, &place);
    facts_alt(r, frames, alt);
    double loop = r->planet.frames > 1 ? (double)r->planet.frames / r->fps : 0;
    json_t *root = json_pack(
        "{s:s, s:i, s:s, s:o, s:o, s:{s:s, s:s}, s:{s:i, s:i}, s:o, s:o, s:o, s:o, s:o, s:i, s:o}", "alt",
        alt, "revision", RENDERER_REVISION, "key", key.text, "request", facts_request(r), "pictures",
        pictures_json(r), "body", "name", body->name, "summary", body->summary, /* */
        "size", "width", (int)(r->planet.pixels * r->zoom), "height", (int)(r->planet.pixels * r->zoom),
        "loop_seconds", rounded(loop, LENGTH_STEPS), "disc", disc_json(&place, r->zoom), "rings",
        rings_json(&place, r->zoom), "light", light_json(&place), "shares", facts_shares(r, &census),
        "color_count", frames->color_count, "colors", colors_json(frames));
    return json_out(root, out);
}
