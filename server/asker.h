/* Who asks for pictures, and whether they may. Threads: that of the exchange. */
#pragma once

#include "server/http.h"

/* Checks the URL's signature, if there are keys, and takes it and its end out of the query (into x->room).
 * ERR_SIGNATURE, ERR_EXPIRED. */
MUST_USE enum err asker_check(struct http_exchange *x, const struct sign_keys *keys);

/* Whose share of the queue a render counts in; 0 = nobody's. */
uint64_t asker_hash(const struct http_exchange *x);
