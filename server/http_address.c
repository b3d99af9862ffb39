/* http_address.c -- how many connections a client address has.
 *
 * libmicrohttpd counts per daemon, and there is one daemon per thread, so that its own limit would grow with
 * the threads. A chained hash under one lock is enough: it is touched when a connection opens or closes, not
 * per request. Threads: any. */
#include "server/http_address.h"

#include <stdlib.h>
#include <string.h>

struct address_count {
    struct address_count *next;
    struct http_peer peer;
    int count;
};

void http_peer_address(const struct sockaddr *address, uint8_t ret_bytes[16])
{
    memset(ret_bytes, 0, 16);
    if (address && address->sa_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)address;
        memset(ret_bytes + 10, 0xff, 2);
        memcpy(ret_bytes + 12, &v4->sin_addr, 4);
    } else if (address && address->sa_family == AF_INET6) {
        memcpy(ret_bytes, &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr, 16);
    }
}

void http_peer_from(const struct sockaddr *address, struct http_peer *ret_peer)
{
    static const uint8_t v4[12] = {[10] = 0xff, [11] = 0xff};
    http_peer_address(address, ret_peer->bytes);
    if (memcmp(ret_peer->bytes, v4, sizeof(v4)) != 0)
        memset(ret_peer->bytes + 8, 0, 8);
}

static struct address_count **bucket(struct http_addresses *a, const struct http_peer *peer)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < sizeof(peer->bytes); i++)
        h = (h ^ peer->bytes[i]) * 16777619u;
    return &a->buckets[(h ^ h >> 16) % HTTP_ADDRESS_BUCKETS];
}

enum err http_addresses_init(struct http_addresses *a, int limit)
{
    memset(a, 0, sizeof(*a));
    a->limit = limit;
    return pthread_mutex_init(&a->lock, NULL) ? ERR_OOM : ERR_NONE;
}

void http_addresses_finish(struct http_addresses *a)
{
    for (size_t i = 0; i < HTTP_ADDRESS_BUCKETS; i++)
        while (a->buckets[i]) {
            struct address_count *c = a->buckets[i];
            a->buckets[i] = c->next;
            free(c);
        }
    pthread_mutex_destroy(&a->lock);
}

bool http_addresses_enter(struct http_addresses *a, const struct http_peer *peer)
{
    if (a->limit == 0)
        return true;
    pthread_mutex_lock(&a->lock);
    struct address_count **at = bucket(a, peer), *c = *at;
    while (c && memcmp(&c->peer, peer, sizeof(*peer)) != 0)
        c = c->next;
    if (!c && (c = calloc(1, sizeof(*c)))) {
        c->peer = *peer;
        c->next = *at;
        *at = c;
    }
    bool ok = c && c->count < a->limit;
    if (ok)
        c->count++;
    pthread_mutex_unlock(&a->lock);
    return ok;
}

void http_addresses_leave(struct http_addresses *a, const struct http_peer *peer)
{
    if (a->limit == 0)
        return;
    pthread_mutex_lock(&a->lock);
    struct address_count **at = bucket(a, peer);
    while (*at && memcmp(&(*at)->peer, peer, sizeof(*peer)) != 0)
        at = &(*at)->next;
    struct address_count *c = *at;
    if (c && --c->count == 0) {
        *at = c->next;
        free(c);
    }
    pthread_mutex_unlock(&a->lock);
}
