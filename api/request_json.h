/* JSON values into requests, for those files of api/ that read JSON. */
#pragma once

#include <jansson.h>

#include "api/request.h"
#include "renderer/base/attr.h"
#include "renderer/base/err.h"

/* A body as JSON of any kind, which the caller gives back with json_decref(). NULL: *ret_err says why
 * (ERR_BODY_SYNTAX, ERR_PARAM_REPEATED, ERR_TEXT_ENCODING, ERR_OOM), and *ret_fault in words. */
json_t *request_json_load(const char *body, size_t len, struct request_fault *ret_fault, enum err *ret_err);

/* Takes the members of an object, as request_set_json() does. Errors: those of request_set(). */
MUST_USE enum err request_set_object(struct request *r, const json_t *object,
                                     struct request_fault *ret_fault);
