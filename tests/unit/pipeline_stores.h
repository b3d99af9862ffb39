/* pipeline_stores.h -- a pipeline under test with a disk and a shared store, which are tables in memory that
 * the test can hold up. Include it once in a program. */
#pragma once

#include "tests/unit/pipeline_rig.h"

/* ---- stores ---- */

#define STORE_KEYS 2048

/* Keeps entries by seed. */
struct fake_store {
    struct store base;
    pthread_mutex_t lock;
    struct entry *kept[STORE_KEYS];
    atomic_bool blocked; /* finds wait, but not past their deadline */
    atomic_bool hangs;   /* blocked finds wait past their deadline as well */
    atomic_bool forgets; /* puts keep nothing */
    atomic_int finds, puts, active;
};

static uint64_t rig_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static struct entry *fake_find(struct store *s, const struct request *r, const struct key *key,
                               uint64_t deadline_ns)
{
    struct fake_store *store = (struct fake_store *)s;
    (void)key;
    atomic_fetch_add(&store->finds, 1);
    atomic_fetch_add(&store->active, 1);
    while (atomic_load(&store->blocked) && (atomic_load(&store->hangs) || rig_now_ns() < deadline_ns))
        sleep_ms(1);
    struct entry *e = NULL;
    pthread_mutex_lock(&store->lock);
    if (!atomic_load(&store->blocked) && store->kept[r->planet.seed % STORE_KEYS])
        e = entry_ref(store->kept[r->planet.seed % STORE_KEYS]);
    pthread_mutex_unlock(&store->lock);
    atomic_fetch_sub(&store->active, 1);
    return e;
}

static uint64_t seed_of(const struct entry *e)
{
    return strtoull(strstr(e->key.text, "seed=") + 5, NULL, 10);
}

static void fake_put(struct store *s, struct entry *e)
{
    struct fake_store *store = (struct fake_store *)s;
    atomic_fetch_add(&store->puts, 1);
    if (atomic_load(&store->forgets))
        return;
    pthread_mutex_lock(&store->lock);
    struct entry **place = &store->kept[seed_of(e) % STORE_KEYS];
    entry_unref(*place);
    *place = entry_ref(e);
    pthread_mutex_unlock(&store->lock);
}

static void fake_stats(struct store *s, struct store_stats *ret_stats)
{
    *ret_stats = (struct store_stats){.writes = (uint64_t)atomic_load(&((struct fake_store *)s)->puts)};
}

static void fake_close(struct store *s, int ms)
{
    struct fake_store *store = (struct fake_store *)s;
    (void)ms;
    for (int i = 0; i < STORE_KEYS; i++)
        entry_unref(store->kept[i]);
    pthread_mutex_destroy(&store->lock);
}

static const struct store_impl fake_disk_impl = {STORE_DISK, fake_find, fake_put, fake_stats, fake_close};
static const struct store_impl fake_shared_impl = {STORE_SHARED, fake_find, fake_put, fake_stats, fake_close};

static struct fake_store disk, shared;

static inline bool kept(struct fake_store *store, uint64_t n)
{
    pthread_mutex_lock(&store->lock);
    bool is = store->kept[n % STORE_KEYS] != NULL;
    pthread_mutex_unlock(&store->lock);
    return is;
}

#define LOOKUP_THREADS 3

/* With a disk and a shared store. */
static struct rig rig_open_stores(int threads, size_t cache_bytes, int lookup_ms, int queue_max)
{
    struct pool *lookup_pool = NULL;
    assert_int_equal(pool_create(LOOKUP_THREADS, &lookup_pool), ERR_NONE);
    disk = (struct fake_store){.base.impl = &fake_disk_impl};
    shared = (struct fake_store){.base.impl = &fake_shared_impl};
    pthread_mutex_init(&disk.lock, NULL);
    pthread_mutex_init(&shared.lock, NULL);
    struct rig rig =
        rig_open_desc(threads, (struct pipeline_desc){.cache_bytes = cache_bytes,
                                                      .queue_work_ns = (uint64_t)queue_max * WORK_LEAST_NS /
                                                                       (uint64_t)threads,
                                                      .stores = {&disk.base, &shared.base},
                                                      .store_count = 2,
                                                      .lookup_pool = lookup_pool,
                                                      .lookup_ns = (uint64_t)lookup_ms * 1000000u});
    return rig;
}

static void rig_close_stores(struct rig *rig)
{
    rig_close(rig);
    fake_close(&disk.base, 0);
    fake_close(&shared.base, 0);
}
