/* Listening sockets. */
#pragma once

#include "renderer/base/attr.h"
#include "renderer/base/err.h"

#define LISTEN_URL_BYTES   128
#define LISTEN_SOCKETS_MAX 64 /* most threads, see config.def */

/* Opens `count` sockets that listen on the same address HOST:PORT (the kernel spreads clients over them) and
 * writes "http://HOST:PORT" with the port in fact to ret_url. ERR_CONFIG: no such host. ERR_IO: it can't be
 * had, also when any other process listens there, even one that would share. The log says why. The caller
 * closes the sockets. */
MUST_USE enum err http_listen(const char *address, int count, int *ret_fds, char ret_url[LISTEN_URL_BYTES]);
