/* health.c -- is the daemon with these settings alive?
 *
 * A health check that names a port of its own breaks as soon as somebody changes the port, so this one reads
 * the same settings as the daemon. It asks /healthz and not /readyz: a daemon that is busy is no reason to
 * kill it. Threads: one, in a process of its own. */
#include "server/health.h"

#include <errno.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define WAIT_S 3

static int complain(const char *address, const char *why)
{
    fprintf(stderr, "planetd health: %s: %s\n", address, why);
    return 1;
}

/* A connected socket, or -1 with *ret_why. */
static int connect_to(const struct sockaddr *at, socklen_t at_len, const char **ret_why)
{
    struct timeval wait = {.tv_sec = WAIT_S};
    int fd = socket(at->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)) == 0 &&
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait)) == 0 && connect(fd, at, at_len) == 0)
        return fd;
    *ret_why = strerror(errno);
    if (fd >= 0)
        close(fd);
    return -1;
}

static int connect_unix(const char *path, const char **ret_why)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof(at.sun_path)) {
        *ret_why = "the path is too long";
        return -1;
    }
    memcpy(at.sun_path, path, strlen(path) + 1);
    return connect_to((const struct sockaddr *)&at, sizeof(at), ret_why);
}

static int connect_tcp(const char *address, const char **ret_why)
{
    struct config_address parts;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV}, *info;
    if (!config_address_parse(address, &parts) || strcmp(parts.port, "0") == 0) {
        *ret_why = "it names no port";
        return -1;
    }
    const char *host = strcmp(parts.host, "0.0.0.0") == 0 ? "127.0.0.1"
                       : strcmp(parts.host, "::") == 0    ? "::1"
                                                          : parts.host;
    int failure = getaddrinfo(host, parts.port, &hints, &info);
    if (failure) {
        *ret_why = gai_strerror(failure);
        return -1;
    }
    int fd = -1;
    for (const struct addrinfo *a = info; a && fd < 0; a = a->ai_next)
        fd = connect_to(a->ai_addr, a->ai_addrlen, ret_why);
    freeaddrinfo(info);
    return fd;
}

int health_check(const struct config *c)
{
    static const char request[] = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    static const char good[] = "HTTP/1.1 200 ";
    const struct config_listen *list = c->listen.count ? &c->listen : &c->metrics_listen;
    if (!list->count)
        return complain("no address", "set --listen or --metrics-listen as the daemon has it");
    const char *address = list->text[0], *why = "no answer";
    bool local = strncmp(address, "unix:", 5) == 0;
    int fd = local ? connect_unix(address + 5, &why) : connect_tcp(address, &why);
    if (fd < 0)
        return complain(address, why);
    char answer[sizeof(good)] = "";
    size_t len = 0;
    bool sent = send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL) == (ssize_t)sizeof(request) - 1;
    while (sent && len < sizeof(good) - 1) {
        ssize_t n = recv(fd, answer + len, sizeof(good) - 1 - len, 0);
        if (n <= 0)
            break;
        len += (size_t)n;
    }
    close(fd);
    return strcmp(answer, good) == 0 ? 0 : complain(address, len ? "it did not answer 200" : "no answer");
}
