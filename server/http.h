/* HTTP as handlers see it: a request that has arrived whole, and an answer to fill. Handlers know no sockets.
 *
 * Threads: an exchange belongs to the thread that serves its connection, and all handlers of it run there. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "renderer/base/attr.h"
#include "renderer/base/blob.h"
#include "renderer/base/err.h"
#include "server/cache.h"
#include "server/http_address.h"
#include "server/pipeline.h"

#define HTTP_URL_MAX_BYTES     4096    /* every parameter at its longest needs a third of it */
#define HTTP_HEADERS_MAX_BYTES 8192    /* request line and headers; what nginx gives them */
#define HTTP_BODY_MAX_BYTES    65536   /* a JSON request needs 2 KiB */
#define HTTP_FILE_MAX_BYTES    2097152 /* where a file is posted; its head alone is kept */
#define HTTP_BODY_SWALLOW_BYTES                                                                              \
    1048576 /* so much of a body that is refused is still read, so that the client sees why */
#define HTTP_ANSWER_HEADERS_MAX 20  /* no answer has more than 15 */
#define HTTP_ANSWER_TEXT_BYTES  640 /* all header values that are made per answer */
#define HTTP_REQUEST_ID_BYTES   65  /* a client's own id may have 64 characters */
#define HTTP_TRACEPARENT_BYTES  56  /* version 00 has 55 characters */

enum http_method {
    HTTP_GET = 1 << 0,
    HTTP_HEAD = 1 << 1,
    HTTP_POST = 1 << 2,
    HTTP_OPTIONS = 1 << 3,
    HTTP_OTHER = 1 << 4
};

/* Texts are as the client sent them (nothing decoded) and live as long as the exchange. */
struct http_request {
    enum http_method method;
    const char *target; /* path and query, NUL-terminated */
    const char *path;   /* starts with '/', ends at path_len */
    size_t path_len;
    const char *query; /* behind '?'; NULL when there is no '?' */
    size_t query_len;
    const char *accept; /* NULL: no such header; so below. Several lines of one name are joined with commas */
    const char *accept_encoding;
    const char *if_none_match;
    const char *content_type;
    const char *forwarded, *x_forwarded_for; /* joined, like Accept */
    const char *request_id, *traceparent;    /* as sent: not checked yet */
    const uint8_t *body;                     /* POST only */
    size_t body_len;
};

struct http_header {
    const char *name, *value; /* live as long as the exchange */
};

enum http_stream_state {
    HTTP_STREAM_MORE,    /* there are bytes */
    HTTP_STREAM_PENDING, /* none yet: http_stream_wake() is called, once, when it makes sense to ask again */
    HTTP_STREAM_END,     /* all were there */
    HTTP_STREAM_FAILED   /* no more can be made; the connection is closed, so that the client sees it */
};

/* A body that is made while it is sent: a handler's own struct begins with this. Threads: that of the
 * exchange, which owns it. */
struct http_stream {
    /* Up to `room` bytes, as many as there are. */
    enum http_stream_state (*read)(struct http_stream *s, char *to, size_t room, size_t *ret_len);
    /* The client has left while the stream was pending. True: nobody will call http_stream_wake() any more;
     * false: somebody has, or is about to. */
    bool (*leave)(struct http_stream *s);
    void (*destroy)(struct http_stream *s);
    /* Set by read(): so many bytes have begun that belong together, and the time in which a client must take
     * them starts anew. The server sets it back to 0. */
    size_t begun;
};

/* What to answer. Zeroed it is empty; respond.c fills it. */
struct http_response {
    int status; /* 0: nothing filled yet */
    struct http_header headers[HTTP_ANSWER_HEADERS_MAX];
    int header_count;
    const void *body; /* in static memory, in `entry` or in `owned` */
    size_t body_len;
    struct blob owned;          /* freed with the exchange */
    struct entry *entry;        /* a reference, given back with the exchange */
    struct http_stream *stream; /* in place of `body`, of which body_len then counts what was sent; or NULL.
                                   Destroyed with the exchange */
    bool no_length;             /* a 304 whose length is not known: no Content-Length may be sent */
    void *ready;  /* a prepared answer; then the fields above but `status` and `entry` mean nothing */
    int keep_as;  /* one more than the variant under which this answer may be kept for others; 0 = it may not
                   */
    enum err err; /* why the status is what it is, for the log */
    const char *cache; /* the word of X-Cache when the pipeline was asked for a picture, else NULL */
    bool drawn;        /* it was, and memory did not have it */
    char text[HTTP_ANSWER_TEXT_BYTES];
    size_t text_len;
};

/* A path can be served on the public address, on the one for metrics, or on both. ROUTES_PROBE: machines ask
 * it all the time, so its lines in the log are for debugging. ROUTES_FILE: what is posted is a file of any
 * type and up to HTTP_FILE_MAX_BYTES, of which the handler gets the first HTTP_BODY_MAX_BYTES. */
enum route_set { ROUTES_PUBLIC = 1, ROUTES_METRICS = 2, ROUTES_PROBE = 4, ROUTES_FILE = 8 };

enum http_verdict {
    HTTP_ANSWERED, /* the response is filled */
    HTTP_PENDING   /* exchange.waiter is with the pipeline; `finish` is called when it is done */
};

/* Which requests get a line in the log. */
enum access_mode { ACCESS_ALL, ACCESS_DRAWN, ACCESS_NONE };

struct forwarded_proxies;
struct http_replies;
struct service;
struct sign_keys;
struct http_exchange;
typedef enum http_verdict http_handler(struct http_exchange *x, struct service *s);

/* One request and its answer. http_mhd.c makes and frees it. */
struct http_exchange {
    struct http_request in;
    struct http_response out;
    uint64_t id_boot, id_number; /* the parts of our own X-Request-Id, see respond_id() */
    unsigned id_loop;
    char
        id[HTTP_REQUEST_ID_BYTES]; /* the client's, when it is well-formed, or ours; "" = not asked for yet */
    char traceparent[HTTP_TRACEPARENT_BYTES]; /* the client's, when it is well-formed; else "" */
    struct http_peer client; /* whom limits and log mean: the peer, or whom a trusted proxy names */
    bool client_unknown;     /* a unix socket, and nobody says who is behind it; `client` is zeroed then */
    int route;               /* index into the table of routes, -1 = none */
    uint64_t expires;        /* Unix seconds at which the signed URL ends; 0 = never */
    uint64_t started_ns;     /* CLOCK_MONOTONIC, when the request line came */
    /* A handler that returns HTTP_PENDING sets `finish`; waiter.done is set before the handler is called. */
    struct pipeline_waiter waiter;
    void (*finish)(struct http_exchange *x, struct service *s);
    void **memory; /* a handler's own, one for each thread, NULL at first; free() ends it */
    char *room;    /* HTTP_URL_MAX_BYTES + 1 bytes for a handler, as long as the exchange lives */
    struct http_replies *replies; /* prepared answers; NULL = none */
    bool closing;                 /* the connection ends with this answer: no prepared one can say so */
    bool negotiated;              /* Accept decided, or would have: the answer says Vary */
    bool pinned;                  /* the URL named its revision */
    bool fake;                    /* the picture is none: nobody may keep it, so it has no tag */
};

/* The exchange's stream, which was pending, goes on. Threads: any. */
void http_stream_wake(struct http_exchange *x);

/* What handlers work with. Filled by main.c before the server starts. Threads: any. */
struct service {
    struct pipeline *pipeline;
    struct renderer *renderer;
    const struct sign_keys *sign_keys;       /* count 0 = URLs need no signature */
    const struct forwarded_proxies *proxies; /* whose word on the client is taken */
    bool fake;            /* the backend draws stand-ins for tests, which nobody may keep */
    atomic_bool draining; /* set once */
};

struct http_listen_inherited;
struct http_server;
struct http_server_desc {
    const char (*listen)[256]; /* HOST:PORT or unix:/path each */
    int listen_count;
    int threads;
    int connections_per_address; /* 0 = no limit */
    int idle_seconds, request_seconds;
    int connection_limit; /* 0 = as many as there may be open files */
    enum access_mode log_requests;
    enum route_set routes; /* which paths are served here */
    /* Sockets that systemd passed on: ROUTES_METRICS takes those named so, others the rest. NULL = none. */
    const struct http_listen_inherited *inherited;
    bool listen_is_default;  /* nobody asked for `listen`: it is left out when there are such sockets */
    struct service *service; /* outlives the server */
};

/* Opens the sockets, logs "listening on http://HOST:PORT" or "... unix:/path" for each and starts the
 * threads. ERR_IO (a host that isn't known, an address that can't be had, among others), ERR_CONFIG,
 * ERR_OOM; the log says which and why. */
MUST_USE enum err http_server_start(const struct http_server_desc *desc, struct http_server **ret_server);

/* From now on no connection is accepted, idle ones are closed, answers close theirs. Threads: any. */
void http_server_drain(struct http_server *server);

/* Waits up to `ms` until every connection has ended; true if they have. After http_server_drain(). */
bool http_server_wait(struct http_server *server, int ms);

/* Ends what is left: waiting requests leave the pipeline, sockets are shut. Then ends the threads. */
void http_server_stop(struct http_server *server);

/* Frees the rest. Only when no pipeline can call back any more (pool destroyed). Accepts NULL. */
void http_server_destroy(struct http_server *server);

/* Connections that are open. Threads: any. */
int http_server_connections(struct http_server *server);
