/* pipeline.c -- the way of a picture: memory cache, flight, queue, render, encode, cache, every waiter.
 *
 * A flight is one render and all who wait for it. It stands in a table by key from its first waiter until its
 * result is there or its last waiter has left; whoever asks for the same key meanwhile joins it. Table,
 * waiters, queue and counts change under one lock, so a fetch sees a flight either before its end (and joins)
 * or after it (and finds the cache filled, or with the cache off begins anew). A hit does not take that lock.
 *
 * The queue is our own and not the pool's, so that a flight nobody wants any more leaves it at once. The pool
 * holds one ticket for each flight in the queue; a ticket draws the flight that waits longest, or nothing
 * when there is none.
 *
 * Threads: HTTP threads fetch and leave, the pool's threads draw and call `done`, which they do without any
 * lock. Order of locks: pipeline, then those inside pool and cache. */
#include "server/pipeline.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "renderer/base/blob.h"
#include "renderer/base/pool.h"
#include "renderer/encode/encoder.h"
#include "renderer/frame_set.h"
#include "renderer/renderer.h"

#define BUCKETS_LEAST  64
#define BUCKETS_MAX    65536 /* more flights than this only make chains longer */
#define AVERAGE_WEIGHT 8     /* a new render time counts one part in this many */

enum flight_state { FLIGHT_QUEUED, FLIGHT_RUNNING };

struct flight {
    struct request request; /* this, key and pipeline stay as they are */
    struct key key;
    struct pipeline *pipeline;
    atomic_bool cancel;
    /* Under the pipeline's lock. */
    enum flight_state state;
    bool in_table;
    bool aborted;
    struct pipeline_waiter *waiters; /* newest first */
    struct flight *bucket_next;
    struct flight *queue_next, *queue_previous;
};

struct pipeline {
    struct renderer *renderer;
    struct pool *pool;
    struct cache *cache;
    int flights_max;               /* queued and running */
    atomic_uint_fast64_t landings; /* flights that have ended and left the table; written under the lock */

    pthread_mutex_t lock;   /* guards all below */
    pthread_cond_t settled; /* no ticket is out and nothing runs */
    struct flight **buckets;
    size_t bucket_mask;
    struct flight *queue_first, *queue_last;
    int queued, running;
    int tickets; /* jobs given to the pool that have not begun; never fewer than queued */
    bool draining;
    uint64_t average_ns; /* moving average of the time from begin to end of a flight's render; 0 = none yet */
    uint64_t misses, coalesced, renders, cancelled, shed;
};

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- table and queue, all with the lock held ---- */

static struct flight **bucket_of(const struct pipeline *p, const struct key *key)
{
    return &p->buckets[key->hash & p->bucket_mask];
}

static struct flight *table_get(const struct pipeline *p, const struct key *key)
{
    for (struct flight *f = *bucket_of(p, key); f; f = f->bucket_next)
        if (f->key.hash == key->hash && f->key.len == key->len && !memcmp(f->key.text, key->text, key->len))
            return f;
    return NULL;
}

static void table_add(struct pipeline *p, struct flight *f)
{
    struct flight **bucket = bucket_of(p, &f->key);
    f->bucket_next = *bucket;
    *bucket = f;
    f->in_table = true;
}

static void table_remove(struct pipeline *p, struct flight *f)
{
    struct flight **at = bucket_of(p, &f->key);
    while (*at != f)
        at = &(*at)->bucket_next;
    *at = f->bucket_next;
    f->in_table = false;
}

static void queue_add(struct pipeline *p, struct flight *f)
{
    f->queue_previous = p->queue_last;
    f->queue_next = NULL;
    if (p->queue_last)
        p->queue_last->queue_next = f;
    else
        p->queue_first = f;
    p->queue_last = f;
    p->queued++;
}

static void queue_remove(struct pipeline *p, struct flight *f)
{
    if (f->queue_previous)
        f->queue_previous->queue_next = f->queue_next;
    else
        p->queue_first = f->queue_next;
    if (f->queue_next)
        f->queue_next->queue_previous = f->queue_previous;
    else
        p->queue_last = f->queue_previous;
    p->queued--;
}

/* ---- waiters, with the lock held ---- */

static void waiter_join(struct flight *f, struct pipeline_waiter *w, enum pipeline_source source)
{
    w->flight = f;
    w->source = source;
    w->previous = NULL;
    w->next = f->waiters;
    if (f->waiters)
        f->waiters->previous = w;
    f->waiters = w;
}

static void waiter_leave(struct flight *f, struct pipeline_waiter *w)
{
    if (w->previous)
        w->previous->next = w->next;
    else
        f->waiters = w->next;
    if (w->next)
        w->next->previous = w->previous;
    w->flight = NULL;
}

/* ---- render ---- */

/* Frames, file, entry; returns early when *cancel gets set. */
static enum err flight_draw(struct flight *f, struct entry **ret_entry)
{
    struct frame_set frames = {0};
    struct blob body = {0};
    struct encode_desc desc = request_encode_desc(&f->request, f->key.text);

    enum err err = renderer_draw(f->pipeline->renderer, &f->request.planet, &f->cancel, &frames);
    if (err)
        return err;
    err = encoders[f->request.format].encode(&frames, &desc, &f->cancel, &body);
    frame_set_finish(&frames);
    if (!err) {
        blob_shrink(&body);
        err = entry_create(&f->request, &f->key, &body, ret_entry);
    }
    blob_free(&body);
    return err;
}

/* With the lock held: takes all waiters off and fills in their results. From here on it is too late to leave.
 */
static struct pipeline_waiter *flight_land(struct pipeline *p, struct flight *f, enum err err,
                                           struct entry *entry)
{
    struct pipeline_waiter *waiters = f->waiters;
    f->waiters = NULL;
    if (f->in_table)
        table_remove(p, f);
    atomic_fetch_add_explicit(&p->landings, 1, memory_order_release);
    for (struct pipeline_waiter *w = waiters; w; w = w->next) {
        w->flight = NULL;
        w->err = err;
        w->entry = entry ? entry_ref(entry) : NULL;
    }
    return waiters;
}

/* With the lock held. */
static void render_time_add(struct pipeline *p, uint64_t ns)
{
    if (p->average_ns == 0)
        p->average_ns = ns;
    else
        p->average_ns = (p->average_ns * (AVERAGE_WEIGHT - 1) + ns) / AVERAGE_WEIGHT;
}

/* With the lock held: the flight that waits longest begins. NULL: none waits. */
static struct flight *flight_begin(struct pipeline *p)
{
    struct flight *f = p->queue_first;
    if (!f)
        return NULL;
    queue_remove(p, f);
    f->state = FLIGHT_RUNNING;
    p->running++;
    if (!f->aborted)
        p->renders++;
    return f;
}

/* With the lock held. */
static void settled_check(struct pipeline *p)
{
    if (p->tickets == 0 && p->running == 0)
        pthread_cond_broadcast(&p->settled);
}

/* A job of the pool: one ticket. */
static void ticket_run(void *ctx)
{
    struct pipeline *p = ctx;
    pthread_mutex_lock(&p->lock);
    p->tickets--;
    struct flight *f = flight_begin(p);
    settled_check(p);
    pthread_mutex_unlock(&p->lock);
    if (!f)
        return; /* who was to be drawn by this ticket has been left */

    uint64_t begin = now_ns();
    struct entry *entry = NULL;
    enum err err = atomic_load(&f->cancel) ? ERR_CANCELLED : flight_draw(f, &entry);
    if (entry)
        cache_put(p->cache, entry); /* before the flight leaves the table: a fetch finds one of the two */

    pthread_mutex_lock(&p->lock);
    if (err && f->aborted)
        err = ERR_DRAINING;
    if (!err)
        render_time_add(p, now_ns() - begin);
    struct pipeline_waiter *waiters = flight_land(p, f, err, entry);
    p->running--;
    settled_check(p);
    pthread_mutex_unlock(&p->lock); /* from here on the pipeline may be gone */

    while (waiters) {
        struct pipeline_waiter *w = waiters;
        waiters = w->next; /* done() may free the waiter */
        w->done(w);
    }
    entry_unref(entry);
    free(f);
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

/* With the lock held: seconds until what waits now has been drawn, at least one. */
static unsigned retry_after_s(const struct pipeline *p)
{
    uint64_t each = (uint64_t)pool_threads(p->pool) * 1000000000u;
    uint64_t s = ((uint64_t)p->queued * p->average_ns + each - 1) / each;
    return s > 1 ? (unsigned)s : 1;
}

/* With the lock held: a new flight with w as its first waiter. ERR_BUSY, ERR_OOM. */
static enum err flight_start(struct pipeline *p, const struct request *r, const struct key *key,
                             struct pipeline_waiter *w)
{
    if (p->queued + p->running >= p->flights_max)
        return ERR_BUSY;
    struct flight *f = malloc(sizeof(*f));
    if (!f)
        return ERR_OOM;
    *f = (struct flight){.request = *r, .key = *key, .pipeline = p, .state = FLIGHT_QUEUED};
    if (p->tickets <= p->queued) { /* else one is left over from a flight that was left */
        enum err err = pool_submit(p->pool, ticket_run, p);
        if (err) {
            free(f);
            return err;
        }
        p->tickets++;
    }
    table_add(p, f);
    queue_add(p, f);
    waiter_join(f, w, SOURCE_MISS);
    p->misses++;
    return ERR_NONE;
}

/* With the lock held: joins a flight or starts one. */
static enum err flight_join(struct pipeline *p, const struct request *r, const struct key *key,
                            struct pipeline_waiter *w)
{
    struct flight *f = table_get(p, key);
    if (f) {
        waiter_join(f, w, SOURCE_COALESCED);
        p->coalesced++;
        return ERR_NONE;
    }
    if (p->draining)
        return ERR_DRAINING;
    enum err err = flight_start(p, r, key, w);
    if (err == ERR_BUSY) {
        w->retry_after_s = retry_after_s(p);
        p->shed++;
    }
    return err;
}

bool pipeline_fetch(struct pipeline *p, const struct request *r, const struct key *key,
                    struct pipeline_waiter *w)
{
    w->flight = NULL;
    w->entry = NULL;
    w->err = ERR_NONE;
    w->retry_after_s = 0;

    uint64_t landings = atomic_load_explicit(&p->landings, memory_order_acquire);
    struct entry *entry = cache_find(p->cache, key);
    if (entry)
        return answer(w, ERR_NONE, entry, SOURCE_HIT);

    pthread_mutex_lock(&p->lock);
    /* If a flight has landed since we looked, ours may be in the cache now. */
    if (landings != atomic_load_explicit(&p->landings, memory_order_relaxed))
        entry = cache_find(p->cache, key);
    enum err err = entry ? ERR_NONE : flight_join(p, r, key, w);
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

/* With the lock held: nobody waits any more. Returns true when the flight never ran and is the caller's to
 * free. */
static bool flight_abandon(struct pipeline *p, struct flight *f)
{
    table_remove(p, f); /* who asks from now on gets a flight that is not cancelled */
    if (!f->aborted)
        p->cancelled++;
    if (f->state == FLIGHT_QUEUED) {
        queue_remove(p, f);
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
        waiter_leave(f, w);
        if (!f->waiters && flight_abandon(p, f))
            to_free = f;
    }
    pthread_mutex_unlock(&p->lock);
    free(to_free);
    return f != NULL;
}

/* ---- the whole ---- */

static size_t buckets_for(int flights_max)
{
    size_t buckets = BUCKETS_LEAST;
    while (buckets < (size_t)flights_max && buckets < BUCKETS_MAX)
        buckets *= 2;
    return buckets;
}

enum err pipeline_create(const struct pipeline_desc *desc, struct pipeline **ret_pipeline)
{
    struct pipeline *p = calloc(1, sizeof(*p));
    if (!p)
        return ERR_OOM;
    p->renderer = desc->renderer;
    p->pool = desc->pool;
    p->flights_max = 1024 + pool_threads(desc->pool);
    size_t buckets = buckets_for(p->flights_max);
    p->bucket_mask = buckets - 1;
    p->buckets = calloc(buckets, sizeof(struct flight *));
    if (!p->buckets || cache_create(desc->cache_bytes, &p->cache)) {
        free(p->buckets);
        free(p);
        return ERR_OOM;
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
    /* Nobody waits, but renders that were left may run to their next frame, and tickets may lie in the pool.
     */
    pthread_mutex_lock(&p->lock);
    while (p->tickets > 0 || p->running > 0)
        pthread_cond_wait(&p->settled, &p->lock);
    pthread_mutex_unlock(&p->lock);
    pthread_cond_destroy(&p->settled);
    pthread_mutex_destroy(&p->lock);
    cache_destroy(p->cache);
    free(p->buckets);
    free(p);
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
    for (size_t i = 0; i <= p->bucket_mask; i++)
        for (struct flight *f = p->buckets[i]; f; f = f->bucket_next) {
            if (!f->aborted)
                p->cancelled++;
            f->aborted = true;
            atomic_store(&f->cancel, true);
        }
    pthread_mutex_unlock(&p->lock);
}

void pipeline_stats(struct pipeline *p, struct pipeline_stats *ret_stats)
{
    struct pipeline_stats stats = {0};
    cache_stats(p->cache, &stats.cache);
    stats.hits = stats.cache.hits; /* only fetches look into the cache */
    pthread_mutex_lock(&p->lock);
    stats.misses = p->misses;
    stats.coalesced = p->coalesced;
    stats.renders = p->renders;
    stats.cancelled = p->cancelled;
    stats.shed = p->shed;
    stats.queued = p->queued;
    stats.running = p->running;
    pthread_mutex_unlock(&p->lock);
    *ret_stats = stats;
}
