/* The shared cache: Redis or Valkey, by hiredis. Every wait has a limit, and a circuit breaker stops asking a
 * server that fails; only the store's own thread tries it again. */
#pragma once

#include "renderer/base/attr.h"
#include "renderer/base/err.h"
#include "server/store.h"

struct store_redis_desc {
    const char
        *url; /* redis://[user[:password]@]host[:port][/database] or unix:///path[?db=N]; see redis_url.h */
    int timeout_ms;      /* for one find, connection included */
    int64_t ttl_seconds; /* entries vanish so long after they were written; 0 = never */
};

/* Whether `url` has a form that store_redis_open() understands. Threads: any. */
bool store_redis_url_valid(const char *url);

/* Never waits for the server: one that is down is tried in the background. ERR_CONFIG: the URL; ERR_OOM; both
 * logged, never with the password. In a binary built without hiredis: ERR_CONFIG, and the log says so. */
MUST_USE enum err store_redis_open(const struct store_redis_desc *desc, struct store **ret_store);
