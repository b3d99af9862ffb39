/* pool.c -- worker threads that run whole jobs and help inside jobs when they are idle.
 *
 * One lock guards the queue of jobs and the list of regions (running pool_for() calls that others may join).
 * A job is a picture, thousands a second at most, so one lock is no bottleneck; the parts inside a region are
 * handed out by an atomic counter without it. A region lies on the stack of its owner: a helper registers in
 * it under the lock, and the owner first takes the region off the list and then waits until all helpers have
 * signed off, also under the lock, so nobody can touch it after pool_for() returned. A region is published as
 * late as a worker is idle: with all workers busy pool_for() is a plain loop with one relaxed load for each
 * part.
 *
 * No deadlock by nesting: an owner waits only for parts that are running already, never for something in the
 * queue.
 *
 * Threads: every function from any thread, except pool_destroy(). */
#include "renderer/base/pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define RING_START 64 /* jobs; doubles when full */

struct job {
    void (*run)(void *ctx);
    void *ctx;
};

/* A pool_for() that idle workers may join. */
struct region {
    void (*part)(void *ctx, int i);
    void *ctx;
    long long count;
    atomic_llong next; /* first part that nobody took; runs past count, hence not an int */
    int helpers;       /* workers inside; under the pool's lock, as is helped_ns */
    uint64_t helped_ns;
    pthread_cond_t left;    /* the last helper has gone */
    struct region *sibling; /* in the pool's list */
};

struct pool {
    pthread_mutex_t lock; /* guards all that is not atomic */
    pthread_cond_t work;  /* there is a job or a region, or the end has come */
    struct job *ring;
    size_t ring_size, first; /* ring_size is a power of two */
    atomic_size_t queued;    /* written under the lock; helpers look at it without */
    struct region *regions;
    atomic_int idle; /* workers that wait for work; written under the lock; owners look at it without */
    bool ending;
    int threads, nice;
    pthread_t thread[];
};

static _Thread_local uint64_t helped_ns; /* what pool_helped_ns() tells */

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static struct job job_take(struct pool *pool)
{
    struct job job = pool->ring[pool->first];
    pool->first = (pool->first + 1) & (pool->ring_size - 1);
    atomic_fetch_sub_explicit(&pool->queued, 1, memory_order_relaxed);
    return job;
}

static bool region_has_parts(struct region *region)
{
    return atomic_load_explicit(&region->next, memory_order_relaxed) < region->count;
}

static struct region *region_to_join(const struct pool *pool)
{
    for (struct region *region = pool->regions; region; region = region->sibling)
        if (region_has_parts(region))
            return region;
    return NULL;
}

/* Runs parts until none is left or, for a helper, until a picture waits that could be its own. */
static void region_work(struct pool *pool, struct region *region, bool helper)
{
    for (;;) {
        if (helper && atomic_load_explicit(&pool->queued, memory_order_relaxed) > 0)
            return;
        long long i = atomic_fetch_add_explicit(&region->next, 1, memory_order_relaxed);
        if (i >= region->count)
            return;
        region->part(region->ctx, (int)i);
    }
}

/* With the lock held, which is given up while the parts run. */
static void region_help(struct pool *pool, struct region *region)
{
    region->helpers++;
    pthread_mutex_unlock(&pool->lock);
    uint64_t begin = now_ns();
    region_work(pool, region, true);
    uint64_t end = now_ns();
    pthread_mutex_lock(&pool->lock);
    region->helped_ns += end - begin;
    if (--region->helpers == 0)
        pthread_cond_signal(&region->left); /* under the lock: the owner can't free it before we let go */
}

/* On Linux a thread has a niceness of its own; elsewhere it is the process's, which is left alone. */
static void give_way(int nice)
{
#ifdef __linux__
    if (nice != 0)
        (void)setpriority(PRIO_PROCESS, (id_t)gettid(), getpriority(PRIO_PROCESS, 0) + nice);
#else
    (void)nice;
#endif
}

static void *worker(void *arg)
{
    struct pool *pool = arg;
    give_way(pool->nice);
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        struct region *region;
        if (atomic_load_explicit(&pool->queued, memory_order_relaxed) > 0) {
            struct job job = job_take(pool);
            pthread_mutex_unlock(&pool->lock);
            job.run(job.ctx);
            pthread_mutex_lock(&pool->lock);
        } else if ((region = region_to_join(pool))) {
            region_help(pool, region);
        } else if (pool->ending) {
            break;
        } else {
            atomic_fetch_add_explicit(&pool->idle, 1, memory_order_relaxed);
            pthread_cond_wait(&pool->work, &pool->lock);
            atomic_fetch_sub_explicit(&pool->idle, 1, memory_order_relaxed);
        }
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static void workers_end(struct pool *pool, int count)
{
    pthread_mutex_lock(&pool->lock);
    pool->ending = true;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < count; i++)
        pthread_join(pool->thread[i], NULL);
}

static void pool_free(struct pool *pool)
{
    pthread_cond_destroy(&pool->work);
    pthread_mutex_destroy(&pool->lock);
    free(pool->ring);
    free(pool);
}

enum err pool_create(int threads, struct pool **ret_pool)
{
    return pool_create_nice(threads, 0, ret_pool);
}

enum err pool_create_nice(int threads, int nice, struct pool **ret_pool)
{
    if (threads < 1 || threads > POOL_THREADS_MAX)
        return ERR_CONFIG;
    struct pool *pool = calloc(1, sizeof(*pool) + (size_t)threads * sizeof(pool->thread[0]));
    struct job *ring = malloc(RING_START * sizeof(*ring));
    if (!pool || !ring) {
        free(pool);
        free(ring);
        return ERR_OOM;
    }
    pool->ring = ring;
    pool->ring_size = RING_START;
    pool->threads = threads;
    pool->nice = nice;
    pthread_mutex_init(&pool->lock, NULL); /* with default attributes these two can't fail on Linux */
    pthread_cond_init(&pool->work, NULL);

    /* Signals are the main thread's business. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int made = 0;
    while (made < threads && pthread_create(&pool->thread[made], NULL, worker, pool) == 0)
        made++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (made < threads) {
        workers_end(pool, made);
        pool_free(pool);
        return ERR_OOM;
    }
    *ret_pool = pool;
    return ERR_NONE;
}

void pool_destroy(struct pool *pool)
{
    if (!pool)
        return;
    workers_end(pool, pool->threads);
    pool_free(pool);
}

/* With the lock held. */
static enum err ring_grow(struct pool *pool, size_t queued)
{
    struct job *ring = malloc(2 * pool->ring_size * sizeof(*ring));
    if (!ring)
        return ERR_OOM;
    for (size_t i = 0; i < queued; i++)
        ring[i] = pool->ring[(pool->first + i) & (pool->ring_size - 1)];
    free(pool->ring);
    pool->ring = ring;
    pool->ring_size *= 2;
    pool->first = 0;
    return ERR_NONE;
}

enum err pool_submit(struct pool *pool, void (*job)(void *ctx), void *ctx)
{
    enum err err = ERR_NONE;
    pthread_mutex_lock(&pool->lock);
    size_t queued = atomic_load_explicit(&pool->queued, memory_order_relaxed);
    if (queued == pool->ring_size)
        err = ring_grow(pool, queued);
    if (!err) {
        pool->ring[(pool->first + queued) & (pool->ring_size - 1)] = (struct job){job, ctx};
        atomic_store_explicit(&pool->queued, queued + 1, memory_order_relaxed);
        pthread_cond_signal(&pool->work);
    }
    pthread_mutex_unlock(&pool->lock);
    return err;
}

static bool pool_has_idle(const struct pool *pool)
{
    return atomic_load_explicit(&pool->idle, memory_order_relaxed) > 0;
}

static void region_publish(struct pool *pool, struct region *region, long long parts_left)
{
    pthread_cond_init(&region->left, NULL);
    pthread_mutex_lock(&pool->lock);
    region->sibling = pool->regions;
    pool->regions = region;
    long long wake = atomic_load_explicit(&pool->idle, memory_order_relaxed);
    if (wake > parts_left - 1) /* one part is for the owner */
        wake = parts_left - 1;
    while (wake-- > 0)
        pthread_cond_signal(&pool->work);
    pthread_mutex_unlock(&pool->lock);
}

static void region_close(struct pool *pool, struct region *region)
{
    pthread_mutex_lock(&pool->lock);
    struct region **at = &pool->regions;
    while (*at != region)
        at = &(*at)->sibling;
    *at = region->sibling;
    while (region->helpers > 0)
        pthread_cond_wait(&region->left, &pool->lock);
    helped_ns += region->helped_ns;
    pthread_mutex_unlock(&pool->lock);
    pthread_cond_destroy(&region->left);
}

void pool_for(struct pool *pool, int count, void (*part)(void *ctx, int i), void *ctx)
{
    int i = 0;
    while (i < count && !(pool && i + 1 < count && pool_has_idle(pool)))
        part(ctx, i++);
    if (i >= count)
        return;

    struct region region = {.part = part, .ctx = ctx, .count = count};
    atomic_init(&region.next, i);
    region_publish(pool, &region, (long long)count - i);
    region_work(pool, &region, false);
    region_close(pool, &region);
}

int pool_threads(const struct pool *pool)
{
    return pool->threads;
}

uint64_t pool_helped_ns(void)
{
    return helped_ns;
}
