/* pipeline.c -- the way of a picture: memory cache, flight, stores, queue, render, encode, caches, every
 * waiter.
 *
 * A flight is one result and all who wait for it. It stands in a table by key from its first waiter until its
 * result is there or its last waiter has left; whoever asks for the same key meanwhile joins it. Table,
 * waiters, queue and counts change under one lock, so a fetch sees a flight either before its end (and joins)
 * or after it (and finds the cache filled, or with the cache off begins anew). A hit does not take that lock.
 *
 * Stores are asked by threads of their own, which may wait where those that draw must not. Each flight has a
 * deadline for all of them; a lookup that begins after it goes straight to the queue, so a slow store delays
 * nobody by more than that, however many lookups wait behind it.
 *
 * The queue is our own and not the pool's, so that a flight nobody wants any more leaves it at once, and so
 * that the order can be better than first come, first served. The pool holds tickets: jobs that draw flights
 * until the queue has none for them. There are never more than threads, and one is given whenever something
 * is queued and fewer are out than could work. Long work may not take the last thread, so a ticket may end
 * with long flights in the queue. They are not lost: as many as may run do run, and the ticket that draws one
 * looks into the queue again when it is through.
 *
 * Threads: HTTP threads fetch and leave, the lookup pool's ask stores, the render pool's draw; the latter two
 * call `done`, which they do without any lock. Order of locks: pipeline, then those inside pool and cache. */
#include "server/pipeline.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/file.h"
#include "renderer/base/blob.h"
#include "renderer/base/pool.h"
#include "renderer/frame_set.h"
#include "renderer/renderer.h"
#include "server/flight.h"
#include "server/metrics.h"
#include "server/queue.h"
#include "server/work.h"

/* Flights that ask stores, left ones included. With more of them the stores are behind, and drawing is the
 * shorter way: what comes then goes straight to the queue, which has a bound of its own. */
#define LOOKUPS_MAX 1024

struct pipeline {
    struct renderer *renderer; /* these stay as they are */
    struct pool *pool, *lookup_pool;
    struct cache *cache;
    struct store *stores[STORE_TIERS];
    int store_count;
    uint64_t lookup_ns;
    uint64_t lookup_moved_ns;      /* when a lookup ended, or the first of them began; under the lock */
    int threads, longs_max;        /* long flights that may run at once */
    atomic_uint_fast64_t landings; /* flights that have ended and left the table; written under the lock */

    pthread_mutex_t lock;   /* guards all below */
    pthread_cond_t settled; /* no ticket is out and no lookup */
    struct flight_table flights;
    struct queue *queue;
    struct work work;
    int looking, running, running_long;
    int tickets, workers; /* jobs given to the pool that have not begun; that have */
    bool draining, aborted;
    uint64_t misses, coalesced, renders, cancelled, shed, shed_share;
};

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void measure(struct pipeline *p, const struct flight *f, enum metric_time which, uint64_t ns)
{
    struct renderer_status status;
    renderer_status(p->renderer, &status);
    metrics_time(which, status.backend, f->request.planet.body, f->request.format, ns);
}

/* ---- landing, with the lock held ---- */

static struct pipeline_waiter *land(struct pipeline *p, struct flight *f, enum err err, struct entry *entry)
{
    if (f->in_table)
        flight_table_remove(&p->flights, f);
    atomic_fetch_add_explicit(&p->landings, 1, memory_order_release);
    return flight_land(f, err, entry);
}

/* Seconds until what waits now has been drawn, at least one. */
static unsigned retry_after_s(const struct pipeline *p)
{
    uint64_t each = (uint64_t)p->threads * 1000000000u;
    uint64_t s = (queue_work_ns(p->queue) + each - 1) / each;
    return s > 1 ? (unsigned)s : 1;
}

/* One waiter does not get what it asked for. */
static void shed(struct pipeline *p, struct pipeline_waiter *w, enum err err)
{
    if (err != ERR_BUSY && err != ERR_SHARE)
        return;
    w->retry_after_s = retry_after_s(p);
    p->shed++;
    if (err == ERR_SHARE)
        p->shed_share++;
}

static void settled_check(struct pipeline *p)
{
    if (p->tickets == 0 && p->workers == 0 && p->looking == 0)
        pthread_cond_broadcast(&p->settled);
}

/* ---- render ---- */

/* Draws for a flight and keeps the time of it. */
struct flight_artist {
    struct file_artist artist; /* the first member, so that one is the other */
    struct renderer *renderer;
    uint64_t render_ns; /* by the clock */
    uint64_t drawn_ns;  /* what the frames cost on all threads */
};

static enum err flight_frames(struct file_artist *self, const struct planet_desc *desc,
                              struct frame_set *ret_frames)
{
    struct flight_artist *a = (struct flight_artist *)self;
    uint64_t begin = now_ns(), helped = pool_helped_ns();
    enum err err = renderer_draw(a->renderer, desc, self->cancel, ret_frames);
    uint64_t took = now_ns() - begin;
    a->render_ns += took;
    a->drawn_ns += took + (pool_helped_ns() - helped);
    return err;
}

/* Frames, file, entry; returns early when f->cancel gets set. */
static enum err flight_draw(struct pipeline *p, struct flight *f, uint64_t *ret_drawn_ns,
                            struct entry **ret_entry)
{
    struct flight_artist a = {.artist = {flight_frames, &f->cancel}, .renderer = p->renderer};
    struct blob body = {0};
    uint64_t begin = now_ns();
    enum err err = file_make(&f->request, &f->key, &a.artist, &body);
    f->times.render_ns = a.render_ns;
    f->times.encode_ns = now_ns() - begin - a.render_ns;
    *ret_drawn_ns = a.drawn_ns;
    if (!err) {
        blob_shrink(&body);
        err = entry_create(&f->request, &f->key, &body, ret_entry);
    }
    blob_free(&body);
    return err;
}

static void entry_keep(struct pipeline *p, struct entry *entry)
{
    cache_put(p->cache, entry);
    for (int i = 0; i < p->store_count; i++)
        p->stores[i]->impl->put(p->stores[i], entry);
}

/* With the lock held: the next flight begins. NULL: there is none, or none for which a thread is free. */
static struct flight *flight_begin(struct pipeline *p)
{
    bool with_long = p->running_long < p->longs_max || p->aborted;
    struct flight *f = (struct flight *)queue_take(p->queue, with_long);
    if (!f)
        return NULL;
    f->state = FLIGHT_RUNNING;
    f->times.queue_ns = now_ns() - f->queued_ns;
    p->running++;
    p->running_long += queue_item_long(&f->item);
    if (!f->aborted)
        p->renders++;
    return f;
}

static void flight_run(struct pipeline *p, struct flight *f)
{
    struct entry *entry = NULL;
    uint64_t drawn_ns = 0;
    measure(p, f, METRIC_QUEUE_WAIT, f->times.queue_ns);
    enum err err = atomic_load(&f->cancel) ? ERR_CANCELLED : flight_draw(p, f, &drawn_ns, &entry);
    if (entry) {
        entry_keep(p, entry); /* before the flight leaves the table: a fetch finds one of the two */
        measure(p, f, METRIC_RENDER, f->times.render_ns);
        measure(p, f, METRIC_ENCODE, f->times.encode_ns);
    }

    pthread_mutex_lock(&p->lock);
    if (err && f->aborted)
        err = ERR_DRAINING;
    if (!err)
        work_learn(&p->work, &f->request, drawn_ns, f->times.encode_ns);
    struct pipeline_waiter *waiters = land(p, f, err, entry);
    p->running--;
    p->running_long -= queue_item_long(&f->item);
    pthread_mutex_unlock(&p->lock);

    flight_answer(waiters);
    entry_unref(entry);
    free(f);
}

/* A job of the pool: one ticket. */
static void ticket_run(void *ctx)
{
    struct pipeline *p = ctx;
    struct flight *f;
    pthread_mutex_lock(&p->lock);
    p->tickets--;
    p->workers++;
    while ((f = flight_begin(p))) {
        pthread_mutex_unlock(&p->lock);
        flight_run(p, f);
        pthread_mutex_lock(&p->lock);
    }
    p->workers--;
    settled_check(p);
    pthread_mutex_unlock(&p->lock); /* from here on the pipeline may be gone */
}

/* With the lock held, after something was queued. ERR_OOM: nobody would draw it. */
static enum err tickets_give(struct pipeline *p)
{
    enum err err = ERR_NONE;
    while (!err && p->tickets < p->threads && (size_t)p->tickets < queue_count(p->queue)) {
        err = pool_submit(p->pool, ticket_run, p);
        p->tickets += !err;
    }
    return p->tickets + p->workers > 0 ? ERR_NONE : err;
}

/* With the lock held. A flight that somebody else waits for too is not refused for its first client's share.
 * ERR_BUSY, ERR_SHARE, ERR_OOM. */
static enum err flight_queue(struct pipeline *p, struct flight *f)
{
    f->item.work_ns = work_estimate_ns(&p->work, &f->request);
    f->queued_ns = now_ns();
    enum err err = queue_add(p->queue, &f->item);
    for (struct pipeline_waiter *w = f->waiters; w && err == ERR_SHARE; w = w->next) {
        f->item.client = w->client;
        err = queue_add(p->queue, &f->item);
    }
    if (err)
        return err;
    f->state = FLIGHT_QUEUED;
    err = tickets_give(p);
    if (err)
        queue_remove(p->queue, &f->item);
    return err;
}

/* ---- stores ---- */

/* Asks the stores in order. What one has goes into those before it. */
static struct entry *stores_find(struct pipeline *p, struct flight *f, enum store_tier *ret_tier)
{
    uint64_t deadline_ns = f->started_ns + p->lookup_ns;
    for (int i = 0; i < p->store_count; i++) {
        struct store *s = p->stores[i];
        if (atomic_load(&f->cancel) || now_ns() >= deadline_ns)
            return NULL;
        struct entry *entry = s->impl->find(s, &f->request, &f->key, deadline_ns);
        if (!entry)
            continue;
        cache_put(p->cache, entry);
        for (int before = 0; before < i; before++)
            p->stores[before]->impl->put(p->stores[before], entry);
        *ret_tier = s->impl->tier;
        return entry;
    }
    return NULL;
}

static void waiters_came_from(struct flight *f, enum store_tier tier)
{
    for (struct pipeline_waiter *w = f->waiters; w; w = w->next)
        if (w->source == SOURCE_MISS)
            w->source = tier == STORE_DISK ? SOURCE_DISK : SOURCE_SHARED;
}

/* With the lock held: a lookup that somebody still waits for has ended. Returns who is to be answered now;
 * NULL: the flight is in the queue. */
static struct pipeline_waiter *lookup_end(struct pipeline *p, struct flight *f, enum store_tier tier,
                                          struct entry *entry)
{
    enum err err = ERR_NONE;
    if (entry) {
        waiters_came_from(f, tier);
        return land(p, f, ERR_NONE, entry);
    }
    err = f->aborted ? ERR_DRAINING : flight_queue(p, f);
    if (!err)
        return NULL;
    for (struct pipeline_waiter *w = f->waiters; w; w = w->next)
        shed(p, w, err);
    return land(p, f, err, NULL);
}

/* A job of the lookup pool: one flight. */
static void lookup_run(void *ctx)
{
    struct flight *f = ctx;
    struct pipeline *p = f->pipeline;
    enum store_tier tier = STORE_DISK;
    struct entry *entry = stores_find(p, f, &tier);
    f->times.lookup_ns = now_ns() - f->started_ns;
    measure(p, f, METRIC_LOOKUP, f->times.lookup_ns);

    pthread_mutex_lock(&p->lock);
    bool left = !f->waiters;
    struct pipeline_waiter *waiters = left ? NULL : lookup_end(p, f, tier, entry);
    p->looking--;
    p->lookup_moved_ns = now_ns();
    settled_check(p);
    pthread_mutex_unlock(&p->lock); /* from here on the pipeline may be gone */

    if (left || waiters)
        free(f); /* else it is in the queue, or beyond */
    flight_answer(waiters);
    entry_unref(entry);
}

/* ---- fetch ---- */

/* The result is known at once. */
static bool answer(struct pipeline_waiter *w, enum err err, struct entry *entry, enum pipeline_source source)
{
    w->err = err;
    w->entry = entry;
    w->source = source;
    return true;
}

/* With the lock held: a store does not keep its deadline (a disk that hangs), and no lookup has moved for
 * longer than one may take: who comes now had better not get in line. Those that are in it wait for the
 * store. */
static bool lookups_stalled(const struct pipeline *p)
{
    return p->looking >= pool_threads(p->lookup_pool) && now_ns() - p->lookup_moved_ns > 2 * p->lookup_ns;
}

/* With the lock held: the flight sets off. ERR_BUSY, ERR_SHARE, ERR_OOM. */
static enum err flight_start(struct pipeline *p, struct flight *f)
{
    if (p->store_count == 0 || p->looking >= LOOKUPS_MAX || lookups_stalled(p))
        return flight_queue(p, f);
    enum err err = pool_submit(p->lookup_pool, lookup_run, f);
    if (!err && p->looking++ == 0)
        p->lookup_moved_ns = now_ns();
    return err;
}

/* With the lock held: a new flight with w as its first waiter. ERR_BUSY, ERR_SHARE, ERR_OOM. */
static enum err flight_create(struct pipeline *p, const struct request *r, const struct key *key,
                              struct pipeline_waiter *w)
{
    struct flight *f = malloc(sizeof(*f));
    if (!f)
        return ERR_OOM;
    *f = (struct flight){.item = {.client = w->client},
                         .request = *r,
                         .key = *key,
                         .pipeline = p,
                         .started_ns = now_ns(),
                         .state = FLIGHT_LOOKUP};
    flight_join(f, w, SOURCE_MISS);
    enum err err = flight_start(p, f);
    if (err) {
        flight_leave(f, w);
        free(f);
        return err;
    }
    flight_table_add(&p->flights, f);
    p->misses++;
    return ERR_NONE;
}

/* With the lock held: joins a flight or starts one. */
static enum err flight_board(struct pipeline *p, const struct request *r, const struct key *key,
                             struct pipeline_waiter *w)
{
    struct flight *f = flight_table_find(&p->flights, key);
    if (f) {
        flight_join(f, w, SOURCE_COALESCED);
        p->coalesced++;
        return ERR_NONE;
    }
    if (p->draining)
        return ERR_DRAINING;
    enum err err = flight_create(p, r, key, w);
    if (err)
        shed(p, w, err);
    return err;
}

bool pipeline_fetch(struct pipeline *p, const struct request *r, const struct key *key,
                    struct pipeline_waiter *w)
{
    w->flight = NULL;
    w->entry = NULL;
    w->err = ERR_NONE;
    w->retry_after_s = 0;
    w->times = (struct pipeline_times){0};

    uint64_t landings = atomic_load_explicit(&p->landings, memory_order_acquire);
    struct entry *entry = cache_find(p->cache, key);
    if (entry)
        return answer(w, ERR_NONE, entry, SOURCE_HIT);

    pthread_mutex_lock(&p->lock);
    /* If a flight has landed since we looked, ours may be in the cache now. */
    if (landings != atomic_load_explicit(&p->landings, memory_order_relaxed))
        entry = cache_find(p->cache, key);
    enum err err = entry ? ERR_NONE : flight_board(p, r, key, w);
    pthread_mutex_unlock(&p->lock);

    if (entry)
        return answer(w, ERR_NONE, entry, SOURCE_HIT);
    if (err)
        return answer(w, err, NULL, SOURCE_MISS);
    return false;
}

struct entry *pipeline_find(struct pipeline *p, const struct key *key)
{
    return cache_find(p->cache, key);
}

/* ---- leave ---- */

/* With the lock held: nobody waits any more. Returns true when the flight is in no job's hands and is the
 * caller's to free. */
static bool flight_abandon(struct pipeline *p, struct flight *f)
{
    flight_table_remove(&p->flights, f); /* who asks from now on gets a flight that is not cancelled */
    if (!f->aborted)
        p->cancelled++;
    if (f->state == FLIGHT_QUEUED) {
        queue_remove(p->queue, &f->item);
        return true;
    }
    atomic_store(&f->cancel, true);
    return false;
}

bool pipeline_leave(struct pipeline *p, struct pipeline_waiter *w)
{
    struct flight *to_free = NULL;
    pthread_mutex_lock(&p->lock);
    struct flight *f = w->flight;
    if (f) {
        flight_leave(f, w);
        if (!f->waiters && flight_abandon(p, f))
            to_free = f;
    }
    pthread_mutex_unlock(&p->lock);
    free(to_free);
    return f != NULL;
}

/* ---- the whole ---- */

static enum err parts_create(struct pipeline *p, const struct pipeline_desc *desc)
{
    struct queue_desc queue = {
        .work_max_ns = desc->queue_work_ns * (uint64_t)p->threads,
        .share_percent = desc->client_share_percent,
    };
    enum err err = queue_create(&queue, &p->queue);
    if (!err)
        err = flight_table_init(&p->flights);
    if (!err)
        err = cache_create(desc->cache_bytes, &p->cache);
    return err;
}

static void parts_destroy(struct pipeline *p)
{
    cache_destroy(p->cache);
    flight_table_finish(&p->flights);
    queue_destroy(p->queue);
    free(p);
}

enum err pipeline_create(const struct pipeline_desc *desc, struct pipeline **ret_pipeline)
{
    struct pipeline *p = calloc(1, sizeof(*p));
    if (!p)
        return ERR_OOM;
    p->renderer = desc->renderer;
    p->pool = desc->pool;
    p->lookup_pool = desc->lookup_pool;
    memcpy(p->stores, desc->stores, sizeof(p->stores));
    p->store_count = desc->store_count;
    p->lookup_ns = desc->lookup_ns;
    p->threads = pool_threads(desc->pool);
    p->longs_max = p->threads > 1 ? p->threads - 1 : 1;
    work_init(&p->work);
    enum err err = parts_create(p, desc);
    if (err) {
        parts_destroy(p);
        return err;
    }
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->settled, NULL);
    *ret_pipeline = p;
    return ERR_NONE;
}

void pipeline_destroy(struct pipeline *p)
{
    if (!p)
        return;
    /* Nobody waits, but flights that were left may run to their next frame or wait for a store, and tickets
     * may lie in the pool. */
    pthread_mutex_lock(&p->lock);
    while (p->tickets > 0 || p->workers > 0 || p->looking > 0)
        pthread_cond_wait(&p->settled, &p->lock);
    pthread_mutex_unlock(&p->lock);
    pthread_cond_destroy(&p->settled);
    pthread_mutex_destroy(&p->lock);
    parts_destroy(p);
}

void pipeline_drain(struct pipeline *p)
{
    pthread_mutex_lock(&p->lock);
    p->draining = true;
    pthread_mutex_unlock(&p->lock);
}

void pipeline_abort(struct pipeline *p)
{
    pthread_mutex_lock(&p->lock);
    p->draining = true;
    p->aborted = true;
    for (size_t i = 0; i < FLIGHT_BUCKETS; i++)
        for (struct flight *f = p->flights.buckets[i]; f; f = f->bucket_next) {
            if (!f->aborted)
                p->cancelled++;
            f->aborted = true;
            atomic_store(&f->cancel, true);
        }
    (void)tickets_give(p); /* long flights too may end on any thread now */
    pthread_mutex_unlock(&p->lock);
}

void pipeline_stats(struct pipeline *p, struct pipeline_stats *ret_stats)
{
    struct pipeline_stats stats = {0};
    cache_stats(p->cache, &stats.cache);
    stats.hits = stats.cache.hits;
    for (int i = 0; i < p->store_count; i++) {
        enum store_tier tier = p->stores[i]->impl->tier;
        p->stores[i]->impl->stats(p->stores[i], &stats.stores[tier]);
        stats.store_there[tier] = true;
    }
    pthread_mutex_lock(&p->lock);
    stats.misses = p->misses;
    stats.coalesced = p->coalesced;
    stats.renders = p->renders;
    stats.cancelled = p->cancelled;
    stats.shed = p->shed;
    stats.shed_share = p->shed_share;
    stats.looking = p->looking;
    stats.queued = (int)queue_count(p->queue);
    stats.running = p->running;
    stats.queued_work_ns = queue_work_ns(p->queue);
    stats.queued_work_max_ns = queue_work_max_ns(p->queue);
    pthread_mutex_unlock(&p->lock);
    *ret_stats = stats;
}
