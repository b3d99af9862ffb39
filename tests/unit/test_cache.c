/* test_cache.c -- the memory cache: references, budget, and that a crawler can't push out what is hot. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "server/cache.h"

#define BODY_BYTES 500

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static void make_key(uint64_t n, struct key *key)
{
    memset(key, 0, sizeof(*key));
    key->len = (size_t)snprintf(key->text, sizeof(key->text), "rev=1&seed=%llu", (unsigned long long)n);
    key->hash = mix(n + 1);
}

static struct entry *make_entry_with_key(const struct key *key, size_t body_bytes, uint8_t fill)
{
    static const struct request request = {.format = FORMAT_GIF, .seed = "7", .seed_len = 1};
    struct blob body = {.data = malloc(body_bytes), .len = body_bytes, .capacity = body_bytes};
    struct entry *e = NULL;
    assert_non_null(body.data);
    memset(body.data, fill, body_bytes);
    assert_int_equal(entry_create(&request, key, &body, &e), ERR_NONE);
    assert_null(body.data); /* taken */
    assert_int_equal(body.len, 0);
    return e;
}

static struct entry *make_entry(uint64_t n)
{
    struct key key;
    make_key(n, &key);
    return make_entry_with_key(&key, BODY_BYTES, (uint8_t)n);
}

static void put(struct cache *c, uint64_t n)
{
    struct entry *e = make_entry(n);
    cache_put(c, e);
    entry_unref(e);
}

/* True on a hit; checks what it got. */
static bool find(struct cache *c, uint64_t n)
{
    struct key key;
    make_key(n, &key);
    struct entry *e = cache_find(c, &key);
    if (!e)
        return false;
    assert_string_equal(e->key.text, key.text);
    assert_int_equal(e->body.data[0], (uint8_t)n);
    assert_int_equal(e->body.data[e->body.len - 1], (uint8_t)n);
    entry_unref(e);
    return true;
}

static size_t one_cost(void)
{
    struct entry *e = make_entry(0);
    size_t cost = entry_cost(e);
    entry_unref(e);
    return cost;
}

static struct cache *open_cache(size_t budget_bytes)
{
    struct cache *c = NULL;
    assert_int_equal(cache_create(budget_bytes, &c), ERR_NONE);
    return c;
}

static void close_cache(struct cache *c)
{
    cache_destroy(c);
    assert_int_equal(entry_alive(), 0);
}

static void an_entry_lives_as_long_as_its_last_reference(void **state)
{
    (void)state;
    struct cache *c = open_cache(20 * one_cost());
    struct key key;
    make_key(1, &key);
    put(c, 1);
    struct entry *held = cache_find(c, &key);
    assert_non_null(held);
    assert_int_equal(held->format, FORMAT_GIF);
    assert_true(strlen(held->etag) > 2);
    assert_true(strlen(held->file_name) > 0);
    for (uint64_t n = 100; n < 200; n++) /* pushes it out */
        put(c, n);
    assert_false(find(c, 1));
    cache_destroy(c);
    assert_int_equal(entry_alive(), 1);
    assert_int_equal(held->body.data[BODY_BYTES - 1], 1);
    assert_ptr_equal(entry_ref(held), held);
    entry_unref(held);
    assert_int_equal(entry_alive(), 1);
    entry_unref(held);
    assert_int_equal(entry_alive(), 0);
    entry_unref(NULL);
    cache_destroy(NULL);
}

static void an_equal_key_that_is_there_stays(void **state)
{
    (void)state;
    struct cache *c = open_cache(20 * one_cost());
    struct entry *first = make_entry(5), *second = make_entry(5);
    cache_put(c, first);
    cache_put(c, second);
    cache_put(c, first);
    struct entry *found = cache_find(c, &first->key);
    assert_ptr_equal(found, first);
    struct cache_stats stats;
    cache_stats(c, &stats);
    assert_int_equal(stats.entries, 1);
    assert_int_equal(stats.insertions, 1);
    assert_int_equal(stats.bytes, entry_cost(first));
    entry_unref(found);
    entry_unref(first);
    entry_unref(second);
    close_cache(c);
}

static void keys_with_one_hash_are_told_apart_by_their_text(void **state)
{
    (void)state;
    struct cache *c = open_cache(20 * one_cost());
    for (uint64_t n = 0; n < 4; n++) {
        struct key key;
        make_key(n, &key);
        key.hash = 42;
        struct entry *e = make_entry_with_key(&key, BODY_BYTES, (uint8_t)n);
        cache_put(c, e);
        entry_unref(e);
    }
    for (uint64_t n = 0; n < 5; n++) {
        struct key key;
        make_key(n, &key);
        key.hash = 42;
        struct entry *e = cache_find(c, &key);
        assert_int_equal(e != NULL, n < 4);
        if (e)
            assert_int_equal(e->body.data[0], n);
        entry_unref(e);
    }
    close_cache(c);
}

static void a_budget_of_zero_stores_nothing(void **state)
{
    (void)state;
    struct cache *c = open_cache(0);
    put(c, 1);
    assert_false(find(c, 1));
    struct cache_stats stats;
    cache_stats(c, &stats);
    assert_int_equal(stats.misses, 1);
    assert_int_equal(stats.hits, 0);
    assert_int_equal(stats.entries, 0);
    assert_int_equal(stats.bytes, 0);
    close_cache(c);
}

static void a_file_above_a_tenth_of_the_budget_is_not_kept(void **state)
{
    (void)state;
    size_t overhead = one_cost() - BODY_BYTES, budget = 1000000;
    struct cache *c = open_cache(budget);
    for (int extra = 0; extra < 2; extra++) {
        struct key key;
        make_key((uint64_t)extra, &key);
        struct entry *e = make_entry_with_key(&key, budget / 10 - overhead + (size_t)extra, (uint8_t)extra);
        cache_put(c, e);
        entry_unref(e);
    }
    assert_true(find(c, 0));
    assert_false(find(c, 1));
    close_cache(c);
}

static void hits_raise_the_frequency_to_three_and_no_further(void **state)
{
    (void)state;
    struct cache *c = open_cache(20 * one_cost());
    struct entry *e = make_entry(1);
    cache_put(c, e);
    for (int hits = 1; hits <= 10; hits++) {
        assert_true(find(c, 1));
        assert_int_equal(atomic_load(&e->frequency), hits < 3 ? hits : 3);
    }
    entry_unref(e);
    close_cache(c);
}

static void an_evicted_entry_is_not_taken_again(void **state)
{
    (void)state;
    struct cache *c = open_cache(20 * one_cost());
    struct entry *e = make_entry(1);
    cache_put(c, e);
    for (uint64_t n = 100; n < 200; n++)
        put(c, n);
    assert_false(find(c, 1));
    cache_put(c, e);
    assert_false(find(c, 1));
    entry_unref(e);
    put(c, 1); /* a new one with the same key is */
    assert_true(find(c, 1));
    close_cache(c);
}

#define SLOTS 1000 /* entries that the budget holds in the tests below */

/* Two keys put once each, then a crawl. One came back soon after its eviction: it was worth keeping after
 * all. */
static void who_comes_back_soon_after_eviction_is_kept(void **state)
{
    (void)state;
    struct cache *c = open_cache(SLOTS * one_cost());
    uint64_t crawl = 1000000;
    put(c, 1);
    for (int i = 0; i < SLOTS + SLOTS / 10; i++)
        put(c, crawl++);
    assert_false(find(c, 1));
    put(c, 1);
    put(c, 2);
    for (int i = 0; i < 5 * SLOTS; i++)
        put(c, crawl++);
    assert_true(find(c, 1));
    assert_false(find(c, 2));
    close_cache(c);
}

static void who_comes_back_late_is_a_newcomer_again(void **state)
{
    (void)state;
    struct cache *c = open_cache(SLOTS * one_cost());
    uint64_t crawl = 1000000;
    put(c, 1);
    for (int i = 0; i < 23 * SLOTS / 10;
         i++) /* 1300 evictions later: more than the 900 that are remembered */
        put(c, crawl++);
    put(c, 1);
    for (int i = 0; i < 5 * SLOTS; i++)
        put(c, crawl++);
    assert_false(find(c, 1));
    close_cache(c);
}

#define HOT         300
#define CRAWL_STEPS (100 * SLOTS)

static void a_hot_set_survives_a_crawl_without_being_asked(void **state)
{
    (void)state;
    struct cache *c = open_cache(SLOTS * one_cost());
    for (uint64_t n = 0; n < HOT; n++)
        put(c, n);
    for (int round = 0; round < 2; round++)
        for (uint64_t n = 0; n < HOT; n++)
            assert_true(find(c, n));
    for (uint64_t i = 0; i < CRAWL_STEPS; i++) {
        assert_false(find(c, 1000000 + i));
        put(c, 1000000 + i);
    }
    int left = 0;
    for (uint64_t n = 0; n < HOT; n++)
        left += find(c, n);
    assert_int_equal(left, HOT);
    close_cache(c);
}

/* Plain caches of SLOTS places, to compare with. FIFO and LRU differ in one line. */
struct plain {
    bool lru;
    uint64_t *last; /* by key: time of its last move to the front, 0 = not in */
    uint64_t *ring; /* by time: the key that was moved then */
    uint64_t clock, oldest;
    int entries;
    int hits;
};

static void plain_move_to_front(struct plain *p, uint64_t key)
{
    p->ring[++p->clock] = key;
    p->last[key] = p->clock;
}

static void plain_ask(struct plain *p, uint64_t key, bool counted)
{
    if (p->last[key]) {
        p->hits += counted;
        if (p->lru)
            plain_move_to_front(p, key);
        return;
    }
    if (p->entries == SLOTS) {
        while (p->last[p->ring[p->oldest]] != p->oldest)
            p->oldest++; /* moved since */
        p->last[p->ring[p->oldest]] = 0;
        p->entries--;
    }
    plain_move_to_front(p, key);
    p->entries++;
}

static void plain_open(struct plain *p, bool lru)
{
    *p = (struct plain){.lru = lru, .oldest = 1};
    p->last = calloc(HOT + CRAWL_STEPS + 1, sizeof(*p->last));
    p->ring = calloc(2 * CRAWL_STEPS, sizeof(*p->ring));
    assert_true(p->last && p->ring);
}

static void plain_close(struct plain *p)
{
    free(p->last);
    free(p->ring);
}

/* One ask in six is for the hot set, so that about 1500 crawled pages pass between two asks for one hot key.
 */
static void a_crawl_costs_a_hot_set_fewer_hits_than_with_fifo_or_lru(void **state)
{
    (void)state;
    struct cache *c = open_cache(SLOTS * one_cost());
    struct plain fifo, lru;
    plain_open(&fifo, false);
    plain_open(&lru, true);
    int asked = 0, hits = 0;
    uint64_t crawl = HOT, random = 1;
    while (crawl < HOT + CRAWL_STEPS) {
        random = mix(random + 0x9e3779b97f4a7c15u);
        bool hot = random % 6 == 0;
        uint64_t key = hot ? random / 6 % HOT : crawl++;
        bool hit = find(c, key);
        if (!hit)
            put(c, key);
        asked += hot;
        hits += hot && hit;
        plain_ask(&fifo, key, hot);
        plain_ask(&lru, key, hot);
    }
    double share = (double)hits / asked, fifo_share = (double)fifo.hits / asked;
    double lru_share = (double)lru.hits / asked;
    print_message("hit share of the hot set: S3-FIFO %.3f, LRU %.3f, FIFO %.3f\n", share, lru_share,
                  fifo_share);
    assert_true(share > 0.9);
    assert_true(share > lru_share + 0.2);
    assert_true(share > fifo_share + 0.2);
    plain_close(&fifo);
    plain_close(&lru);
    close_cache(c);
}

/* Enough keys reach the main queue to fill it many times over, but a few in it are asked for all the while.
 * The first rounds don't count: there all that stood in the small queue moves at once. */
static void what_is_asked_for_in_the_main_queue_gets_another_round(void **state)
{
    (void)state;
    struct cache *c = open_cache(SLOTS * one_cost());
    const uint64_t few = 20;
    int missed = 0;
    for (uint64_t i = 0; i < 8 * SLOTS; i++) {
        put(c, 1000000 + i);
        for (int asks = 0; asks < 2; asks++)
            assert_true(find(c, 1000000 + i));
        for (uint64_t n = 0; n < few && i % 100 == 0; n++)
            if (!find(c, n)) {
                put(c, n);
                missed += i >= 3 * SLOTS;
            }
    }
    assert_int_equal(missed, 0);
    assert_false(find(c, 1000000 + 6 * SLOTS)); /* not all can stay */
    close_cache(c);
}

/* What was hot once must not stay for ever. */
static void a_new_hot_set_replaces_the_old_one(void **state)
{
    (void)state;
    struct cache *c = open_cache(SLOTS * one_cost());
    const uint64_t set = SLOTS * 8 / 10;
    int late_hits = 0;
    for (uint64_t phase = 0; phase < 2; phase++)
        for (int round = 0; round < 12; round++)
            for (uint64_t n = 0; n < set; n++) {
                uint64_t key = phase * 1000000 + n;
                bool hit = find(c, key);
                if (!hit)
                    put(c, key);
                late_hits += phase == 1 && round >= 8 && hit;
            }
    assert_true(late_hits > (int)(4 * set) * 9 / 10);
    close_cache(c);
}

static void statistics_count_what_happened(void **state)
{
    (void)state;
    size_t cost = one_cost();
    struct cache *c = open_cache(20 * cost + cost / 2);
    for (uint64_t n = 0; n < 25; n++) {
        assert_false(find(c, n));
        put(c, n);
        assert_true(find(c, n));
    }
    struct cache_stats stats;
    cache_stats(c, &stats);
    assert_int_equal(stats.hits, 25);
    assert_int_equal(stats.misses, 25);
    assert_int_equal(stats.insertions, 25);
    assert_int_equal(stats.evictions, 5);
    assert_int_equal(stats.entries, 20);
    assert_int_equal(stats.bytes, 20 * cost);
    assert_int_equal(stats.budget, 20 * cost + cost / 2);
    close_cache(c);
}

#define LOAD_THREADS 4
#define LOAD_STEPS   30000
#define LOAD_KEYS    400

struct load {
    struct cache *cache;
    uint64_t seed;
    size_t budget;
    atomic_int over, wrong;
    atomic_int *running;
};

static void load_step(struct load *load, uint64_t random)
{
    struct key key;
    uint64_t n = random % 4 ? random % 20 : random % LOAD_KEYS;
    make_key(n, &key);
    struct entry *e = cache_find(load->cache, &key);
    if (!e) {
        e = make_entry_with_key(&key, 1 + random / 7 % 3000, (uint8_t)n);
        cache_put(load->cache, e);
    }
    if (e->body.data[e->body.len - 1] != (uint8_t)n || strcmp(e->key.text, key.text) != 0 ||
        atomic_load(&e->frequency) > 3)
        atomic_fetch_add(&load->wrong, 1);
    entry_unref(e);
}

static void *load_run(void *ctx)
{
    struct load *load = ctx;
    uint64_t random = load->seed;
    for (int i = 0; i < LOAD_STEPS; i++)
        load_step(load, random = mix(random + 0x9e3779b97f4a7c15u));
    atomic_fetch_sub(load->running, 1);
    return NULL;
}

static void *load_watch(void *ctx)
{
    struct load *load = ctx;
    while (atomic_load(load->running) > 0) {
        struct cache_stats stats;
        cache_stats(load->cache, &stats);
        if (stats.bytes > load->budget || stats.entries > stats.insertions)
            atomic_fetch_add(&load->over, 1);
    }
    return NULL;
}

static void the_budget_holds_and_nothing_leaks_under_load(void **state)
{
    (void)state;
    size_t budget = 60 * one_cost();
    struct cache *c = open_cache(budget);
    atomic_int running = LOAD_THREADS;
    struct load loads[LOAD_THREADS + 1];
    pthread_t threads[LOAD_THREADS + 1];
    for (int i = 0; i <= LOAD_THREADS; i++) {
        loads[i] = (struct load){.cache = c, .seed = (uint64_t)i, .budget = budget, .running = &running};
        void *(*run)(void *) = i < LOAD_THREADS ? load_run : load_watch;
        assert_int_equal(pthread_create(&threads[i], NULL, run, &loads[i]), 0);
    }
    for (int i = 0; i <= LOAD_THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(atomic_load(&loads[i].over), 0);
        assert_int_equal(atomic_load(&loads[i].wrong), 0);
    }
    struct cache_stats stats;
    cache_stats(c, &stats);
    assert_true(stats.bytes <= budget);
    assert_int_equal(stats.hits + stats.misses, LOAD_THREADS * LOAD_STEPS);
    assert_int_equal(stats.insertions - stats.evictions, stats.entries);
    assert_int_equal(stats.entries, entry_alive());
    assert_true(stats.evictions > 1000);
    close_cache(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_entry_lives_as_long_as_its_last_reference),
        cmocka_unit_test(an_equal_key_that_is_there_stays),
        cmocka_unit_test(keys_with_one_hash_are_told_apart_by_their_text),
        cmocka_unit_test(a_budget_of_zero_stores_nothing),
        cmocka_unit_test(a_file_above_a_tenth_of_the_budget_is_not_kept),
        cmocka_unit_test(hits_raise_the_frequency_to_three_and_no_further),
        cmocka_unit_test(an_evicted_entry_is_not_taken_again),
        cmocka_unit_test(who_comes_back_soon_after_eviction_is_kept),
        cmocka_unit_test(who_comes_back_late_is_a_newcomer_again),
        cmocka_unit_test(a_hot_set_survives_a_crawl_without_being_asked),
        cmocka_unit_test(a_crawl_costs_a_hot_set_fewer_hits_than_with_fifo_or_lru),
        cmocka_unit_test(what_is_asked_for_in_the_main_queue_gets_another_round),
        cmocka_unit_test(a_new_hot_set_replaces_the_old_one),
        cmocka_unit_test(statistics_count_what_happened),
        cmocka_unit_test(the_budget_holds_and_nothing_leaks_under_load),
    };
    return cmocka_run_group_tests_name("cache", tests, NULL, NULL);
}
