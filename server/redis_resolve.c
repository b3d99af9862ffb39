/* redis_resolve.c -- one lookup at a time on a detached thread.
 *
 * A name server that does not answer holds getaddrinfo() for many seconds, and a thread inside cannot be
 * stopped. So the lookup has its own thread and its own memory, which whoever finishes last frees: the
 * thread, or the asker that has given up. The result is announced on a pipe, because the asker waits in
 * poll().
 *
 * Threads: the asker's, and at most one lookup. */
#include "server/redis_resolve.h"

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/redis_wait.h"

struct lookup {
    atomic_int owners; /* thread and asker */
    int pipe[2];       /* the thread writes to [1], when `found` is set */
    struct redis_addresses found;
    char *host, *port;
};

struct redis_resolver {
    char *host, *port;
    struct lookup *running; /* NULL = none */
};

static void lookup_release(struct lookup *l)
{
    if (!l || atomic_fetch_sub(&l->owners, 1) > 1)
        return;
    close(l->pipe[0]);
    close(l->pipe[1]);
    free(l->host);
    free(l->port);
    free(l);
}

static bool look_up(const char *host, const char *port, int flags, struct redis_addresses *ret_addresses)
{
    struct addrinfo hints = {
        .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = flags | AI_NUMERICSERV};
    struct addrinfo *list = NULL;
    struct redis_addresses found = {0};
    if (getaddrinfo(host, port, &hints, &list) != 0)
        return false;
    for (const struct addrinfo *a = list; a && found.count < REDIS_ADDRESSES_MAX; a = a->ai_next) {
        if (a->ai_addrlen > sizeof(found.list[0].at))
            continue;
        struct redis_address *to = &found.list[found.count++];
        memcpy(&to->at, a->ai_addr, a->ai_addrlen);
        to->len = a->ai_addrlen;
    }
    freeaddrinfo(list);
    *ret_addresses = found;
    return found.count > 0;
}

static void *lookup_run(void *arg)
{
    struct lookup *l = arg;
    if (!look_up(l->host, l->port, AI_ADDRCONFIG, &l->found))
        l->found.count = 0;
    ssize_t written = write(l->pipe[1], "", 1); /* an empty pipe has room, and its reader is open */
    (void)written;
    lookup_release(l);
    return NULL;
}

static struct lookup *lookup_start(const struct redis_resolver *r)
{
    struct lookup *l = calloc(1, sizeof(*l));
    pthread_attr_t detached;
    pthread_t thread;
    if (!l)
        return NULL;
    l->host = strdup(r->host);
    l->port = strdup(r->port);
    if (!l->host || !l->port || pipe2(l->pipe, O_CLOEXEC) < 0)
        goto fail;
    atomic_init(&l->owners, 2);
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    int failed = pthread_create(&thread, &detached, lookup_run, l);
    pthread_attr_destroy(&detached);
    if (!failed)
        return l;
    close(l->pipe[0]);
    close(l->pipe[1]);
fail:
    free(l->host);
    free(l->port);
    free(l);
    return NULL;
}

enum err redis_resolver_create(const char *host, const char *port, struct redis_resolver **ret_resolver)
{
    struct redis_resolver *r = calloc(1, sizeof(*r));
    if (!r)
        return ERR_OOM;
    r->host = strdup(host);
    r->port = strdup(port);
    if (!r->host || !r->port) {
        redis_resolver_destroy(r);
        return ERR_OOM;
    }
    *ret_resolver = r;
    return ERR_NONE;
}

bool redis_resolver_ask(struct redis_resolver *r, uint64_t deadline_ns, int stop_fd,
                        struct redis_addresses *ret_addresses)
{
    if (look_up(r->host, r->port, AI_NUMERICHOST, ret_addresses))
        return true;
    if (!r->running)
        r->running = lookup_start(r);
    if (!r->running)
        return false;
    struct redis_wait wait = {.deadline_ns = deadline_ns, .stop_fd = stop_fd};
    char byte;
    if (redis_wait_for(r->running->pipe[0], POLLIN, &wait) != REDIS_WAIT_READY ||
        read(r->running->pipe[0], &byte, 1) != 1)
        return false; /* left running, for the next call */
    bool found = r->running->found.count > 0;
    if (found)
        *ret_addresses = r->running->found;
    lookup_release(r->running);
    r->running = NULL;
    return found;
}

void redis_resolver_destroy(struct redis_resolver *r)
{
    if (!r)
        return;
    lookup_release(r->running);
    free(r->host);
    free(r->port);
    free(r);
}
