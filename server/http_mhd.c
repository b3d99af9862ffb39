/* http_mhd.c -- libmicrohttpd, and nothing else that knows it.
 *
 * What was measured of 0.9.75 and is built in here: an answer queued in the handler's first call makes it
 * close the connection, so the first call only looks at the headers (and answers at once just when closing is
 * wanted: a body that is too large and not yet sent). Its decoding of arguments is lenient, so the raw target
 * is kept from the URI callback and api/ decodes it. It can't answer while an upload goes on, so a body that
 * is refused is read to its end within reason. An answer shared by many clients holds no reference to the
 * bytes it points to; the exchange does, until on_completed(). Threads: every call from the loop that owns
 * the daemon. */
#include <microhttpd.h>

#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server/forwarded.h"
#include "server/http_private.h"
#include "server/log.h"
#include "server/metrics.h"
#include "server/respond.h"

#define ANSWER_BYTES_PER_MS 16 /* slower readers are cut off: 16 KiB/s */
#define STREAM_BLOCK_BYTES  16384
#define STATUS_CLIENT_GONE  499 /* for the log alone */
#define ID_HEADER           "X-Request-Id"
#define REFUSED_TOLD_MS     10000 /* between two lines on connections that are too many */

/* Called for each header; one walk finds all we need. */
static enum MHD_Result on_header(void *cls, enum MHD_ValueKind kind, const char *key, size_t key_len,
                                 const char *value, size_t value_len)
{
    (void)kind;
    if (value)
        http_header_take(cls, key, key_len, value, value_len);
    return MHD_YES;
}

static void headers_read(struct exchange *e, struct MHD_Connection *mhd, const char *method,
                         const char *version)
{
    MHD_get_connection_values_n(mhd, MHD_HEADER_KIND, on_header, e);
    const union MHD_ConnectionInfo *size =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    http_headers_end(e, method, version, size ? size->header_size : 0);
    const struct http_origin *from = &e->connection->origin;
    if (from->trusted) {
        const struct http_request *in = &e->x.in;
        forwarded_client(e->connection->loop->server->desc.service->proxies,
                         from->unix_socket ? NULL : from->address, in->forwarded, in->x_forwarded_for,
                         &e->x.client);
        static const struct http_peer nobody;
        e->x.client_unknown = from->unix_socket && memcmp(&e->x.client, &nobody, sizeof(nobody)) == 0;
    }
}

static ssize_t no_body(void *cls, uint64_t at, char *to, size_t room)
{
    (void)cls, (void)at, (void)to, (void)room;
    return MHD_CONTENT_READER_END_OF_STREAM;
}

static void suspend(struct http_connection *c)
{
    c->phase = PHASE_WAITING;
    c->loop->waiting++;
    MHD_suspend_connection(c->mhd);
    http_loop_watch(c);
}

/* So long may a client take for so many bytes. */
static void limit_set(struct http_connection *c, size_t bytes)
{
    struct http_loop *loop = c->loop;
    c->limit_ms =
        loop->now_ms + (uint64_t)loop->server->desc.request_seconds * 1000 + bytes / ANSWER_BYTES_PER_MS;
}

/* The next bytes of a stream. Time that it waits for a render is not the client's. */
static ssize_t stream_read(void *cls, uint64_t at, char *to, size_t room)
{
    struct exchange *e = cls;
    struct http_connection *c = e->connection;
    struct http_stream *s = e->x.out.stream;
    size_t len = 0;
    (void)at;
    if (c->gone)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    if (c->phase == PHASE_WAITING)
        limit_set(c, 0);
    c->phase = PHASE_ANSWER;
    enum http_stream_state state = s->read(s, to, room, &len);
    if (s->begun)
        limit_set(c, s->begun);
    s->begun = 0;
    switch (state) {
    case HTTP_STREAM_MORE:
        e->x.out.body_len += len;
        return (ssize_t)len;
    case HTTP_STREAM_PENDING:
        suspend(c);
        return 0;
    case HTTP_STREAM_END:
        return MHD_CONTENT_READER_END_OF_STREAM;
    case HTTP_STREAM_FAILED:
        break;
    }
    return MHD_CONTENT_READER_END_WITH_ERROR;
}

/* The body of an answer. The bytes are ours and stay until on_completed(), which MHD_RESPMEM_PERSISTENT says.
 */
static struct MHD_Response *body_make(struct http_exchange *x)
{
    const struct http_response *out = &x->out;
    if (out->stream)
        return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK_BYTES, stream_read,
                                                 (struct exchange *)x, NULL);
    if (!out->no_length)
        return MHD_create_response_from_buffer(out->body_len, (void *)(uintptr_t)out->body,
                                               MHD_RESPMEM_PERSISTENT);
    /* The only way to leave Content-Length out; it costs the connection. */
    struct MHD_Response *r = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 1024, no_body, NULL, NULL);
    if (r)
        MHD_set_response_options(r, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
    return r;
}

static struct MHD_Response *answer_make(struct http_exchange *x)
{
    const struct http_response *out = &x->out;
    struct MHD_Response *r = body_make(x);
    if (!r)
        return NULL;
    for (int i = 0; i < out->header_count; i++)
        if (MHD_add_response_header(r, out->headers[i].name, out->headers[i].value) == MHD_NO)
            goto fail;
    if (MHD_add_response_header(r, ID_HEADER, respond_id(x)) == MHD_NO ||
        (x->traceparent[0] && MHD_add_response_header(r, "traceparent", x->traceparent) == MHD_NO) ||
        (x->closing && MHD_add_response_header(r, "Connection", "close") == MHD_NO))
        goto fail;
    return r;
fail:
    MHD_destroy_response(r);
    return NULL;
}

/* A prepared answer. Each client that gets it has its own id put in first. libmicrohttpd writes the head of
 * an answer into the connection's own memory before it turns to another connection or request, so nobody sees
 * the next one's. */
struct reply {
    struct MHD_Response *mhd;
    char *id; /* the value of X-Request-Id inside *mhd */
    size_t id_len;
};

void http_mhd_reply_free(void *reply)
{
    struct reply *r = reply;
    MHD_destroy_response(r->mhd);
    free(r);
}

static void reply_id_find(struct reply *r)
{
    /* The library's own copy of the text, on the heap; it asks for const because it remembers the length. */
    r->id = (char *)(uintptr_t)MHD_get_response_header(r->mhd, ID_HEADER);
    r->id_len = r->id ? strlen(r->id) : 0;
}

/* An id as long as the last one is written over it; taking a header out and putting one in costs 0.3 us. */
static bool reply_id_set(struct reply *r, const char *id)
{
    size_t len = strlen(id);
    if (len == r->id_len) {
        memcpy(r->id, id, len);
        return true;
    }
    if (r->id)
        MHD_del_response_header(r->mhd, ID_HEADER, r->id);
    bool added = MHD_add_response_header(r->mhd, ID_HEADER, id) == MHD_YES;
    reply_id_find(r);
    return added;
}

/* Keeps the answer, which the table then owns. False: no memory, it is still the caller's. */
static bool reply_keep(struct http_exchange *x, struct MHD_Response *mhd)
{
    struct reply *r = malloc(sizeof(*r));
    if (!r)
        return false;
    r->mhd = mhd;
    reply_id_find(r);
    http_replies_keep(x->replies, x->out.entry->serial, x->out.keep_as - 1, r);
    return true;
}

/* The answer to queue, or NULL. *ret_ours: it was made for this client alone. */
static struct MHD_Response *answer_take(struct http_exchange *x, bool *ret_ours)
{
    struct reply *ready = x->out.ready;
    *ret_ours = false;
    if (ready)
        return reply_id_set(ready, respond_id(x)) ? ready->mhd : NULL;
    struct MHD_Response *r = answer_make(x);
    *ret_ours = r && (!x->out.keep_as || !reply_keep(x, r));
    return r;
}

static enum MHD_Result answer_queue(struct exchange *e, struct MHD_Connection *mhd)
{
    struct http_response *out = &e->x.out;
    struct http_connection *c = e->connection;
    bool ours;
    struct MHD_Response *r = answer_take(&e->x, &ours);
    if (!r)
        return MHD_NO;
    metrics_answer(e->x.route, out->status);
    e->stage = STAGE_QUEUED;
    c->phase = PHASE_ANSWER;
    size_t bytes = out->entry && out->status == 200 ? out->entry->body.len : out->body_len;
    limit_set(c, bytes);
    enum MHD_Result result = MHD_queue_response(mhd, (unsigned)out->status, r);
    if (ours)
        MHD_destroy_response(r);
    return result;
}

static void refuse(struct exchange *e)
{
    struct http_exchange *x = &e->x;
    struct request_fault fault = {0};
    const char *detail = NULL;
    if (e->refused == ERR_BODY_TYPE)
        detail = "The body must be application/json.";
    else if (e->refused == ERR_BODY_SIZE)
        detail = http_takes_file(e) ? "The file may have 2097152 bytes." : "The body may have 65536 bytes.";
    else if (e->refused == ERR_URL_SIZE)
        detail = "Path and query may have 4096 bytes together.";
    else if (e->refused == ERR_HEADER_SIZE)
        detail = "Request line and headers may have 8192 bytes together.";
    if (detail)
        snprintf(fault.detail, sizeof(fault.detail), "%s", detail);
    respond_problem(x, e->refused, detail ? &fault : NULL, e->route ? e->route->allow : NULL, 0);
}

static bool closing_now(const struct exchange *e)
{
    return atomic_load_explicit(&e->connection->loop->server->phase, memory_order_relaxed) != SERVER_RUNS;
}

/* The request is there. Answers it, or suspends the connection. */
static enum MHD_Result request_handle(struct exchange *e, struct MHD_Connection *mhd)
{
    struct http_exchange *x = &e->x;
    struct http_connection *c = e->connection;
    x->closing = closing_now(e);
    x->in.body = e->body.data;
    x->in.body_len = e->body.len;
    if (e->refused) {
        refuse(e);
    } else if (x->in.method == HTTP_OPTIONS) {
        respond_options(x, e->route ? e->route->allow : "GET, HEAD, POST, OPTIONS");
    } else if (e->route->handler(x, c->loop->server->desc.service) == HTTP_PENDING) {
        /* Its end may be in the mailbox already; it is read by this thread, after this. */
        e->stage = STAGE_WAITING;
        suspend(c);
        return MHD_YES;
    }
    return answer_queue(e, mhd);
}

static enum MHD_Result body_take(struct exchange *e, const char *bytes, size_t len)
{
    e->body_seen += len;
    if (e->body_seen > http_body_swallow(e))
        return MHD_NO; /* had every chance to stop */
    if (e->body_seen > http_body_max(e) && !e->refused)
        e->refused = ERR_BODY_SIZE;
    if (!e->body_kept || e->refused)
        return MHD_YES;
    size_t room = HTTP_BODY_MAX_BYTES - e->body.len; /* of a file the head is kept */
    if (blob_append(&e->body, bytes, len < room ? len : room))
        e->refused = ERR_OOM;
    return MHD_YES;
}

/* libmicrohttpd's handler: called when the headers are there, for each piece of the body, and when all is
 * there (or the connection was resumed). */
static enum MHD_Result on_request(void *cls, struct MHD_Connection *mhd, const char *url, const char *method,
                                  const char *version, const char *upload, size_t *upload_len, void **state)
{
    struct exchange *e = *state;
    (void)cls;
    (void)url;
    if (!e || e->connection->gone)
        return MHD_NO;
    switch (e->stage) {
    case STAGE_HEADERS:
        headers_read(e, mhd, method, version);
        e->stage = STAGE_BODY;
        return http_answer_early(e) ? request_handle(e, mhd) : MHD_YES;
    case STAGE_BODY:
        if (*upload_len == 0)
            return request_handle(e, mhd);
        size_t len = *upload_len;
        *upload_len = 0;
        return body_take(e, upload, len);
    case STAGE_WAITING:
        e->x.closing = closing_now(e);
        e->x.finish(&e->x, e->connection->loop->server->desc.service);
        return answer_queue(e, mhd);
    case STAGE_QUEUED:
        *upload_len = 0;
        return MHD_YES;
    }
    return MHD_NO;
}

static struct http_connection *connection_of(struct MHD_Connection *mhd)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

static uint64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* A request line came; `uri` is not decoded yet, and will be in place. Returns the state for on_request(). */
static void *on_uri(void *cls, const char *uri, struct MHD_Connection *mhd)
{
    struct http_loop *loop = cls;
    struct http_connection *c = connection_of(mhd);
    if (!c)
        return NULL;
    struct exchange *e = loop->free_exchanges;
    if (e)
        loop->free_exchanges = e->next;
    else if (!(e = malloc(sizeof(*e))))
        return NULL;
    memset(e, 0, offsetof(struct exchange, target));
    e->connection = c;
    e->raw_target = uri;
    e->target_len = strlen(uri);
    size_t kept = e->target_len < HTTP_URL_MAX_BYTES ? e->target_len : HTTP_URL_MAX_BYTES;
    memcpy(e->target, uri, kept);
    e->target[kept] = '\0';
    e->x.in.target = e->target;
    e->x.in.path = "/";
    e->x.in.path_len = 1;
    e->x.memory = &loop->handler_memory;
    /* Ends the arguments before they begin: the library would take them apart, and we don't use that. It is
     * about to overwrite this very text itself. */
    char *arguments = strchr((char *)(uintptr_t)uri, '?');
    if (arguments)
        arguments[1] = '\0';
    e->x.started_ns = clock_ns();
    e->x.id_boot = loop->server->boot;
    e->x.id_loop = (unsigned)loop->index;
    e->x.id_number = ++loop->request_number;
    e->x.route = -1;
    e->x.client = c->origin.peer;
    e->x.client_unknown = c->origin.unix_socket;
    e->x.room = e->room;
    e->x.replies = loop->replies;
    e->x.waiter.done = http_wake;
    metrics_in_flight(+1);
    c->exchange = e;
    c->phase = PHASE_REQUEST;
    return e;
}

/* A client that leaves while its picture is made has a line too, under the number that others use for it.
 * What libmicrohttpd refused by itself, or what never was a whole request, has none. */
static void exchange_log(struct http_loop *loop, struct exchange *e, bool sent)
{
    struct http_exchange *x = &e->x;
    if (e->stage == STAGE_WAITING) {
        bool stopping = atomic_load(&loop->server->phase) == SERVER_STOPS;
        x->out.status = stopping ? 503 : STATUS_CLIENT_GONE;
        x->out.err = stopping ? ERR_DRAINING : ERR_NONE;
        x->out.drawn = true;
    }
    if (x->out.status)
        access_log_add(&loop->log, x, e->route && (e->route->sets & ROUTES_PROBE), sent);
}

/* The answer was sent, or the connection failed. */
static void on_completed(void *cls, struct MHD_Connection *mhd, void **state,
                         enum MHD_RequestTerminationCode why)
{
    struct http_loop *loop = cls;
    struct exchange *e = *state;
    (void)mhd;
    if (!e)
        return;
    *state = NULL;
    exchange_log(loop, e, why == MHD_REQUEST_TERMINATED_COMPLETED_OK);
    metrics_in_flight(-1);
    e->connection->exchange = NULL;
    e->connection->phase = PHASE_IDLE;
    e->connection->since_ms = loop->now_ms;
    blob_free(&e->body);
    blob_free(&e->x.out.owned);
    if (e->x.out.stream)
        e->x.out.stream->destroy(e->x.out.stream);
    entry_unref(e->x.out.entry);
    entry_unref(e->x.waiter.entry); /* a result that came when the client had gone */
    e->next = loop->free_exchanges;
    loop->free_exchanges = e;
}

/* Before a connection is set up: is its address allowed another one? Behind a proxy, and on a unix socket,
 * all clients have one address, so there they are not counted. */
/* Not a line for each: whoever opens too many does it fast. */
static void connection_refused(struct http_loop *loop, const struct http_origin *from)
{
    metrics_refused();
    loop->refused++;
    if (loop->now_ms < loop->refused_told_ms)
        return;
    char client[INET6_ADDRSTRLEN] = "";
    inet_ntop(AF_INET6, from->address, client, sizeof(client));
    log_warn("event=connections_refused client=%s connections=%llu reason=\"--connections-per-address\"",
             client, (unsigned long long)loop->refused);
    loop->refused = 0;
    loop->refused_told_ms = loop->now_ms + REFUSED_TOLD_MS;
}

static enum MHD_Result on_accept(void *cls, const struct sockaddr *address, socklen_t address_len)
{
    struct http_loop *loop = cls;
    struct http_addresses *all = &loop->server->addresses;
    struct http_origin *from = &loop->accepted;
    const struct forwarded_proxies *proxies = loop->server->desc.service->proxies;
    (void)address_len;
    if (from->counted) /* the last one failed after this */
        http_addresses_leave(all, &from->peer);
    *from = (struct http_origin){.unix_socket = address->sa_family == AF_UNIX};
    http_peer_from(address, &from->peer);
    http_peer_address(address, from->address);
    from->trusted = proxies && forwarded_trusted(proxies, from->unix_socket ? NULL : from->address);
    if (from->trusted || from->unix_socket)
        return MHD_YES;
    from->counted = http_addresses_enter(all, &from->peer);
    if (!from->counted)
        connection_refused(loop, from);
    return from->counted ? MHD_YES : MHD_NO;
}

static void on_connection(void *cls, struct MHD_Connection *mhd, void **context,
                          enum MHD_ConnectionNotificationCode code)
{
    struct http_loop *loop = cls;
    struct http_connection *c = *context;
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        if (!c)
            return;
        http_loop_remove(loop, c);
        if (c->origin.counted)
            http_addresses_leave(&loop->server->addresses, &c->origin.peer);
        free(c);
        *context = NULL;
        return;
    }
    const union MHD_ConnectionInfo *fd = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
    c = fd ? calloc(1, sizeof(*c)) : NULL;
    if (!c)
        return; /* on_accept() undoes the count; on_request() closes */
    c->mhd = mhd;
    c->fd = fd->connect_fd;
    c->origin = loop->accepted;
    loop->accepted.counted = false;
    http_loop_add(loop, c);
    *context = c;
}

static void on_log(void *cls, const char *format, va_list args)
{
    char text[256], quoted[320];
    (void)cls;
    if (!log_enabled(LOG_DEBUG))
        return;
    int n = vsnprintf(text, sizeof(text), format, args);
    if (n > 0)
        log_line(LOG_DEBUG, "event=libmicrohttpd message=%s",
                 log_quote(text, strcspn(text, "\n"), quoted, sizeof(quoted)));
}

enum err http_mhd_start(struct http_loop *loop, int listen_fd, unsigned connection_limit,
                        struct MHD_Daemon **ret_daemon, int *ret_epoll_fd)
{
    unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;
    struct MHD_Daemon *d = MHD_start_daemon(
        flags, 0, on_accept, loop, on_request, loop, MHD_OPTION_EXTERNAL_LOGGER, on_log, NULL,
        MHD_OPTION_LISTEN_SOCKET, listen_fd, MHD_OPTION_CONNECTION_MEMORY_LIMIT, HTTP_CONNECTION_MEMORY_BYTES,
        MHD_OPTION_CONNECTION_LIMIT, connection_limit, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)loop->server->desc.idle_seconds, MHD_OPTION_NOTIFY_COMPLETED, on_completed, loop,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, loop, MHD_OPTION_URI_LOG_CALLBACK, on_uri, loop,
        MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, MHD_OPTION_END);
    if (!d)
        return ERR_IO;
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(d, MHD_DAEMON_INFO_EPOLL_FD);
    if (!info) {
        MHD_stop_daemon(d);
        return ERR_IO;
    }
    *ret_daemon = d;
    *ret_epoll_fd = info->epoll_fd;
    return ERR_NONE;
}

int http_mhd_timeout_ms(struct MHD_Daemon *daemon)
{
    MHD_UNSIGNED_LONG_LONG ms;
    if (MHD_get_timeout(daemon, &ms) == MHD_NO)
        return -1;
    return ms > 60000 ? 60000 : (int)ms;
}

void http_mhd_run(struct MHD_Daemon *daemon, int wait_ms)
{
    if (wait_ms > 0)
        MHD_run_wait(daemon, wait_ms);
    else
        MHD_run(daemon);
}

void http_mhd_quiesce(struct MHD_Daemon *daemon)
{
    MHD_quiesce_daemon(daemon);
}

void http_mhd_stop(struct MHD_Daemon *daemon)
{
    MHD_stop_daemon(daemon);
}

void http_mhd_resume(struct http_connection *c)
{
    c->loop->waiting--;
    MHD_resume_connection(c->mhd);
}
