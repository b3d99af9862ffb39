/* test_pipeline.c -- flights, queue, leaving, draining: one thing at a time. */
#include "tests/unit/pipeline_rig.h"

static bool wait_until_nothing_runs(const struct rig *rig)
{
    for (int i = 0; i < WAIT_MS && rig_stats(rig).running > 0; i++)
        sleep_ms(1);
    return rig_stats(rig).running == 0;
}

static bool got_err(const struct client *client, enum err err)
{
    return client->waiter.err == err && !client->waiter.entry;
}

static void a_miss_is_drawn_and_then_a_hit(void **state)
{
    (void)state;
    struct rig rig = rig_open(2, 1 << 20, 8);
    struct client miss, hit;
    assert_false(fetch(&rig, 3, &miss));
    assert_true(wait_for(&miss.done, 1));
    assert_int_equal(miss.waiter.source, SOURCE_MISS);
    assert_true(got_file(&miss, 3));
    assert_true(fetch(&rig, 3, &hit));
    assert_int_equal(hit.waiter.source, SOURCE_HIT);
    assert_true(got_file(&hit, 3));
    assert_int_equal(atomic_load(&hit.done), 0);
    assert_int_equal(atomic_load(&fake.draws), 1);
    struct pipeline_stats stats = rig_stats(&rig);
    assert_int_equal(stats.hits, 1);
    assert_int_equal(stats.misses, 1);
    assert_int_equal(stats.renders, 1);
    assert_int_equal(stats.coalesced, 0);
    assert_int_equal(stats.cache.entries, 1);
    rig_close(&rig);
}

#define CROWD         200
#define CROWD_THREADS 4

struct crowd {
    const struct rig *rig;
    struct client *clients;
    int count;
    int pending;
};

static void *crowd_run(void *ctx)
{
    struct crowd *crowd = ctx;
    for (int i = 0; i < crowd->count; i++)
        crowd->pending += !fetch(crowd->rig, 7, &crowd->clients[i]);
    return NULL;
}

static void check_crowd(size_t cache_bytes)
{
    static struct client clients[CROWD];
    struct rig rig = rig_open(2, cache_bytes, 1);
    struct crowd crowds[CROWD_THREADS];
    pthread_t threads[CROWD_THREADS];
    atomic_store(&fake.blocked, true);
    for (int i = 0; i < CROWD_THREADS; i++) {
        int count = CROWD / CROWD_THREADS;
        crowds[i] = (struct crowd){&rig, &clients[i * count], count, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, crowd_run, &crowds[i]), 0);
    }
    for (int i = 0; i < CROWD_THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(crowds[i].pending, CROWD / CROWD_THREADS);
    }
    assert_int_equal(rig_stats(&rig).coalesced, CROWD - 1);
    atomic_store(&fake.blocked, false);
    int misses = 0;
    for (int i = 0; i < CROWD; i++) {
        assert_true(wait_for(&clients[i].done, 1));
        misses += clients[i].waiter.source == SOURCE_MISS;
        assert_true(got_file(&clients[i], 7));
    }
    assert_int_equal(misses, 1);
    assert_int_equal(atomic_load(&fake.draws), 1);
    rig_close(&rig);
    for (int i = 0; i < CROWD; i++)
        assert_int_equal(atomic_load(&clients[i].done), 1);
}

static void two_hundred_waiters_draw_once(void **state)
{
    (void)state;
    check_crowd(1 << 20);
}

static void two_hundred_waiters_draw_once_with_the_cache_off(void **state)
{
    (void)state;
    check_crowd(0);
}

static void with_the_cache_off_a_later_ask_draws_again(void **state)
{
    (void)state;
    struct rig rig = rig_open(1, 0, 4);
    for (int i = 1; i <= 3; i++) {
        struct client client;
        assert_false(fetch(&rig, 1, &client));
        assert_true(wait_for(&client.done, 1));
        assert_true(got_file(&client, 1));
        assert_int_equal(atomic_load(&fake.draws), i);
    }
    rig_close(&rig);
}

static void who_leaves_is_not_called_and_the_rest_get_their_file(void **state)
{
    (void)state;
    static struct client clients[10];
    struct rig rig = rig_open(1, 1 << 20, 4);
    atomic_store(&fake.blocked, true);
    for (int i = 0; i < 10; i++)
        assert_false(fetch(&rig, 1, &clients[i]));
    assert_true(wait_for(&fake.draws, 1));
    for (int i = 0; i < 10; i++)
        if (i != 4) /* the first, the last and those between */
            assert_true(pipeline_leave(rig.pipeline, &clients[i].waiter));
    atomic_store(&fake.blocked, false);
    assert_true(wait_for(&clients[4].done, 1));
    assert_true(got_file(&clients[4], 1));
    assert_false(pipeline_leave(rig.pipeline, &clients[4].waiter)); /* too late */
    assert_int_equal(rig_stats(&rig).cancelled, 0);
    rig_close(&rig);
    for (int i = 0; i < 10; i++)
        assert_int_equal(atomic_load(&clients[i].done), i == 4 ? 1 : 0);
}

static void the_last_who_leaves_cancels_the_render(void **state)
{
    (void)state;
    struct client clients[2];
    struct rig rig = rig_open(1, 1 << 20, 4);
    atomic_store(&fake.blocked, true);
    assert_false(fetch(&rig, 1, &clients[0]));
    assert_false(fetch(&rig, 1, &clients[1]));
    assert_true(wait_for(&fake.active, 1));
    assert_true(pipeline_leave(rig.pipeline, &clients[0].waiter));
    sleep_ms(20);
    assert_int_equal(atomic_load(&fake.active), 1); /* one still waits */
    assert_true(pipeline_leave(rig.pipeline, &clients[1].waiter));
    assert_true(wait_for(&fake.was_cancelled, 1));
    assert_true(wait_until_nothing_runs(&rig));
    assert_int_equal(rig_stats(&rig).cancelled, 1);
    assert_int_equal(rig_stats(&rig).cache.entries, 0);
    rig_close(&rig);
    assert_int_equal(atomic_load(&clients[0].done), 0);
    assert_int_equal(atomic_load(&clients[1].done), 0);
}

static void who_asks_for_what_was_cancelled_gets_a_new_render(void **state)
{
    (void)state;
    struct client gone, next, joined;
    struct rig rig = rig_open(2, 1 << 20, 4);
    atomic_store(&fake.deaf, true); /* the first render doesn't notice yet that nobody wants it */
    atomic_store(&fake.blocked, true);
    assert_false(fetch(&rig, 1, &gone));
    assert_true(wait_for(&fake.active, 1));
    assert_true(pipeline_leave(rig.pipeline, &gone.waiter));
    assert_false(fetch(&rig, 1, &next));
    assert_int_equal(next.waiter.source, SOURCE_MISS);
    assert_false(fetch(&rig, 1, &joined));
    assert_int_equal(joined.waiter.source, SOURCE_COALESCED);
    assert_true(wait_for(&fake.active, 2));
    atomic_store(&fake.deaf, false); /* now it does */
    assert_true(wait_for(&fake.was_cancelled, 1));
    sleep_ms(20);
    assert_int_equal(atomic_load(&next.done), 0);
    atomic_store(&fake.blocked, false);
    assert_true(wait_for(&next.done, 1));
    assert_true(wait_for(&joined.done, 1));
    assert_true(got_file(&next, 1));
    assert_true(got_file(&joined, 1));
    assert_int_equal(atomic_load(&fake.draws), 2);
    rig_close(&rig);
    assert_int_equal(atomic_load(&gone.done), 0);
}

static void who_leaves_the_queue_is_never_drawn_and_frees_the_place(void **state)
{
    (void)state;
    struct client running, left, late, refused;
    struct rig rig = rig_open(1, 1 << 20, 1);
    atomic_store(&fake.blocked, true);
    assert_false(fetch(&rig, 1, &running));
    assert_true(wait_for(&fake.active, 1));
    for (int i = 0; i < 3000; i++) {
        assert_false(fetch(&rig, 2, &left));
        assert_int_equal(rig_stats(&rig).queued, 1);
        assert_true(fetch(&rig, 3, &refused));
        assert_true(got_err(&refused, ERR_BUSY));
        assert_true(pipeline_leave(rig.pipeline, &left.waiter));
        assert_int_equal(rig_stats(&rig).queued, 0);
    }
    assert_false(fetch(&rig, 3, &late));
    atomic_store(&fake.blocked, false);
    assert_true(wait_for(&late.done, 1));
    assert_true(got_file(&late, 3));
    assert_true(got_file(&running, 1));
    rig_close(&rig);
    assert_int_equal(atomic_load(&fake.of_key[2]), 0);
    assert_int_equal(atomic_load(&fake.draws), 2);
    assert_int_equal(atomic_load(&left.done), 0);
}

static void a_full_queue_refuses_but_lets_join(void **state)
{
    (void)state;
    static struct client clients[6];
    struct client more, joined;
    struct rig rig = rig_open(2, 1 << 20, 4);
    atomic_store(&fake.blocked, true);
    for (uint64_t i = 0; i < 6; i++) { /* two run, four wait */
        assert_false(fetch(&rig, i, &clients[i]));
        if (i < 2)
            assert_true(wait_for(&fake.active, (int)i + 1));
    }
    assert_true(fetch(&rig, 6, &more));
    assert_true(got_err(&more, ERR_BUSY));
    assert_true(more.waiter.retry_after_s >= 1);
    assert_false(fetch(&rig, 4, &joined));
    assert_int_equal(joined.waiter.source, SOURCE_COALESCED);
    struct pipeline_stats stats = rig_stats(&rig);
    assert_int_equal(stats.running, 2);
    assert_int_equal(stats.queued, 4);
    assert_int_equal(stats.shed, 1);
    atomic_store(&fake.blocked, false);
    for (uint64_t i = 0; i < 6; i++) {
        assert_true(wait_for(&clients[i].done, 1));
        assert_true(got_file(&clients[i], i));
    }
    assert_true(wait_for(&joined.done, 1));
    assert_true(got_file(&joined, 4));
    assert_true(wait_until_nothing_runs(&rig));
    assert_false(fetch(&rig, 6, &more)); /* the places are free again */
    assert_true(wait_for(&more.done, 1));
    assert_true(got_file(&more, 6));
    rig_close(&rig);
}

static void a_flight_larger_than_the_queue_is_let_in_when_nothing_waits(void **state)
{
    (void)state;
    struct client first, large, second;
    struct rig rig = rig_open(1, 1 << 20, 1);
    atomic_store(&fake.blocked, true);
    assert_false(fetch(&rig, 1, &first));
    assert_true(wait_for(&fake.active, 1));
    assert_false(fetch_wish(&rig, (struct wish){.n = 2, .is_long = true}, &large));
    assert_true(fetch(&rig, 3, &second));
    assert_true(got_err(&second, ERR_BUSY));
    atomic_store(&fake.blocked, false);
    assert_true(wait_for(&large.done, 1));
    assert_true(got_file(&large, 2));
    assert_true(got_file(&first, 1));
    rig_close(&rig);
}

static void retry_after_is_the_work_that_waits_over_the_threads(void **state)
{
    (void)state;
    static struct client clients[64];
    struct client more;
    struct rig rig = rig_open_desc(2, (struct pipeline_desc){.queue_work_ns = 2000000000});
    atomic_store(&fake.blocked, true);
    for (uint64_t i = 0; i < 2; i++) {
        assert_false(fetch(&rig, i, &clients[i]));
        assert_true(wait_for(&fake.active, (int)i + 1));
    }
    uint64_t count = 2;
    while (!fetch_wish(&rig, (struct wish){.n = count, .is_long = true}, &clients[count]))
        assert_true(++count < 64);
    more = clients[count];
    assert_true(got_err(&more, ERR_BUSY));
    struct pipeline_stats stats = rig_stats(&rig);
    assert_int_equal(stats.queued_work_max_ns, 4000000000);
    assert_in_range(stats.queued_work_ns, 3000000000, 4000000000);
    assert_int_equal(more.waiter.retry_after_s, 2);
    atomic_store(&fake.blocked, false);
    for (uint64_t i = 0; i < count; i++) {
        assert_true(wait_for(&clients[i].done, 1));
        assert_true(got_file(&clients[i], i));
    }
    rig_close(&rig);
}

static void check_error(atomic_int *where, enum err err)
{
    struct client clients[5], again;
    struct rig rig = rig_open(1, 1 << 20, 4);
    atomic_store(&fake.blocked, true);
    atomic_store(where, err);
    for (int i = 0; i < 5; i++)
        assert_false(fetch(&rig, 1, &clients[i]));
    atomic_store(&fake.blocked, false);
    for (int i = 0; i < 5; i++) {
        assert_true(wait_for(&clients[i].done, 1));
        assert_true(got_err(&clients[i], err));
    }
    assert_int_equal(atomic_load(&fake.draws), 1);
    atomic_store(where, ERR_NONE);
    assert_false(fetch(&rig, 1, &again)); /* a failure is not remembered */
    assert_true(wait_for(&again.done, 1));
    assert_true(got_file(&again, 1));
    rig_close(&rig);
}

static void a_failed_render_reaches_every_waiter(void **state)
{
    (void)state;
    check_error(&fake.draw_err, ERR_DEVICE_LOST);
}

static void a_failed_encoder_reaches_every_waiter(void **state)
{
    (void)state;
    check_error(&fake.encode_err, ERR_ENCODE);
}

static void drain_refuses_misses_and_answers_what_is_there(void **state)
{
    (void)state;
    struct client cached, running, waiting, hit, joined, miss;
    struct rig rig = rig_open(1, 1 << 20, 4);
    assert_false(fetch(&rig, 1, &cached));
    assert_true(wait_for(&cached.done, 1));
    assert_true(got_file(&cached, 1));
    atomic_store(&fake.blocked, true);
    assert_false(fetch(&rig, 2, &running));
    assert_false(fetch(&rig, 3, &waiting));
    pipeline_drain(rig.pipeline);
    assert_true(fetch(&rig, 1, &hit));
    assert_true(got_file(&hit, 1));
    assert_false(fetch(&rig, 3, &joined));
    assert_true(fetch(&rig, 4, &miss));
    assert_true(got_err(&miss, ERR_DRAINING));
    atomic_store(&fake.blocked, false);
    assert_true(wait_for(&running.done, 1));
    assert_true(wait_for(&waiting.done, 1));
    assert_true(wait_for(&joined.done, 1));
    assert_true(got_file(&running, 2));
    assert_true(got_file(&waiting, 3));
    assert_true(got_file(&joined, 3));
    rig_close(&rig);
}

static void abort_ends_every_wait(void **state)
{
    (void)state;
    static struct client clients[6];
    struct client late;
    struct rig rig = rig_open(2, 1 << 20, 6);
    atomic_store(&fake.blocked, true);
    for (uint64_t i = 0; i < 6; i++)
        assert_false(fetch(&rig, i, &clients[i]));
    assert_true(wait_for(&fake.active, 2));
    pipeline_abort(rig.pipeline); /* the renderer stays blocked: only the cancel flag ends it */
    for (uint64_t i = 0; i < 6; i++) {
        assert_true(wait_for(&clients[i].done, 1));
        assert_true(got_err(&clients[i], ERR_DRAINING));
    }
    assert_int_equal(atomic_load(&fake.draws), 2);
    assert_true(fetch(&rig, 9, &late));
    assert_true(got_err(&late, ERR_DRAINING));
    assert_int_equal(rig_stats(&rig).cancelled, 6);
    rig_close(&rig);
}

static void destroy_waits_for_a_render_that_was_left(void **state)
{
    (void)state;
    struct client running, waiting;
    struct rig rig = rig_open(1, 1 << 20, 4);
    atomic_store(&fake.draw_ms, 50);
    assert_false(fetch(&rig, 1, &running));
    assert_true(wait_for(&fake.active, 1));
    assert_false(fetch(&rig, 2, &waiting));
    assert_true(pipeline_leave(rig.pipeline, &waiting.waiter));
    assert_true(pipeline_leave(rig.pipeline, &running.waiter));
    pipeline_destroy(rig.pipeline);
    assert_int_equal(atomic_load(&fake.active), 0);
    rig.pipeline = NULL;
    rig_close(&rig);
    pipeline_destroy(NULL);
}

struct reentrant {
    struct client client;
    const struct rig *rig;
    struct client inner;
    int inner_pending, left;
};

static void reentrant_done(struct pipeline_waiter *w)
{
    struct reentrant *r = (struct reentrant *)w;
    r->left = pipeline_leave(r->rig->pipeline, w);
    r->inner_pending = !fetch(r->rig, 2, &r->inner);
    client_done(w);
}

static void done_may_fetch_and_leave(void **state)
{
    (void)state;
    struct rig rig = rig_open(1, 1 << 20, 4);
    struct reentrant r = {.rig = &rig};
    struct request request;
    struct key key;
    make_request(1, &request, &key);
    r.client.waiter.done = reentrant_done;
    assert_false(pipeline_fetch(rig.pipeline, &request, &key, &r.client.waiter));
    assert_true(wait_for(&r.client.done, 1));
    assert_false(r.left);
    assert_true(r.inner_pending);
    assert_true(wait_for(&r.inner.done, 1));
    assert_true(got_file(&r.client, 1));
    assert_true(got_file(&r.inner, 2));
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_miss_is_drawn_and_then_a_hit),
        cmocka_unit_test(two_hundred_waiters_draw_once),
        cmocka_unit_test(two_hundred_waiters_draw_once_with_the_cache_off),
        cmocka_unit_test(with_the_cache_off_a_later_ask_draws_again),
        cmocka_unit_test(who_leaves_is_not_called_and_the_rest_get_their_file),
        cmocka_unit_test(the_last_who_leaves_cancels_the_render),
        cmocka_unit_test(who_asks_for_what_was_cancelled_gets_a_new_render),
        cmocka_unit_test(who_leaves_the_queue_is_never_drawn_and_frees_the_place),
        cmocka_unit_test(a_full_queue_refuses_but_lets_join),
        cmocka_unit_test(a_flight_larger_than_the_queue_is_let_in_when_nothing_waits),
        cmocka_unit_test(retry_after_is_the_work_that_waits_over_the_threads),
        cmocka_unit_test(a_failed_render_reaches_every_waiter),
        cmocka_unit_test(a_failed_encoder_reaches_every_waiter),
        cmocka_unit_test(drain_refuses_misses_and_answers_what_is_there),
        cmocka_unit_test(abort_ends_every_wait),
        cmocka_unit_test(destroy_waits_for_a_render_that_was_left),
        cmocka_unit_test(done_may_fetch_and_leave),
    };
    return cmocka_run_group_tests_name("pipeline", tests, NULL, NULL);
}
