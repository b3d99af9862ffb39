/* bench_cache.c -- what a hit costs: ns for each cache_find() and the entry_unref() that follows, on one
 * thread and on two, for keys spread over a hot set and for one key that all ask for. Prints; judges nothing.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server/cache.h"

#define ENTRIES    4096
#define BODY_BYTES 1500
#define ASKS       4000000 /* a thread; some 0.3 s */
#define THREADS    2

static struct key keys[ENTRIES];

struct asker {
    struct cache *cache;
    unsigned spread; /* keys asked for; a power of two */
    uint64_t random;
    uint64_t missed;
};

static void *asker_run(void *ctx)
{
    struct asker *asker = ctx;
    for (int i = 0; i < ASKS; i++) {
        asker->random = asker->random * 6364136223846793005u + 1442695040888963407u;
        struct entry *e = cache_find(asker->cache, &keys[asker->random >> 40 & (asker->spread - 1)]);
        asker->missed += e == NULL;
        entry_unref(e);
    }
    return NULL;
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void measure(struct cache *cache, int threads, unsigned spread)
{
    struct asker askers[THREADS];
    pthread_t thread[THREADS];
    double begin = now_s();
    int made = 0;
    while (made < threads) {
        askers[made] = (struct asker){cache, spread, (uint64_t)made + 1, 0};
        if (pthread_create(&thread[made], NULL, asker_run, &askers[made]))
            break;
        made++;
    }
    uint64_t missed = 0;
    for (int i = 0; i < made; i++) {
        pthread_join(thread[i], NULL);
        missed += askers[i].missed;
    }
    double s = now_s() - begin;
    printf("cache hit, %d thread%s, %4u key%s: %6.1f ns each, %5.1f million/s%s\n", made,
           made == 1 ? " " : "s", spread, spread == 1 ? " " : "s", s * 1e9 / ASKS, made * ASKS / s * 1e-6,
           missed ? " (some missed!)" : "");
}

static int fill(struct cache *cache)
{
    static const struct request request = {.format = FORMAT_PNG};
    for (int i = 0; i < ENTRIES; i++) {
        struct key *key = &keys[i];
        key->len = (size_t)snprintf(key->text, sizeof(key->text), "rev=1&type=gas&seed=%d&format=png", i);
        key->hash = (uint64_t)(i + 1) * 0x9e3779b97f4a7c15u;
        key->hash ^= key->hash >> 29;
        struct blob body = {.data = calloc(1, BODY_BYTES), .len = BODY_BYTES, .capacity = BODY_BYTES};
        struct entry *e = NULL;
        if (!body.data || entry_create(&request, key, &body, &e)) {
            blob_free(&body);
            return 1;
        }
        cache_put(cache, e);
        entry_unref(e);
    }
    return 0;
}

int main(void)
{
    struct cache *cache = NULL;
    if (cache_create((size_t)256 << 20, &cache) || fill(cache)) {
        cache_destroy(cache);
        return 1;
    }
    for (int threads = 1; threads <= THREADS; threads++) {
        measure(cache, threads, ENTRIES);
        measure(cache, threads, 64);
        measure(cache, threads, 1);
    }
    cache_destroy(cache);
    return 0;
}
