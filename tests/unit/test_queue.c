/* test_queue.c -- the queue: who is next, and who is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "server/queue.h"

#define MS       1000000u
#define STILL_NS ((uint64_t)10 * MS)
#define LONG_NS  ((uint64_t)500 * MS)
#define ROOMY_NS ((uint64_t)3600 * 1000 * MS)

static struct queue *open_queue(uint64_t work_max_ns, int share_percent)
{
    struct queue_desc desc = {work_max_ns, share_percent};
    struct queue *q = NULL;
    assert_int_equal(queue_create(&desc, &q), ERR_NONE);
    return q;
}

static void close_queue(struct queue *q)
{
    while (queue_take(q, true))
        ;
    assert_int_equal(queue_count(q), 0);
    assert_int_equal(queue_work_ns(q), 0);
    queue_destroy(q);
}

static enum err add(struct queue *q, struct queue_item *item, uint64_t client, uint64_t work_ns)
{
    *item = (struct queue_item){.client = client, .work_ns = work_ns};
    return queue_add(q, item);
}

static void a_still_goes_before_animations_that_wait(void **state)
{
    (void)state;
    struct queue *q = open_queue(ROOMY_NS, 100);
    struct queue_item animations[20], still;
    for (int i = 0; i < 20; i++)
        assert_int_equal(add(q, &animations[i], 1, LONG_NS), ERR_NONE);
    assert_ptr_equal(queue_take(q, true), &animations[0]);
    assert_int_equal(add(q, &still, 2, STILL_NS), ERR_NONE);
    assert_ptr_equal(queue_take(q, true), &still);
    assert_int_equal(add(q, &still, 1, STILL_NS), ERR_NONE); /* of the same client too */
    assert_ptr_equal(queue_take(q, true), &still);
    assert_int_equal(add(q, &still, 0, STILL_NS), ERR_NONE); /* and of nobody */
    assert_ptr_equal(queue_take(q, true), &still);
    for (int i = 1; i < 20; i++)
        assert_ptr_equal(queue_take(q, true), &animations[i]);
    close_queue(q);
}

/* Stills come as fast as they are taken. Returns how much work was taken before the animation. */
static uint64_t work_before_the_animation(struct queue *q, int stills, bool new_clients)
{
    struct queue_item *items = calloc((size_t)stills, sizeof(*items));
    struct queue_item animation, *taken;
    uint64_t client = 100, work_ns = 0;
    for (int i = 0; i < stills; i++)
        assert_int_equal(add(q, &items[i], client += new_clients, STILL_NS), ERR_NONE);
    assert_int_equal(add(q, &animation, 1, LONG_NS), ERR_NONE);
    while ((taken = queue_take(q, true)) != &animation) {
        assert_non_null(taken);
        work_ns += STILL_NS;
        assert_true(work_ns < ROOMY_NS);
        assert_int_equal(add(q, taken, client += new_clients, STILL_NS), ERR_NONE);
    }
    while (queue_take(q, true))
        ;
    free(items);
    return work_ns;
}

static void an_animation_is_not_starved_by_one_client_with_stills(void **state)
{
    (void)state;
    struct queue *q = open_queue(ROOMY_NS, 100);
    assert_in_range(work_before_the_animation(q, 50, false), LONG_NS / 2, LONG_NS * 2);
    close_queue(q);
}

static void an_animation_is_not_starved_by_ever_new_clients_with_stills(void **state)
{
    (void)state;
    uint64_t bound_ns = (uint64_t)2000 * MS;
    struct queue *q = open_queue(bound_ns, 100);
    uint64_t work_ns = work_before_the_animation(q, 100, true);
    assert_in_range(work_ns, bound_ns, QUEUE_PATIENCE * bound_ns + 2 * STILL_NS);
    close_queue(q);
}

static void a_client_with_one_takes_its_turn_beside_one_with_a_hundred(void **state)
{
    (void)state;
    struct queue *q = open_queue(ROOMY_NS, 100);
    struct queue_item many[100], one[3];
    for (int i = 0; i < 100; i++)
        assert_int_equal(add(q, &many[i], 1, STILL_NS), ERR_NONE);
    for (int i = 0; i < 10; i++)
        assert_ptr_equal(queue_take(q, true), &many[i]);
    for (int i = 0; i < 3; i++)
        assert_int_equal(add(q, &one[i], 2, STILL_NS), ERR_NONE);
    int place[3] = {0};
    for (int n = 1; n <= 93; n++) {
        struct queue_item *taken = queue_take(q, true);
        for (int i = 0; i < 3; i++)
            if (taken == &one[i])
                place[i] = n;
    }
    for (int i = 0; i < 3; i++)
        assert_int_equal(place[i], 2 * (i + 1)); /* each second one */
    close_queue(q);
}

static void who_was_away_has_saved_nothing_up(void **state)
{
    (void)state;
    struct queue *q = open_queue(ROOMY_NS, 100);
    struct queue_item first, many[50], late[10];
    assert_int_equal(add(q, &first, 2, STILL_NS), ERR_NONE);
    assert_ptr_equal(queue_take(q, true), &first);
    for (int i = 0; i < 50; i++)
        assert_int_equal(add(q, &many[i], 1, STILL_NS), ERR_NONE);
    for (int i = 0; i < 40; i++)
        assert_ptr_equal(queue_take(q, true), &many[i]);
    for (int i = 0; i < 10; i++)
        assert_int_equal(add(q, &late[i], 2, STILL_NS), ERR_NONE);
    int of_first_ten = 0;
    for (int i = 0; i < 10; i++)
        of_first_ten += queue_take(q, true)->client == 2;
    assert_int_equal(of_first_ten, 5);
    close_queue(q);
}

static void the_bound_is_exact(void **state)
{
    (void)state;
    struct queue *q = open_queue(100 * STILL_NS, 100);
    struct queue_item items[100], more;
    for (uint64_t i = 0; i < 99; i++)
        assert_int_equal(add(q, &items[i], i, STILL_NS), ERR_NONE);
    assert_int_equal(add(q, &more, 7, STILL_NS + 1), ERR_BUSY);
    assert_int_equal(add(q, &items[99], 7, STILL_NS), ERR_NONE);
    assert_int_equal(queue_work_ns(q), queue_work_max_ns(q));
    assert_int_equal(add(q, &more, 8, 1), ERR_BUSY);
    assert_int_equal(add(q, &more, 0, 1), ERR_BUSY);
    assert_int_equal(queue_count(q), 100);
    struct queue_item *taken = queue_take(q, true);
    assert_int_equal(add(q, &more, 8, STILL_NS + 1), ERR_BUSY);
    assert_int_equal(add(q, taken, 8, STILL_NS), ERR_NONE);
    close_queue(q);
}

static void what_is_larger_than_the_queue_is_let_in_when_nothing_waits(void **state)
{
    (void)state;
    struct queue *q = open_queue(100 * MS, 1);
    struct queue_item huge, more;
    assert_int_equal(add(q, &huge, 1, 3600000 * (uint64_t)MS), ERR_NONE);
    assert_int_equal(add(q, &more, 2, 1), ERR_BUSY);
    assert_int_equal(add(q, &more, 2, UINT64_MAX), ERR_BUSY);
    assert_ptr_equal(queue_take(q, true), &huge);
    assert_int_equal(add(q, &huge, 2, 1), ERR_NONE);
    assert_int_equal(add(q, &more, 3, 100 * MS), ERR_BUSY);
    close_queue(q);
}

static void a_client_holds_no_more_than_its_share_but_one_item_always(void **state)
{
    (void)state;
    struct queue *q = open_queue(1000 * (uint64_t)MS, 20);
    struct queue_item items[20], other, animation;
    for (int i = 0; i < 20; i++) /* 200 ms, to the last one */
        assert_int_equal(add(q, &items[i], 1, STILL_NS), ERR_NONE);
    assert_int_equal(add(q, &other, 1, 1), ERR_SHARE);
    assert_int_equal(add(q, &other, 1, 1000 * (uint64_t)MS), ERR_BUSY); /* there is no room for anybody's */
    assert_int_equal(add(q, &other, 2, STILL_NS), ERR_NONE);
    assert_int_equal(add(q, &animation, 3, LONG_NS), ERR_NONE); /* more than a share, but its only one */
    queue_remove(q, &other);
    assert_int_equal(add(q, &other, 3, STILL_NS), ERR_SHARE);
    assert_ptr_equal(queue_take(q, true), &items[0]);
    assert_int_equal(add(q, &other, 1, STILL_NS), ERR_NONE); /* what was taken is no longer held */
    close_queue(q);
    q = open_queue(199, 100); /* all of it, to the nanosecond */
    assert_int_equal(add(q, &items[0], 1, 100), ERR_NONE);
    assert_int_equal(add(q, &items[1], 1, 99), ERR_NONE);
    close_queue(q);
}

static void nobody_s_work_has_no_share(void **state)
{
    (void)state;
    struct queue *q = open_queue(100 * STILL_NS, 1);
    struct queue_item items[100];
    for (int i = 0; i < 100; i++)
        assert_int_equal(add(q, &items[i], 0, STILL_NS), ERR_NONE);
    close_queue(q);
}

static void only_short_ones_can_be_taken_alone(void **state)
{
    (void)state;
    struct queue *q = open_queue(ROOMY_NS, 100);
    struct queue_item animations[3], just_short, just_long, still;
    for (int i = 0; i < 3; i++)
        assert_int_equal(add(q, &animations[i], 1, LONG_NS), ERR_NONE);
    assert_null(queue_take(q, false));
    assert_int_equal(queue_count(q), 3);
    assert_int_equal(add(q, &just_long, 2, QUEUE_LONG_NS + 1), ERR_NONE);
    assert_int_equal(add(q, &just_short, 2, QUEUE_LONG_NS), ERR_NONE);
    assert_int_equal(add(q, &still, 3, STILL_NS), ERR_NONE);
    assert_ptr_equal(queue_take(q, false), &still);
    assert_ptr_equal(queue_take(q, false), &just_short);
    assert_null(queue_take(q, false));
    assert_ptr_equal(queue_take(q, true), &just_long);
    assert_ptr_equal(queue_take(q, true), &animations[0]);
    close_queue(q);
}

static void what_is_removed_is_not_taken_and_not_charged(void **state)
{
    (void)state;
    struct queue *q = open_queue(ROOMY_NS, 100);
    struct queue_item items[100], other[10];
    for (int i = 0; i < 100; i++)
        assert_int_equal(add(q, &items[i], 1, STILL_NS), ERR_NONE);
    for (int i = 0; i < 100; i++)
        if (i % 10 != 5) /* first, last and between */
            queue_remove(q, &items[i]);
    assert_int_equal(queue_count(q), 10);
    assert_int_equal(queue_work_ns(q), 10 * STILL_NS);
    for (int i = 0; i < 10; i++)
        assert_ptr_equal(queue_take(q, true), &items[10 * i + 5]);
    assert_null(queue_take(q, true));

    /* A client that took back what it asked for is where it would be without. */
    for (int i = 0; i < 100; i++)
        assert_int_equal(add(q, &items[i], 1, STILL_NS), ERR_NONE);
    for (int i = 1; i < 100; i++)
        queue_remove(q, &items[i]);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(add(q, &other[i], 2, STILL_NS), ERR_NONE);
        if (i > 0)
            assert_int_equal(add(q, &items[i], 1, STILL_NS), ERR_NONE);
    }
    int of_first_ten = 0;
    for (int i = 0; i < 10; i++)
        of_first_ten += queue_take(q, true)->client == 1;
    assert_int_equal(of_first_ten, 5);
    close_queue(q);
}

#define MODEL_ITEMS 3000

/* Thousands of clients, adds, takes and removals in any order: sums stay right, none is lost or given twice.
 */
static void nothing_is_lost_in_any_order(void **state)
{
    (void)state;
    static struct queue_item items[MODEL_ITEMS];
    static bool in[MODEL_ITEMS];
    struct queue *q = open_queue(ROOMY_NS, 100);
    uint64_t random = 1, work_ns = 0;
    size_t count = 0;
    for (int step = 0; step < 200000; step++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        size_t i = (random >> 33) % MODEL_ITEMS;
        unsigned what = (random >> 60) % 4;
        uint64_t work = (random >> 20) % (100 * MS);
        if (in[i] && what == 0) {
            queue_remove(q, &items[i]);
        } else if (in[i] || what == 1) {
            struct queue_item *taken = queue_take(q, what != 2);
            if (!taken)
                continue;
            i = (size_t)(taken - items);
        } else {
            assert_int_equal(add(q, &items[i], random % 2000, work), ERR_NONE);
            in[i] = true;
            count++;
            work_ns += work;
            continue;
        }
        assert_true(in[i]);
        in[i] = false;
        count--;
        work_ns -= items[i].work_ns;
        assert_int_equal(queue_count(q), count);
        assert_int_equal(queue_work_ns(q), work_ns);
    }
    while (count > 0) {
        struct queue_item *taken = queue_take(q, true);
        assert_non_null(taken);
        assert_true(in[taken - items]);
        in[taken - items] = false;
        count--;
    }
    close_queue(q);
    queue_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_still_goes_before_animations_that_wait),
        cmocka_unit_test(an_animation_is_not_starved_by_one_client_with_stills),
        cmocka_unit_test(an_animation_is_not_starved_by_ever_new_clients_with_stills),
        cmocka_unit_test(a_client_with_one_takes_its_turn_beside_one_with_a_hundred),
        cmocka_unit_test(who_was_away_has_saved_nothing_up),
        cmocka_unit_test(the_bound_is_exact),
        cmocka_unit_test(what_is_larger_than_the_queue_is_let_in_when_nothing_waits),
        cmocka_unit_test(a_client_holds_no_more_than_its_share_but_one_item_always),
        cmocka_unit_test(nobody_s_work_has_no_share),
        cmocka_unit_test(only_short_ones_can_be_taken_alone),
        cmocka_unit_test(what_is_removed_is_not_taken_and_not_charged),
        cmocka_unit_test(nothing_is_lost_in_any_order),
    };
    return cmocka_run_group_tests_name("queue", tests, NULL, NULL);
}
