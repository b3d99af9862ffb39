/* cache.c -- finished files in memory: a hash table for finding, two queues (S3-FIFO) for deciding who goes.
 *
 * A hit must cost next to nothing and must not wait for an eviction, so the two sides have their own locks:
 * the table is cut into stripes with a lock each, and a hit takes just that one, raises the entry's frequency
 * and touches no queue. Whoever stores takes the queue lock and, inside it, stripe locks one at a time; that
 * happens once a render, which is rare beside hits. One pair of queues for all stripes keeps the budget exact
 * and lets one file use a tenth of it.
 *
 * S3-FIFO: newcomers enter the small queue (10 % of the bytes). Who leaves it goes to the main queue if it
 * was asked for more than once meanwhile; else it is evicted and its hash stays for a while in the ghost
 * table, and who comes back while it is there enters the main queue at once. The main queue gives one more
 * round for each ask, up to three.
 *
 * Threads: any. Order of locks: queue lock, then one stripe. Nothing is freed under a lock. */
#include "server/cache.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define STRIPES          64 /* a power of two; many more than threads, so that two rarely meet */
#define FREQUENCY_MAX    3
#define SMALL_SHARE      10   /* the small queue has one part in this many of the budget */
#define ENTRY_SHARE      10   /* a file above one part in this many is not kept: it would push out too much */
#define BUCKET_BYTES     4096 /* one bucket for so much budget: a small picture with its entry */
#define BUCKETS_MAX      ((size_t)1 << 26)
#define GHOST_WAYS       8
#define GHOSTS_A_BUCKET  4 /* the smallest entry is a third of BUCKET_BYTES */
#define CACHE_LINE_BYTES 64

/* entry.queue: an entry passes through the cache once at most, so that its links are free for the list of
 * evicted ones. */
enum place { PLACE_NEW, PLACE_IN, PLACE_GONE };

/* First in, first out, linked from the oldest to the newest. */
struct queue {
    struct entry *oldest, *newest;
    size_t bytes, entries;
};

struct stripe {
    _Alignas(CACHE_LINE_BYTES) pthread_mutex_t lock; /* guards the buckets of the stripe and these counts */
    uint64_t hits, misses;
};

/* An evicted entry: its hash and when it went, counted in evictions. `born` 0 is an empty place. */
struct ghost {
    uint64_t hash, born;
};

struct cache {
    struct stripe stripes[STRIPES];
    struct entry **buckets; /* bucket i belongs to stripe i % STRIPES */
    size_t bucket_mask;

    pthread_mutex_t queue_lock; /* guards all below, and queue and queue_next of entries */
    struct queue small, main;
    struct ghost *ghosts; /* sets of GHOST_WAYS */
    size_t ghost_set_mask;
    uint64_t ghost_clock;
    uint64_t insertions, evictions;
    size_t budget;
};

/* ---- entries ---- */

static atomic_uint_fast64_t serials;
static atomic_int entries;

enum err entry_create(const struct request *r, const struct key *key, struct blob *body,
                      struct entry **ret_entry)
{
    struct entry *e = calloc(1, sizeof(*e));
    if (!e)
        return ERR_OOM;
    atomic_init(&e->refs, 1);
    e->serial = atomic_fetch_add_explicit(&serials, 1, memory_order_relaxed) + 1;
    atomic_fetch_add_explicit(&entries, 1, memory_order_relaxed);
    e->key = *key;
    e->format = (enum format)r->format;
    key_etag(key, e->etag);
    key_file_name(r, key, e->file_name);
    e->body = blob_take(body);
    *ret_entry = e;
    return ERR_NONE;
}

struct entry *entry_ref(struct entry *e)
{
    atomic_fetch_add_explicit(&e->refs, 1, memory_order_relaxed);
    return e;
}

void entry_unref(struct entry *e)
{
    if (!e || atomic_fetch_sub_explicit(&e->refs, 1, memory_order_acq_rel) != 1)
        return;
    atomic_fetch_sub_explicit(&entries, 1, memory_order_relaxed);
    blob_free(&e->body);
    free(e);
}

int entry_alive(void)
{
    return atomic_load_explicit(&entries, memory_order_relaxed);
}

size_t entry_cost(const struct entry *e)
{
    size_t body = e->body.capacity > e->body.len ? e->body.capacity : e->body.len;
    return sizeof(*e) + body;
}

/* ---- queues, all with the queue lock held ---- */

static void queue_push(struct queue *q, struct entry *e)
{
    e->queue_next = NULL;
    if (q->newest)
        q->newest->queue_next = e;
    else
        q->oldest = e;
    q->newest = e;
    q->bytes += entry_cost(e);
    q->entries++;
}

static struct entry *queue_pop(struct queue *q)
{
    struct entry *e = q->oldest;
    q->oldest = e->queue_next;
    if (!q->oldest)
        q->newest = NULL;
    e->queue_next = NULL;
    q->bytes -= entry_cost(e);
    q->entries--;
    return e;
}

/* ---- ghosts, all with the queue lock held ---- */

static struct ghost *ghost_set(const struct cache *c, uint64_t hash)
{
    return &c->ghosts[(hash >> 7 & c->ghost_set_mask) * GHOST_WAYS]; /* other bits than the stripe's */
}

static void ghost_add(struct cache *c, uint64_t hash)
{
    struct ghost *set = ghost_set(c, hash), *place = set;
    for (int i = 0; i < GHOST_WAYS && place->hash != hash; i++)
        if (set[i].hash == hash || set[i].born < place->born)
            place = &set[i];
    *place = (struct ghost){.hash = hash, .born = ++c->ghost_clock};
}

/* True if it was there; it is forgotten then. The ghosts are as many as the entries that the main queue holds
 * when it has its share: older ones count as gone, though they may stand in the table still. */
static bool ghost_take(struct cache *c, uint64_t hash)
{
    uint64_t share = (c->small.entries + c->main.entries) * (SMALL_SHARE - 1) / SMALL_SHARE;
    uint64_t alive = c->main.entries > share ? c->main.entries : share;
    struct ghost *set = ghost_set(c, hash);
    for (int i = 0; i < GHOST_WAYS; i++) {
        if (set[i].hash != hash || set[i].born == 0)
            continue;
        bool found = c->ghost_clock - set[i].born < alive;
        set[i].born = 0;
        return found;
    }
    return false;
}

/* ---- table ---- */

static struct entry **bucket_of(const struct cache *c, uint64_t hash)
{
    return &c->buckets[hash & c->bucket_mask];
}

static struct stripe *stripe_of(struct cache *c, uint64_t hash)
{
    return &c->stripes[hash & (STRIPES - 1)];
}

/* With the stripe's lock held. */
static struct entry *table_get(const struct cache *c, const struct key *key)
{
    for (struct entry *e = *bucket_of(c, key->hash); e; e = e->bucket_next)
        if (e->key.hash == key->hash && e->key.len == key->len && !memcmp(e->key.text, key->text, key->len))
            return e;
    return NULL;
}

static void table_remove(struct cache *c, struct entry *e)
{
    struct stripe *s = stripe_of(c, e->key.hash);
    pthread_mutex_lock(&s->lock);
    struct entry **at = bucket_of(c, e->key.hash);
    while (*at != e)
        at = &(*at)->bucket_next;
    *at = e->bucket_next;
    pthread_mutex_unlock(&s->lock);
}

/* ---- eviction, all with the queue lock held ---- */

static unsigned frequency(struct entry *e)
{
    return atomic_load_explicit(&e->frequency, memory_order_relaxed);
}

/* Looks at the oldest of the small queue, which must not be empty. NULL: it was asked for and has moved. */
static struct entry *small_evict(struct cache *c)
{
    struct entry *e = queue_pop(&c->small);
    if (frequency(e) > 1) {
        atomic_store_explicit(&e->frequency, 0, memory_order_relaxed);
        queue_push(&c->main, e);
        return NULL;
    }
    ghost_add(c, e->key.hash);
    return e;
}

/* The main queue must not be empty. Hits raise frequencies meanwhile, so the number of rounds is limited. */
static struct entry *main_evict(struct cache *c)
{
    for (size_t left = c->main.entries * FREQUENCY_MAX;; left--) {
        struct entry *e = queue_pop(&c->main);
        if (frequency(e) == 0 || left == 0)
            return e;
        atomic_fetch_sub_explicit(&e->frequency, 1, memory_order_relaxed); /* only we lower it */
        queue_push(&c->main, e);
    }
}

/* Makes room for `cost` bytes. The evicted come back as a list through queue_next; the caller gives the
 * cache's reference of each back once the lock is open. */
static struct entry *evict_for(struct cache *c, size_t cost)
{
    struct entry *evicted = NULL;
    while (c->small.bytes + c->main.bytes + cost > c->budget) {
        bool from_small = c->small.bytes >= c->budget / SMALL_SHARE || !c->main.oldest;
        struct entry *e = from_small ? small_evict(c) : main_evict(c);
        if (!e)
            continue;
        e->queue = PLACE_GONE;
        table_remove(c, e);
        e->queue_next = evicted;
        evicted = e;
        c->evictions++;
    }
    return evicted;
}

static void entries_unref(struct entry *list)
{
    while (list) {
        struct entry *next = list->queue_next;
        list->queue_next = NULL;
        entry_unref(list);
        list = next;
    }
}

/* ---- the cache ---- */

static size_t power_of_two_from(size_t wanted, size_t least, size_t most)
{
    size_t size = least;
    while (size < wanted && size < most)
        size *= 2;
    return size;
}

enum err cache_create(size_t budget_bytes, struct cache **ret_cache)
{
    /* Fixed sizes: 2 % of the budget, and pages that are never needed are never touched. */
    size_t buckets = power_of_two_from(budget_bytes / BUCKET_BYTES, STRIPES, BUCKETS_MAX);
    size_t ghosts = buckets * GHOSTS_A_BUCKET;
    struct cache *c =
        aligned_alloc(CACHE_LINE_BYTES, sizeof(*c)); /* its size is a multiple by its alignment */
    if (!c)
        return ERR_OOM;
    memset(c, 0, sizeof(*c));
    c->buckets = calloc(buckets, sizeof(struct entry *));
    c->ghosts = calloc(ghosts, sizeof(*c->ghosts));
    if (!c->buckets || !c->ghosts) {
        free(c->buckets);
        free(c->ghosts);
        free(c);
        return ERR_OOM;
    }
    c->bucket_mask = buckets - 1;
    c->ghost_set_mask = ghosts / GHOST_WAYS - 1;
    c->budget = budget_bytes;
    pthread_mutex_init(&c->queue_lock, NULL);
    for (int i = 0; i < STRIPES; i++)
        pthread_mutex_init(&c->stripes[i].lock, NULL);
    *ret_cache = c;
    return ERR_NONE;
}

void cache_destroy(struct cache *c)
{
    if (!c)
        return;
    entries_unref(c->small.oldest);
    entries_unref(c->main.oldest);
    for (int i = 0; i < STRIPES; i++)
        pthread_mutex_destroy(&c->stripes[i].lock);
    pthread_mutex_destroy(&c->queue_lock);
    free(c->buckets);
    free(c->ghosts);
    free(c);
}

struct entry *cache_find(struct cache *c, const struct key *key)
{
    struct stripe *s = stripe_of(c, key->hash);
    pthread_mutex_lock(&s->lock);
    struct entry *e = table_get(c, key);
    if (e) {
        entry_ref(e);
        if (frequency(e) < FREQUENCY_MAX) /* only the holder of this lock raises it */
            atomic_fetch_add_explicit(&e->frequency, 1, memory_order_relaxed);
        s->hits++;
    } else {
        s->misses++;
    }
    pthread_mutex_unlock(&s->lock);
    return e;
}

void cache_put(struct cache *c, struct entry *e)
{
    size_t cost = entry_cost(e);
    if (cost > c->budget / ENTRY_SHARE)
        return;
    struct stripe *s = stripe_of(c, e->key.hash);
    struct entry *evicted = NULL;

    pthread_mutex_lock(
        &c->queue_lock); /* all who put hold it: what is missing now stays missing until we add it */
    pthread_mutex_lock(&s->lock);
    bool known = table_get(c, &e->key) != NULL;
    pthread_mutex_unlock(&s->lock);
    if (!known && e->queue == PLACE_NEW) {
        bool returning = ghost_take(c, e->key.hash);
        evicted = evict_for(c, cost);
        atomic_store_explicit(&e->frequency, 0, memory_order_relaxed);
        e->queue = PLACE_IN;
        queue_push(returning ? &c->main : &c->small, entry_ref(e));
        c->insertions++;
        pthread_mutex_lock(&s->lock);
        struct entry **bucket = bucket_of(c, e->key.hash);
        e->bucket_next = *bucket;
        *bucket = e;
        pthread_mutex_unlock(&s->lock);
    }
    pthread_mutex_unlock(&c->queue_lock);
    entries_unref(evicted);
}

void cache_stats(struct cache *c, struct cache_stats *ret_stats)
{
    struct cache_stats stats = {.budget = c->budget};
    for (int i = 0; i < STRIPES; i++) {
        pthread_mutex_lock(&c->stripes[i].lock);
        stats.hits += c->stripes[i].hits;
        stats.misses += c->stripes[i].misses;
        pthread_mutex_unlock(&c->stripes[i].lock);
    }
    pthread_mutex_lock(&c->queue_lock);
    stats.insertions = c->insertions;
    stats.evictions = c->evictions;
    stats.bytes = c->small.bytes + c->main.bytes;
    stats.entries = c->small.entries + c->main.entries;
    pthread_mutex_unlock(&c->queue_lock);
    *ret_stats = stats;
}
