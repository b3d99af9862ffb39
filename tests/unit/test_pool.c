/* test_pool.c -- the worker pool: every part once, helpers come and go, nothing is touched after its owner
 * returned. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <cmocka.h>

#include "renderer/base/attr.h"
#include "renderer/base/pool.h"

#define WAIT_MS 10000 /* far more than a loaded machine needs; only a failing test waits so long */

static void sleep_ms(int ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
    nanosleep(&t, NULL);
}

static bool wait_for(atomic_int *value, int at_least)
{
    for (int i = 0; i < WAIT_MS && atomic_load(value) < at_least; i++)
        sleep_ms(1);
    return atomic_load(value) >= at_least;
}

static struct pool *open_pool(int threads)
{
    struct pool *pool = NULL;
    assert_int_equal(pool_create(threads, &pool), ERR_NONE);
    assert_int_equal(pool_threads(pool), threads);
    return pool;
}

static void thread_counts_outside_the_range_are_refused(void **state)
{
    (void)state;
    struct pool *pool = NULL;
    assert_int_equal(pool_create(0, &pool), ERR_CONFIG);
    assert_int_equal(pool_create(POOL_THREADS_MAX + 1, &pool), ERR_CONFIG);
    assert_null(pool);
    pool_destroy(NULL);
}

#define PARTS_MAX 2000

struct tally {
    atomic_int calls[PARTS_MAX];
};

static void tally_part(void *ctx, int i)
{
    struct tally *tally = ctx;
    atomic_fetch_add(&tally->calls[i], 1);
}

static void check_every_part_once(struct pool *pool, int count)
{
    static struct tally tally;
    for (int i = 0; i < PARTS_MAX; i++)
        atomic_store(&tally.calls[i], 0);
    pool_for(pool, count, tally_part, &tally);
    for (int i = 0; i < PARTS_MAX; i++)
        assert_int_equal(atomic_load(&tally.calls[i]), i < count ? 1 : 0);
}

static void every_part_runs_once(void **state)
{
    (void)state;
    static const int counts[] = {0, 1, 2, 3, 17, PARTS_MAX};
    for (size_t c = 0; c < ARRAY_LEN(counts); c++) {
        check_every_part_once(NULL, counts[c]);
        for (int threads = 1; threads <= 4; threads++) {
            struct pool *pool = open_pool(threads);
            for (int round = 0; round < 20; round++)
                check_every_part_once(pool, counts[c]);
            pool_destroy(pool);
        }
    }
}

struct order {
    int seen[1000]; /* one worker: no lock needed */
    int count;
};

struct ordered_job {
    struct order *order;
    int number;
};

static void ordered_run(void *ctx)
{
    struct ordered_job *job = ctx;
    job->order->seen[job->order->count++] = job->number;
}

static void jobs_run_first_in_first_out_and_destroy_waits_for_them(void **state)
{
    (void)state;
    static struct order order;
    static struct ordered_job jobs[1000];
    struct pool *pool = open_pool(1);
    for (int i = 0; i < 1000; i++) {
        jobs[i] = (struct ordered_job){&order, i};
        assert_int_equal(pool_submit(pool, ordered_run, &jobs[i]), ERR_NONE);
    }
    pool_destroy(pool);
    assert_int_equal(order.count, 1000);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(order.seen[i], i);
}

struct chain {
    struct pool *pool;
    atomic_int runs;
};

static void chain_run(void *ctx)
{
    struct chain *chain = ctx;
    if (atomic_fetch_add(&chain->runs, 1) + 1 < 100 && pool_submit(chain->pool, chain_run, chain))
        atomic_store(&chain->runs, -1000);
}

static void jobs_that_submit_jobs_are_waited_for(void **state)
{
    (void)state;
    struct chain chain = {.pool = open_pool(3)};
    assert_int_equal(pool_submit(chain.pool, chain_run, &chain), ERR_NONE);
    pool_destroy(chain.pool);
    assert_int_equal(atomic_load(&chain.runs), 100);
}

struct meeting {
    struct pool *pool;
    atomic_int inside, met, over;
};

/* Many short parts, until three of them run at the same time. */
static void meet_part(void *ctx, int i)
{
    struct meeting *meeting = ctx;
    (void)i;
    if (atomic_fetch_add(&meeting->inside, 1) + 1 == 3)
        atomic_store(&meeting->met, 1);
    if (!atomic_load(&meeting->met))
        sleep_ms(1);
    atomic_fetch_sub(&meeting->inside, 1);
}

static void meeting_job(void *ctx)
{
    struct meeting *meeting = ctx;
    pool_for(meeting->pool, WAIT_MS, meet_part, meeting);
    atomic_store(&meeting->over, 1);
}

static void idle_workers_join_from_outside(void **state)
{
    (void)state;
    struct meeting meeting = {.pool = open_pool(2)};
    meeting_job(&meeting);
    assert_int_equal(atomic_load(&meeting.met), 1);
    assert_int_equal(atomic_load(&meeting.inside), 0);
    pool_destroy(meeting.pool);
}

static void idle_workers_join_a_job(void **state)
{
    (void)state;
    struct meeting meeting = {.pool = open_pool(3)};
    assert_int_equal(pool_submit(meeting.pool, meeting_job, &meeting), ERR_NONE);
    assert_true(wait_for(&meeting.over, 1)); /* workers that pool_destroy() has ended help nobody */
    pool_destroy(meeting.pool);
    assert_int_equal(atomic_load(&meeting.met), 1);
}

struct late {
    struct pool *pool;
    atomic_int occupied, release, helped, lone;
    pthread_t owner;
};

static void late_blocker(void *ctx)
{
    struct late *late = ctx;
    atomic_store(&late->occupied, 1);
    wait_for(&late->release, 1);
}

static void late_part(void *ctx, int i)
{
    struct late *late = ctx;
    if (i == 10)
        atomic_store(&late->release, 1);
    if (!pthread_equal(pthread_self(), late->owner))
        atomic_store(&late->helped, 1);
    else if (i > 10 && atomic_load(&late->helped) == 0)
        sleep_ms(1);
    else if (i <= 10)
        atomic_fetch_add(&late->lone, 1);
}

static void a_worker_that_falls_idle_joins_a_loop_that_runs(void **state)
{
    (void)state;
    struct late late = {.pool = open_pool(1), .owner = pthread_self()};
    assert_int_equal(pool_submit(late.pool, late_blocker, &late), ERR_NONE);
    assert_true(wait_for(&late.occupied, 1));
    pool_for(late.pool, WAIT_MS, late_part, &late);
    assert_int_equal(atomic_load(&late.helped), 1);
    assert_int_equal(atomic_load(&late.lone), 11); /* before that nobody was idle */
    pool_destroy(late.pool);
}

struct prefer {
    struct pool *pool;
    atomic_int helped, job_ran, ran_meanwhile;
    pthread_t owner;
};

static void prefer_job(void *ctx)
{
    struct prefer *prefer = ctx;
    atomic_store(&prefer->job_ran, 1);
}

static void prefer_part(void *ctx, int i)
{
    struct prefer *prefer = ctx;
    (void)i;
    bool owner = pthread_equal(pthread_self(), prefer->owner);
    if (!owner && atomic_exchange(&prefer->helped, 1) == 0 && pool_submit(prefer->pool, prefer_job, prefer))
        atomic_store(&prefer->job_ran, -1);
    if (atomic_load(&prefer->job_ran) == 0)
        sleep_ms(1);
    else
        atomic_store(&prefer->ran_meanwhile, 1);
}

static void a_helper_leaves_for_a_job_of_its_own(void **state)
{
    (void)state;
    struct prefer prefer = {.pool = open_pool(1), .owner = pthread_self()};
    pool_for(prefer.pool, WAIT_MS, prefer_part, &prefer);
    /* The only worker was the helper, and it did the job before the loop was over. */
    assert_int_equal(atomic_load(&prefer.helped), 1);
    assert_int_equal(atomic_load(&prefer.ran_meanwhile), 1);
    assert_int_equal(atomic_load(&prefer.job_ran), 1);
    pool_destroy(prefer.pool);
}

struct nest {
    struct pool *pool;
    int depth;
    atomic_int *leaves;
};

static void nest_part(void *ctx, int i)
{
    struct nest *outer = ctx;
    (void)i;
    if (outer->depth == 0) {
        atomic_fetch_add(outer->leaves, 1);
        return;
    }
    struct nest inner = {outer->pool, outer->depth - 1, outer->leaves};
    pool_for(outer->pool, 6, nest_part, &inner);
    memset(&inner, 0xee, sizeof(inner)); /* whoever still used it would crash */
}

static void nest_job(void *ctx)
{
    nest_part(ctx, 0);
}

static void loops_nest_inside_jobs(void **state)
{
    (void)state;
    atomic_int leaves = 0;
    struct nest nest = {open_pool(4), 4, &leaves};
    for (int i = 0; i < 12; i++)
        assert_int_equal(pool_submit(nest.pool, nest_job, &nest), ERR_NONE);
    pool_destroy(nest.pool);
    assert_int_equal(atomic_load(&leaves), 12 * 6 * 6 * 6 * 6);
}

#define STRESS_LOOPS   1500
#define STRESS_JOBS    8
#define STRESS_OUTSIDE 2

struct stress {
    struct pool *pool;
    atomic_int wrong;
};

struct stress_sum {
    int value[16]; /* plain memory: the pool must order its writes before the owner's reads */
    uint32_t guard;
};

static void stress_part(void *ctx, int i)
{
    struct stress_sum *sum = ctx;
    sum->value[i] += i + 1;
}

static void stress_run(void *ctx)
{
    struct stress *stress = ctx;
    for (int round = 0; round < STRESS_LOOPS; round++) {
        struct stress_sum sum = {.guard = 0xc0ffee};
        int count = 1 + round % 16, total = 0;
        pool_for(stress->pool, count, stress_part, &sum);
        for (int i = 0; i < 16; i++)
            total += sum.value[i];
        if (total != count * (count + 1) / 2 || sum.guard != 0xc0ffee)
            atomic_fetch_add(&stress->wrong, 1);
        memset(&sum, 0xff, sizeof(sum));
    }
}

static void *stress_thread(void *ctx)
{
    stress_run(ctx);
    return NULL;
}

static void tiny_loops_from_everywhere_never_lose_a_part(void **state)
{
    (void)state;
    for (int round = 0; round < 8; round++) {
        /* A single job finds helpers, five keep the workers to themselves. */
        int threads = 1 + round % 4, jobs = round < 4 ? 1 : 5;
        struct stress stress = {.pool = open_pool(threads)};
        pthread_t outside[STRESS_OUTSIDE];
        for (int i = 0; i < jobs; i++)
            assert_int_equal(pool_submit(stress.pool, stress_run, &stress), ERR_NONE);
        for (int i = 0; i < STRESS_OUTSIDE; i++)
            assert_int_equal(pthread_create(&outside[i], NULL, stress_thread, &stress), 0);
        for (int i = 0; i < STRESS_OUTSIDE; i++)
            pthread_join(outside[i], NULL);
        pool_destroy(stress.pool);
        assert_int_equal(atomic_load(&stress.wrong), 0);
    }
}

static void count_job(void *ctx)
{
    atomic_fetch_add((atomic_int *)ctx, 1);
}

static void single_jobs_always_wake_a_worker(void **state)
{
    (void)state;
    struct pool *pool = open_pool(3);
    atomic_int ran = 0;
    for (int i = 1; i <= 5000; i++) {
        assert_int_equal(pool_submit(pool, count_job, &ran), ERR_NONE);
        if (i % 7 == 0) /* at times the pool must have fallen asleep, at times not */
            assert_true(wait_for(&ran, i));
    }
    assert_true(wait_for(&ran, 5000));
    pool_destroy(pool);
}

static void nap_part(void *ctx, int i)
{
    (void)ctx;
    (void)i;
    sleep_ms(1);
}

static void what_helpers_give_is_told_to_who_was_helped(void **state)
{
    (void)state;
    struct pool *pool = open_pool(1);
    uint64_t before = pool_helped_ns();
    pool_for(NULL, 10, nap_part, NULL);
    assert_int_equal(pool_helped_ns(), before);
    for (int i = 0; i < WAIT_MS && pool_helped_ns() == before; i++) /* until the worker has woken up */
        pool_for(pool, 10, nap_part, NULL);
    assert_true(pool_helped_ns() - before >= 1000000);
    pool_destroy(pool);
}

static void niceness_job(void *ctx)
{
    atomic_store((atomic_int *)ctx, 100 + getpriority(PRIO_PROCESS, 0));
}

static void workers_give_way_when_told_to(void **state)
{
    (void)state;
#ifdef __linux__
    struct pool *pool = NULL;
    int own = getpriority(PRIO_PROCESS, 0), nicest = 19;
    atomic_int niceness = 0;
    assert_int_equal(pool_create_nice(1, 3, &pool), ERR_NONE);
    assert_int_equal(pool_submit(pool, niceness_job, &niceness), ERR_NONE);
    pool_destroy(pool);
    assert_int_equal(atomic_load(&niceness), 100 + (own + 3 < nicest ? own + 3 : nicest));
    assert_int_equal(getpriority(PRIO_PROCESS, 0), own);
#else
    print_message("threads have no niceness of their own here\n");
    skip();
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thread_counts_outside_the_range_are_refused),
        cmocka_unit_test(every_part_runs_once),
        cmocka_unit_test(jobs_run_first_in_first_out_and_destroy_waits_for_them),
        cmocka_unit_test(jobs_that_submit_jobs_are_waited_for),
        cmocka_unit_test(idle_workers_join_from_outside),
        cmocka_unit_test(idle_workers_join_a_job),
        cmocka_unit_test(a_worker_that_falls_idle_joins_a_loop_that_runs),
        cmocka_unit_test(a_helper_leaves_for_a_job_of_its_own),
        cmocka_unit_test(loops_nest_inside_jobs),
        cmocka_unit_test(tiny_loops_from_everywhere_never_lose_a_part),
        cmocka_unit_test(single_jobs_always_wake_a_worker),
        cmocka_unit_test(what_helpers_give_is_told_to_who_was_helped),
        cmocka_unit_test(workers_give_way_when_told_to),
    };
    return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}
