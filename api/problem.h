/* Causes of failure in the words of HTTP: application/problem+json (RFC 9457). */
#pragma once

#include "api/request.h"
#include "renderer/base/blob.h"
#include "renderer/base/err.h"

/* HTTP status of a cause. Every value of enum err has one (-Wswitch-enum sees to it). */
int problem_status(enum err err);

/* Short title of a cause, fixed text. */
const char *problem_title(enum err err);

/* Appends the JSON document: type ("urn:planetd:problem:param-range"), title, status, detail, parameter
 * (where one is at fault), index (from 0, where it is a request of a batch), instance (the request id).
 * `fault` may be NULL, `request_id` never. ERR_OOM. */
MUST_USE enum err problem_write(enum err err, const struct request_fault *fault, const char *request_id,
                                struct blob *out);
