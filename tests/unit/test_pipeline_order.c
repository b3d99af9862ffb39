/* test_pipeline_order.c -- who is drawn first, and whom a full queue refuses: stills, animations, clients. */
#include "tests/unit/pipeline_rig.h"

#define ROOMY_NS 600000000000u

static struct rig rig_open_roomy(int threads, int share_percent)
{
    return rig_open_desc(
        threads, (struct pipeline_desc){.queue_work_ns = ROOMY_NS, .client_share_percent = share_percent});
}

static void await(struct client *client, uint64_t n)
{
    assert_true(wait_for(&client->done, 1));
    assert_true(got_file(client, n));
}

static void a_still_overtakes_animations_that_wait(void **state)
{
    (void)state;
    static struct client animations[10];
    struct client still;
    struct rig rig = rig_open_roomy(1, 100);
    atomic_store(&fake.blocked, true);
    for (uint64_t i = 0; i < 10; i++)
        assert_false(fetch_wish(&rig, (struct wish){i, true, 1}, &animations[i]));
    assert_true(wait_for(&fake.active, 1));
    assert_false(fetch_wish(&rig, (struct wish){100, false, 1}, &still));
    atomic_store(&fake.blocked, false);
    await(&still, 100);
    for (uint64_t i = 0; i < 10; i++)
        await(&animations[i], i);
    assert_int_equal(atomic_load(&fake.order[100]), 2); /* right after the one that was being drawn */
    rig_close(&rig);
}

static void animations_never_take_the_last_thread(void **state)
{
    (void)state;
    static struct client animations[10];
    struct rig rig = rig_open_roomy(3, 100);
    atomic_store(&fake.long_blocked, true);
    for (uint64_t i = 0; i < 10; i++)
        assert_false(fetch_wish(&rig, (struct wish){i, true, 1}, &animations[i]));
    assert_true(wait_for(&fake.active, 2));
    for (uint64_t i = 100; i < 600; i++) { /* each would wait for ever if an animation had the last thread */
        struct client still;
        assert_false(fetch_wish(&rig, (struct wish){i, false, 1}, &still));
        await(&still, i);
    }
    assert_int_equal(rig_stats(&rig).running, 2);
    assert_int_equal(rig_stats(&rig).queued, 8);
    atomic_store(&fake.long_blocked, false);
    for (uint64_t i = 0; i < 10; i++)
        await(&animations[i], i);
    rig_close(&rig);
}

/* Tickets that found only long flights, and could draw none, are gone: the ones that wait must be drawn all
 * the same, by whoever draws the others. */
static void animations_that_were_passed_over_are_drawn_in_the_end(void **state)
{
    (void)state;
    static struct client animations[20]; /* so few that what they teach does not make short work of them */
    for (int round = 0; round < 50; round++) {
        struct rig rig = rig_open_roomy(2, 100);
        struct client still;
        atomic_store(&fake.long_blocked, true);
        for (uint64_t i = 0; i < 20; i++)
            assert_false(fetch_wish(&rig, (struct wish){i, true, i}, &animations[i]));
        assert_false(fetch_wish(&rig, (struct wish){100, false, 1}, &still));
        await(&still, 100);
        atomic_store(&fake.long_blocked, false);
        for (uint64_t i = 0; i < 20; i++)
            await(&animations[i], i);
        assert_int_equal(rig_stats(&rig).queued, 0);
        rig_close(&rig);
    }
}

static void with_one_thread_animations_are_drawn(void **state)
{
    (void)state;
    struct client animation;
    struct rig rig = rig_open_roomy(1, 100);
    assert_false(fetch_wish(&rig, (struct wish){1, true, 1}, &animation));
    await(&animation, 1);
    rig_close(&rig);
}

static void abort_ends_animations_that_wait_behind_a_deaf_one(void **state)
{
    (void)state;
    static struct client animations[6];
    struct rig rig = rig_open_roomy(2, 100);
    atomic_store(&fake.long_blocked, true);
    atomic_store(&fake.deaf, true);
    for (uint64_t i = 0; i < 6; i++) {
        assert_false(fetch_wish(&rig, (struct wish){i, true, 1}, &animations[i]));
        assert_true(wait_for(&fake.active, 1));
    }
    pipeline_abort(rig.pipeline);
    for (uint64_t i = 1; i < 6; i++) {
        assert_true(wait_for(&animations[i].done, 1));
        assert_int_equal(animations[i].waiter.err, ERR_DRAINING);
    }
    atomic_store(&fake.long_blocked, false);
    await(&animations[0], 0); /* it did not look at the flag and came to its end */
    rig_close(&rig);
}

static void a_client_with_one_takes_its_turn_beside_one_with_a_hundred(void **state)
{
    (void)state;
    static struct client many[100];
    struct client first, one;
    struct rig rig = rig_open_roomy(1, 100);
    atomic_store(&fake.blocked, true);
    assert_false(fetch(&rig, 1000, &first));
    assert_true(wait_for(&fake.active, 1));
    for (uint64_t i = 0; i < 100; i++)
        assert_false(fetch_wish(&rig, (struct wish){i, false, 1}, &many[i]));
    assert_false(fetch_wish(&rig, (struct wish){500, false, 2}, &one));
    atomic_store(&fake.blocked, false);
    await(&one, 500);
    for (uint64_t i = 0; i < 100; i++)
        await(&many[i], i);
    await(&first, 1000);
    assert_int_equal(atomic_load(&fake.order[500]), 3); /* behind the one that ran and one of the hundred */
    rig_close(&rig);
}

static void a_client_gets_no_more_than_its_share_of_the_queue(void **state)
{
    (void)state;
    static struct client clients[30];
    struct client running, refused, others;
    struct rig rig = rig_open_desc(
        1, (struct pipeline_desc){.queue_work_ns = 100 * WORK_LEAST_NS, .client_share_percent = 30});
    atomic_store(&fake.blocked, true);
    assert_false(fetch_wish(&rig, (struct wish){1000, false, 1}, &running));
    assert_true(wait_for(&fake.active, 1));
    for (uint64_t i = 0; i < 30; i++)
        assert_false(fetch_wish(&rig, (struct wish){i, false, 1}, &clients[i]));
    assert_true(fetch_wish(&rig, (struct wish){50, false, 1}, &refused));
    assert_int_equal(refused.waiter.err, ERR_SHARE);
    assert_true(refused.waiter.retry_after_s >= 1);
    assert_null(refused.waiter.entry);
    assert_false(fetch_wish(&rig, (struct wish){51, false, 2}, &others));
    struct pipeline_stats stats = rig_stats(&rig);
    assert_int_equal(stats.shed, 1);
    assert_int_equal(stats.shed_share, 1);
    assert_int_equal(stats.queued_work_ns, 31 * WORK_LEAST_NS);
    atomic_store(&fake.blocked, false);
    for (uint64_t i = 0; i < 30; i++)
        await(&clients[i], i);
    await(&others, 51);
    await(&running, 1000);
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_still_overtakes_animations_that_wait),
        cmocka_unit_test(animations_never_take_the_last_thread),
        cmocka_unit_test(animations_that_were_passed_over_are_drawn_in_the_end),
        cmocka_unit_test(with_one_thread_animations_are_drawn),
        cmocka_unit_test(abort_ends_animations_that_wait_behind_a_deaf_one),
        cmocka_unit_test(a_client_with_one_takes_its_turn_beside_one_with_a_hundred),
        cmocka_unit_test(a_client_gets_no_more_than_its_share_of_the_queue),
    };
    return cmocka_run_group_tests_name("pipeline_order", tests, NULL, NULL);
}
