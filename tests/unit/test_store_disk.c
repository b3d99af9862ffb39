/* test_store_disk.c -- the disk cache gives back what was put, or nothing: after a restart, and whatever
 * happened to its files. What disks and rights can do is in test_store_disk_faults.c, kill -9 in
 * test_store_disk_kill.c. */
#include "tests/unit/store_disk_rig.h"

#include <pthread.h>
#include <stdatomic.h>

#define BODY_BYTES 3000 /* a block with its record */
#define FILE_BYTES 4096 /* what it takes on disk */

static char folder[PATH_BYTES];

static int setup(void **state)
{
    (void)state;
    rig_folder_make(folder);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    rig_folder_remove(folder);
    return 0;
}

static struct store *open_store(uint64_t budget_bytes)
{
    struct store *s = rig_open(folder, budget_bytes);
    assert_non_null(s);
    return s;
}

/* Closes it, and checks that the index and the folder were of one opinion. */
static void close_store(struct store *s)
{
    rig_close(s);
    s = open_store(1000 * MIB); /* nothing is evicted: it tells what is there */
    struct store_stats stats = rig_stats(s);
    rig_close(s);
    struct rig_census census = rig_census(folder);
    assert_int_equal(stats.entries, census.entries);
    assert_int_equal(stats.bytes, census.bytes);
    assert_false(census.half_written);
}

static void an_entry_survives_closing_and_opening(void **state)
{
    (void)state;
    struct store *s = open_store(100 * MIB);
    assert_int_equal(s->impl->tier, STORE_DISK);
    for (uint64_t n = 0; n < 50; n++) {
        assert_int_equal(rig_find(s, n, BODY_BYTES + n * 100), RIG_MISS);
        rig_put(s, n, BODY_BYTES + n * 100);
    }
    rig_close(s); /* writes what is queued */
    s = open_store(100 * MIB);
    for (uint64_t n = 0; n < 50; n++)
        assert_int_equal(rig_find(s, n, BODY_BYTES + n * 100), RIG_HIT);
    assert_int_equal(rig_find(s, 50, BODY_BYTES), RIG_MISS);
    struct store_stats stats = rig_stats(s);
    assert_int_equal(stats.hits, 50);
    assert_int_equal(stats.misses, 1);
    assert_int_equal(stats.corrupt + stats.errors + stats.dropped + stats.evictions, 0);
    assert_int_equal(stats.entries, 50);
    assert_int_equal(stats.budget, 100 * MIB);
    assert_true(stats.up);
    close_store(s);
}

static void an_entry_is_found_by_the_process_that_wrote_it(void **state)
{
    (void)state;
    struct store *s = open_store(100 * MIB);
    assert_true(rig_put_wait(s, 1, BODY_BYTES));
    assert_int_equal(rig_find(s, 1, BODY_BYTES), RIG_HIT);
    struct store_stats stats = rig_stats(s);
    assert_int_equal(stats.writes, 1);
    assert_int_equal(stats.entries, 1);
    assert_int_equal(stats.bytes, FILE_BYTES);
    close_store(s);
}

static void an_entry_that_is_there_is_not_written_again(void **state)
{
    (void)state;
    struct store *s = open_store(100 * MIB);
    for (int i = 0; i < 5; i++)
        rig_put(s, 1, BODY_BYTES);
    rig_put(s, 2, BODY_BYTES);
    for (int waited_ms = 0; waited_ms < WAIT_MS && rig_stats(s).entries < 2; waited_ms++)
        sleep_us(1000);
    struct store_stats stats = rig_stats(s);
    assert_int_equal(stats.entries, 2);
    assert_int_equal(stats.writes, 2);
    assert_int_equal(stats.dropped, 0);
    close_store(s);
}

static unsigned mode_of(const char *path)
{
    struct stat st;
    assert_int_equal(lstat(path, &st), 0);
    return (unsigned)st.st_mode & 07777;
}

static void nobody_else_can_look_into_a_folder_that_it_made(void **state)
{
    (void)state;
    char inner[PATH_BYTES], path[PATH_BYTES];
    rig_name(inner, "%s/made", folder);
    mode_t before = umask(0);
    struct store *s = rig_open(inner, MIB);
    assert_non_null(s);
    assert_true(rig_put_wait(s, 1, BODY_BYTES));
    umask(before);
    assert_int_equal(mode_of(inner), 0700);
    rig_path(inner, 1, BODY_BYTES, path);
    assert_int_equal(mode_of(path), 0600);
    *strrchr(path, '/') = '\0';
    assert_int_equal(mode_of(path), 0700);
    rig_close(s);
}

/* ---- files that are not what they were ---- */

static void truncate_half(const char *path)
{
    assert_int_equal(truncate(path, BODY_BYTES / 2), 0);
}

static void make_empty(const char *path)
{
    assert_int_equal(truncate(path, 0), 0);
}

static void make_longer(const char *path)
{
    assert_int_equal(truncate(path, BODY_BYTES * 2), 0);
}

static void flip_bit(const char *path)
{
    char byte;
    int fd = open(path, O_RDWR);
    assert_true(fd >= 0);
    assert_int_equal(pread(fd, &byte, 1, BODY_BYTES / 2), 1);
    byte ^= 4;
    assert_int_equal(pwrite(fd, &byte, 1, BODY_BYTES / 2), 1);
    close(fd);
}

static void put_folder_there(const char *path)
{
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
}

static void put_pipe_there(const char *path)
{
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
}

/* The file itself is sound, but not where it should be. */
static void put_link_there(const char *path)
{
    char moved[PATH_BYTES];
    rig_name(moved, "%s/moved", folder);
    assert_int_equal(rename(path, moved), 0);
    assert_int_equal(symlink(moved, path), 0);
}

static void alter_record(const char *path, size_t at)
{
    uint8_t bytes[BODY_BYTES * 2];
    int fd = open(path, O_RDWR);
    assert_true(fd >= 0);
    ssize_t len = read(fd, bytes, sizeof(bytes));
    assert_true(len > BODY_BYTES);
    bytes[at] ^= 1;
    XXH128_canonical_t sum;
    XXH128_canonicalFromHash(&sum, XXH3_128bits(bytes, (size_t)len - sizeof(sum)));
    memcpy(bytes + len - sizeof(sum), &sum, sizeof(sum));
    assert_int_equal(pwrite(fd, bytes, (size_t)len, 0), len);
    close(fd);
}

static void make_another_revision(const char *path)
{
    alter_record(path, 64 + 4); /* "rev=1" in the key, all else sound */
}

static void make_other_libraries(const char *path)
{
    alter_record(path, 24 + 5); /* in the entity tag */
}

static void damage_is_a_miss(void (*damage)(const char *path), bool reopen)
{
    char path[PATH_BYTES];
    struct store *s = open_store(100 * MIB);
    assert_true(rig_put_wait(s, 1, BODY_BYTES));
    assert_true(rig_put_wait(s, 2, BODY_BYTES));
    rig_path(folder, 1, BODY_BYTES, path);
    struct store_stats before = {0};
    if (reopen) {
        rig_close(s);
        damage(path);
        s = open_store(100 * MIB);
    } else {
        damage(path);
        before = rig_stats(s);
    }
    assert_int_equal(rig_stats(s).entries, 2);
    assert_int_equal(rig_find(s, 1, BODY_BYTES), RIG_MISS);
    struct store_stats stats = rig_stats(s);
    assert_int_equal(stats.corrupt - before.corrupt, 1);
    assert_int_equal(stats.misses - before.misses, 1);
    assert_int_equal(stats.hits - before.hits, 0);
    assert_int_equal(stats.entries, 1);
    struct stat st;
    assert_int_equal(lstat(path, &st), -1); /* removed */
    assert_true(rig_put_wait(s, 1, BODY_BYTES));
    assert_int_equal(rig_find(s, 1, BODY_BYTES), RIG_HIT);
    assert_int_equal(rig_find(s, 2, BODY_BYTES), RIG_HIT);
    assert_int_equal(rig_stats(s).corrupt - before.corrupt, 1);
    close_store(s);
    teardown(NULL);
    setup(NULL);
}

#define DAMAGE_TEST(name, damage)                                                                            \
    static void name(void **state)                                                                           \
    {                                                                                                        \
        (void)state;                                                                                         \
        damage_is_a_miss(damage, false);                                                                     \
        damage_is_a_miss(damage, true);                                                                      \
    }
DAMAGE_TEST(a_truncated_file_is_a_miss, truncate_half)
DAMAGE_TEST(an_emptied_file_is_a_miss, make_empty)
DAMAGE_TEST(a_lengthened_file_is_a_miss, make_longer)
DAMAGE_TEST(a_file_with_a_flipped_bit_is_a_miss, flip_bit)
DAMAGE_TEST(a_folder_in_place_of_a_file_is_a_miss, put_folder_there)
DAMAGE_TEST(a_pipe_in_place_of_a_file_is_a_miss_and_no_wait, put_pipe_there)
DAMAGE_TEST(a_symbolic_link_in_place_of_a_file_is_not_followed, put_link_there)
DAMAGE_TEST(a_file_of_another_revision_is_a_miss, make_another_revision)
DAMAGE_TEST(a_file_of_other_libraries_is_a_miss, make_other_libraries)

static void two_swapped_files_are_two_misses(void **state)
{
    (void)state;
    char one[PATH_BYTES], two[PATH_BYTES], aside[PATH_BYTES];
    struct store *s = open_store(100 * MIB);
    assert_true(rig_put_wait(s, 1, BODY_BYTES));
    assert_true(rig_put_wait(s, 2, BODY_BYTES));
    rig_path(folder, 1, BODY_BYTES, one);
    rig_path(folder, 2, BODY_BYTES, two);
    rig_name(aside, "%s/aside", folder);
    assert_true(rename(one, aside) == 0 && rename(two, one) == 0 && rename(aside, two) == 0);
    assert_int_equal(rig_find(s, 1, BODY_BYTES), RIG_MISS);
    assert_int_equal(rig_find(s, 2, BODY_BYTES), RIG_MISS);
    assert_int_equal(rig_stats(s).corrupt, 2);
    assert_int_equal(rig_stats(s).entries, 0);
    for (uint64_t n = 1; n <= 2; n++) {
        assert_true(rig_put_wait(s, n, BODY_BYTES));
        assert_int_equal(rig_find(s, n, BODY_BYTES), RIG_HIT);
    }
    close_store(s);
}

static void a_file_that_somebody_removed_is_a_plain_miss(void **state)
{
    (void)state;
    char path[PATH_BYTES];
    struct store *s = open_store(100 * MIB);
    assert_true(rig_put_wait(s, 1, BODY_BYTES));
    rig_path(folder, 1, BODY_BYTES, path);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rig_find(s, 1, BODY_BYTES), RIG_MISS);
    struct store_stats stats = rig_stats(s);
    assert_int_equal(stats.corrupt + stats.errors, 0);
    assert_int_equal(stats.entries, 0);
    *strrchr(path, '/') = '\0';
    assert_int_equal(rmdir(path), 0); /* and the folder around it */
    assert_true(rig_put_wait(s, 1, BODY_BYTES));
    assert_int_equal(rig_find(s, 1, BODY_BYTES), RIG_HIT);
    close_store(s);
}

/* ---- what lies in the folder at the start ---- */

static void touch(const char *name)
{
    char path[PATH_BYTES];
    rig_name(path, "%s/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "x", 1), 1);
    close(fd);
}

static bool exists(const char *name)
{
    char path[PATH_BYTES];
    rig_name(path, "%s/%s", folder, name);
    return access(path, F_OK) == 0;
}

static void what_was_half_written_is_swept_and_what_is_not_ours_stays(void **state)
{
    (void)state;
    static const char *const others[] = {
        "notes.txt",
        "00/README",
        "00/00112233445566778899aabbccddeeff",            /* no length */
        "00/00112233445566778899aabbccddeeff-0000000A",   /* upper case */
        "00/00112233445566778899aabbccddeeff-00000000",   /* no record is empty */
        "00/00112233445566778899aabbccddeeff-ffffffff",   /* none is so long */
        "00/00112233445566778899aabbccddeeff-000000aa.b", /* something follows */
        "00/11112233445566778899aabbccddeeff-000000aa",   /* belongs into another subfolder */
    };
    struct store *s = open_store(MIB);
    rig_close(s);
    char shard[PATH_BYTES];
    rig_name(shard, "%s/00", folder);
    assert_int_equal(mkdir(shard, 0700), 0);
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        touch(others[i]);
    touch("new");
    touch("00/00112233445566778899aabbccddeeff-00000aaa");
    s = open_store(MIB);
    assert_false(exists("new"));
    assert_int_equal(rig_stats(s).entries, 1);
    rig_close(s);
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        assert_true(exists(others[i]));
}

static void of_two_files_with_one_hash_one_is_removed(void **state)
{
    (void)state;
    char path[PATH_BYTES];
    struct store *s = open_store(MIB);
    assert_true(rig_put_wait(s, 1, BODY_BYTES));
    rig_close(s);
    rig_path(folder, 1, BODY_BYTES + 1, path);
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(rig_census(folder).entries, 2);
    s = open_store(MIB);
    assert_int_equal(rig_stats(s).entries, 1);
    assert_int_equal(rig_census(folder).entries, 1);
    assert_int_not_equal(rig_find(s, 1, BODY_BYTES), RIG_WRONG);
    close_store(s);
}

#define MANY 100000

/* Only names are read at the start, so all may be links to a few empty files, which is faster to make. Each
 * is found out when it is asked for. */
static void make_name(uint64_t n)
{
    static char last[PATH_BYTES];
    char path[PATH_BYTES];
    rig_path(folder, n, BODY_BYTES, path);
    if (n > 0 && link(last, path) == 0)
        return;
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600); /* or the last one may have no more links */
    assert_true(fd >= 0);
    close(fd);
    rig_name(last, "%s", path);
}

static void a_start_with_100000_entries_takes_less_than_a_second(void **state)
{
    (void)state;
    char path[PATH_BYTES];
    for (unsigned shard = 0; shard < 256; shard++) {
        rig_name(path, "%s/%02x", folder, shard);
        assert_int_equal(mkdir(path, 0700), 0);
    }
    for (uint64_t n = 0; n < MANY; n++)
        make_name(n);
    struct timespec began, ended;
    clock_gettime(CLOCK_MONOTONIC, &began);
    struct store *s = open_store(1000 * MIB);
    clock_gettime(CLOCK_MONOTONIC, &ended);
    double ms = (double)(ended.tv_sec - began.tv_sec) * 1e3 + (double)(ended.tv_nsec - began.tv_nsec) * 1e-6;
    print_message("start with %d entries: %.0f ms\n", MANY, ms);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    assert_true(ms < 1000);
#endif
    assert_int_equal(rig_stats(s).entries, MANY);
    assert_int_equal(rig_stats(s).bytes, (uint64_t)MANY * FILE_BYTES);
    for (uint64_t n = 0; n < MANY; n += 1000)
        assert_int_equal(rig_find(s, n, BODY_BYTES), RIG_MISS);
    assert_int_equal(rig_stats(s).corrupt, MANY / 1000);
    rig_close(s);
}

/* ---- budget and queue ---- */

static void eviction_keeps_the_budget_and_what_is_asked_for(void **state)
{
    (void)state;
    const uint64_t budget = MIB, hot = 100; /* 256 files fit */
    struct store *s = open_store(budget);
    for (uint64_t n = 0; n < hot; n++) {
        assert_true(rig_put_wait(s, n, BODY_BYTES));
        assert_int_equal(rig_find(s, n, BODY_BYTES), RIG_HIT);
    }
    for (uint64_t n = hot; n < 1000; n++) {
        assert_true(rig_put_wait(s, n, BODY_BYTES));
        assert_true(rig_stats(s).bytes <= budget);
        if (n % 100 == 0)
            assert_true(rig_census(folder).bytes <= budget);
    }
    for (uint64_t n = 0; n < hot; n++)
        assert_int_equal(rig_find(s, n, BODY_BYTES), RIG_HIT);
    struct store_stats stats = rig_stats(s);
    assert_int_equal(stats.writes, 1000);
    assert_int_equal(stats.evictions, 1000 - stats.entries);
    assert_int_equal(stats.entries, budget / FILE_BYTES);
    close_store(s);
}

static void files_count_in_whole_blocks(void **state)
{
    (void)state;
    struct store *s = open_store(MIB);
    for (uint64_t n = 0; n < 300; n++)
        rig_put(s, n, 10); /* a hundred bytes with the record: 10 MiB would fit by length */
    rig_close(s);
    assert_int_equal(rig_census(folder).entries, 256);
}

static void what_was_there_survives_a_crawl_after_the_start(void **state)
{
    (void)state;
    struct store *s = open_store(MIB);
    for (uint64_t n = 0; n < 200; n++)
        rig_put(s, n, BODY_BYTES);
    rig_close(s);
    s = open_store(MIB);
    for (uint64_t n = 1000; n < 1600; n++)
        assert_true(rig_put_wait(s, n, BODY_BYTES));
    for (uint64_t n = 0; n < 200; n++)
        assert_int_equal(rig_find(s, n, BODY_BYTES), RIG_HIT);
    close_store(s);
}

static void a_smaller_budget_is_kept_from_the_start(void **state)
{
    (void)state;
    struct store *s = open_store(10 * MIB);
    for (uint64_t n = 0; n < 1000; n++)
        rig_put(s, n, BODY_BYTES);
    rig_close(s);
    assert_int_equal(rig_census(folder).entries, 1000);
    s = open_store(MIB);
    for (int waited_ms = 0; waited_ms < WAIT_MS && rig_stats(s).bytes > MIB; waited_ms++)
        sleep_us(1000);
    assert_true(rig_stats(s).bytes <= MIB);
    assert_int_equal(rig_stats(s).evictions, 1000 - 256);
    assert_int_equal(rig_census(folder).entries, 256);
    close_store(s);
}

static void a_file_above_a_tenth_of_the_budget_is_not_kept(void **state)
{
    (void)state;
    struct store *s = open_store(MIB);
    assert_false(rig_put_wait(s, 1, MIB / 10 + 1));
    assert_true(rig_put_wait(s, 2, MIB / 10 - 5000));
    assert_int_equal(rig_stats(s).dropped, 1);
    assert_int_equal(rig_stats(s).entries, 1);
    close_store(s);
}

#define BIG_COUNT 80
#define BIG_BYTES ((size_t)1 << 20)

static void a_full_queue_drops_and_counts(void **state)
{
    (void)state;
    struct entry *big[BIG_COUNT];
    for (uint64_t n = 0; n < BIG_COUNT; n++)
        big[n] = rig_entry(n, BIG_BYTES);
    struct store *s = open_store(1000 * MIB);
    for (uint64_t n = 0; n < BIG_COUNT; n++) /* takes microseconds; writing takes longer */
        s->impl->put(s, big[n]);
    uint64_t dropped = rig_stats(s).dropped;
    assert_in_range(dropped, 1, BIG_COUNT - 31); /* 31 fit in any case */
    rig_close(s);
    assert_int_equal(rig_census(folder).entries, BIG_COUNT - dropped);
    for (uint64_t n = 0; n < BIG_COUNT; n++) {
        assert_int_equal(atomic_load(&big[n]->refs), 1);
        entry_unref(big[n]);
    }
}

static void closing_in_no_time_drops_what_is_queued(void **state)
{
    (void)state;
    struct entry *big[BIG_COUNT];
    for (uint64_t n = 0; n < BIG_COUNT; n++)
        big[n] = rig_entry(n, BIG_BYTES);
    struct store *s = open_store(1000 * MIB);
    for (uint64_t n = 0; n < 30; n++)
        s->impl->put(s, big[n]);
    s->impl->close(s, 0);
    assert_in_range(rig_census(folder).entries, 0, 29);
    assert_false(rig_census(folder).half_written);
    for (uint64_t n = 0; n < BIG_COUNT; n++) {
        assert_int_equal(atomic_load(&big[n]->refs), 1);
        entry_unref(big[n]);
    }
}

/* ---- all at once ---- */

#define LOAD_THREADS 4
#define LOAD_KEYS    600
#define LOAD_BUDGET  (2 * MIB)

struct load {
    struct store *store;
    uint64_t random, steps;
    atomic_int *wrong;
};

static size_t load_bytes(uint64_t n)
{
    return 1 + rig_mix(n) % 20000;
}

static void load_step(struct load *load)
{
    uint64_t random = load->random = rig_mix(load->random);
    uint64_t n = random % 3 ? random / 3 % 50 : random / 3 % LOAD_KEYS;
    enum rig_found found = rig_find(load->store, n, load_bytes(n));
    load->steps++;
    if (found == RIG_WRONG)
        atomic_fetch_add(load->wrong, 1);
    if (found == RIG_MISS) {
        rig_put(load->store, n, load_bytes(n));
        sleep_us(100); /* drawing takes its time too; else next to nothing but drops */
    }
    if ((random >> 33 & 63) == 0) { /* now and then somebody spoils a file */
        char path[PATH_BYTES];
        rig_path(folder, n, load_bytes(n), path);
        if (truncate(path, (off_t)(load_bytes(n) / 2)) < 0 && errno != ENOENT)
            atomic_fetch_add(load->wrong, 1);
    }
}

static void *load_run(void *ctx)
{
    struct load *load = ctx;
    struct store_stats stats;
    time_t limit = time(NULL) + WAIT_MS / 1000;
    do {
        load_step(load);
        stats = rig_stats(load->store);
        if (stats.bytes > LOAD_BUDGET)
            atomic_fetch_add(load->wrong, 1);
    } while ((stats.hits < 1000 || stats.writes < 1000 || stats.evictions < 500 || stats.corrupt < 20) &&
             time(NULL) < limit);
    return NULL;
}

static void threads_find_put_evict_and_remove_at_once(void **state)
{
    (void)state;
    struct load loads[LOAD_THREADS];
    pthread_t threads[LOAD_THREADS];
    atomic_int wrong = 0;
    uint64_t steps = 0;
    struct store *s = open_store(LOAD_BUDGET);
    for (int i = 0; i < LOAD_THREADS; i++) {
        loads[i] = (struct load){.store = s, .random = (uint64_t)i, .wrong = &wrong};
        assert_int_equal(pthread_create(&threads[i], NULL, load_run, &loads[i]), 0);
    }
    for (int i = 0; i < LOAD_THREADS; i++) {
        pthread_join(threads[i], NULL);
        steps += loads[i].steps;
    }
    struct store_stats stats = rig_stats(s);
    close_store(s);
    assert_int_equal(atomic_load(&wrong), 0);
    assert_int_equal(stats.hits + stats.misses, steps);
    assert_int_equal(stats.errors, 0);
    assert_true(stats.writes >= 1000 && stats.evictions >= 500 && stats.corrupt >= 20);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_entry_survives_closing_and_opening),
        TEST(an_entry_is_found_by_the_process_that_wrote_it),
        TEST(an_entry_that_is_there_is_not_written_again),
        TEST(nobody_else_can_look_into_a_folder_that_it_made),
        TEST(a_truncated_file_is_a_miss),
        TEST(an_emptied_file_is_a_miss),
        TEST(a_lengthened_file_is_a_miss),
        TEST(a_file_with_a_flipped_bit_is_a_miss),
        TEST(a_folder_in_place_of_a_file_is_a_miss),
        TEST(a_pipe_in_place_of_a_file_is_a_miss_and_no_wait),
        TEST(a_symbolic_link_in_place_of_a_file_is_not_followed),
        TEST(a_file_of_another_revision_is_a_miss),
        TEST(a_file_of_other_libraries_is_a_miss),
        TEST(two_swapped_files_are_two_misses),
        TEST(a_file_that_somebody_removed_is_a_plain_miss),
        TEST(what_was_half_written_is_swept_and_what_is_not_ours_stays),
        TEST(of_two_files_with_one_hash_one_is_removed),
        TEST(a_start_with_100000_entries_takes_less_than_a_second),
        TEST(eviction_keeps_the_budget_and_what_is_asked_for),
        TEST(files_count_in_whole_blocks),
        TEST(what_was_there_survives_a_crawl_after_the_start),
        TEST(a_smaller_budget_is_kept_from_the_start),
        TEST(a_file_above_a_tenth_of_the_budget_is_not_kept),
        TEST(a_full_queue_drops_and_counts),
        TEST(closing_in_no_time_drops_what_is_queued),
        TEST(threads_find_put_evict_and_remove_at_once),
    };
    return cmocka_run_group_tests_name("disk cache", tests, NULL, NULL);
}
