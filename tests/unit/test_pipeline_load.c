/* test_pipeline_load.c -- many threads fetch and leave at once: each is answered once, no key is drawn twice.
 */
#include "tests/unit/pipeline_stores.h"

#define RACE_THREADS 4
#define RACE_KEYS    4000

struct race {
    const struct rig *rig;
    int wrong;
};

/* Without sleeping, to be there just when it happens. */
static bool spin_for(atomic_int *value)
{
    time_t end = time(NULL) + WAIT_MS / 1000;
    while (atomic_load(value) == 0 && time(NULL) <= end)
        sched_yield();
    return atomic_load(value) != 0;
}

static void *race_run(void *ctx)
{
    struct race *race = ctx;
    for (uint64_t n = 0; n < RACE_KEYS; n++) {
        struct client client;
        if (!fetch(race->rig, n, &client) && !spin_for(&client.done))
            abort(); /* the client lies on this stack: there is no way on */
        race->wrong += !got_file(&client, n);
    }
    return NULL;
}

/* Threads that walk the same keys at the same pace ask just when the result lands. */
static void no_key_is_drawn_twice_when_asked_for_as_it_lands(void **state)
{
    (void)state;
    struct rig rig = rig_open(2, 1 << 26, 100);
    struct race races[RACE_THREADS];
    pthread_t threads[RACE_THREADS];
    for (int i = 0; i < RACE_THREADS; i++) {
        races[i] = (struct race){&rig, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, race_run, &races[i]), 0);
    }
    for (int i = 0; i < RACE_THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(races[i].wrong, 0);
    }
    for (int n = 0; n < RACE_KEYS; n++)
        assert_int_equal(atomic_load(&fake.of_key[n]), 1);
    struct pipeline_stats stats = rig_stats(&rig);
    assert_int_equal(stats.hits + stats.misses + stats.coalesced, RACE_THREADS * RACE_KEYS);
    assert_int_equal(stats.misses, RACE_KEYS);
    rig_close(&rig);
}

#define STORM_THREADS 4
#define STORM_STEPS   8000
#define STORM_HELD    16
#define STORM_KEYS    60

struct storm {
    const struct rig *rig;
    uint64_t random;
    int wrong, answered, refused, left, late;
};

/* A place of a storm's thread: a client of its own on the heap, so that a late done() writes into freed
 * memory. */
struct held {
    struct client *client;
    uint64_t n;
};

static uint64_t storm_random(struct storm *storm)
{
    storm->random = storm->random * 6364136223846793005u + 1442695040888963407u;
    return storm->random >> 33;
}

static void storm_result(struct storm *storm, struct held *held)
{
    enum err err = held->client->waiter.err;
    bool must_fail = held->n % 7 == 0;
    if (err == ERR_BUSY || err == ERR_SHARE || err == ERR_DEVICE_LOST) {
        storm->refused++;
        storm->wrong += held->client->waiter.entry != NULL || (err == ERR_DEVICE_LOST && !must_fail);
    } else {
        storm->answered++;
        storm->wrong += !got_file(held->client, held->n) || must_fail;
    }
    free(held->client);
    held->client = NULL;
}

static void storm_await(struct storm *storm, struct held *held)
{
    if (!wait_for(&held->client->done, 1)) {
        storm->wrong++; /* and the client is leaked: somebody may call it yet */
        held->client = NULL;
        return;
    }
    storm->wrong += atomic_load(&held->client->done) != 1;
    storm_result(storm, held);
}

static void storm_leave(struct storm *storm, struct held *held)
{
    if (!pipeline_leave(storm->rig->pipeline, &held->client->waiter)) {
        storm->late++;
        storm_await(storm, held);
        return;
    }
    storm->left++;
    storm->wrong += atomic_load(&held->client->done) != 0;
    free(held->client);
    held->client = NULL;
}

static void *storm_run(void *ctx)
{
    struct storm *storm = ctx;
    struct held places[STORM_HELD] = {0};
    for (int i = 0; i < STORM_STEPS + STORM_HELD; i++) {
        struct held *held =
            &places[i < STORM_STEPS ? storm_random(storm) % STORM_HELD : (uint64_t)i % STORM_HELD];
        if (held->client && storm_random(storm) % 2)
            storm_leave(storm, held);
        else if (held->client)
            storm_await(storm, held);
        if (i >= STORM_STEPS)
            continue;
        held->n = storm_random(storm) % STORM_KEYS;
        held->client = malloc(sizeof(*held->client));
        struct wish wish = {held->n, held->n % 5 == 0, 1 + storm_random(storm) % 3};
        if (held->client && fetch_wish(storm->rig, wish, held->client))
            storm_result(storm, held);
    }
    return NULL;
}

static void check_storm(struct rig rig)
{
    struct storm storms[STORM_THREADS], sum = {0};
    pthread_t threads[STORM_THREADS];
    atomic_store(&fake.fail_one_in, 7);
    for (int i = 0; i < STORM_THREADS; i++) {
        storms[i] = (struct storm){.rig = &rig, .random = (uint64_t)i + 1};
        assert_int_equal(pthread_create(&threads[i], NULL, storm_run, &storms[i]), 0);
    }
    for (int i = 0; i < STORM_THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(storms[i].wrong, 0);
        sum.answered += storms[i].answered;
        sum.refused += storms[i].refused;
        sum.left += storms[i].left;
        sum.late += storms[i].late;
    }
    print_message("answered %d, refused or failed %d, left %d, left too late %d, draws %d\n", sum.answered,
                  sum.refused, sum.left, sum.late, atomic_load(&fake.draws));
    assert_int_equal(sum.answered + sum.refused + sum.left, STORM_THREADS * STORM_STEPS);
    assert_true(sum.answered > 0 && sum.refused > 0 && sum.left > 0);
    assert_int_equal(rig_stats(&rig).queued, 0);
}

static void a_storm_of_fetches_and_leaves_answers_each_once(void **state)
{
    (void)state;
    struct rig rig = rig_open(3, 60000, 6); /* about fifteen entries */
    check_storm(rig);
    rig_close(&rig);
}

static void a_storm_with_the_cache_off_answers_each_once(void **state)
{
    (void)state;
    struct rig rig = rig_open(3, 0, 6);
    check_storm(rig);
    rig_close(&rig);
}

static void a_storm_with_stores_answers_each_once(void **state)
{
    (void)state;
    struct rig rig = rig_open_stores(3, 0, 1, 6);
    check_storm(rig);
    rig_close_stores(&rig);
}

static void a_storm_with_stores_that_hold_nothing_answers_each_once(void **state)
{
    (void)state;
    struct rig rig = rig_open_stores(3, 0, 1, 6);
    atomic_store(&disk.forgets, true);
    atomic_store(&shared.forgets, true);
    check_storm(rig);
    rig_close_stores(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_key_is_drawn_twice_when_asked_for_as_it_lands),
        cmocka_unit_test(a_storm_of_fetches_and_leaves_answers_each_once),
        cmocka_unit_test(a_storm_with_the_cache_off_answers_each_once),
        cmocka_unit_test(a_storm_with_stores_answers_each_once),
        cmocka_unit_test(a_storm_with_stores_that_hold_nothing_answers_each_once),
    };
    return cmocka_run_group_tests_name("pipeline_load", tests, NULL, NULL);
}
