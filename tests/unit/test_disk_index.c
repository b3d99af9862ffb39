/* test_disk_index.c -- the index of the disk cache beside a model that is too simple to be wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "server/disk_index.h"

#define BLOCK DISK_BLOCK_BYTES

static struct disk_id id_of(uint64_t n)
{
    return (struct disk_id){.high = n * 0x9e3779b97f4a7c15u, .low = n % 7}; /* long chains */
}

static void add(struct disk_index *ix, uint64_t n, uint32_t file_bytes, enum disk_place place)
{
    assert_int_equal(disk_index_reserve(ix), ERR_NONE);
    disk_index_add(ix, id_of(n), file_bytes, place);
}

static bool find(struct disk_index *ix, uint64_t n)
{
    uint32_t file_bytes, serial;
    return disk_index_find(ix, id_of(n), &file_bytes, &serial);
}

/* Evicts one; its number, -1 if there is none. Numbers are below `numbers`. */
static int evict(struct disk_index *ix, uint64_t budget, int numbers)
{
    struct disk_id id;
    uint32_t file_bytes;
    if (!disk_index_evict(ix, budget, &id, &file_bytes))
        return -1;
    disk_index_forget(ix, id);
    for (int n = 0; n < numbers; n++)
        if (id_of((uint64_t)n).high == id.high && id_of((uint64_t)n).low == id.low)
            return n;
    fail();
    return -1;
}

static void files_count_in_whole_blocks(void **state)
{
    (void)state;
    assert_int_equal(disk_index_cost(1), BLOCK);
    assert_int_equal(disk_index_cost(BLOCK), BLOCK);
    assert_int_equal(disk_index_cost(BLOCK + 1), 2 * BLOCK);
    assert_int_equal(disk_index_cost(UINT32_MAX), (uint64_t)1 << 32);
}

static void an_empty_index_answers(void **state)
{
    (void)state;
    struct disk_index ix;
    disk_index_init(&ix);
    assert_false(find(&ix, 1));
    assert_false(disk_index_has(&ix, id_of(1)));
    assert_false(disk_index_leave(&ix, id_of(1), 1));
    assert_int_equal(evict(&ix, 0, 0), -1);
    disk_index_finish(&ix);
    disk_index_finish(&ix);
}

static void newcomers_go_first_come_first_gone(void **state)
{
    (void)state;
    struct disk_index ix;
    disk_index_init(&ix);
    for (uint64_t n = 0; n < 10; n++)
        add(&ix, n, 1, DISK_SMALL);
    for (int n = 0; n < 10; n++)
        assert_int_equal(evict(&ix, 10 * BLOCK, 10), n);
    assert_int_equal(evict(&ix, 10 * BLOCK, 10), -1);
    disk_index_finish(&ix);
}

static void who_is_asked_for_outlives_who_is_not(void **state)
{
    (void)state;
    struct disk_index ix;
    disk_index_init(&ix);
    for (uint64_t n = 0; n < 10; n++)
        add(&ix, n, 1, DISK_SMALL);
    assert_true(find(&ix, 0));
    assert_true(find(&ix, 4));
    bool gone[10] = {false};
    for (int i = 0; i < 8; i++)
        gone[evict(&ix, 10 * BLOCK, 10)] = true;
    assert_false(gone[0] || gone[4]);
    disk_index_finish(&ix);
}

static void newcomers_do_not_push_out_the_main_queue(void **state)
{
    (void)state;
    struct disk_index ix;
    disk_index_init(&ix);
    const uint64_t budget = 100 * BLOCK;
    for (uint64_t n = 0; n < 90; n++)
        add(&ix, n, 1, DISK_MAIN);
    for (uint64_t n = 90; n < 1000; n++) {
        while (ix.bytes + BLOCK > budget)
            evict(&ix, budget, 1000);
        add(&ix, n, 1, DISK_SMALL);
    }
    for (uint64_t n = 0; n < 90; n++)
        assert_true(find(&ix, n));
    disk_index_finish(&ix);
}

static void a_main_queue_that_nobody_asks_for_makes_way(void **state)
{
    (void)state;
    struct disk_index ix;
    disk_index_init(&ix);
    const uint64_t budget = 100 * BLOCK;
    for (uint64_t n = 0; n < 100; n++)
        add(&ix, n, 1, DISK_MAIN);
    for (uint64_t n = 100; n < 300; n++) { /* each is asked for once */
        while (ix.bytes + BLOCK > budget)
            evict(&ix, budget, 300);
        add(&ix, n, 1, DISK_SMALL);
        assert_true(find(&ix, n));
    }
    int left = 0;
    for (uint64_t n = 0; n < 100; n++)
        left += find(&ix, n);
    assert_in_range(left, 0, 10);
    disk_index_finish(&ix);
}

static void one_that_leaves_is_not_found_but_counted_until_forgotten(void **state)
{
    (void)state;
    struct disk_index ix;
    uint32_t file_bytes, serial;
    disk_index_init(&ix);
    add(&ix, 1, 5000, DISK_SMALL);
    assert_true(disk_index_find(&ix, id_of(1), &file_bytes, &serial));
    assert_int_equal(file_bytes, 5000);
    assert_false(disk_index_leave(&ix, id_of(1), serial + 1));
    assert_true(disk_index_leave(&ix, id_of(1), serial));
    assert_false(disk_index_leave(&ix, id_of(1), serial));
    assert_false(find(&ix, 1));
    assert_true(disk_index_has(&ix, id_of(1)));
    assert_int_equal(ix.bytes, 2 * BLOCK);
    assert_int_equal(evict(&ix, 0, 0), -1); /* it goes once */
    disk_index_take_back(&ix, id_of(1));
    assert_true(find(&ix, 1));
    assert_true(disk_index_leave(&ix, id_of(1), serial));
    disk_index_forget(&ix, id_of(1));
    assert_int_equal(ix.bytes, 0);
    assert_int_equal(ix.entries, 0);
    add(&ix, 1, 10, DISK_SMALL); /* a later entry of the same id is another one */
    assert_false(disk_index_leave(&ix, id_of(1), serial));
    assert_true(find(&ix, 1));
    disk_index_finish(&ix);
}

#define NUMBERS 5000
#define STEPS   300000

struct model {
    uint32_t file_bytes[NUMBERS]; /* 0: not there */
    bool leaving[NUMBERS];
    uint64_t bytes;
    size_t entries;
};

static void model_forget(struct model *m, int n)
{
    m->bytes -= disk_index_cost(m->file_bytes[n]);
    m->entries--;
    m->file_bytes[n] = 0;
    m->leaving[n] = false;
}

static void step(struct disk_index *ix, struct model *m, uint64_t random)
{
    int n = (int)((random >> 8) % NUMBERS);
    uint32_t file_bytes = 0, serial = 0;
    bool found = disk_index_find(ix, id_of((uint64_t)n), &file_bytes, &serial);
    assert_int_equal(found, m->file_bytes[n] && !m->leaving[n]);
    assert_int_equal(disk_index_has(ix, id_of((uint64_t)n)), m->file_bytes[n] != 0);
    if (found)
        assert_int_equal(file_bytes, m->file_bytes[n]);
    if (m->leaving[n] && random % 2) {
        disk_index_forget(ix, id_of((uint64_t)n));
        model_forget(m, n);
    } else if (m->leaving[n]) {
        disk_index_take_back(ix, id_of((uint64_t)n));
        m->leaving[n] = false;
    } else if (found && random % 4 == 0) {
        assert_true(disk_index_leave(ix, id_of((uint64_t)n), serial));
        m->leaving[n] = true;
    } else if (!found) {
        file_bytes = 1 + (uint32_t)(random >> 32) % 20000;
        add(ix, (uint64_t)n, file_bytes, random % 3 ? DISK_SMALL : DISK_MAIN);
        m->file_bytes[n] = file_bytes;
        m->bytes += disk_index_cost(file_bytes);
        m->entries++;
    }
    if (random % 5 == 0 && m->entries) {
        int gone = evict(ix, 1000 * BLOCK, NUMBERS);
        assert_true(gone < 0 || (m->file_bytes[gone] && !m->leaving[gone]));
        if (gone >= 0)
            model_forget(m, gone);
    }
}

static void it_agrees_with_a_simple_model(void **state)
{
    (void)state;
    static struct model m;
    struct disk_index ix;
    disk_index_init(&ix);
    uint64_t random = 1;
    for (int i = 0; i < STEPS; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        step(&ix, &m, random ^ random >> 29);
        assert_int_equal(ix.bytes, m.bytes);
        assert_int_equal(ix.entries, m.entries);
    }
    assert_true(m.entries > 1024); /* it has grown */
    disk_index_finish(&ix);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_count_in_whole_blocks),
        cmocka_unit_test(an_empty_index_answers),
        cmocka_unit_test(newcomers_go_first_come_first_gone),
        cmocka_unit_test(who_is_asked_for_outlives_who_is_not),
        cmocka_unit_test(newcomers_do_not_push_out_the_main_queue),
        cmocka_unit_test(a_main_queue_that_nobody_asks_for_makes_way),
        cmocka_unit_test(one_that_leaves_is_not_found_but_counted_until_forgotten),
        cmocka_unit_test(it_agrees_with_a_simple_model),
    };
    return cmocka_run_group_tests_name("disk index", tests, NULL, NULL);
}
