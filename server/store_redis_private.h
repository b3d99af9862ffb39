/* What the files of the shared cache know of each other: store_redis.c (finds, puts, start and end),
 * store_redis_keeper.c (connections and probes) and store_redis_writer.c (write-behind). */
#pragma once

#include <pthread.h>

#include "server/breaker.h"
#include "server/redis_client.h"
#include "server/redis_resolve.h"
#include "server/redis_url.h"
#include "server/store.h"

#define FIND_CLIENTS    4                  /* finds at once; one takes a round trip, well under 1 ms */
#define VALUE_MAX_BYTES ((size_t)8 << 20)  /* larger ones would hold a connection, and Redis, too long */
#define QUEUE_MAX_BYTES ((size_t)32 << 20) /* of records that wait to be written */
#define LINE_ANSWER_MAX 1024               /* answers other than a value are a line */
#define NAME_BYTES      64

/* A connection's place. The last is the writer's. */
#define WRITER_SLOT  FIND_CLIENTS
#define CLIENT_SLOTS (FIND_CLIENTS + 1)
struct slot {
    enum { SLOT_EMPTY, SLOT_FREE, SLOT_BUSY } state;
    struct redis_client *client; /* NULL when empty; used without the lock by whoever made it busy */
    uint64_t used_ns;
};

/* An entry to write, or (entry NULL) a name to delete. */
struct job {
    struct job *next;
    struct entry *entry; /* a reference */
    size_t bytes;        /* of its record, or of this struct */
    char name[NAME_BYTES];
};

struct store_redis {
    struct store base;
    struct redis_url url;
    struct redis_resolver *resolver; /* NULL for a unix socket; the keeper's alone */
    uint64_t timeout_ns;
    char ttl[24]; /* seconds in decimal, "" = for ever */

    pthread_mutex_t lock; /* guards all below; never held over input or output that can wait */
    pthread_cond_t find_wake, keeper_wake, writer_wake, ended;
    struct slot slots[CLIENT_SLOTS];
    struct breaker breaker;
    struct job *first, **last;
    size_t queue_bytes;
    struct store_stats stats;
    bool closing;  /* nothing more is taken; the writer ends when the queue is empty */
    bool stopping; /* both threads end now */
    bool writer_ended;
    bool shown_up;        /* the last of "up" and "down" in the log */
    uint64_t refusals;    /* writes refused since the log last said so, ... */
    uint64_t refusals_ns; /* ... and when it may say so again */
    uint64_t retry_ns;    /* no connection is tried before, after one failed */

    pthread_t keeper, writer;
    int stop_fd[2]; /* a pipe: [0] becomes readable when both threads must end at once */
};

/* Ends a use of a slot: `keep` false closes the connection. With the lock held. */
void store_redis_slot_give(struct store_redis *s, struct slot *slot, bool keep);

/* Closes a connection that nobody uses and has the keeper make another. With the lock held. */
void store_redis_slot_empty(struct store_redis *s, struct slot *slot);

/* Counts a failure for the breaker. When that opens it: closes what is free, drops the queue and logs.
 * Without the lock. `reason` is a fixed text. */
void store_redis_failed(struct store_redis *s, const char *reason);

/* True when an established connection for finds exists, free or busy. With the lock held. */
bool store_redis_has_finder(const struct store_redis *s);

/* Waits on a condition until a time (CLOCK_MONOTONIC). With the lock held. */
void store_redis_sleep(struct store_redis *s, pthread_cond_t *wake, uint64_t until_ns);

/* Sends one command and receives its answer. */
MUST_USE enum talk store_redis_ask(struct redis_client *c, const struct redis_command *command,
                                   size_t bytes_max, const struct redis_wait *wait,
                                   struct redis_answer *ret_answer);
struct redis_command store_redis_command2(const char *verb, const char *name);

/* The error code an error answer begins with, as a fixed text: the rest of it may quote our password back. */
const char *store_redis_code(const struct redis_answer *answer);

/* Takes all jobs out of the queue; the caller frees them, without the lock. */
struct job *store_redis_queue_take(struct store_redis *s);
void store_redis_jobs_free(struct job *first);

/* Threads; arg is the store. */
void *store_redis_keeper_run(void *arg);
void *store_redis_writer_run(void *arg);
