/* Listening sockets: TCP, unix, and those that systemd passed on. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "renderer/base/attr.h"
#include "renderer/base/err.h"
#include "server/config.h"

#define LISTEN_URL_BYTES   128
#define LISTEN_SOCKETS_MAX 64 /* most threads, see config.def */

/* Sockets that the process was started with: systemd.socket(5), sd_listen_fds(3). Zeroed there are none. */
struct http_listen_inherited {
    int count;
    struct http_listen_passed {
        int fd;
        bool metrics; /* its name (FileDescriptorName=) is "metrics" */
    } sockets[CONFIG_LISTEN_MAX];
};

/* Reads LISTEN_PID, LISTEN_FDS and LISTEN_FDNAMES, unsets them, and looks at the sockets. None when the
 * variables aren't there or mean another process. ERR_CONFIG, and the log says why: a number that is none,
 * too many, or one that is no listening stream socket. Call once, before other threads start and before
 * anything is opened. */
MUST_USE enum err http_listen_inherit(struct http_listen_inherited *ret_inherited);

/* How many there are for the server of metrics, or for the public one. Accepts NULL. */
int http_listen_inherited_count(const struct http_listen_inherited *inherited, bool metrics);

/* Sockets that listen, one for each thread at each address. Zeroed there are none. */
struct http_listeners {
    int count;
    struct http_listener {
        int fds[LISTEN_SOCKETS_MAX];  /* as many as there are threads */
        char url[LISTEN_URL_BYTES];   /* "http://127.0.0.1:8080" with the port in fact, or "unix:/path" */
        char path[CONFIG_PATH_BYTES]; /* of the file that was made for it; "" = none */
        dev_t device;                 /* of that file */
        ino_t inode;
    } all[CONFIG_LISTEN_MAX];
};

struct http_server_desc;

/* Opens what desc->listen and desc->inherited name and logs "listening on URL" for each. A TCP address gets a
 * socket for each thread, over which the kernel spreads clients; a unix socket and one that was passed on get
 * one, which the threads share. A host name with several addresses is listened on at all of them; port 0 is
 * then another port at each. IPv6 addresses take IPv6 alone: [::] does not mean IPv4 too. The file of a unix
 * socket gets mode 0660; one that a dead process left is replaced.
 *
 * ERR_CONFIG: too many addresses. ERR_IO: no such host, or an address can't be had, also when anybody listens
 * there already, even one who would share. The log says which and why; all that was opened is closed. On
 * success the caller closes the sockets and calls http_listen_unlink() before. Threads: one, at the start. */
MUST_USE enum err http_listen_open(const struct http_server_desc *desc, struct http_listeners *ret_listeners);

/* Removes the files of unix sockets that were made, if they are still ours, so that a successor can have its
 * own there. New clients are refused from then on. Can be called again. */
void http_listen_unlink(struct http_listeners *listeners);
