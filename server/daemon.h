/* The parts of a running service, started in order and ended in reverse. */
#pragma once

#include "api/sign.h"
#include "renderer/base/attr.h"
#include "renderer/base/err.h"
#include "server/config.h"
#include "server/forwarded.h"
#include "server/http.h"
#include "server/http_listen.h"
#include "server/store.h"

struct daemon {
    struct service service;
    struct sign_keys keys;
    struct forwarded_proxies proxies;
    struct pool *pool;        /* draws */
    struct pool *lookup_pool; /* waits for stores; NULL without any */
    struct store *stores[STORE_TIERS];
    int store_count;
    struct http_server *http, *metrics; /* `metrics` is NULL when nobody asked for it */
};

/* Starts everything and gives up the rights that are no longer needed. What fails is in the log; what was
 * started is to be ended by daemon_stop() all the same. ERR_CONFIG and ERR_BACKEND_UNKNOWN: a setting is
 * wrong. *d must be zeroed. Threads: main. */
MUST_USE enum err daemon_start(struct daemon *d, const struct config *c,
                               const struct http_listen_inherited *inherited);

/* Ends everything that daemon_start() started. No answer may be wanted any more (http_server_drain()).
 * Threads: main. */
void daemon_stop(struct daemon *d);
