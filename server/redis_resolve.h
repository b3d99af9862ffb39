/* Names to addresses, for a thread that must not hang: getaddrinfo() has no time limit. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "renderer/base/attr.h"
#include "renderer/base/err.h"

#define REDIS_ADDRESSES_MAX 8 /* a name with more has the first few tried */

struct redis_addresses {
    int count;
    struct redis_address {
        struct sockaddr_storage at;
        socklen_t len;
    } list[REDIS_ADDRESSES_MAX];
};

struct redis_resolver;

/* Copies the texts. ERR_OOM. Threads: one at a time. */
MUST_USE enum err redis_resolver_create(const char *host, const char *port,
                                        struct redis_resolver **ret_resolver);

/* Looks the name up, on a thread of its own unless it is an address already. A lookup that outlasted an
 * earlier call is waited for, not begun again. False: no such name, not in time, or `stop_fd` (-1 = none)
 * became readable. */
MUST_USE bool redis_resolver_ask(struct redis_resolver *r, uint64_t deadline_ns, int stop_fd,
                                 struct redis_addresses *ret_addresses);

/* Does not wait: a lookup that hangs is left to end by itself. Accepts NULL. */
void redis_resolver_destroy(struct redis_resolver *r);
