/* openapi_answers.c -- what comes back, in the words of OpenAPI: headers, problems, documents.
 *
 * Statuses are those that problem_status() gives to the causes of err.def; which of them an operation can
 * meet is decided in scope_of(), which has no default, so that the compiler names a new cause. Threads: any.
 */
#include <stdio.h>
#include <string.h>

#include "api/openapi_parts.h"
#include "api/problem.h"
#include "renderer/base/attr.h"

static const struct header_doc {
    const char *name, *type, *help;
    bool always; /* where it is listed, it is always there */
} headers[] = {
    {"ETag", "string", "Strong tag of the file; equal tags, equal bytes.", true},
    {"Cache-Control", "string",
     "Pictures: a day and `stale-while-revalidate`, or with `rev` a year and `immutable`. The page and its "
     "files: `no-cache`. Errors and probes: `no-store`.",
     true},
    {"Content-Disposition", "string", "`inline`, with a telling file name.", true},
    {"X-Cache", "string", "Where the file came from.", true},
    {"Vary", "string",
     "`Accept`, where nothing but that header chose the format; `Accept-Encoding`, where gzip is offered.",
     false},
    {"Server-Timing", "string", "Milliseconds in cache, queue, render and encode, where they were spent.",
     false},
    {"X-Request-Id", "string", "Names the request in the log; the client's own, when that was well-formed.",
     true},
    {"Retry-After", "integer", "Seconds after which it makes sense to ask again.", false},
    {"Allow", "string", "The methods that the address knows.", false},
};

json_t *openapi_answers_headers(void)
{
    json_t *out = json_object();
    for (size_t i = 0; i < ARRAY_LEN(headers); i++) {
        const struct header_doc *h = &headers[i];
        json_t *schema = json_pack("{s:s}", "type", h->type);
        if (!strcmp(h->name, "X-Cache"))
            json_object_set_new(schema, "enum",
                                json_pack("[s, s, s, s, s]", "hit", "disk", "shared", "coalesced", "miss"));
        if (!strcmp(h->type, "integer"))
            json_object_set_new(schema, "minimum", json_integer(1));
        json_object_set_new(
            out, h->name,
            json_pack("{s:s, s:b, s:o}", "description", h->help, "required", h->always, "schema", schema));
    }
    return out;
}

json_t *openapi_answers_header_refs(const char *const *names)
{
    json_t *out = json_object();
    for (; *names; names++)
        json_object_set_new(out, *names,
                            json_pack("{s:o}", "$ref", json_sprintf("#/components/headers/%s", *names)));
    return out;
}

/* Where a cause can come up; 0 = an answer never names it. */
static unsigned scope_of(enum err err)
{
    switch (err) {
    case ERR_REQUEST_SYNTAX:
    case ERR_TEXT_ENCODING:
    case ERR_URL_SIZE:
    case ERR_HEADER_SIZE:
    case ERR_OOM:
        return OPENAPI_ANY;
    case ERR_PARAM_UNKNOWN:
    case ERR_PARAM_REPEATED:
    case ERR_PARAM_SYNTAX:
    case ERR_PARAM_RANGE:
    case ERR_PARAM_COMBINATION:
    case ERR_PICTURE_SIZE:
    case ERR_SIGNATURE:
    case ERR_EXPIRED:
    case ERR_BUSY:
    case ERR_SHARE:
    case ERR_DRAINING:
    case ERR_NO_DEVICE:
    case ERR_SELF_TEST:
    case ERR_DEVICE_LOST:
    case ERR_ENCODE:
    case ERR_IO:
        return OPENAPI_PICTURE;
    case ERR_BODY_SYNTAX:
    case ERR_BODY_TYPE:
        return OPENAPI_BODY;
    case ERR_BODY_SIZE:
        return OPENAPI_BODY | OPENAPI_FILE;
    case ERR_REVISION:
        return OPENAPI_PICTURE | OPENAPI_FILE;
    case ERR_RECIPE:
        return OPENAPI_FILE;
    case ERR_NOT_ACCEPTABLE:
        return OPENAPI_NEGOTIATES;
    case ERR_NOT_FOUND: /* or of what is not in this document */
        return OPENAPI_NAMED | OPENAPI_ELSEWHERE;
    case ERR_METHOD:
        return OPENAPI_ELSEWHERE;
    case ERR_NONE:
    case ERR_CONFIG: /* ends the start */
    case ERR_BACKEND_UNKNOWN:
    case ERR_CANCELLED: /* nobody is left to hear it */
    case ERR_COUNT:
        break;
    }
    return 0;
}

static bool status_has_scope(int status, unsigned scopes)
{
    for (int e = 1; e < ERR_COUNT; e++)
        if (problem_status((enum err)e) == status && (scope_of((enum err)e) & scopes))
            return true;
    return false;
}

/* "Bad things: `param-range` (a value is outside ...), ..." */
static json_t *problem_words(int status)
{
    json_t *words = json_string("");
    for (int e = 1; e < ERR_COUNT; e++) {
        enum err err = (enum err)e;
        if (problem_status(err) != status || !scope_of(err))
            continue;
        json_t *longer = json_sprintf("%s%s`%s`: %s", json_string_value(words),
                                      *json_string_value(words) ? "; " : "", err_name(err), err_words(err));
        json_decref(words);
        words = longer;
    }
    return words;
}

static json_t *problem_response(int status)
{
    static const char *const plain[] = {"X-Request-Id", "Cache-Control", NULL};
    static const char *const waits[] = {"X-Request-Id", "Cache-Control", "Retry-After", NULL};
    static const char *const method[] = {"X-Request-Id", "Cache-Control", "Allow", NULL};
    const char *const *names = status == 429 || status == 503 ? waits : status == 405 ? method : plain;
    return json_pack("{s:o, s:o, s:{s:{s:{s:s}}}}", "description", problem_words(status), "headers",
                     openapi_answers_header_refs(names), "content", "application/problem+json", "schema",
                     "$ref", "#/components/schemas/Problem");
}

#define STATUS_FIRST 400
#define STATUS_END   600

json_t *openapi_answers_problems(void)
{
    json_t *out = json_object();
    char name[16];
    for (int status = STATUS_FIRST; status < STATUS_END; status++)
        if (status_has_scope(status, ~0U)) {
            snprintf(name, sizeof(name), "Problem%d", status);
            json_object_set_new(out, name, problem_response(status));
        }
    return out;
}

void openapi_answers_add_problems(json_t *responses, unsigned scopes)
{
    char name[16];
    for (int status = STATUS_FIRST; status < STATUS_END; status++) {
        snprintf(name, sizeof(name), "%d", status);
        if (status_has_scope(status, scopes) && !json_object_get(responses, name))
            json_object_set_new(
                responses, name,
                json_pack("{s:o}", "$ref", json_sprintf("#/components/responses/Problem%d", status)));
    }
}

static json_t *problem_schema(void)
{
    json_t *types = json_array(), *statuses = json_array();
    for (int e = 1; e < ERR_COUNT; e++)
        if (scope_of((enum err)e))
            json_array_append_new(types, json_sprintf("urn:planetd:problem:%s", err_name((enum err)e)));
    for (int status = STATUS_FIRST; status < STATUS_END; status++)
        if (status_has_scope(status, ~0U))
            json_array_append_new(statuses, json_integer(status));
    return json_pack("{s:s, s:s, s:[s,s,s,s,s], s:{s:{s:s, s:o}, s:{s:s, s:s}, s:{s:s, s:o}, s:{s:s, s:s},"
                     " s:{s:s, s:s}, s:{s:s, s:s}, s:{s:s, s:s}}}",
                     "type", "object", "description", "What went wrong (RFC 9457).", "required", "type",
                     "title", "status", "detail", "instance", "properties", /* */
                     "type", "type", "string", "enum", types,               /* */
                     "title", "type", "string", "description", "The cause in a few words, always the same.",
                     "status", "type", "integer", "enum", statuses, /* */
                     "detail", "type", "string", "description",
                     "A sentence: what is wrong, and what is allowed.", "parameter", "type", "string",
                     "description", "The parameter at fault, where there is one.", "index", "type", "integer",
                     "description", "Which request of a batch it is about, from 0.", "instance", "type",
                     "string", "description", "The request's id, as in X-Request-Id.");
}

/* The documents that are not errors: what a client may rely on. */
static const char documents[] =
    "{ 'Version': { 'type': 'object', 'required': ['name', 'version', 'revision', 'libraries'], "
    "'properties': {"
    "    'name': { 'type': 'string' }, 'version': { 'type': 'string' },"
    "    'revision': { 'type': 'integer', 'description': 'Changes only when a released picture changes.' },"
    "    'libraries': { 'type': 'string', 'description': 'Those that write files; they decide their bytes.' "
    "} } },"
    "  'Readiness': { 'type': 'object', 'required': ['ready', 'draining', 'renderer'], 'properties': {"
    "    'ready': { 'type': 'boolean' },"
    "    'draining': { 'type': 'boolean', 'description': 'The server is shutting down.' },"
    "    'renderer': { 'type': 'object', 'required': ['backend', 'device', 'reason', 'self_test_ok'], "
    "'properties': {"
    "      'backend': { 'type': 'string' }, 'device': { 'type': 'string' },"
    "      'reason': { 'type': 'string', 'description': 'Why this backend draws and no other.' },"
    "      'self_test_ok': { 'type': 'boolean' } } } } },"
    "  'Types': { 'type': 'object', 'required': ['revision', 'bodies', 'parameters', 'limits'], "
    "'properties': {"
    "    'revision': { 'type': 'integer' },"
    "    'bodies': { 'type': 'array', 'items': { 'type': 'object', 'required': ['name', 'summary', 'layers', "
    "'defaults'] } },"
    "    'parameters': { 'type': 'array', 'items': { 'type': 'object', 'required': ['name', 'kind', "
    "'default', 'help'] } },"
    "    'limits': { 'type': 'object' } } },"
    "  'Atlas': { 'type': 'object', 'required': ['frames', 'meta'], 'properties': {"
    "    'frames': { 'type': 'object', 'description': 'In the order of the loop.', 'additionalProperties': {"
    "      'type': 'object', 'required': ['frame', 'rotated', 'trimmed', 'spriteSourceSize', 'sourceSize'] } "
    "},"
    "    'animations': { 'type': 'object' },"
    "    'meta': { 'type': 'object', 'required': ['app', 'version', 'image', 'format', 'size', 'scale'] } } "
    "}, "
    "  'Shares': { 'type': 'object', 'additionalProperties': { 'type': 'number', 'minimum': 0, 'maximum': 1 "
    "},"
    "    'description': '`body` of the frame; `sea`, `land` and `cap` of the body, which sum up to 1; "
    "`cloud` "
    "and `night` over them. A body has only those that it can have.' },"
    "  'Found': { 'type': 'object', 'required': ['tried', 'found', 'next'], 'properties': {"
    "    'tried': { 'type': 'integer', 'minimum': 1, 'maximum': 256, 'description': 'Seeds that were looked "
    "at.' },"
    "    'found': { 'type': 'array', 'maxItems': 24, 'items': { 'type': 'object', 'required': ['seed', "
    "'url', "
    "'shares'],"
    "      'properties': { 'seed': { 'type': 'integer' },"
    "        'url': { 'type': 'string', 'description': 'Of the picture, with all parameters of the search.' "
    "},"
    "        'shares': { '$ref': '#/components/schemas/Shares' } } } },"
    "    'next': { 'anyOf': [{ 'type': 'integer' }, { 'type': 'null' }],"
    "      'description': 'The `from` with which the search goes on; null: there are no more numbers.' } } },"
    "  'Recipe': { 'type': 'object', 'required': ['key', 'url', 'code', 'request'], 'properties': {"
    "    'key': { 'type': 'string' }, 'url': { 'type': 'string' },"
    "    'code': { 'type': 'string', 'description': 'The share code.' },"
    "    'request': { 'type': 'object', 'description': 'Every parameter; posted to /planet it gives the same "
    "picture.' } } },"
    "  'Facts': { 'type': 'object', 'description': 'What is in the first frame. Lengths are pixels of the "
    "file, from its top left corner.',"
    "    'required': ['alt', 'revision', 'key', 'request', 'pictures', 'body', 'size', 'loop_seconds', "
    "'disc', "
    "'rings', 'light', 'shares', 'color_count', 'colors'], 'properties': {"
    "    'alt': { 'type': 'string', 'description': 'One sentence for those who can not see it.' },"
    "    'revision': { 'type': 'integer' }, 'key': { 'type': 'string', 'description': 'Of this document.' },"
    "    'request': { 'type': 'object', 'description': 'Every parameter; posted to /planet it gives this "
    "document.' },"
    "    'pictures': { 'type': 'object', 'description': 'The same as a picture of each format.', "
    "'additionalProperties': {"
    "      'type': 'object', 'required': ['url', 'key', 'code'], 'properties': { 'code': { 'type': 'string' "
    "}, 'url': { 'type': 'string' }, 'key': "
    "{ "
    "'type': 'string' } } } },"
    "    'body': { 'type': 'object', 'required': ['name', 'summary'] },"
    "    'size': { 'type': 'object', 'required': ['width', 'height'] },"
    "    'loop_seconds': { 'type': 'number', 'description': '0 for a still.' },"
    "    'disc': { 'anyOf': [{ 'type': 'object', 'required': ['x', 'y', 'radius'] }, { 'type': 'null' }], "
    "'description': 'null: no "
    "sphere.' },"
    "    'rings': { 'anyOf': [{ 'type': 'object', 'required': ['x', 'y', 'inner', 'outer', 'open', 'angle'] "
    "}, { 'type': 'null' }],"
    "      'description': 'Half the long axes; `open` times that are the short ones; `angle` in degrees, "
    "counter-clockwise.' },"
    "    'light': { 'anyOf': [{ 'type': 'object', 'required': ['x', 'y', 'z'] }, { 'type': 'null' }],"
    "      'description': 'Unit vector to it: x right, y up, z to the viewer. null: the body shines.' },"
    "    'shares': { '$ref': '#/components/schemas/Shares' },"
    "    'color_count': { 'type': 'integer', 'minimum': 1 },"
    "    'colors': { 'type': 'array', 'maxItems': 64, 'items': { 'type': 'object', 'required': ['color', "
    "'alpha', 'share'] } } } } }";

/* Single quotes in the text above stand for double ones, which C would have escaped. */
static json_t *documents_json(void)
{
    char text[sizeof(documents)];
    for (size_t i = 0; i < sizeof(documents); i++)
        text[i] = (char)(documents[i] == '\'' ? '"' : documents[i]);
    return json_loads(text, 0, NULL);
}

json_t *openapi_answers_schemas(void)
{
    json_t *out = documents_json();
    json_object_set_new(out, "Problem", problem_schema());
    return out;
}
