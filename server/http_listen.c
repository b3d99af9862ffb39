/* http_listen.c -- one listening socket per thread on one address.
 *
 * SO_REUSEPORT lets threads share a port without sharing a socket, so none wakes for another's client. It
 * would also let a second planetd slip onto the port and take half of the clients. So the first socket binds
 * without it, which fails if anybody listens there, and gets the option afterwards; that also settles which
 * port "any" is before the others bind. Threads: one, at the start. */
#include "server/http_listen.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/config.h"
#include "server/log.h"

#define BACKLOG 1024 /* a burst of new clients must fit; the kernel's own limit is 4096 */

static int option_set(int fd, int level, int name)
{
    int one = 1;
    return setsockopt(fd, level, name, &one, sizeof(one));
}

/* Returns a socket bound to `at`, or -1 with errno. `shares` = SO_REUSEPORT before the bind. */
static int socket_bound(const struct sockaddr *at, socklen_t at_len, bool shares)
{
    int fd = socket(at->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    if (option_set(fd, SOL_SOCKET, SO_REUSEADDR) ||
        (at->sa_family == AF_INET6 && option_set(fd, IPPROTO_IPV6, IPV6_V6ONLY)) ||
        (shares && option_set(fd, SOL_SOCKET, SO_REUSEPORT)) || bind(fd, at, at_len)) {
        int why = errno;
        close(fd);
        errno = why;
        return -1;
    }
    return fd;
}

static int sockets_open(const struct addrinfo *info, int count, int *fds, struct sockaddr_storage *at)
{
    socklen_t at_len = sizeof(*at);
    int opened = 0;
    fds[0] = socket_bound(info->ai_addr, info->ai_addrlen, false);
    if (fds[0] < 0)
        return -1;
    opened = 1;
    if (getsockname(fds[0], (struct sockaddr *)at, &at_len) || option_set(fds[0], SOL_SOCKET, SO_REUSEPORT) ||
        listen(fds[0], BACKLOG))
        goto fail;
    for (; opened < count; opened++) {
        fds[opened] = socket_bound((const struct sockaddr *)at, at_len, true);
        if (fds[opened] < 0)
            goto fail;
        if (listen(fds[opened], BACKLOG)) {
            opened++;
            goto fail;
        }
    }
    return 0;
fail:;
    int why = errno;
    while (opened > 0)
        close(fds[--opened]);
    errno = why;
    return -1;
}

enum err http_listen(const char *address, int count, int *ret_fds, char ret_url[LISTEN_URL_BYTES])
{
    struct config_address parts;
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV},
                    *info;
    if (!config_address_parse(address, &parts)) {
        log_error("event=listen_failed address=\"%s\" reason=\"not HOST:PORT\"", address);
        return ERR_CONFIG;
    }
    int failure = getaddrinfo(parts.host, parts.port, &hints, &info);
    if (failure) {
        log_error("event=listen_failed address=\"%s\" reason=\"%s\"", address, gai_strerror(failure));
        return ERR_CONFIG;
    }
    struct sockaddr_storage at = {0};
    int opened = sockets_open(info, count, ret_fds, &at);
    if (opened) {
        const char *who = errno == EADDRINUSE ? ": another process listens there" : "";
        log_error("event=listen_failed address=\"%s\" reason=\"%s%s\"", address, strerror(errno), who);
        freeaddrinfo(info);
        return ERR_IO;
    }
    char host[64], port[8];
    getnameinfo((const struct sockaddr *)&at, info->ai_addrlen, host, sizeof(host), port, sizeof(port),
                NI_NUMERICHOST | NI_NUMERICSERV);
    snprintf(ret_url, LISTEN_URL_BYTES, at.ss_family == AF_INET6 ? "http://[%s]:%s" : "http://%s:%s", host,
             port);
    freeaddrinfo(info);
    return ERR_NONE;
}
