/* The parts that api/openapi.c puts together. For the files api/openapi*.c alone. All return a new JSON
 * value, or NULL without memory. Threads: any. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

/* What an operation does, and so what can go wrong in it. */
enum openapi_scope {
    OPENAPI_ANY = 1,        /* every address */
    OPENAPI_PICTURE = 2,    /* draws */
    OPENAPI_BODY = 4,       /* takes a body */
    OPENAPI_NEGOTIATES = 8, /* Accept may choose the format */
    OPENAPI_FILE = 32,      /* takes a picture */
    OPENAPI_NAMED = 64,     /* gives what the path names, if it is there */
    OPENAPI_ELSEWHERE = 16  /* no operation: another address or method */
};

/* ---- openapi_params.c: `rows` are the `parameters` of describe_types()
 * ------------------------------------- */

struct encoder;

json_t *openapi_params_schemas(const json_t *rows);    /* one for each parameter, by name */
json_t *openapi_params_components(const json_t *rows); /* the same as query parameters */
json_t *openapi_params_body(void);                     /* schema of what is posted */

/* References to all of them but those that the path gives; `format` is one of these; NULL: it
 * is asked for. */
json_t *openapi_params_refs(const struct encoder *format, bool type_and_seed_given);

/* {type} and {seed}. */
json_t *openapi_params_in_path(void);

/* ---- openapi_answers.c
 * ---------------------------------------------------------------------------------------- */

json_t *openapi_answers_headers(void);
json_t *openapi_answers_problems(void); /* a response for each status that a cause has, by "Problem404" */
json_t *openapi_answers_schemas(void);  /* the documents that are answered, by name */

/* Adds references to the problems that operations of these scopes can answer, but for statuses that are
 * there. */
void openapi_answers_add_problems(json_t *responses, unsigned scopes);

/* References to headers of the components, by name; the last one is NULL. */
json_t *openapi_answers_header_refs(const char *const *names);
