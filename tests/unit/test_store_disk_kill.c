/* test_store_disk_kill.c -- kill -9 while writing, over and over: whatever is found afterwards is right.
 *
 * The writer is this program, run again with a folder as argument: a fresh process, as after a real restart.
 * It says by a byte on standard output that the store is open; from then on it may be killed at any moment.
 */
#include "tests/unit/store_disk_rig.h"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#define KILLS       200
#define KILL_MAX_US 15000
#define KEYS        300
#define BODY_MAX    60000
#define BUDGET      (4 * MIB) /* about 130 of the 300: there is always something to write and to evict */

static size_t bytes_of(uint64_t n)
{
    return 1 + rig_mix(n) % (n % 2 ? BODY_MAX : 2000);
}

/* Puts what is missing, in random order, as fast as it can be written. Never returns. */
static int write_until_killed(const char *folder, uint64_t random)
{
    struct store *s = rig_open(folder, BUDGET);
    if (!s || write(STDOUT_FILENO, "", 1) != 1)
        return 1;
    for (;;) {
        random = rig_mix(random);
        rig_put(s, random % KEYS, bytes_of(random % KEYS));
        if (random >> 32 & 1)
            sleep_us(20);
    }
}

static pid_t start_writer(const char *folder, uint64_t random, int *ret_ready)
{
    char name[] = "writer", path[PATH_BYTES], number[24];
    char *argv[] = {name, path, number, NULL};
    int ends[2];
    pid_t pid;
    posix_spawn_file_actions_t actions;
    rig_name(path, "%s", folder);
    snprintf(number, sizeof(number), "%" PRIu64, random);
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    assert_int_equal(posix_spawn(&pid, "/proc/self/exe", &actions, NULL, argv, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    *ret_ready = ends[0];
    return pid;
}

struct tally {
    int found, gone, half_written;
};

static void kill_once(const char *folder, uint64_t random, struct tally *tally)
{
    int ready, status;
    char byte;
    pid_t pid = start_writer(folder, random, &ready);
    assert_int_equal(read(ready, &byte, 1), 1);
    close(ready);
    sleep_us((long)(random % KILL_MAX_US));
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    tally->half_written += rig_census(folder).half_written;

    struct store *s = rig_open(folder, BUDGET);
    assert_non_null(s);
    struct store_stats stats = rig_stats(s);
    struct rig_census census = rig_census(folder);
    assert_false(census.half_written);
    assert_int_equal(stats.entries, census.entries);
    assert_int_equal(stats.bytes, census.bytes);
    assert_true(census.bytes <= BUDGET);
    for (uint64_t n = 0; n < KEYS; n++) {
        enum rig_found found = rig_find(s, n, bytes_of(n));
        assert_int_not_equal(found, RIG_WRONG);
        tally->found += found == RIG_HIT;
    }
    stats = rig_stats(s);
    assert_int_equal(stats.corrupt, 0); /* a file with its name is whole: the process died, not the kernel */
    assert_int_equal(stats.hits, census.entries);
    rig_close(s);
}

static void after_200_kills_every_entry_that_is_found_is_right(void **state)
{
    (void)state;
    char folder[PATH_BYTES];
    struct tally tally = {0};
    uint64_t random = (uint64_t)time(NULL);
    print_message("seed %llu\n", (unsigned long long)random);
    rig_folder_make(folder);
    for (int i = 0; i < KILLS; i++)
        kill_once(folder, random = rig_mix(random), &tally);
    rig_folder_remove(folder);
    print_message("%d kills, %d of them left a half-written file; %d entries read\n", KILLS,
                  tally.half_written, tally.found);
    assert_true(tally.found > KILLS);
}

int main(int argc, char **argv)
{
    if (argc == 3)
        return write_until_killed(argv[1], strtoull(argv[2], NULL, 10));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(after_200_kills_every_entry_that_is_found_is_right),
    };
    return cmocka_run_group_tests_name("disk cache, kill -9", tests, NULL, NULL);
}
