/* http_loop.c -- the threads that serve clients: each with its own loop, its own sockets and its own daemons.
 *
 * libmicrohttpd's own epoll thread stalls when exactly 128 (256, ...) sockets are ready, so each thread polls
 * the daemons' epoll descriptors itself and lets MHD_run() do one turn (loop_run() says when it need not). A
 * thread shares nothing with the others but the count per client address, so the hit path has no lock of
 * ours.
 *
 * A request that waits for a render is suspended: libmicrohttpd then forgets its socket. Two things can end
 * that. The render thread that finished pushes the exchange into the loop's mailbox and wakes the loop
 * (http_wake); only the loop itself resumes, so it cannot happen before the connection was suspended. Or the
 * client hangs up: suspended sockets are watched in an epoll set of the loop's own, and the exchange leaves
 * the pipeline, which can then stop the render. An answer that is made while it is sent (struct http_stream)
 * is suspended and resumed in the same way, as often as it must wait.
 *
 * Once a second a sweep shuts down connections whose request does not get complete or whose answer is not
 * taken: libmicrohttpd's own timeout starts again with each byte, so a client that sends one a second would
 * stay for ever. Threads: as said; http_server_*() from any. */
#include "server/http_private.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "server/log.h"
#include "server/metrics.h"

#define SWEEP_MS       1000 /* time limits are whole seconds */
#define SWEEP_DRAIN_MS 20   /* while draining: idle connections go soon */
#define FDS_SPARE      128  /* descriptors that are no client: sockets, logs, graphics devices */
#define OWN_EVENTS     64
#define TURNS_UNPOLLED 16
#define FEW            32 /* requests in a turn; far from 128 */
#define FEW_WAIT_MS    1

static uint64_t clock_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void loop_wake(struct http_loop *loop)
{
    uint64_t one = 1;
    if (write(loop->wake_fd, &one, sizeof(one)) < 0)
        return; /* EAGAIN: it is awake already */
}

/* From a render thread: what a suspended exchange waits for is there. */
void http_stream_wake(struct http_exchange *x)
{
    struct exchange *e = (struct exchange *)x;
    struct http_loop *loop = e->connection->loop;
    struct exchange *head = atomic_load_explicit(&loop->mailbox, memory_order_relaxed);
    do
        e->next = head; /* from here to the push `e` is ours, afterwards the loop's */
    while (!atomic_compare_exchange_weak_explicit(&loop->mailbox, &head, e, memory_order_release,
                                                  memory_order_relaxed));
    if (!head) /* else whoever pushed before has woken it, or will */
        loop_wake(loop);
}

void http_wake(struct pipeline_waiter *w)
{
    http_stream_wake((struct http_exchange *)((char *)w - offsetof(struct http_exchange, waiter)));
}

static void mailbox_read(struct http_loop *loop)
{
    struct exchange *e = atomic_exchange_explicit(&loop->mailbox, NULL, memory_order_acquire), *oldest = NULL;
    while (e) { /* turn it round: first come, first served */
        struct exchange *next = e->next;
        e->next = oldest;
        oldest = e;
        e = next;
    }
    while (oldest) {
        e = oldest;
        oldest = e->next;
        http_mhd_resume(e->connection);
    }
}

/* The client of a waiting exchange has gone, or the server ends. */
static void connection_leave(struct http_connection *c)
{
    if (c->phase != PHASE_WAITING || c->gone)
        return;
    c->gone = true;
    http_connection_shut(c);
    struct http_exchange *x = &c->exchange->x;
    struct http_stream *stream = x->out.stream;
    if (stream ? stream->leave(stream) : pipeline_leave(c->loop->server->desc.service->pipeline, &x->waiter))
        http_mhd_resume(c); /* it sees the closed socket; else the mailbox brings it */
}

void http_loop_watch(struct http_connection *c)
{
    struct epoll_event event = {.events = EPOLLRDHUP | EPOLLONESHOT, .data.ptr = c};
    int op = c->watched ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    if (epoll_ctl(c->loop->own_epoll, op, c->fd, &event) == 0)
        c->watched = true;
    else
        log_warn("event=watch_failed reason=\"%s\"",
                 strerror(errno)); /* then a hang-up is seen late: no harm */
}

static void own_events(struct http_loop *loop)
{
    struct epoll_event events[OWN_EVENTS];
    int n = epoll_wait(loop->own_epoll, events, OWN_EVENTS, 0);
    for (int i = 0; i < n; i++) {
        if (events[i].data.ptr) {
            connection_leave(events[i].data.ptr);
            continue;
        }
        uint64_t count;
        if (read(loop->wake_fd, &count, sizeof(count)) < 0)
            continue; /* another turn took it */
    }
}

void http_loop_add(struct http_loop *loop, struct http_connection *c)
{
    c->loop = loop;
    c->next = loop->connections;
    if (c->next)
        c->next->prev = c;
    loop->connections = c;
    c->phase = PHASE_IDLE;
    c->since_ms = loop->now_ms;
    atomic_fetch_add(&loop->server->connections, 1);
    metrics_connections(+1);
}

void http_loop_remove(struct http_loop *loop, struct http_connection *c)
{
    if (c->prev)
        c->prev->next = c->next;
    else
        loop->connections = c->next;
    if (c->next)
        c->next->prev = c->prev;
    atomic_fetch_sub(&loop->server->connections, 1);
    metrics_connections(-1);
}

void http_connection_shut(struct http_connection *c)
{
    if (!c->shut)
        shutdown(c->fd, SHUT_RDWR); /* libmicrohttpd sees it and closes */
    c->shut = true;
}

static bool bytes_unread(int fd)
{
    int n = 0;
    return ioctl(fd, FIONREAD, &n) == 0 && n > 0;
}

/* Shuts what has had its time. */
static void sweep(struct http_loop *loop, enum server_phase phase)
{
    uint64_t request_ms = (uint64_t)loop->server->desc.request_seconds * 1000;
    for (struct http_connection *c = loop->connections, *next; c; c = next) {
        next = c->next;
        bool late = false;
        switch (c->phase) {
        case PHASE_IDLE:
            late = phase == SERVER_DRAINS && !bytes_unread(c->fd);
            /* fall through */
        case PHASE_REQUEST:
            late = late || loop->now_ms - c->since_ms > request_ms;
            break;
        case PHASE_ANSWER:
            late = loop->now_ms > c->limit_ms;
            break;
        case PHASE_WAITING:
            break;
        }
        if (phase == SERVER_STOPS && c->phase == PHASE_WAITING)
            connection_leave(c);
        else if (late || phase == SERVER_STOPS)
            http_connection_shut(c);
    }
}

/* Closes the listening sockets; what was already queued there is accepted first. */
static void loop_quiesce(struct http_loop *loop)
{
    for (int i = 0; i < loop->server->socket_count; i++) {
        struct pollfd p = {.fd = loop->listen_fds[i], .events = POLLIN};
        for (int turns = 0; turns < 100 && poll(&p, 1, 0) == 1; turns++)
            http_mhd_run(loop->daemons[i], 0);
        http_mhd_quiesce(loop->daemons[i]);
        close(loop->listen_fds[i]);
        loop->listen_fds[i] = -1;
    }
    loop->quiesced = true;
    atomic_fetch_add(&loop->server->quiesced, 1);
}

static int loop_timeout(const struct http_loop *loop)
{
    int least = loop->next_sweep_ms > loop->now_ms ? (int)(loop->next_sweep_ms - loop->now_ms) : 0;
    for (int i = 0; i < loop->server->socket_count; i++) {
        int ms = http_mhd_timeout_ms(loop->daemons[i]);
        if (ms >= 0 && ms < least)
            least = ms;
    }
    return least;
}

static void *loop_run(void *arg)
{
    struct http_loop *loop = arg;
    struct http_server *server = loop->server;
    int unpolled = 0; /* turns since the last poll */
    for (uint64_t requests = 0;;) {
        uint64_t served = loop->request_number - requests;
        requests = loop->request_number;
        /* While requests come in, a poll before the daemons look at their sockets themselves would be one
         * more system call; own events can wait for some turns, mail is seen anyway. When many came, whoever
         * shares this processor gets a turn first: clients then have more requests ready, which are served in
         * one go. When few came, the daemon may wait by itself, if nobody waits for mail; should then exactly
         * 128 sockets be ready, it loses this one millisecond and no more. */
        bool busy = served > 0 && ++unpolled < TURNS_UNPOLLED;
        bool few = busy && served < FEW && loop->waiting == 0 && server->socket_count == 1;
        if (!busy) {
            poll(loop->polls, (nfds_t)server->socket_count + 1, loop_timeout(loop));
            unpolled = 0;
        } else if (!few) {
            sched_yield();
        }
        loop->now_ms = clock_ms();
        enum server_phase phase =
            (enum server_phase)atomic_load_explicit(&server->phase, memory_order_relaxed);
        if (!busy && loop->polls[0].revents)
            own_events(loop);
        if (atomic_load_explicit(&loop->mailbox, memory_order_relaxed))
            mailbox_read(loop);
        for (int i = 0; i < server->socket_count; i++)
            http_mhd_run(loop->daemons[i], few ? FEW_WAIT_MS : 0);
        access_log_flush(&loop->log);
        if (phase != SERVER_RUNS && !loop->quiesced)
            loop_quiesce(loop);
        if (loop->now_ms >= loop->next_sweep_ms || phase == SERVER_STOPS) {
            sweep(loop, phase);
            loop->next_sweep_ms = loop->now_ms + (phase == SERVER_RUNS ? SWEEP_MS : SWEEP_DRAIN_MS);
        }
        if (phase == SERVER_STOPS && !loop->connections)
            return NULL;
    }
}

static void loop_finish(struct http_loop *loop)
{
    for (int i = 0; i < loop->server->socket_count; i++) {
        if (loop->daemons[i])
            http_mhd_stop(loop->daemons[i]);
        if (loop->listen_fds[i] >= 0 && !loop->daemons[i])
            close(loop->listen_fds[i]); /* else the daemon has closed it */
    }
    access_log_flush(&loop->log);
    http_replies_destroy(loop->replies);
    free(loop->handler_memory);
    while (loop->free_exchanges) {
        struct exchange *e = loop->free_exchanges;
        loop->free_exchanges = e->next;
        free(e);
    }
    if (loop->own_epoll >= 0)
        close(loop->own_epoll);
    if (loop->wake_fd >= 0)
        close(loop->wake_fd);
}

static enum err loop_init(struct http_loop *loop, unsigned connection_limit)
{
    struct epoll_event event = {.events = EPOLLIN};
    loop->own_epoll = epoll_create1(EPOLL_CLOEXEC);
    loop->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (loop->own_epoll < 0 || loop->wake_fd < 0 ||
        epoll_ctl(loop->own_epoll, EPOLL_CTL_ADD, loop->wake_fd, &event))
        return ERR_IO;
    loop->polls[0] = (struct pollfd){.fd = loop->own_epoll, .events = POLLIN};
    loop->now_ms = clock_ms();
    enum err err = http_replies_create(http_mhd_reply_free, &loop->replies);
    if (err)
        return err;
    for (int i = 0; i < loop->server->socket_count; i++) {
        struct pollfd *p = &loop->polls[i + 1];
        err = http_mhd_start(loop, loop->listen_fds[i], connection_limit, &loop->daemons[i], &p->fd);
        if (err)
            return err;
        p->events = POLLIN;
    }
    return ERR_NONE;
}

/* Raises the limit of open files as far as we may, and says how many of them each daemon's clients can have.
 */
static unsigned connection_limit(const struct http_server *server)
{
    struct rlimit files = {.rlim_cur = 1024};
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
        struct rlimit more = {.rlim_cur = files.rlim_max, .rlim_max = files.rlim_max};
        if (setrlimit(RLIMIT_NOFILE, &more) == 0)
            files = more;
    }
    unsigned all = files.rlim_cur > 1000000 ? 1000000 : (unsigned)files.rlim_cur;
    unsigned each = all > 2 * FDS_SPARE ? all - FDS_SPARE : all / 2;
    if (server->desc.connection_limit > 0 && each > (unsigned)server->desc.connection_limit)
        each = (unsigned)server->desc.connection_limit;
    each /= (unsigned)(server->loop_count * server->socket_count);
    return each < 8 ? 8 : each;
}

static enum err sockets_open(struct http_server *server)
{
    enum err err = http_listen_open(&server->desc, &server->listeners);
    if (err)
        return err;
    for (int i = 0; i < server->listeners.count; i++)
        for (int k = 0; k < server->loop_count; k++)
            server->loops[k].listen_fds[i] = server->listeners.all[i].fds[k];
    server->socket_count = server->listeners.count;
    return ERR_NONE;
}

static enum err loops_start(struct http_server *server)
{
    enum err err = ERR_NONE;
    for (int i = 0; i < server->loop_count && !err; i++)
        err = loop_init(&server->loops[i], connection_limit(server));
    for (int i = 0; i < server->loop_count && !err; i++) {
        if (pthread_create(&server->loops[i].thread, NULL, loop_run, &server->loops[i]))
            err = ERR_OOM;
        else
            server->loops[i].started = true;
    }
    return err;
}

enum err http_server_start(const struct http_server_desc *desc, struct http_server **ret_server)
{
    struct http_server *server =
        calloc(1, sizeof(*server) + (size_t)desc->threads * sizeof(server->loops[0]));
    if (!server) {
        log_error("event=http_failed error=%s", err_name(ERR_OOM));
        return ERR_OOM;
    }
    server->desc = *desc;
    server->loop_count = desc->threads;
    for (int i = 0; i < server->loop_count; i++) {
        struct http_loop *loop = &server->loops[i];
        loop->server = server;
        loop->index = i;
        loop->own_epoll = loop->wake_fd = -1;
        loop->log.mode = desc->log_requests;
    }
    if (getrandom(&server->boot, sizeof(server->boot), 0) != sizeof(server->boot))
        server->boot = (uint64_t)time(NULL) << 20 ^ (uint64_t)getpid();
    enum err err = http_addresses_init(&server->addresses, desc->connections_per_address);
    if (err) {
        log_error("event=http_failed error=%s", err_name(err));
        free(server);
        return err;
    }
    err = sockets_open(server); /* logs its own failures */
    if (!err && (err = loops_start(server)))
        log_error("event=http_failed error=%s reason=\"%s\"", err_name(err), err_words(err));
    if (err) {
        http_server_stop(server);
        http_server_destroy(server);
        return err;
    }
    *ret_server = server;
    return ERR_NONE;
}

static void phase_set(struct http_server *server, enum server_phase phase)
{
    atomic_store(&server->phase, phase);
    for (int i = 0; i < server->loop_count; i++)
        loop_wake(&server->loops[i]);
}

void http_server_drain(struct http_server *server)
{
    http_listen_unlink(&server->listeners); /* before they are closed: a successor may be waiting */
    phase_set(server, SERVER_DRAINS);
}

int http_server_connections(struct http_server *server)
{
    return atomic_load(&server->connections);
}

bool http_server_wait(struct http_server *server, int ms)
{
    struct timespec nap = {.tv_nsec = 5000000};
    uint64_t until = clock_ms() + (uint64_t)ms;
    while (atomic_load(&server->quiesced) < server->loop_count || http_server_connections(server) > 0) {
        if (clock_ms() >= until)
            return false;
        nanosleep(&nap, NULL);
    }
    return true;
}

void http_server_stop(struct http_server *server)
{
    phase_set(server, SERVER_STOPS);
    for (int i = 0; i < server->loop_count; i++)
        if (server->loops[i].started)
            pthread_join(server->loops[i].thread, NULL);
}

void http_server_destroy(struct http_server *server)
{
    if (!server)
        return;
    http_listen_unlink(&server->listeners);
    for (int i = 0; i < server->loop_count; i++)
        loop_finish(&server->loops[i]);
    http_addresses_finish(&server->addresses);
    free(server);
}
