/* A flight: one result that is being looked for or made, and all who wait for it; and the table in which who
 * asks for the same key finds it. A part of the pipeline: nobody else includes this. Threads: the pipeline's
 * lock, but where it says otherwise. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/key.h"
#include "api/request.h"
#include "renderer/base/attr.h"
#include "renderer/base/err.h"
#include "server/cache.h"
#include "server/pipeline.h"
#include "server/queue.h"

#define FLIGHT_BUCKETS 16384u /* 128 KiB; more flights than this only make chains longer */

enum flight_state {
    FLIGHT_LOOKUP, /* asks the stores: a job of the lookup pool holds it, and frees it when it was left */
    FLIGHT_QUEUED, /* waits: the queue holds it; who is the last to leave frees it */
    FLIGHT_RUNNING /* is drawn: a job of the render pool holds it, and frees it */
};

struct flight {
    struct queue_item item; /* first, so that an item of the queue is its flight */
    struct request request; /* this, key, pipeline and started_ns stay as they are */
    struct key key;
    struct pipeline *pipeline;
    uint64_t started_ns;
    atomic_bool cancel; /* read without the lock */
    enum flight_state state;
    bool in_table;
    bool aborted;
    uint64_t queued_ns;              /* when it was queued */
    struct pipeline_times times;     /* belongs to the job that holds it */
    struct pipeline_waiter *waiters; /* newest first */
    struct flight *bucket_next;
};

struct flight_table {
    struct flight **buckets; /* FLIGHT_BUCKETS of them */
};

MUST_USE enum err flight_table_init(struct flight_table *t); /* ERR_OOM */
void flight_table_finish(struct flight_table *t);
struct flight *flight_table_find(const struct flight_table *t, const struct key *key);
void flight_table_add(struct flight_table *t, struct flight *f);
void flight_table_remove(struct flight_table *t, struct flight *f);

void flight_join(struct flight *f, struct pipeline_waiter *w, enum pipeline_source source);
void flight_leave(struct flight *f, struct pipeline_waiter *w);

/* Takes off all waiters, fills in what they get (each a reference of its own to `entry`, which may be NULL)
 * and returns them for flight_answer(). From here on it is too late to leave. */
struct pipeline_waiter *flight_land(struct flight *f, enum err err, struct entry *entry);

/* Calls each waiter's done(), which may free it. Without the lock. */
void flight_answer(struct pipeline_waiter *waiters);
