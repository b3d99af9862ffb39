/* Numbers that show what the service does, as Prometheus text. What parts count for themselves (caches,
 * queue, renderer) is asked of them when the text is written; here is only what nobody else has: requests,
 * connections and times. Threads: any; counting takes no lock. */
#pragma once

#include <stdint.h>

#include "renderer/base/attr.h"
#include "renderer/base/blob.h"
#include "renderer/base/err.h"

enum metric_time {
    METRIC_LOOKUP,     /* in caches outside the process; one histogram for all */
    METRIC_QUEUE_WAIT, /* from the queue to a thread */
    METRIC_RENDER,     /* frames drawn */
    METRIC_ENCODE,     /* file written */
    METRIC_TIMES
};

#define METRICS_ROUTES_MAX 24 /* rows of the table of routes; routes.c checks it */

/* One answer. `route` is an index into the table of routes (routes.h), -1 for a path that has none. */
void metrics_answer(int route, int status);

/* Requests that have begun and are not answered: +1 or -1, both on the thread of the connection. */
void metrics_in_flight(int change);

/* Connections that are open: +1 or -1, both on the thread of the connection. */
void metrics_connections(int change);

/* A connection that was closed at once because its address has as many as it may. */
void metrics_refused(void);

/* `backend` is a backend's name ("cpu", ...), `body` an enum body, `format` an enum format; with
 * METRIC_LOOKUP they mean nothing. */
void metrics_time(enum metric_time which, const char *backend, int body, int format, uint64_t ns);

struct service;
/* Replaces *ret_text. Never waits for a render. ERR_OOM: *ret_text stays as it is. */
MUST_USE enum err metrics_write(struct service *s, struct blob *ret_text);
