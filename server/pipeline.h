/* The way of a picture: key -> memory cache -> flight (equal misses wait for one render) -> queue -> render
 * -> encode -> cache -> every waiter. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "api/key.h"
#include "api/request.h"
#include "renderer/base/attr.h"
#include "renderer/base/err.h"
#include "server/cache.h"

struct pipeline;
struct pool;
struct renderer;

struct pipeline_desc {
    struct renderer *renderer; /* outlives the pipeline */
    struct pool *pool;         /* runs the renders; outlives the pipeline */
    size_t cache_bytes;        /* 0 = off */
    int queue_max; /* renders waiting, those not counted that run or that a free worker can take; more is
                      ERR_BUSY */
};

MUST_USE enum err pipeline_create(const struct pipeline_desc *desc, struct pipeline **ret_pipeline);

/* No fetch may be pending. Accepts NULL. */
void pipeline_destroy(struct pipeline *p);

enum pipeline_source { SOURCE_HIT, SOURCE_MISS, SOURCE_COALESCED };

/* One waiter for one result; embedded in the caller's request, which must live until `done` was called or
 * pipeline_leave() returned true. */
struct pipeline_waiter {
    /* Called once, from a render thread, when the result is there: `err` and `entry` (a reference for the
     * waiter, NULL when err is set) are then filled. Must not block. */
    void (*done)(struct pipeline_waiter *w);
    enum err err;
    struct entry *entry;
    enum pipeline_source source;
    unsigned retry_after_s; /* with ERR_BUSY: when to try again, from queue length and recent render times */
    /* For pipeline.c alone. */
    struct flight *flight;
    struct pipeline_waiter *next, *previous;
};

/* Returns true when the result (or ERR_BUSY, ERR_DRAINING, ERR_OOM) is in *w at once: `done` is not called.
 * False: it will be. Threads: any. */
bool pipeline_fetch(struct pipeline *p, const struct request *r, const struct key *key,
                    struct pipeline_waiter *w);

/* What the cache has under this key (a reference, to be given back), or NULL; begins nothing. Threads:
 * any. */
struct entry *pipeline_find(struct pipeline *p, const struct key *key);

/* The waiter's client has gone. True: the waiter has left, `done` was not called and never will be. False:
 * too late, the result is there and `done` was called, runs, or is about to; it is called once as if nobody
 * had left, *w must live until then, and w->entry is to be released as usual. When the last waiter leaves,
 * its render is taken off the queue or, if it runs already, cancelled between frames; who asks for the key
 * afterwards gets a new render. Threads: any, once pipeline_fetch() has returned false. */
bool pipeline_leave(struct pipeline *p, struct pipeline_waiter *w);

/* From now on misses get ERR_DRAINING; hits and joined flights are still answered. Threads: any. */
void pipeline_drain(struct pipeline *p);

/* As pipeline_drain(), and cancels every render; their waiters get ERR_DRAINING, from a render thread as
 * usual. Threads: any. */
void pipeline_abort(struct pipeline *p);

struct pipeline_stats {
    struct cache_stats cache;
    uint64_t hits;      /* answered from the cache */
    uint64_t misses;    /* began a flight */
    uint64_t coalesced; /* joined one */
    uint64_t renders;   /* flights that a worker began to draw */
    uint64_t cancelled; /* flights whose last waiter left, or that were aborted */
    uint64_t shed;      /* ERR_BUSY */
    int queued, running;
};
void pipeline_stats(struct pipeline *p, struct pipeline_stats *ret_stats); /* Threads: any */
