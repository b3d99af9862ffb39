/* What a request for a picture comes to: its parameters, complete, and its key. */
#pragma once

#include "api/key.h"
#include "api/request.h"
#include "server/http.h"

struct plan {
    struct request request; /* finished */
    struct key key;
    bool negotiated; /* no format was named: Accept chose, or would have */
    bool pinned;     /* the revision was named */
};

/* Query, path or body, and Accept, to a plan. The same target and Accept give the same plan, so the last ones
 * are remembered per thread (in *x->memory): *ret_plan lives until the next call on this thread; `room` is
 * used when it is not one of those. On failure *ret_fault is filled, and of *room `negotiated`. Errors: those
 * of api/request.h. */
MUST_USE enum err plan_make(const struct http_exchange *x, struct plan *room, const struct plan **ret_plan,
                            struct request_fault *ret_fault);
