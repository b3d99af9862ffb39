/* Who the client is when proxies stand between: RFC 7239 Forwarded and its forerunner X-Forwarded-For,
 * believed only as far as they come from proxies that are trusted. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "renderer/base/attr.h"
#include "renderer/base/err.h"
#include "server/http_address.h"

#define FORWARDED_PROXIES_MAX 64

/* Networks of trusted proxies. */
struct forwarded_proxies {
    int count;
    bool unix_socket; /* the word "unix": whoever comes by a unix socket is trusted */
    struct forwarded_network {
        unsigned char bytes[16]; /* IPv4 as ::ffff:a.b.c.d */
        int bits;                /* 0..128 */
    } networks[FORWARDED_PROXIES_MAX];
};

/* Adds addresses, networks (10.0.0.0/8, fd00::/8) and the word "unix", separated by commas. False: one is
 * malformed, or there are too many. */
bool forwarded_proxies_parse(const char *text, struct forwarded_proxies *proxies);

/* The client: the nearest address, walking from the socket through the headers from right to left, that is
 * not a trusted proxy. `socket_address` is 16 bytes, NULL for a unix socket. Forwarded counts when both
 * headers are there. A header that is malformed ends the walk where it is malformed: the last address that
 * was believed is the client. Headers may be NULL. Threads: any. */
void forwarded_client(const struct forwarded_proxies *proxies, const unsigned char *socket_address,
                      const char *forwarded, const char *x_forwarded_for, struct http_peer *ret_client);
