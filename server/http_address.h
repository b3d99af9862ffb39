/* Connections that each client address has open, over all threads. */
#pragma once

#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "renderer/base/attr.h"
#include "renderer/base/err.h"

/* A client as far as limits go: an IPv4 address, or the /64 of an IPv6 address (what one customer gets). */
struct http_peer {
    uint8_t bytes[16];
};

void http_peer_from(const struct sockaddr *address, struct http_peer *ret_peer);

/* The whole address, IPv4 as ::ffff:a.b.c.d; zeros when it is of another family. */
void http_peer_address(const struct sockaddr *address, uint8_t ret_bytes[16]);

#define HTTP_ADDRESS_BUCKETS 1024 /* chains stay short up to some thousand clients */

struct http_addresses {
    pthread_mutex_t lock;
    int limit; /* 0 = none: then nothing is counted */
    struct address_count *buckets[HTTP_ADDRESS_BUCKETS];
};

MUST_USE enum err http_addresses_init(struct http_addresses *a, int limit);
void http_addresses_finish(struct http_addresses *a); /* accepts a zeroed one */

/* False when the peer has as many as it may, or memory is used up. Threads: any. */
bool http_addresses_enter(struct http_addresses *a, const struct http_peer *peer);
/* Undoes an enter that returned true. Threads: any. */
void http_addresses_leave(struct http_addresses *a, const struct http_peer *peer);
