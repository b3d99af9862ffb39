/* Listening sockets. */
#pragma once

#include "renderer/base/attr.h"
#include "renderer/base/err.h"

#define LISTEN_URL_BYTES   128
#define LISTEN_SOCKETS_MAX 64 /* most threads, see config.def */

/* Opens `count` sockets that listen on the same address HOST:PORT (the kernel spreads clients over them) and
 * writes "http://HOST:PORT" with the port in fact to ret_url. ERR_CONFIG: it can't be had, and the log says
 * why; also when any other process listens there, even one that would share. The caller closes the sockets.
 */
MUST_USE enum err http_listen(const char *address, int count, int *ret_fds, char ret_url[LISTEN_URL_BYTES]);
