/* openapi_params.c -- the parameters in the words of OpenAPI.
 *
 * What they allow comes from describe_types(), which has it from the table, so there is no second reading of
 * the table here. Only the examples are chosen by hand; each of them works alone, in every operation that has
 * the parameter, and tests/http/test_openapi.py asks for all of them. Threads: any. */
#include <stdio.h>
#include <string.h>

#include "api/code.h"
#include "api/openapi_parts.h"
#include "api/params.h"
#include "renderer/base/attr.h"
#include "renderer/bodies.h"

#define EXAMPLES_MAX 4

static const char *const examples[PARAM_ROW_COUNT][EXAMPLES_MAX] = {
    [PARAM_ROW_type] = {"gas", "lava", "random"},
    [PARAM_ROW_seed] = {"3", "my save file", "\xc3\x86r\xc3\xb8 #7"},
    [PARAM_ROW_format] = {"png", "gif", "sheet", "json"},
    [PARAM_ROW_pixels] = {"32", "128"},
    [PARAM_ROW_zoom] = {"2"},
    [PARAM_ROW_frames] = {"1"},
    [PARAM_ROW_fps] = {"25"},
    [PARAM_ROW_turns] = {"-1"},
    [PARAM_ROW_phase] = {"0.25"},
    [PARAM_ROW_loops] = {"1"},
    [PARAM_ROW_light_azimuth] = {"-45", "22.5"},
    [PARAM_ROW_light_elevation] = {"10"},
    [PARAM_ROW_shade_steps] = {"5"},
    [PARAM_ROW_scale] = {"3.25"},
    [PARAM_ROW_sea_level] = {"0.6"},
    [PARAM_ROW_rivers] = {"0.6"},
    [PARAM_ROW_cloud_cover] = {"0.35"},
    [PARAM_ROW_cloud_stretch] = {"2.5"},
    [PARAM_ROW_cloud_ratio] = {"1"},
    [PARAM_ROW_ice_caps] = {"0.4"},
    [PARAM_ROW_tilt] = {"-20.5"},
    [PARAM_ROW_rings] = {"on", "auto"},
    [PARAM_ROW_ring_angle] = {"-15"},
    [PARAM_ROW_ring_open] = {"0.5"},
    [PARAM_ROW_roll] = {"30"},
    [PARAM_ROW_atmosphere] = {"off", "ff8800"},
    [PARAM_ROW_background] = {"none", "#000020", "stars", "nebula"},
    [PARAM_ROW_palette] = {"203040,607080,ffeedd", "pico8"},
    [PARAM_ROW_layer] = {"depth", "light"},
    [PARAM_ROW_columns] = {"6"},
    [PARAM_ROW_margin] = {"1"},
    [PARAM_ROW_spacing] = {"2"},
    [PARAM_ROW_atlas] = {"aseprite"},
    [PARAM_ROW_colors] = {"16"},
    [PARAM_ROW_shading] = {"ramp"},
    [PARAM_ROW_dither] = {"bayer4"},
    [PARAM_ROW_clean] = {"on"},
    [PARAM_ROW_min_light] = {"0.2"},
    [PARAM_ROW_outline] = {"none", "101018"},
    [PARAM_ROW_terminator] = {"exact"},
    [PARAM_ROW_moons] = {"2"},
    [PARAM_ROW_palette_offset] = {"2"},
    [PARAM_ROW_layers] = {"split"},
    [PARAM_ROW_seeds] = {"1..6", "1,2,home"},
    [PARAM_ROW_sweep_x] = {"tilt:-60..60:3"},
    [PARAM_ROW_sweep_y] = {"type:gas,moon"},
    [PARAM_ROW_count] = {"3"},
    [PARAM_ROW_from] = {"1000"},
    [PARAM_ROW_ocean] = {"40..50", "55"},
    [PARAM_ROW_land] = {"..45"},
    [PARAM_ROW_caps] = {"10.."},
    [PARAM_ROW_clouds] = {"10..20"},
    [PARAM_ROW_rev] = {"1"},
};

#define SPAN_PATTERN  "^([0-9]{1,3}(\\.\\.([0-9]{1,3})?)?|\\.\\.[0-9]{1,3})$"
#define COLOR_PATTERN "#?([0-9A-Fa-f]{3}|[0-9A-Fa-f]{6})"

/* A member of a row of /types as text; "" when it has none. */
static const char *text_of(const json_t *row, const char *name)
{
    const char *text = json_string_value(json_object_get(row, name));
    return text ? text : "";
}

static const json_t *row_named(const json_t *rows, const char *name)
{
    const json_t *row;
    size_t i;
    json_array_foreach(rows, i, row)
    {
        if (!strcmp(text_of(row, "name"), name))
            return row;
    }
    return NULL;
}

#define BODIES_BYTES 256

/* " Changes only gas, moon." for a parameter that some bodies don't heed, else "". */
static const char *bodies_words(const json_t *row, char ret_text[BODIES_BYTES])
{
    const json_t *named = json_object_get(row, "bodies"), *body;
    size_t i, len = 0;
    ret_text[0] = '\0';
    if (json_array_size(named) == BODY_COUNT)
        return ret_text;
    json_array_foreach(named, i, body)
    {
        const char *end = i + 1 == json_array_size(named) ? "." : "";
        int n = snprintf(ret_text + len, BODIES_BYTES - len, "%s%s%s", i ? ", " : " Changes only ",
                         json_string_value(body), end);
        len += n > 0 && (size_t)n < BODIES_BYTES - len ? (size_t)n : 0;
    }
    return ret_text;
}

static json_t *description(const json_t *row)
{
    const char *unit = text_of(row, "unit"), *note = text_of(row, "default_note");
    char named[BODIES_BYTES];
    return json_sprintf("%s. Allowed: %s%s%s.%s%s%s%s", text_of(row, "help"), text_of(row, "allowed"),
                        *unit ? ", " : "", unit, *note ? " Default: " : "", note, *note ? "." : "",
                        bodies_words(row, named));
}

static json_t *color_pattern(const struct param *p)
{
    char words[64] = "";
    size_t n = 0;
    for (int w = 0; w < COLOR_WORD_COUNT; w++)
        if (p->words[w])
            n += (size_t)snprintf(words + n, sizeof words - n, "%s|", p->words[w]);
    return json_sprintf("^(%s" COLOR_PATTERN ")$", words);
}

/* What the kind allows, as JSON Schema. A number with decimals is rounded to its step and not refused off it,
 * so that is no multipleOf. */
static json_t *kind_schema(int i, const json_t *row)
{
    const struct param *p = &params[i];
    switch (p->kind) {
    case PARAM_NUMBER:
        return json_pack("{s:s, s:O, s:O, s:O*}", "type", p->decimals ? "number" : "integer", "minimum",
                         json_object_get(row, "minimum"), "maximum", json_object_get(row, "maximum"),
                         "x-step", p->decimals ? json_object_get(row, "step") : NULL);
    case PARAM_CHOICE:
        return json_pack("{s:s, s:O}", "type", "string", "enum", json_object_get(row, "words"));
    case PARAM_COLOR:
        return json_pack("{s:s, s:o}", "type", "string", "pattern", color_pattern(p));
    case PARAM_PALETTE:
        return json_pack("{s:s, s:[{s:O}, {s:o}]}", "type", "string", "anyOf", "enum",
                         json_object_get(row, "words"), "pattern",
                         json_sprintf("^" COLOR_PATTERN "(," COLOR_PATTERN "){1,%d}$", PALETTE_MAX - 1));
    case PARAM_SPAN:
        return json_pack("{s:s, s:s}", "type", "string", "pattern", SPAN_PATTERN);
    case PARAM_SWEEP:
        return json_pack("{s:s, s:i, s:i, s:s}", "type", "string", "minLength", 1, "maxLength",
                         SWEEP_BYTES - 1, "pattern", "^[0-9A-Za-z._~,:-]+$");
    case PARAM_SEED:
        return json_pack("{s:s, s:i, s:i, s:s}", "type", "string", "minLength", 1, "maxLength",
                         SEED_MAX_BYTES, "pattern", "^[^\\u0000-\\u001F\\u007F-\\u009F]+$");
    }
    return NULL;
}

json_t *openapi_params_schemas(const json_t *rows)
{
    json_t *out = json_object();
    for (int i = 0; i < param_count; i++) {
        const json_t *row = row_named(rows, params[i].name);
        json_t *schema = kind_schema(i, row);
        bool always = !*text_of(row, "default_note"); /* else the default depends on something */
        if (always)
            json_object_set(schema, "default", json_object_get(row, "default"));
        if (*params[i].unit)
            json_object_set_new(schema, "x-unit", json_string(params[i].unit));
        if (json_object_set_new(schema, "description", description(row)) ||
            json_object_set_new(out, params[i].name, schema)) {
            json_decref(out);
            return NULL;
        }
    }
    return out;
}

static json_t *schema_ref(const char *name)
{
    return json_pack("{s:o}", "$ref", json_sprintf("#/components/schemas/%s", name));
}

static json_t *example_value(int i, const char *text)
{
    return params[i].kind == PARAM_NUMBER ? json_loads(text, JSON_DECODE_ANY, NULL) : json_string(text);
}

static json_t *examples_of(int i)
{
    json_t *out = json_object();
    for (int e = 0; e < EXAMPLES_MAX && examples[i][e]; e++)
        json_object_set_new(out, examples[i][e],
                            json_pack("{s:o}", "value", example_value(i, examples[i][e])));
    return out;
}

static const char code_help[] = "A share code, as the facts of a picture have it (`pictures`). It stands for "
                                "all parameters, format and revision "
                                "included, and goes with no other.";

static json_t *code_schema(void)
{
    return json_pack("{s:s, s:i, s:s}", "type", "string", "maxLength", CODE_MAX_BYTES - 1, "pattern",
                     "^[0-9A-Za-z-]+$");
}

/* Of a gas giant. */
static json_t *code_example(void)
{
    struct request r;
    struct request_fault fault;
    char code[CODE_MAX_BYTES];
    request_init(&r);
    r.type = BODY_GAS;
    if (request_finish(&r, &fault))
        return NULL;
    code_make(&r, code);
    return json_string(code);
}

json_t *openapi_params_components(const json_t *rows)
{
    json_t *out = json_object();
    for (int i = 0; i < param_count; i++) {
        const json_t *row = row_named(rows, params[i].name);
        json_object_set_new(out, params[i].name,
                            json_pack("{s:s, s:s, s:o, s:o, s:o}", "name", params[i].name, "in", "query",
                                      "description", description(row), "schema", schema_ref(params[i].name),
                                      "examples", examples_of(i)));
    }
    json_object_set_new(
        out, "If-None-Match",
        json_pack("{s:s, s:s, s:s, s:{s:s}, s:s}", "name", "If-None-Match", "in", "header", "description",
                  "Tags that the client has; 304 when the answer has one of them. Costs no render.", "schema",
                  "type", "string", "example", "\"0123456789abcdef\""));
    json_object_set_new(out, "code",
                        json_pack("{s:s, s:s, s:s, s:o, s:o}", "name", "code", "in", "query", "description",
                                  code_help, "schema", code_schema(), "example", code_example()));
    return out;
}

json_t *openapi_params_body(void)
{
    json_t *properties = json_object();
    for (int i = 0; i < param_count; i++) {
        json_t *ref = schema_ref(params[i].name);
        if (params[i].kind == PARAM_SEED)
            ref = json_pack("{s:[o, {s:s}]}", "anyOf", ref, "type", "integer");
        else if (params[i].kind == PARAM_PALETTE)
            ref = json_pack("{s:[o, {s:s, s:{s:s, s:s}, s:i, s:i}]}", "anyOf", ref, "type", "array", "items",
                            "type", "string", "pattern", "^" COLOR_PATTERN "$", "minItems", 2, "maxItems",
                            PALETTE_MAX);
        else if (params[i].kind == PARAM_SPAN)
            ref = json_pack("{s:[o, {s:s, s:i, s:i}]}", "anyOf", ref, "type", "integer", "minimum", 0,
                            "maximum", 100);
        else if (i == PARAM_ROW_rings || i == PARAM_ROW_clean)
            ref = json_pack("{s:[o, {s:s}]}", "anyOf", ref, "type", "boolean");
        json_object_set_new(properties, params[i].name, ref);
    }
    json_object_set_new(properties, "code", code_schema());
    return json_pack("{s:s, s:s, s:o, s:b}", "type", "object", "description",
                     "The parameters by name; what is left out has its default.", "properties", properties,
                     "additionalProperties", 0);
}

json_t *openapi_params_refs(const struct encoder *format, bool type_and_seed_given)
{
    json_t *out = json_array();
    bool palette = format == &encoders[FORMAT_PALETTE] || format == &encoders[FORMAT_GPL] ||
                   format == &encoders[FORMAT_HEX],
         search = format == &encoders[FORMAT_FIND];
    for (int i = 0; i < param_count; i++) {
        bool in_path = (i == PARAM_ROW_format && format) ||
                       ((i == PARAM_ROW_type || i == PARAM_ROW_seed) && type_and_seed_given);
        bool color_alone = (palette || search) && i == PARAM_ROW_layer;
        bool elsewhere = params[i].kind == PARAM_SPAN && !search; /* refused there */
        if (!in_path && !color_alone && !elsewhere)
            json_array_append_new(
                out, json_pack("{s:o}", "$ref", json_sprintf("#/components/parameters/%s", params[i].name)));
    }
    if (!format)
        json_array_append_new(out, json_pack("{s:s}", "$ref", "#/components/parameters/code"));
    json_array_append_new(out, json_pack("{s:s}", "$ref", "#/components/parameters/If-None-Match"));
    return out;
}

json_t *openapi_params_in_path(void)
{
    static const int rows[] = {PARAM_ROW_type, PARAM_ROW_seed};
    json_t *out = json_array();
    for (size_t k = 0; k < ARRAY_LEN(rows); k++)
        json_array_append_new(out,
                              json_pack("{s:s, s:s, s:b, s:s, s:o, s:o}", "name", params[rows[k]].name, "in",
                                        "path", "required", 1, "description", params[rows[k]].help, "schema",
                                        schema_ref(params[rows[k]].name), "examples", examples_of(rows[k])));
    return out;
}
