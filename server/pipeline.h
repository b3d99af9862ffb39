/* The way of a picture: key -> memory cache -> flight (equal misses wait for one result) -> caches outside
 * the process -> queue -> render -> encode -> caches -> every waiter.
 *
 * Memory. A flight that waits is about 1.6 KB: no pixel is there before it is drawn. Nothing is estimated
 * below WORK_LEAST_NS (work.h), so a queue of 10 s holds at most 100,000 flights for each thread, 160 MB; of
 * pictures with default parameters (0.3 ms) it is 50 MB, of animations of a second 16 KB. Each flight has a
 * waiter on a connection of its own, which costs more than the flight and is limited by open files. Flights
 * that ask stores are at most 1,024 and count besides. What is drawn holds its pixels: at most 64 MiB of
 * indices (PICTURE_PIXELS_MAX) and its file for each thread. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "api/key.h"
#include "api/request.h"
#include "renderer/base/attr.h"
#include "renderer/base/err.h"
#include "server/cache.h"
#include "server/store.h"

struct pipeline;
struct pool;
struct renderer;

struct pipeline_desc {
    struct renderer *renderer; /* outlives the pipeline */
    struct pool *pool;         /* runs the renders; outlives the pipeline */
    size_t cache_bytes;        /* 0 = off */
    uint64_t queue_work_ns; /* estimated work that may wait, for each thread of the pool; more is ERR_BUSY */
    int client_share_percent;          /* of that which one client may hold; more is ERR_SHARE */
    struct store *stores[STORE_TIERS]; /* asked in this order; outlive the pipeline */
    int store_count;
    struct pool *lookup_pool; /* threads that may wait for stores; NULL when there are none */
    /* A flight waits no longer than this for all stores together, then it is drawn, as long as stores keep to
     * the deadline they are given. One that does not (a disk that hangs) holds the flights that are asking or
     * in line, and none that comes later. */
    uint64_t lookup_ns;
};

MUST_USE enum err pipeline_create(const struct pipeline_desc *desc, struct pipeline **ret_pipeline);

/* No fetch may be pending. Accepts NULL. */
void pipeline_destroy(struct pipeline *p);

enum pipeline_source { SOURCE_HIT, SOURCE_MISS, SOURCE_COALESCED, SOURCE_DISK, SOURCE_SHARED };

/* How long the parts of a flight took; 0 = that part did not happen. For Server-Timing. */
struct pipeline_times {
    uint64_t lookup_ns, queue_ns, render_ns, encode_ns;
};

/* One waiter for one result; embedded in the caller's request, which must live until `done` was called or
 * pipeline_leave() returned true. */
struct pipeline_waiter {
    /* Called once, from a thread that draws or asks stores, when the result is there: `err` and `entry` (a
     * reference for the waiter, NULL when err is set) are then filled. Must not block. */
    void (*done)(struct pipeline_waiter *w);
    enum err err;
    struct entry *entry;
    enum pipeline_source source;
    struct pipeline_times times; /* those of the flight, for all its waiters */
    unsigned retry_after_s;      /* with ERR_BUSY, ERR_SHARE: when to try again, from the work that waits */
    uint64_t client;             /* filled by the caller: a hash of the client's address, 0 = none */
    /* For pipeline.c alone. */
    struct flight *flight;
    struct pipeline_waiter *next, *previous;
};

/* Returns true when the result (or ERR_BUSY, ERR_SHARE, ERR_DRAINING, ERR_OOM) is in *w at once: `done` is
 * not called. False: it will be; with stores, ERR_BUSY and ERR_SHARE too come that way. Threads: any. */
bool pipeline_fetch(struct pipeline *p, const struct request *r, const struct key *key,
                    struct pipeline_waiter *w);

/* What the cache has under this key (a reference, to be given back), or NULL; begins nothing. Threads:
 * any. */
struct entry *pipeline_find(struct pipeline *p, const struct key *key);

/* The waiter's client has gone. True: the waiter has left, `done` was not called and never will be. False:
 * too late, the result is there and `done` was called, runs, or is about to; it is called once as if nobody
 * had left, *w must live until then, and w->entry is to be released as usual. When the last waiter leaves,
 * its flight ends: no further store is asked, it is taken off the queue or, if it is drawn already, cancelled
 * between frames; who asks for the key afterwards gets a new one. Threads: any, once pipeline_fetch() has
 * returned false. */
bool pipeline_leave(struct pipeline *p, struct pipeline_waiter *w);

/* From now on misses get ERR_DRAINING; hits and joined flights are still answered, and flights that ask
 * stores go on. Threads: any. */
void pipeline_drain(struct pipeline *p);

/* As pipeline_drain(), and cancels every flight; their waiters get ERR_DRAINING through done(), as usual.
 * Threads: any. */
void pipeline_abort(struct pipeline *p);

struct pipeline_stats {
    struct cache_stats cache;
    uint64_t hits;                /* answered from the cache */
    uint64_t misses;              /* began a flight */
    uint64_t coalesced;           /* joined one */
    uint64_t renders;             /* flights that a worker began to draw */
    uint64_t cancelled;           /* flights whose last waiter left, or that were aborted */
    uint64_t shed;                /* waiters that got ERR_BUSY or ERR_SHARE */
    uint64_t shed_share;          /* ERR_SHARE alone */
    int looking, queued, running; /* flights that ask stores, wait, are drawn */
    uint64_t queued_work_ns, queued_work_max_ns;
    struct store_stats stores[STORE_TIERS]; /* by enum store_tier */
    bool store_there[STORE_TIERS];
};
void pipeline_stats(struct pipeline *p, struct pipeline_stats *ret_stats); /* Threads: any */
