/* The address of a Redis server, as a URL. */
#pragma once

#include <stdbool.h>

#include "renderer/base/attr.h"

#define REDIS_URL_PART_BYTES  256 /* a DNS name has 253 bytes at most */
#define REDIS_URL_PATH_BYTES  108 /* what a socket's address holds on Linux, and NUL */
#define REDIS_URL_PORT        6379
#define REDIS_URL_SHOWN_BYTES (REDIS_URL_PART_BYTES + 32)

/* All texts are NUL-terminated. */
struct redis_url {
    char host[REDIS_URL_PART_BYTES]; /* "" = a unix socket */
    char port[8];
    char path[REDIS_URL_PATH_BYTES];
    bool auth;                       /* user and password are to be sent */
    char user[REDIS_URL_PART_BYTES]; /* "" = a password alone */
    char password[REDIS_URL_PART_BYTES];
    int database;
    char shown[REDIS_URL_SHOWN_BYTES]; /* for logs: never user or password; printable ASCII without quotes */
};

/* redis://[user[:password]@]host[:port][/database] or unix://[user[:password]@]/path[?db=N]; %XX is decoded
 * in user, password and path; an IPv6 address stands in brackets. False for any other text (rediss:// too:
 * there is no TLS here), and *ret_url is untouched. Threads: any. */
MUST_USE bool redis_url_parse(const char *url, struct redis_url *ret_url);
