/* Share codes: a request as a short text that can be read out, such as "11400rcgjn". It says as much as a
 * key: type, seed, format, revision and what is not default. */
#pragma once

#include <stddef.h>

#include "api/request.h"

/* Digits and small letters without i, l, o and u. 10 characters for a default picture with a small seed,
 * about 3 more for each parameter that differs, at most CODE_MAX_BYTES - 1 (tests/unit/test_code.c builds the
 * longest). */
#define CODE_MAX_BYTES 1024

/* The code of a finished request, NUL-terminated. The same key, the same code. */
void code_make(const struct request *r, char ret_code[CODE_MAX_BYTES]);

/* Takes what a code says into a request to which nothing was given yet, as if each value had been given by
 * name; it is to be finished like any other. Capitals count as small letters, i and l as 1, o as 0; hyphens
 * are passed over. ERR_PARAM_SYNTAX: it is no code, or was altered, with the reason in *ret_fault; *r must
 * not be used then. */
MUST_USE enum err code_read(struct request *r, const char *code, size_t len, struct request_fault *ret_fault);
