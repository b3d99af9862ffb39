/* What http_loop.c (threads, sockets, time limits), http_mhd.c (libmicrohttpd) and http_headers.c share.
 * Nobody else includes it. */
#pragma once

#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>

#include "server/access_log.h"
#include "server/config.h"
#include "server/http.h"
#include "server/http_address.h"
#include "server/http_listen.h"
#include "server/http_replies.h"
#include "server/routes.h"

#define HTTP_CONNECTION_MEMORY_BYTES                                                                         \
    ((size_t)16384) /* cleared for each request: 8 KiB of headers must fit, no more */

struct MHD_Connection;
struct MHD_Daemon;
struct http_loop;

enum connection_phase {
    PHASE_IDLE,    /* no byte of a request was parsed yet */
    PHASE_REQUEST, /* request line seen; headers or body are coming */
    PHASE_WAITING, /* suspended: the pipeline has it */
    PHASE_ANSWER   /* an answer is being sent */
};

/* Where a socket comes from. */
struct http_origin {
    struct http_peer peer;
    unsigned char address[16]; /* not cut to a network; IPv4 as ::ffff:a.b.c.d */
    bool unix_socket;
    bool trusted; /* a proxy whose word on the client is taken */
    bool counted; /* in server->addresses */
};

/* One client socket. Threads: its loop. */
struct http_connection {
    struct http_connection *prev, *next; /* all of the loop */
    struct http_loop *loop;
    struct MHD_Connection *mhd;
    struct http_origin origin;
    int fd;
    enum connection_phase phase;
    /* PHASE_IDLE, PHASE_REQUEST: when it was accepted or the last answer was done; PHASE_ANSWER: when it
     * began. */
    uint64_t since_ms;
    uint64_t limit_ms;         /* PHASE_ANSWER: must be done by then */
    bool watched;              /* its socket is in loop->own_epoll */
    bool shut;                 /* shutdown() was called */
    bool gone;                 /* the client left, or the server ends: no answer */
    struct exchange *exchange; /* the current one or NULL */
};

enum stage {
    STAGE_HEADERS, /* request line seen */
    STAGE_BODY,    /* headers seen */
    STAGE_WAITING, /* suspended */
    STAGE_QUEUED   /* an answer was handed to libmicrohttpd */
};

#define HTTP_LINES_BYTES 1024 /* who sends a header in several lines rarely sends more than this */

/* struct http_exchange with what handlers need not see. */
struct exchange {
    struct http_exchange x; /* first: http_wake() gets back from it */
    struct http_connection *connection;
    struct exchange *next; /* in the loop's free list or mailbox */
    struct blob body;
    enum stage stage;
    enum err refused; /* found wrong before a handler was asked */
    const struct route *route;
    const char *raw_target; /* as libmicrohttpd has it, to see a NUL in it; for pointer arithmetic only */
    size_t target_len;
    size_t body_seen; /* bytes of body so far, kept or not */
    bool body_kept;
    bool host_seen, body_announced, expects, chunked;
    bool malformed; /* header fields that contradict each other: the connection can't go on */
    bool length_seen;
    uint64_t length;                             /* Content-Length */
    bool accept_full, encoding_full, match_lost; /* further lines did not fit */
    bool id_lost, trace_lost;                    /* sent twice, or with a NUL */
    /* From here on nothing is cleared for a new request. */
    char target[HTTP_URL_MAX_BYTES + 1];
    char accept[HTTP_LINES_BYTES], match[HTTP_LINES_BYTES]; /* lines of one name, joined; rarely used */
    char accept_encoding[HTTP_LINES_BYTES];
    char forwarded[HTTP_LINES_BYTES], x_forwarded_for[HTTP_LINES_BYTES];
    char room[HTTP_URL_MAX_BYTES + 1]; /* x.room */
};

struct http_loop {
    struct http_server *server;
    int index;
    pthread_t thread;
    bool started;
    struct MHD_Daemon *daemons[CONFIG_LISTEN_MAX];
    int listen_fds[CONFIG_LISTEN_MAX];
    struct pollfd polls[CONFIG_LISTEN_MAX + 1]; /* [0] is own_epoll */
    int own_epoll;                              /* the wake-up and sockets of suspended connections */
    int wake_fd;                                /* eventfd: mail came, or the server's phase changed */
    _Atomic(struct exchange *) mailbox;         /* finished waits, newest first; pushed by render threads */
    struct http_connection *connections;
    struct exchange *free_exchanges;
    uint64_t now_ms;
    uint64_t next_sweep_ms;
    uint64_t request_number;
    uint64_t refused,
        refused_told_ms; /* connections that were too many, since the log was told; when it may be again */
    int waiting;         /* suspended connections */
    bool quiesced;
    struct http_origin accepted; /* the socket that is just being accepted */
    void *handler_memory;
    struct http_replies *replies;
    struct access_log log;
};

enum server_phase { SERVER_RUNS, SERVER_DRAINS, SERVER_STOPS };

struct http_server {
    struct http_server_desc desc;
    struct http_addresses addresses; /* connections of each client address */
    atomic_int phase;                /* enum server_phase */
    atomic_int connections;
    atomic_int quiesced;             /* loops that accept no more */
    uint64_t boot;                   /* random part of request ids */
    struct http_listeners listeners; /* whose sockets the loops have */
    int socket_count;
    int loop_count;
    struct http_loop loops[];
};

/* http_mhd.c: each loop drives its daemons with these. Threads: the loop. */
MUST_USE enum err http_mhd_start(struct http_loop *loop, int listen_fd, unsigned connection_limit,
                                 struct MHD_Daemon **ret_daemon, int *ret_epoll_fd);
int http_mhd_timeout_ms(struct MHD_Daemon *daemon); /* -1 = none */
/* One turn; with wait_ms > 0 it may wait so long for a socket to become ready. */
void http_mhd_run(struct MHD_Daemon *daemon, int wait_ms);
void http_mhd_quiesce(struct MHD_Daemon *daemon); /* the listening socket can be closed afterwards */
void http_mhd_stop(struct MHD_Daemon *daemon);    /* no connection may be suspended */
void http_mhd_resume(struct http_connection *c);
void http_mhd_reply_free(void *reply); /* of loop->replies */

/* http_headers.c: once for each header, then once for all: finds the route, and in e->refused what is wrong
 * before a body came. */
void http_header_take(struct exchange *e, const char *name, size_t name_len, const char *value,
                      size_t value_len);
void http_headers_end(struct exchange *e, const char *method, const char *version, size_t head_bytes);
/* Whether to answer before the body is there, which closes the connection. */
bool http_answer_early(const struct exchange *e);

/* Whether a file may be posted there (ROUTES_FILE), how many bytes of a body are good, and how many are read
 * though they are not, so that the client sees why. */
bool http_takes_file(const struct exchange *e);
size_t http_body_max(const struct exchange *e);
size_t http_body_swallow(const struct exchange *e);

/* http_loop.c */
void http_wake(struct pipeline_waiter *w); /* waiter.done; any thread */
void http_loop_watch(struct http_connection *c);
void http_loop_add(struct http_loop *loop, struct http_connection *c);
void http_loop_remove(struct http_loop *loop, struct http_connection *c);
void http_connection_shut(struct http_connection *c);
