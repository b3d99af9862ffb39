/* test_breaker.c -- the circuit breaker, with the clock in the test's hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "server/breaker.h"

#define S UINT64_C(1000000000)

static struct breaker opened_at(uint64_t now)
{
    struct breaker b;
    breaker_init(&b);
    assert_false(breaker_failed(&b, now));
    assert_false(breaker_failed(&b, now));
    assert_true(breaker_failed(&b, now));
    return b;
}

static void three_failures_in_a_row_open_it_and_it_says_so_once(void **state)
{
    (void)state;
    struct breaker b = opened_at(5 * S);
    assert_true(b.open);
    assert_false(breaker_failed(&b, 5 * S));
    assert_true(b.open);
}

static void a_success_in_between_starts_the_count_again(void **state)
{
    (void)state;
    struct breaker b;
    breaker_init(&b);
    for (int i = 0; i < 100; i++) {
        assert_false(breaker_failed(&b, 0));
        assert_false(breaker_failed(&b, 0));
        breaker_worked(&b);
    }
    assert_false(b.open);
}

static void the_first_probe_is_due_after_a_second(void **state)
{
    (void)state;
    struct breaker b;
    breaker_init(&b);
    assert_false(breaker_probe_due(&b, 100 * S)); /* closed */
    b = opened_at(5 * S);
    assert_false(breaker_probe_due(&b, 6 * S - 1));
    assert_true(breaker_probe_due(&b, 6 * S));
}

static void failed_probes_come_half_as_often_each_time_down_to_every_30_s(void **state)
{
    (void)state;
    static const unsigned waits[] = {1, 2, 4, 8, 16, 30, 30, 30};
    uint64_t now = 0;
    struct breaker b = opened_at(now);
    for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
        assert_false(breaker_probe_due(&b, now + waits[i] * S - 1));
        now += waits[i] * S;
        assert_true(breaker_probe_due(&b, now));
        breaker_probed(&b, false, now);
        assert_true(b.open);
    }
}

static void a_probe_that_works_closes_it(void **state)
{
    (void)state;
    struct breaker b = opened_at(0);
    breaker_probed(&b, true, S);
    assert_false(b.open);
    assert_false(breaker_failed(&b, S)); /* three again, not one */
    assert_false(breaker_failed(&b, S));
    assert_true(breaker_failed(&b, S));
}

/* A find that began before it opened, and worked, is no reason to send all others there. */
static void only_a_probe_closes_it(void **state)
{
    (void)state;
    struct breaker b = opened_at(0);
    breaker_worked(&b);
    assert_true(b.open);
    assert_int_equal(b.probe_at_ns, S);
}

static void what_answers_probes_but_fails_at_work_is_tried_less_often(void **state)
{
    (void)state;
    struct breaker b = opened_at(0);
    uint64_t now = 0;
    for (unsigned wait = 1; wait <= 16; wait *= 2) {
        assert_false(breaker_probe_due(&b, now + wait * S - 1));
        now += wait * S;
        assert_true(breaker_probe_due(&b, now));
        breaker_probed(&b, true, now);
        for (int i = 0; i < BREAKER_FAILURES; i++)
            assert_int_equal(breaker_failed(&b, now), i == BREAKER_FAILURES - 1);
    }
}

static void work_that_succeeds_brings_the_first_wait_back(void **state)
{
    (void)state;
    struct breaker b = opened_at(0);
    breaker_probed(&b, false, S);
    breaker_probed(&b, false, 3 * S);
    breaker_probed(&b, true, 7 * S);
    breaker_worked(&b);
    for (int i = 0; i < BREAKER_FAILURES; i++)
        assert_int_equal(breaker_failed(&b, 10 * S), i == BREAKER_FAILURES - 1);
    assert_int_equal(b.probe_at_ns, 11 * S);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_failures_in_a_row_open_it_and_it_says_so_once),
        cmocka_unit_test(a_success_in_between_starts_the_count_again),
        cmocka_unit_test(the_first_probe_is_due_after_a_second),
        cmocka_unit_test(failed_probes_come_half_as_often_each_time_down_to_every_30_s),
        cmocka_unit_test(a_probe_that_works_closes_it),
        cmocka_unit_test(only_a_probe_closes_it),
        cmocka_unit_test(what_answers_probes_but_fails_at_work_is_tried_less_often),
        cmocka_unit_test(work_that_succeeds_brings_the_first_wait_back),
    };
    return cmocka_run_group_tests_name("breaker", tests, NULL, NULL);
}
