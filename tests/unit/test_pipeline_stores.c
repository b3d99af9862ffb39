/* test_pipeline_stores.c -- flights that ask the disk and the shared cache before they are drawn. */
#include "tests/unit/pipeline_stores.h"

#define LONG_MS  60000 /* a deadline that no test waits for */
#define ROOMY    1000
#define CACHE    ((size_t)1 << 20)
#define CROWD    200
#define MANY_MAX 1500

static bool got_err(const struct client *client, enum err err)
{
    return client->waiter.err == err && !client->waiter.entry;
}

static bool wait_until_settled(const struct rig *rig)
{
    struct pipeline_stats stats;
    for (int i = 0; i < WAIT_MS; i++) {
        stats = rig_stats(rig);
        if (stats.looking + stats.queued + stats.running == 0)
            return true;
        sleep_ms(1);
    }
    return false;
}

/* Puts what key n is into a store, as if another process had drawn it. */
static void store_fill(struct fake_store *store, uint64_t n)
{
    struct request request;
    struct key key;
    struct blob body = {0};
    struct entry *entry = NULL;
    uint32_t color = (uint32_t)n;
    make_request(n, &request, &key);
    assert_int_equal(blob_append(&body, &color, sizeof(color)), ERR_NONE);
    assert_int_equal(blob_append(&body, key.text, key.len), ERR_NONE);
    assert_int_equal(entry_create(&request, &key, &body, &entry), ERR_NONE);
    fake_put(&store->base, entry);
    atomic_store(&store->puts, 0);
    entry_unref(entry);
}

static void ask_and_get(struct rig *rig, uint64_t n, enum pipeline_source source)
{
    struct client client;
    assert_false(fetch(rig, n, &client));
    assert_true(wait_for(&client.done, 1));
    assert_int_equal(client.waiter.source, source);
    assert_true(got_file(&client, n));
}

static void what_is_on_disk_is_not_drawn(void **state)
{
    (void)state;
    struct rig rig = rig_open_stores(1, CACHE, LONG_MS, ROOMY);
    struct client hit;
    store_fill(&disk, 1);
    ask_and_get(&rig, 1, SOURCE_DISK);
    assert_int_equal(atomic_load(&fake.draws), 0);
    assert_int_equal(atomic_load(&shared.finds), 0);
    assert_int_equal(atomic_load(&disk.puts) + atomic_load(&shared.puts), 0);
    assert_true(fetch(&rig, 1, &hit)); /* it is in memory now */
    assert_int_equal(hit.waiter.source, SOURCE_HIT);
    assert_true(got_file(&hit, 1));
    struct pipeline_stats stats = rig_stats(&rig);
    assert_int_equal(stats.misses, 1);
    assert_int_equal(stats.renders, 0);
    assert_true(stats.store_there[STORE_DISK] && stats.store_there[STORE_SHARED]);
    rig_close_stores(&rig);
}

static void what_is_shared_is_not_drawn_and_goes_to_disk(void **state)
{
    (void)state;
    struct rig rig = rig_open_stores(1, CACHE, LONG_MS, ROOMY);
    store_fill(&shared, 1);
    ask_and_get(&rig, 1, SOURCE_SHARED);
    assert_int_equal(atomic_load(&fake.draws), 0);
    assert_int_equal(atomic_load(&disk.finds), 1);
    assert_true(kept(&disk, 1));
    assert_int_equal(atomic_load(&shared.puts), 0);
    rig_close_stores(&rig);
}

static void what_is_drawn_goes_into_every_store(void **state)
{
    (void)state;
    struct rig rig = rig_open_stores(1, 0, LONG_MS, ROOMY);
    ask_and_get(&rig, 1, SOURCE_MISS);
    assert_int_equal(atomic_load(&fake.draws), 1);
    assert_true(kept(&disk, 1) && kept(&shared, 1));
    assert_int_equal(rig_stats(&rig).stores[STORE_DISK].writes, 1);
    ask_and_get(&rig, 1, SOURCE_DISK);
    assert_int_equal(atomic_load(&fake.draws), 1);
    rig_close_stores(&rig);
}

static void what_fails_to_be_drawn_goes_into_none(void **state)
{
    (void)state;
    struct rig rig = rig_open_stores(1, 0, LONG_MS, ROOMY);
    struct client client;
    atomic_store(&fake.draw_err, ERR_DEVICE_LOST);
    assert_false(fetch(&rig, 1, &client));
    assert_true(wait_for(&client.done, 1));
    assert_true(got_err(&client, ERR_DEVICE_LOST));
    assert_int_equal(atomic_load(&disk.puts) + atomic_load(&shared.puts), 0);
    rig_close_stores(&rig);
}

/* A hundred lookups behind a store that answers nothing: each is through when the first one's time is, not
 * one after the other. */
static void a_slow_store_delays_no_answer_by_more_than_its_time(void **state)
{
    (void)state;
    static struct client clients[100];
    struct rig rig = rig_open_stores(2, CACHE, 300, ROOMY);
    atomic_store(&disk.blocked, true);
    for (uint64_t i = 0; i < 100; i++)
        assert_false(fetch(&rig, i, &clients[i]));
    for (uint64_t i = 0; i < 100; i++) {
        assert_true(wait_for(&clients[i].done, 1));
        assert_true(got_file(&clients[i], i));
        assert_int_equal(clients[i].waiter.source, SOURCE_MISS);
        /* One after the other on three threads the last would wait for ten seconds. */
        assert_in_range(clients[i].waiter.times.lookup_ns, 299000000, 2000000000);
    }
    assert_int_equal(atomic_load(&shared.finds), 0); /* no time was left for it */
    rig_close_stores(&rig);
}

static void a_crowd_that_comes_during_a_lookup_is_one_lookup_and_one_render(void **state)
{
    (void)state;
    static struct client clients[CROWD];
    struct rig rig = rig_open_stores(2, CACHE, LONG_MS, 2);
    atomic_store(&disk.blocked, true);
    for (int i = 0; i < CROWD; i++)
        assert_false(fetch(&rig, 7, &clients[i]));
    assert_int_equal(rig_stats(&rig).looking, 1);
    atomic_store(&disk.blocked, false);
    int misses = 0;
    for (int i = 0; i < CROWD; i++) {
        assert_true(wait_for(&clients[i].done, 1));
        misses += clients[i].waiter.source == SOURCE_MISS;
        assert_true(got_file(&clients[i], 7));
    }
    assert_int_equal(misses, 1);
    assert_int_equal(atomic_load(&disk.finds), 1);
    assert_int_equal(atomic_load(&shared.finds), 1);
    assert_int_equal(atomic_load(&fake.draws), 1);
    rig_close_stores(&rig);
    for (int i = 0; i < CROWD; i++)
        assert_int_equal(atomic_load(&clients[i].done), 1);
}

static void a_crowd_gets_what_the_store_has(void **state)
{
    (void)state;
    static struct client clients[CROWD];
    struct rig rig = rig_open_stores(2, CACHE, LONG_MS, 2);
    store_fill(&shared, 7);
    atomic_store(&shared.blocked, true);
    for (int i = 0; i < CROWD; i++)
        assert_false(fetch(&rig, 7, &clients[i]));
    atomic_store(&shared.blocked, false);
    int found = 0, coalesced = 0;
    for (int i = 0; i < CROWD; i++) {
        assert_true(wait_for(&clients[i].done, 1));
        found += clients[i].waiter.source == SOURCE_SHARED;
        coalesced += clients[i].waiter.source == SOURCE_COALESCED;
        assert_true(got_file(&clients[i], 7));
    }
    assert_int_equal(found, 1);
    assert_int_equal(coalesced, CROWD - 1);
    assert_int_equal(atomic_load(&fake.draws), 0);
    rig_close_stores(&rig);
}

static void who_leaves_during_the_lookup_is_never_drawn(void **state)
{
    (void)state;
    struct client gone, next;
    struct rig rig = rig_open_stores(1, CACHE, LONG_MS, ROOMY);
    atomic_store(&disk.blocked, true);
    assert_false(fetch(&rig, 1, &gone));
    assert_true(wait_for(&disk.active, 1));
    assert_true(pipeline_leave(rig.pipeline, &gone.waiter));
    assert_int_equal(rig_stats(&rig).cancelled, 1);
    assert_false(fetch(&rig, 1, &next)); /* a flight of its own, not the one that ends */
    assert_int_equal(next.waiter.source, SOURCE_MISS);
    assert_true(pipeline_leave(rig.pipeline, &next.waiter));
    atomic_store(&disk.blocked, false);
    assert_true(wait_until_settled(&rig));
    assert_int_equal(atomic_load(&fake.draws), 0);
    assert_int_equal(rig_stats(&rig).renders, 0);
    assert_int_equal(atomic_load(&shared.finds), 0);
    rig_close_stores(&rig);
    assert_int_equal(atomic_load(&gone.done) + atomic_load(&next.done), 0);
}

static void destroy_waits_for_a_lookup_that_was_left(void **state)
{
    (void)state;
    struct client gone;
    struct rig rig = rig_open_stores(1, CACHE, 50, ROOMY);
    atomic_store(&disk.blocked, true);
    assert_false(fetch(&rig, 1, &gone));
    assert_true(wait_for(&disk.active, 1));
    assert_true(pipeline_leave(rig.pipeline, &gone.waiter));
    pipeline_destroy(rig.pipeline);
    assert_int_equal(atomic_load(&disk.active), 0);
    rig.pipeline = NULL;
    rig_close_stores(&rig);
}

static void lookups_go_on_while_draining(void **state)
{
    (void)state;
    struct client drawn, found, joined, late;
    struct rig rig = rig_open_stores(1, CACHE, LONG_MS, ROOMY);
    store_fill(&disk, 2);
    atomic_store(&disk.blocked, true);
    assert_false(fetch(&rig, 1, &drawn));
    assert_false(fetch(&rig, 2, &found));
    pipeline_drain(rig.pipeline);
    assert_false(fetch(&rig, 1, &joined));
    assert_true(fetch(&rig, 3, &late));
    assert_true(got_err(&late, ERR_DRAINING));
    atomic_store(&disk.blocked, false);
    assert_true(wait_for(&drawn.done, 1) && wait_for(&found.done, 1) && wait_for(&joined.done, 1));
    assert_true(got_file(&drawn, 1));
    assert_true(got_file(&joined, 1));
    assert_true(got_file(&found, 2));
    rig_close_stores(&rig);
}

static void abort_ends_the_wait_for_a_store(void **state)
{
    (void)state;
    static struct client clients[10];
    struct rig rig = rig_open_stores(1, CACHE, 100, ROOMY);
    atomic_store(&disk.blocked, true);
    for (uint64_t i = 0; i < 10; i++)
        assert_false(fetch(&rig, i, &clients[i]));
    pipeline_abort(rig.pipeline);
    for (uint64_t i = 0; i < 10; i++) {
        assert_true(wait_for(&clients[i].done, 1));
        assert_true(got_err(&clients[i], ERR_DRAINING));
    }
    assert_int_equal(atomic_load(&fake.draws), 0);
    assert_int_equal(rig_stats(&rig).cancelled, 10);
    rig_close_stores(&rig);
}

static void a_full_queue_after_the_lookup_is_told_to_every_waiter(void **state)
{
    (void)state;
    struct client running, waiting, refused[5];
    struct rig rig = rig_open_stores(1, CACHE, LONG_MS, 1);
    atomic_store(&fake.blocked, true);
    assert_false(fetch(&rig, 1, &running));
    assert_true(wait_for(&fake.active, 1));
    assert_false(fetch(&rig, 2, &waiting));
    for (int i = 0; i < WAIT_MS && rig_stats(&rig).queued < 1; i++)
        sleep_ms(1);
    atomic_store(&disk.blocked, true);
    for (int i = 0; i < 5; i++)
        assert_false(fetch(&rig, 3, &refused[i]));
    atomic_store(&disk.blocked, false);
    for (int i = 0; i < 5; i++) {
        assert_true(wait_for(&refused[i].done, 1));
        assert_true(got_err(&refused[i], ERR_BUSY));
        assert_true(refused[i].waiter.retry_after_s >= 1);
    }
    assert_int_equal(rig_stats(&rig).shed, 5);
    store_fill(&disk, 3); /* what the store has is answered all the same */
    ask_and_get(&rig, 3, SOURCE_DISK);
    atomic_store(&fake.blocked, false);
    assert_true(wait_for(&running.done, 1) && wait_for(&waiting.done, 1));
    assert_true(got_file(&running, 1));
    assert_true(got_file(&waiting, 2));
    rig_close_stores(&rig);
}

static void beyond_so_many_lookups_flights_go_straight_to_the_queue(void **state)
{
    (void)state;
    static struct client clients[MANY_MAX];
    struct rig rig = rig_open_stores(1, CACHE, LONG_MS, 2 * MANY_MAX);
    atomic_store(&disk.blocked, true);
    for (uint64_t i = 0; i < MANY_MAX; i++)
        assert_false(fetch(&rig, i, &clients[i]));
    assert_int_equal(rig_stats(&rig).looking, 1024);
    for (uint64_t i = 1024; i < MANY_MAX; i++) {
        assert_true(wait_for(&clients[i].done, 1));
        assert_true(got_file(&clients[i], i));
    }
    assert_int_equal(rig_stats(&rig).looking, 1024);
    atomic_store(&disk.blocked, false);
    for (uint64_t i = 0; i < 1024; i++) {
        assert_true(wait_for(&clients[i].done, 1));
        assert_true(got_file(&clients[i], i));
    }
    rig_close_stores(&rig);
}

/* A disk can hang in a system call, whatever its deadline. */
static void a_store_that_hangs_holds_nobody_who_comes_later(void **state)
{
    (void)state;
    static struct client held[LOOKUP_THREADS], later[20];
    struct rig rig = rig_open_stores(1, CACHE, 20, ROOMY);
    atomic_store(&disk.hangs, true);
    atomic_store(&disk.blocked, true);
    for (uint64_t i = 0; i < LOOKUP_THREADS; i++)
        assert_false(fetch(&rig, i, &held[i]));
    uint64_t begun = rig_now_ns();
    while (rig_now_ns() - begun < UINT64_C(60000000)) /* past twice the lookups' time */
        sleep_ms(1);
    for (uint64_t i = 0; i < 20; i++) {
        assert_false(fetch(&rig, 100 + i, &later[i]));
        assert_true(wait_for(&later[i].done, 1));
        assert_true(got_file(&later[i], 100 + i));
    }
    assert_int_equal(rig_stats(&rig).looking, LOOKUP_THREADS);
    atomic_store(&disk.blocked, false);
    for (uint64_t i = 0; i < LOOKUP_THREADS; i++) {
        assert_true(wait_for(&held[i].done, 1));
        assert_true(got_file(&held[i], i));
    }
    rig_close_stores(&rig);
}

static void each_part_of_the_way_has_its_time(void **state)
{
    (void)state;
    struct client client, hit;
    struct rig rig = rig_open_stores(1, CACHE, LONG_MS, ROOMY);
    atomic_store(&disk.blocked, true);
    atomic_store(&fake.draw_ms, 20);
    assert_false(fetch(&rig, 1, &client));
    sleep_ms(20);
    atomic_store(&disk.blocked, false);
    assert_true(wait_for(&client.done, 1));
    assert_true(client.waiter.times.lookup_ns >= 20000000);
    assert_true(client.waiter.times.render_ns >= 20000000);
    assert_true(client.waiter.times.queue_ns > 0);
    assert_true(client.waiter.times.encode_ns > 0);
    assert_true(got_file(&client, 1));
    memset(&hit.waiter.times, 1, sizeof(hit.waiter.times));
    assert_true(fetch(&rig, 1, &hit));
    assert_int_equal(hit.waiter.times.lookup_ns + hit.waiter.times.render_ns, 0);
    assert_true(got_file(&hit, 1));
    rig_close_stores(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_on_disk_is_not_drawn),
        cmocka_unit_test(what_is_shared_is_not_drawn_and_goes_to_disk),
        cmocka_unit_test(what_is_drawn_goes_into_every_store),
        cmocka_unit_test(what_fails_to_be_drawn_goes_into_none),
        cmocka_unit_test(a_slow_store_delays_no_answer_by_more_than_its_time),
        cmocka_unit_test(a_crowd_that_comes_during_a_lookup_is_one_lookup_and_one_render),
        cmocka_unit_test(a_crowd_gets_what_the_store_has),
        cmocka_unit_test(who_leaves_during_the_lookup_is_never_drawn),
        cmocka_unit_test(destroy_waits_for_a_lookup_that_was_left),
        cmocka_unit_test(lookups_go_on_while_draining),
        cmocka_unit_test(abort_ends_the_wait_for_a_store),
        cmocka_unit_test(a_full_queue_after_the_lookup_is_told_to_every_waiter),
        cmocka_unit_test(beyond_so_many_lookups_flights_go_straight_to_the_queue),
        cmocka_unit_test(a_store_that_hangs_holds_nobody_who_comes_later),
        cmocka_unit_test(each_part_of_the_way_has_its_time),
    };
    return cmocka_run_group_tests_name("pipeline_stores", tests, NULL, NULL);
}
