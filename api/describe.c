/* describe.c -- the service described by its own tables, so that no description can lag behind what the
 * parser does. Threads: any. */
#include "api/describe.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "api/json_out.h"
#include "api/params.h"
#include "api/request.h"
#include "api/version.h"
#include "renderer/bodies.h"
#include "renderer/encode/encoder.h"
#include "renderer/palettes.h"
#include "renderer/renderer.h"

static const struct {
    enum body_trait trait;
    const char *name;
} trait_names[] = {
    {BODY_HAS_HEIGHT, "height"},       {BODY_HAS_CLOUDS, "clouds"},
    {BODY_HAS_CAPS, "caps"},           {BODY_HAS_AIR, "air"},
    {BODY_HAS_CRATERS, "craters"},     {BODY_HAS_BANDS, "bands"},
    {BODY_FILLS_FRAME, "fills_frame"}, {BODY_SHINES, "shines"},
};

static const char *kind_name(enum param_kind kind)
{
    switch (kind) {
    case PARAM_NUMBER:
        return "number";
    case PARAM_CHOICE:
        return "choice";
    case PARAM_COLOR:
        return "color";
    case PARAM_PALETTE:
        return "palette";
    case PARAM_SPAN:
        return "span";
    case PARAM_SEED:
        return "text";
    case PARAM_SWEEP:
        return "sweep";
    }
    return "";
}

static json_t *color_json(uint32_t rgb)
{
    return json_sprintf("%06" PRIx32, rgb & 0xffffff);
}

/* A request of this type as people ask for it, all defaults. */
static struct request plain_request(int body)
{
    struct request r;
    struct request_fault fault = {0};
    request_init(&r);
    r.type = body;
    if (request_finish(&r, &fault))
        request_init(&r); /* cannot be: the defaults are a picture, tests/unit/test_params.c */
    return r;
}

/* A request of this type in which as much as possible is there to be changed. */
static struct request rich_request(int body)
{
    struct request r = plain_request(body);
    r.format = FORMAT_GIF;
    r.rings = RINGS_ON;
    r.planet.rings = 1;
    r.planet.frames = param_default(PARAM_ROW_frames, &r);
    return r;
}

/* Whether row `i` can change some file of this type. */
static bool can_matter(int i, int body)
{
    struct request r = rich_request(body), atlas = r, contact = r, find = r;
    atlas.format = FORMAT_ATLAS;
    find.format = FORMAT_FIND;
    contact.format = FORMAT_CONTACT;
    if (params[i].kind == PARAM_SWEEP)
        return param_matters(i, &contact);
    return param_matters(i, &r) || param_matters(i, &atlas) || param_matters(i, &find);
}

/* The default of row `i` for this settled request: a number where the row is one, else a word. */
static json_t *default_json(int i, const struct request *r)
{
    char text[PARAM_TEXT_BYTES];
    switch (params[i].kind) {
    case PARAM_NUMBER:
        return json_steps(param_default(i, r), params[i].decimals);
    case PARAM_CHOICE:
    case PARAM_COLOR:
    case PARAM_SPAN:
        param_text(i, param_default(i, r), text);
        return json_string(text);
    case PARAM_PALETTE:
    case PARAM_SEED:
    case PARAM_SWEEP:
        break;
    }
    return json_string(params[i].default_text);
}

/* What the table says of a default beyond its value in the plain case: "by body"; else "". */
static const char *default_note(int i, const struct request *r)
{
    char text[PARAM_TEXT_BYTES];
    if (params[i].kind == PARAM_SWEEP)
        return params[i].default_text;
    if (params[i].kind == PARAM_PALETTE || params[i].kind == PARAM_SEED)
        return "";
    param_text(i, param_default(i, r), text);
    return strcmp(text, params[i].default_text) ? params[i].default_text : "";
}

/* Those of the parameters that can change something about this body and have a default that can be said: no
 * sweep is none at all. */
static json_t *defaults_json(int body)
{
    struct request plain = plain_request(body);
    json_t *out = json_object();
    for (int i = 0; i < param_count; i++)
        if (i != PARAM_ROW_type && i != PARAM_ROW_seed && params[i].kind != PARAM_SWEEP &&
            can_matter(i, body))
            json_object_set_new(out, params[i].name, default_json(i, &plain));
    return out;
}

static json_t *layers_json(int body)
{
    json_t *out = json_array();
    for (int layer = 0; layer < LAYER_COUNT; layer++)
        if (request_body_has_layer(body, layer))
            json_array_append_new(out, json_string(params[PARAM_ROW_layer].words[layer]));
    return out;
}

static json_t *body_json(int body)
{
    const struct body_info *b = &bodies[body];
    json_t *traits = json_array(), *palette = json_array(), *out = json_object();
    for (size_t t = 0; t < ARRAY_LEN(trait_names); t++)
        if (b->traits & trait_names[t].trait)
            json_array_append_new(traits, json_string(trait_names[t].name));
    for (int s = 0; s < b->steps; s++)
        json_array_append_new(palette, color_json(b->ramp[s]));
    json_object_set_new(out, "name", json_string(b->name));
    json_object_set_new(out, "summary", json_string(b->summary));
    json_object_set_new(out, "traits", traits);
    json_object_set_new(out, "layers", layers_json(body));
    json_object_set_new(out, "palette", palette);
    json_object_set_new(out, "atmosphere",
                        b->traits & BODY_HAS_AIR ? color_json(b->atmosphere) : json_null());
    json_object_set_new(out, "defaults", defaults_json(body));
    return out;
}

static json_t *words_json(int i)
{
    const struct param *p = &params[i];
    json_t *out = json_array();
    for (int w = 0; p->kind == PARAM_CHOICE && p->words[w]; w++)
        if (!param_word_lacks(i, w))
            json_array_append_new(out, json_string(p->words[w]));
    if (p->kind == PARAM_COLOR)
        for (int w = 0; w < COLOR_WORD_COUNT; w++)
            if (p->words[w])
                json_array_append_new(out, json_string(p->words[w]));
    if (p->kind == PARAM_PALETTE)
        for (int s = 0; s < PALETTE_SOURCE_COUNT; s++)
            if (palettes_name(s))
                json_array_append_new(out, json_string(palettes_name(s)));
    return out;
}

static json_t *param_json(int i)
{
    const struct param *p = &params[i];
    char allowed[PARAM_ALLOWED_BYTES];
    json_t *matters = json_array(), *out = json_object();
    param_allowed(i, allowed);
    for (int b = 0; b < BODY_COUNT; b++)
        if (can_matter(i, b))
            json_array_append_new(matters, json_string(bodies[b].name));
    json_object_set_new(out, "name", json_string(p->name));
    json_object_set_new(out, "kind", json_string(kind_name(p->kind)));
    if (p->kind == PARAM_NUMBER) {
        json_object_set_new(out, "minimum", json_steps(p->minimum, p->decimals));
        json_object_set_new(out, "maximum", json_steps(p->maximum, p->decimals));
        json_object_set_new(out, "step", json_steps(1, p->decimals));
    } else {
        json_object_set_new(out, "words", words_json(i));
    }
    const struct request plain = plain_request(BODY_TERRESTRIAL);
    json_object_set_new(out, "default", default_json(i, &plain));
    json_object_set_new(out, "default_note", json_string(default_note(i, &plain)));
    json_object_set_new(out, "default_by_body", json_boolean(param_by_body(i)));
    json_object_set_new(out, "unit", json_string(p->unit));
    json_object_set_new(out, "allowed", json_string(allowed));
    json_object_set_new(out, "help", json_string(p->help));
    json_object_set_new(out, "bodies", matters);
    return out;
}

enum err describe_types(struct blob *out)
{
    json_t *root = json_object(), *types = json_array(), *rows = json_array(), *limits = json_object();
    for (int b = 0; b < BODY_COUNT; b++)
        json_array_append_new(types, body_json(b));
    for (int i = 0; i < param_count; i++)
        json_array_append_new(rows, param_json(i));
    json_object_set_new(limits, "picture_pixels", json_integer(PICTURE_PIXELS_MAX));
    json_object_set_new(limits, "seed_bytes", json_integer(SEED_MAX_BYTES));
    json_object_set_new(limits, "palette_colors", json_integer(PALETTE_MAX));
    json_object_set_new(root, "revision", json_integer(RENDERER_REVISION));
    json_object_set_new(root, "bodies", types);
    json_object_set_new(root, "parameters", rows);
    json_object_set_new(root, "limits", limits);
    return json_out(root, out);
}

enum err describe_version(struct blob *out)
{
    json_t *root = json_object();
    json_object_set_new(root, "name", json_string("planetd"));
    json_object_set_new(root, "version", json_string(PLANETD_VERSION));
    json_object_set_new(root, "revision", json_integer(RENDERER_REVISION));
    json_object_set_new(root, "libraries", json_string(encoder_libraries()));
    return json_out(root, out);
}

static enum err add_text(struct blob *out, const char *text)
{
    return blob_append(out, text, strlen(text));
}

enum err describe_markdown(struct blob *out)
{
    enum err err =
        add_text(out, "| parameter | values | default | what it is |\n| --- | --- | --- | --- |\n");
    for (int i = 0; i < param_count && !err; i++) {
        const struct param *p = &params[i];
        char allowed[PARAM_ALLOWED_BYTES], row[PARAM_ALLOWED_BYTES + 320];
        param_allowed(i, allowed);
        snprintf(row, sizeof row, "| `%s` | %s%s%s | %s | %s |\n", p->name, allowed, p->unit[0] ? ", " : "",
                 p->unit, p->default_text, p->help);
        err = add_text(out, row);
    }
    return err;
}
