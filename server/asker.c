/* asker.c -- what all handlers of pictures do before they look at a request. Threads: that of the exchange.
 */
#include "server/asker.h"

#include <time.h>
#include <xxhash.h>

#include "api/sign.h"

enum err asker_check(struct http_exchange *x, const struct sign_keys *keys)
{
    struct http_request *in = &x->in;
    if (!keys || keys->count == 0)
        return ERR_NONE;
    enum err err = sign_check(keys, in->path, in->path_len, in->query, in->query_len, in->body, in->body_len,
                              (uint64_t)time(NULL), &x->expires);
    if (err)
        return err;
    in->query_len = sign_strip(in->query, in->query_len, x->room);
    in->query = x->room;
    return ERR_NONE;
}

uint64_t asker_hash(const struct http_exchange *x)
{
    uint64_t hash = x->client_unknown ? 0 : XXH3_64bits(x->client.bytes, sizeof(x->client.bytes));
    return hash || x->client_unknown ? hash : 1;
}
