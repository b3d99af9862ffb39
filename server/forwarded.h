/* Who the client is when proxies stand between: RFC 7239 Forwarded and its forerunner X-Forwarded-For,
 * believed only as far as they come from proxies that are trusted. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "renderer/base/attr.h"
#include "renderer/base/err.h"
#include "server/http_address.h"

#define FORWARDED_PROXIES_MAX 64
#define FORWARDED_HOPS_MAX    32 /* a walk ends after so many; nobody has so many proxies in a row */

/* Networks of trusted proxies. Zeroed it trusts nobody. */
struct forwarded_proxies {
    int count;
    bool unix_socket; /* the word "unix": whoever comes by a unix socket is trusted */
    struct forwarded_network {
        unsigned char bytes[16]; /* IPv4 as ::ffff:a.b.c.d */
        int bits;                /* 0..128 */
    } networks[FORWARDED_PROXIES_MAX];
};

/* Adds addresses, networks (10.0.0.0/8, fd00::/8) and the word "unix", separated by commas; blanks around
 * them are fine, and an empty text adds nothing. False: one is malformed, or there are too many; *proxies is
 * then as before. */
bool forwarded_proxies_parse(const char *text, struct forwarded_proxies *proxies);

/* The client: the nearest address, walking from the socket through the header from right to left, that is not
 * a trusted proxy. `socket_address` is 16 bytes (IPv4 as ::ffff:a.b.c.d), NULL for a unix socket. What is
 * malformed, "unknown" or a made-up name ends the walk where it stands: the last address that was believed is
 * the client. When both headers are there, both must lead to the same client, else the socket is it: a proxy
 * that writes one of them passes the other on as the client sent it. Headers may be NULL. The result is as
 * http_peer_from() makes it: IPv6 as its /64; a client behind a unix socket that nobody names is all zeros.
 * Threads: any. */
void forwarded_client(const struct forwarded_proxies *proxies, const unsigned char *socket_address,
                      const char *forwarded, const char *x_forwarded_for, struct http_peer *ret_client);

/* Whether the word of whoever connects from there is taken. Arguments as above. Threads: any. */
bool forwarded_trusted(const struct forwarded_proxies *proxies, const unsigned char *socket_address);
