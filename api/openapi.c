/* openapi.c -- the OpenAPI 3.1 document: addresses and operations; openapi_params.c and openapi_answers.c
 * have the rest.
 *
 * All that the code has a table for comes from the table. The addresses stand here a second time, because
 * routes belong to the server, which this layer does not know; tests/unit/test_openapi.c compares the two.
 * The same binary always writes the same bytes. Threads: any. */
#include "api/openapi.h"

#include <stdio.h>
#include <string.h>

#include "api/batch.h"
#include "api/describe.h"
#include "api/openapi_parts.h"
#include "api/version.h"
#include "renderer/encode/encoder.h"

#define REAL_DIGITS    10 /* as in api/json_out.c */
#define EXAMPLES_MAX   3
#define PICTURE        (OPENAPI_ANY | OPENAPI_PICTURE)
#define PICTURE_BY_ANY (PICTURE | OPENAPI_NEGOTIATES)

static const char introduction[] = "Draws procedural pixel-art planets. The same URL gives the same bytes, "
                                   "whatever draws it and however often it is "
                                   "asked.\n\n"
                                   "Numbers are rounded to their step (`x-step`). Order and spelling of "
                                   "parameters make no difference. A parameter "
                                   "that can't change this picture is ignored; one that contradicts it, an "
                                   "unknown name or a name given twice is "
                                   "refused. Errors are `application/problem+json` and never cached. Every "
                                   "address answers OPTIONS, and allows any "
                                   "page to read it (CORS).\n\n"
                                   "`x-examples` of an operation are targets that work as they stand.";

static const char signature_help[] =
    "Only where the service is started with `--sign-keys`: HMAC-SHA256 of path and query in canonical form "
    "(pairs "
    "sorted, needless %XX decoded, other %XX in capitals, + as %20), and of a newline and the body where "
    "something is "
    "posted; base64url. `planet sign` makes it. Wrong or missing: 403 `signature`.";

static const char expires_help[] = "Optional end of a signed URL: Unix time in seconds, the last one that is "
                                   "good. It is signed like any other pair. "
                                   "Later: 403 `expired`.";

static const char *const picture_headers[] = {
    "ETag", "Cache-Control", "Content-Disposition", "X-Cache", "Server-Timing", "X-Request-Id", NULL};
static const char *const negotiated_headers[] = {"ETag", "Cache-Control", "Content-Disposition", "X-Cache",
                                                 "Vary", "Server-Timing", "X-Request-Id",        NULL};
static const char *const unchanged_headers[] = {"ETag", "Cache-Control", "X-Request-Id", NULL};
static const char *const batch_headers[] = {"Cache-Control", "Vary", "X-Request-Id", NULL};
static const char *const index_headers[] = {"Cache-Control", "Vary", "X-Request-Id", NULL};
static const char *const file_headers[] = {"ETag", "Cache-Control", "Vary", "X-Request-Id", NULL};
static const char *const document_headers[] = {"Cache-Control", "X-Request-Id", NULL};

/* An address of pictures. In paths, names and examples %s stands for each format in turn. */
static const struct picture_doc {
    const char *path, *name, *summary;
    bool each_format, in_path;
    const char *targets[EXAMPLES_MAX];
    const struct encoder *format; /* the only one of an address of its own; NULL */
} pictures[] = {
    {"/planet",
     "planet",
     "A planet, in the format that `format` or Accept chooses",
     false,
     false,
     {"/planet?type=gas&seed=3", "/planet?type=terrestrial&seed=7&rings=on&format=gif&frames=24",
      "/planet?type=moon&seed=a%20b&layer=craters&zoom=4"},
     NULL},
    {"/planet.%s",
     "planet_%s",
     "A planet as %s",
     true,
     false,
     {"/planet.%s?type=lava&seed=42", "/planet.%s?type=ice&seed=5&pixels=32&palette=203040,ffeedd"},
     NULL},
    {"/planet/{type}/{seed}.%s",
     "planet_by_path_%s",
     "A planet as %s, type and seed in the path",
     true,
     true,
     {"/planet/gas/3.%s", "/planet/terrestrial/my%20save.%s?pixels=48&tilt=-12.5"},
     NULL},
    {"/sheet.png",
     "sheet",
     "All frames of the loop side by side",
     false,
     false,
     {"/sheet.png?type=gas&seed=3&frames=12", "/sheet.png?type=moon&frames=7&columns=3&margin=1&spacing=2"},
     &encoders[FORMAT_SHEET]},
    {"/sheet.json",
     "sheet_atlas",
     "Where the frames stand in the sheet of the same parameters, in the form of TexturePacker or Aseprite",
     false,
     false,
     {"/sheet.json?type=gas&seed=3&frames=12", "/sheet.json?type=moon&frames=7&columns=3&atlas=aseprite"},
     &encoders[FORMAT_ATLAS]},
    {"/palette.png",
     "palette",
     "The colours of all frames, a square for each, by what they are the colour of and from dark to light",
     false,
     false,
     {"/palette.png?type=gas&seed=3", "/palette.png?type=moon&frames=1&zoom=8"},
     &encoders[FORMAT_PALETTE]},
    {"/contact.png",
     "contact",
     "Up to 64 planets with labels: many seeds, or one or two parameters swept",
     false,
     false,
     {"/contact.png?type=ice&pixels=32&seeds=1..8,home",
      "/contact.png?pixels=32&sweep_x=tilt:-60..60:3&sweep_y=sea_level:0.3,0.6"},
     &encoders[FORMAT_CONTACT]},
    {"/contact",
     "contact_short",
     "The same as /contact.png",
     false,
     false,
     {"/contact?pixels=16&sweep_x=type:gas,moon&seeds=1..3"},
     &encoders[FORMAT_CONTACT]},
    {"/find",
     "find",
     "Seeds whose picture has so much sea, land, caps, clouds; at most 256 are tried",
     false,
     false,
     {"/find?type=terrestrial&ocean=55..60&rings=off&count=3",
      "/find?type=ice&caps=12..&clouds=..4&from=1000", "/find?type=lava&ocean=50&pixels=32"},
     &encoders[FORMAT_FIND]},
};

/* An address that is no picture. `schema` is NULL for plain text. */
static const struct document_doc {
    const char *path, *name, *summary, *schema;
    bool maybe_not; /* 503 with the same document */
} documents[] = {
    {"/healthz", "health", "Whether the process answers", NULL, false},
    {"/readyz", "ready", "Whether it can draw, and with what", "Readiness", true},
    {"/types", "types", "Bodies and parameters", "Types", false},
    {"/version", "version", "Version, revision and libraries", "Version", false},
    {"/openapi.json", "openapi", "This document", "", false},
};

#define PLAIN          "text/plain; charset=utf-8"
#define FILE_TYPES_MAX 9

/* What the web page is made of. `example` is of the parameter, the path's only one. */
static const struct file_doc {
    const char *path, *name, *summary, *parameter, *example;
    const char *mimes[FILE_TYPES_MAX + 1];
} files[] = {
    {"/",
     "index",
     "A page to play with planets, for browsers, which name text/html in Accept; else a few lines of help",
     NULL,
     NULL,
     {PLAIN, "text/html; charset=utf-8"}},
    {"/viewer/{file}",
     "viewer",
     "A file of the page",
     "file",
     "index.html",
     {"text/html; charset=utf-8", "text/css; charset=utf-8", "text/javascript; charset=utf-8",
      "application/wasm", "application/json", "application/manifest+json", "image/svg+xml", "image/png",
      "image/vnd.microsoft.icon"}},
    {"/shaders/{part}",
     "shader",
     "A part that the kernels of all bodies have, as C and GLSL have it",
     "part",
     "noise.glsl",
     {PLAIN}},
    {"/shaders/bodies/{body}",
     "body_shader",
     "The kernel of a body, as C and GLSL have it",
     "body",
     "gas.glsl",
     {PLAIN}},
};

static const struct post_doc {
    const char *name, *body;
} posts[] = {
    {"a gas giant", "{\"type\": \"gas\", \"seed\": 3}"},
    {"an animation",
     "{\"type\": \"terrestrial\", \"seed\": \"my save file\", \"format\": \"gif\", \"frames\": 24, "
     "\"rings\": true}"},
    {"own colours",
     "{\"type\": \"lava\", \"palette\": [\"#203040\", \"#ffeedd\"], \"zoom\": 4, \"tilt\": -12.5}"},
};

static const struct post_doc batches[] = {
    {"two worlds", "[{\"type\": \"gas\", \"seed\": 3}, {\"type\": \"ice\", \"seed\": 5, \"format\": "
                   "\"gif\", \"frames\": 8}]"},
    {"in other words", "{\"requests\": [\"type=gas&seed=3\", \"/planet/lava/42.gif?pixels=32\", "
                       "\"11400rcgjn\"]}"},
};

/* ---- Operations
 * ------------------------------------------------------------------------------------------------- */

static json_t *content_of(const char *mime, const char *schema)
{
    if (!schema)
        return json_pack("{s:{s:{s:s}}}", mime, "schema", "type", "string");
    if (!*schema)
        return json_pack("{s:{s:{s:s}}}", mime, "schema", "type", "object");
    return json_pack("{s:{s:{s:o}}}", mime, "schema", "$ref",
                     json_sprintf("#/components/schemas/%s", schema));
}

/* `content` is left out for NULL: HEAD. */
static json_t *response(const char *words, const char *const *headers, json_t *content)
{
    return json_pack("{s:s, s:o, s:o*}", "description", words, "headers",
                     openapi_answers_header_refs(headers), "content", content);
}

static const char *const json_schemas[FORMAT_COUNT] = {
    [FORMAT_JSON] = "Facts", [FORMAT_ATLAS] = "Atlas", [FORMAT_FIND] = "Found"};

static bool is_of(int f, const struct encoder *format)
{
    return (!format || format == &encoders[f]) && !encoders[f].lacks;
}

/* The schema of JSON, or any of those that share the type; a picture has none. */
static json_t *content_schema(const struct encoder *format, const char *mime)
{
    json_t *any = json_array();
    for (int f = 0; f < FORMAT_COUNT; f++)
        if (is_of(f, format) && json_schemas[f] && !strcmp(encoders[f].mime, mime))
            json_array_append_new(
                any, json_pack("{s:o}", "$ref", json_sprintf("#/components/schemas/%s", json_schemas[f])));
    json_t *one = json_array_get(any, 0);
    json_t *out = json_array_size(any) > 1 ? json_pack("{s:{s:O}}", "schema", "anyOf", any)
                  : one                    ? json_pack("{s:O}", "schema", one)
                                           : json_object();
    json_decref(any);
    return out;
}

/* Of one format, or of all for NULL. */
static json_t *picture_content(const struct encoder *format)
{
    json_t *out = json_object();
    for (int f = 0; f < FORMAT_COUNT; f++)
        if (is_of(f, format))
            json_object_set_new(out, encoders[f].mime, content_schema(format, encoders[f].mime));
    return out;
}

/* Unsigned, signed, or signed with an end. */
static json_t *security(void)
{
    return json_pack("[{}, {s:[]}, {s:[], s:[]}]", "signature", "signature", "expires");
}

/* `name` behind the method is the operation's id. Takes `responses`. */
static json_t *operation(const char *method, const char *name, const char *summary, const char *tag,
                         json_t *responses)
{
    return json_pack("{s:o, s:s, s:[s], s:o}", "operationId", json_sprintf("%s_%s", method, name), "summary",
                     summary, "tags", tag, "responses", responses);
}

/* With the format's name in place of %s; where there is no format, there is no %s. */
static json_t *filled(const char *text, const struct encoder *format)
{
    const char *mark = strstr(text, "%s");
    if (!mark || !format)
        return json_string(text);
    return json_sprintf("%.*s%s%s", (int)(mark - text), text, format->name, mark + 2);
}

static json_t *targets_of(const struct picture_doc *doc, const struct encoder *format)
{
    json_t *out = json_array();
    for (int i = 0; i < EXAMPLES_MAX && doc->targets[i]; i++)
        json_array_append_new(out, filled(doc->targets[i], format));
    return out;
}

static json_t *picture_parameters(const struct picture_doc *doc, const struct encoder *format)
{
    json_t *out = doc->in_path ? openapi_params_in_path() : json_array();
    json_t *refs = openapi_params_refs(format, doc->in_path);
    json_array_extend(out, refs);
    json_decref(refs);
    return out;
}

static json_t *picture_operation(const char *method, const struct picture_doc *doc,
                                 const struct encoder *format)
{
    bool get = !strcmp(method, "get");
    json_t *responses = json_object(), *name = filled(doc->name, format),
           *summary = filled(doc->summary, format);
    json_object_set_new(responses, "200",
                        response("The picture", format ? picture_headers : negotiated_headers,
                                 get ? picture_content(format) : NULL));
    json_object_set_new(responses, "304",
                        response("The client has it already: a tag of If-None-Match is the picture's",
                                 unchanged_headers, NULL));
    openapi_answers_add_problems(responses, format ? PICTURE : PICTURE_BY_ANY);
    json_t *out =
        operation(method, json_string_value(name), json_string_value(summary), "pictures", responses);
    json_object_set_new(out, "parameters", picture_parameters(doc, format));
    json_object_set_new(out, "security", security());
    json_object_set_new(out, "x-examples", targets_of(doc, format));
    json_decref(name);
    json_decref(summary);
    return out;
}

static json_t *post_operation(void)
{
    json_t *responses = json_object(), *examples = json_object();
    for (size_t i = 0; i < ARRAY_LEN(posts); i++)
        json_object_set_new(examples, posts[i].name,
                            json_pack("{s:o}", "value", json_loads(posts[i].body, 0, NULL)));
    json_object_set_new(responses, "200", response("The picture", negotiated_headers, picture_content(NULL)));
    openapi_answers_add_problems(responses, PICTURE_BY_ANY | OPENAPI_BODY);
    json_t *out = operation("post", "planet", "A planet from parameters as JSON; the query must be empty",
                            "pictures", responses);
    json_object_set_new(out, "requestBody",
                        json_pack("{s:b, s:{s:{s:{s:s}, s:o}}}", "required", 1, "content", "application/json",
                                  "schema", "$ref", "#/components/schemas/PlanetRequest", "examples",
                                  examples));
    json_object_set_new(out, "security", security());
    return out;
}

static json_t *document_operation(const char *method, const struct document_doc *doc)
{
    const char *mime = doc->schema ? "application/json" : PLAIN;
    bool get = !strcmp(method, "get");
    json_t *responses = json_object();
    json_object_set_new(responses, "200",
                        response(doc->summary, document_headers, get ? content_of(mime, doc->schema) : NULL));
    if (doc->maybe_not) /* this document takes the place of the problem */
        json_object_set_new(
            responses, "503",
            response("Not ready", document_headers, get ? content_of(mime, doc->schema) : NULL));
    openapi_answers_add_problems(responses, OPENAPI_ANY);
    json_t *out = operation(method, doc->name, doc->summary, "service", responses);
    json_object_set_new(out, "security", json_array());
    json_object_set_new(out, "x-examples", json_pack("[s]", doc->path));
    return out;
}

static json_t *file_content(const struct file_doc *doc)
{
    json_t *out = json_object();
    for (int i = 0; doc->mimes[i]; i++)
        json_object_set_new(out, doc->mimes[i], json_pack("{s:{s:s}}", "schema", "type", "string"));
    return out;
}

static json_t *file_parameters(const struct file_doc *doc)
{
    json_t *out = json_pack("[{s:s}]", "$ref", "#/components/parameters/If-None-Match");
    if (doc->parameter)
        json_array_append_new(out, json_pack("{s:s, s:s, s:b, s:s, s:{s:s}, s:{s:{s:s}}}", "name",
                                             doc->parameter, "in", "path", "required", 1, "description",
                                             "The file's name.", "schema", "type", "string", "examples",
                                             "one", "value", doc->example));
    return out;
}

static json_t *file_operation(const char *method, const struct file_doc *doc)
{
    bool get = !strcmp(method, "get");
    int before = (int)strcspn(doc->path, "{");
    json_t *responses = json_object();
    json_object_set_new(responses, "200",
                        response(doc->summary, doc->parameter ? file_headers : index_headers,
                                 get ? file_content(doc) : NULL));
    json_object_set_new(
        responses, "304",
        response("The client has it already: a tag of If-None-Match is the file's", unchanged_headers, NULL));
    openapi_answers_add_problems(responses, OPENAPI_ANY | (doc->parameter ? OPENAPI_NAMED : 0));
    json_t *out = operation(method, doc->name, doc->summary, "service", responses);
    json_object_set_new(out, "parameters", file_parameters(doc));
    json_object_set_new(out, "security", json_array());
    json_object_set_new(
        out, "x-examples",
        json_pack("[o]", json_sprintf("%.*s%s", before, doc->path, doc->example ? doc->example : "")));
    return out;
}

static json_t *recipe_operation(void)
{
    json_t *responses = json_object();
    json_object_set_new(responses, "200",
                        response("The request that the picture is of", document_headers,
                                 content_of("application/json", "Recipe")));
    openapi_answers_add_problems(responses, OPENAPI_ANY | OPENAPI_FILE);
    json_t *out = operation(
        "post", "recipe",
        "From a picture of ours back to its parameters; 2 MiB at most, of which the first 64 KiB are "
        "looked at",
        "service", responses);
    json_object_set_new(
        out, "requestBody",
        json_pack("{s:b, s:o}", "required", 1, "content", picture_content(&encoders[FORMAT_PNG])));
    json_t *content = json_object_get(json_object_get(out, "requestBody"), "content");
    json_object_set_new(content, encoders[FORMAT_GIF].mime, json_object());
    json_object_set_new(out, "security", json_array());
    return out;
}

static json_t *batch_operation(void)
{
    json_t *responses = json_object(), *examples = json_object();
    for (size_t i = 0; i < ARRAY_LEN(batches); i++)
        json_object_set_new(examples, batches[i].name,
                            json_pack("{s:o}", "value", json_loads(batches[i].body, 0, NULL)));
    json_t *content = json_pack("{s:{s:{s:s}}, s:{s:{s:s}}}", "application/zip", "schema", "type", "string",
                                "multipart/mixed", "schema", "type", "string");
    json_object_set_new(
        responses, "200",
        response("The files in order, sent as they are ready. One that could not be drawn is a "
                 "problem document in its place",
                 batch_headers, content));
    openapi_answers_add_problems(responses, PICTURE_BY_ANY | OPENAPI_BODY);
    json_t *out =
        operation("post", "batch",
                  "Up to 64 pictures in one ZIP archive or multipart body, as Accept has it; the query "
                  "must be empty",
                  "pictures", responses);
    json_object_set_new(out, "requestBody",
                        json_pack("{s:b, s:{s:{s:{s:s}, s:o}}}", "required", 1, "content", "application/json",
                                  "schema", "$ref", "#/components/schemas/BatchRequest", "examples",
                                  examples));
    json_object_set_new(out, "security", security());
    return out;
}

/* A list, or an object around it. */
static json_t *batch_schema(void)
{
    json_t *item =
        json_pack("{s:[{s:s}, {s:s, s:s}]}", "anyOf", "$ref", "#/components/schemas/PlanetRequest", "type",
                  "string", "description", "A query string, the address of a picture, or a share code.");
    json_t *list = json_pack("{s:s, s:i, s:i, s:o}", "type", "array", "minItems", 1, "maxItems", BATCH_MAX,
                             "items", item);
    return json_pack("{s:[O, {s:s, s:[s], s:{s:o}, s:b}]}", "anyOf", list, "type", "object", "required",
                     "requests", "properties", "requests", list, "additionalProperties", 0);
}

/* ---- The document
 * ----------------------------------------------------------------------------------------------- */

static void add_picture(json_t *paths, const struct picture_doc *doc, const struct encoder *format)
{
    json_t *path = filled(doc->path, format);
    json_t *methods = json_pack("{s:o, s:o}", "get", picture_operation("get", doc, format), "head",
                                picture_operation("head", doc, format));
    if (!format)
        json_object_set_new(methods, "post", post_operation());
    json_object_set_new(paths, json_string_value(path), methods);
    json_decref(path);
}

static json_t *paths_json(void)
{
    json_t *out = json_object();
    for (size_t i = 0; i < ARRAY_LEN(pictures); i++)
        for (int f = 0; f < (pictures[i].each_format ? FORMAT_COUNT : 1); f++)
            if (!pictures[i].each_format || (!encoders[f].address && !encoders[f].lacks))
                add_picture(out, &pictures[i], pictures[i].each_format ? &encoders[f] : pictures[i].format);
    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        json_object_set_new(out, files[i].path,
                            json_pack("{s:o, s:o}", "get", file_operation("get", &files[i]), "head",
                                      file_operation("head", &files[i])));
    for (size_t i = 0; i < ARRAY_LEN(documents); i++)
        json_object_set_new(out, documents[i].path,
                            json_pack("{s:o, s:o}", "get", document_operation("get", &documents[i]), "head",
                                      document_operation("head", &documents[i])));
    json_object_set_new(out, "/batch", json_pack("{s:o}", "post", batch_operation()));
    json_object_set_new(out, "/recipe", json_pack("{s:o}", "post", recipe_operation()));
    return out;
}

static json_t *components_json(const json_t *rows)
{
    json_t *schemas = openapi_params_schemas(rows), *answers = openapi_answers_schemas();
    json_object_set_new(schemas, "PlanetRequest", openapi_params_body());
    json_object_set_new(schemas, "BatchRequest", batch_schema());
    json_object_update(schemas, answers);
    json_decref(answers);
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:{s:{s:s, s:s, s:s, s:s}, s:{s:s, s:s, s:s, s:s}}}", "schemas", schemas,
        "parameters", openapi_params_components(rows), "headers", openapi_answers_headers(), "responses",
        openapi_answers_problems(), "securitySchemes", /* */
        "signature", "type", "apiKey", "in", "query", "name", "signature", "description", signature_help,
        "expires", "type", "apiKey", "in", "query", "name", "expires", "description", expires_help);
}

static json_t *document(const json_t *rows)
{
    return json_pack(
        "{s:s, s:{s:s, s:s, s:s, s:{s:s, s:s}}, s:[{s:s}], s:[{s:s, s:s}, {s:s, s:s}], s:o, s:o}", "openapi",
        "3.1.0", /* */
        "info", "title", "planetd", "version", PLANETD_VERSION, "description", introduction, "license",
        "name", "MIT", "identifier", "MIT", /* */
        "servers", "url", "/",              /* */
        "tags", "name", "pictures", "description", "Planets", "name", "service", "description",
        "The service about itself", /* */
        "paths", paths_json(), "components", components_json(rows));
}

static int take(const char *bytes, size_t len, void *text)
{
    return blob_append(text, bytes, len) ? -1 : 0;
}

enum err openapi_write(struct blob *ret_text)
{
    struct blob types = {0}, text = {.max_bytes = ret_text->max_bytes};
    enum err err = describe_types(&types);
    json_t *described = err ? NULL : json_loadb((const char *)types.data, types.len, 0, NULL);
    json_t *root = described ? document(json_object_get(described, "parameters")) : NULL;
    blob_free(&types);
    bool bad = !root ||
               json_dump_callback(root, take, &text, JSON_INDENT(2) | JSON_REAL_PRECISION(REAL_DIGITS)) ||
               blob_append(&text, "\n", 1);
    json_decref(root);
    json_decref(described);
    if (bad) {
        blob_free(&text);
        return ERR_OOM;
    }
    blob_free(ret_text);
    *ret_text = text;
    return ERR_NONE;
}
