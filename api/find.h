/* Looking for seeds: which pictures a search (format=find) draws, and which of them it takes. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "api/request.h"
#include "renderer/base/attr.h"
#include "renderer/base/err.h"
#include "renderer/census.h"

#define FIND_TRIES_MAX 256 /* seeds a request: about what two animations cost */

/* Whether the body of a settled request has the share that row `i`, a SPAN, is about. */
bool find_has(int i, const struct request *r);

/* The picture that a search tries with this seed: a finished still, with all that the search has that is not
 * its default. It depends on nothing that is not in the key of `r`. Errors: those of request_finish(). */
MUST_USE enum err find_candidate(const struct request *r, int32_t seed, struct request *ret_candidate,
                                 struct request_fault *ret_fault);

/* Whether what was counted in a candidate is within all ranges of the search. A share is within a single
 * number when it is nearer to it than to any other. */
bool find_takes(const struct request *r, const struct census *census);

/* Most seeds that are tried: without ranges, which each seed meets, as many as are asked for. */
int find_tries(const struct request *r);

/* For request_finish.c: whether a search can be made; of another format, that nothing is looked for.
 * ERR_PARAM_COMBINATION, ERR_PICTURE_SIZE, and what refuses the pictures. */
MUST_USE enum err find_check(const struct request *r, struct request_fault *ret_fault);
struct request_size find_size(const struct request *r);
/* Threads: any, all pure. */
