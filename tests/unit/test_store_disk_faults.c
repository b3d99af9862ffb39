/* test_store_disk_faults.c -- what disks, rights and limits can do to the disk cache: it costs hits, and the
 * log says it once. */
#include "tests/unit/store_disk_rig.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define BODY_BYTES 3000
#define NOBODY     65534

static char folder[PATH_BYTES];
static char log_path[PATH_BYTES]; /* where standard error goes during a test */
static int real_stderr;

static int setup(void **state)
{
    (void)state;
    rig_folder_make(folder);
    rig_name(log_path, "%s.log", folder);
    real_stderr = dup(STDERR_FILENO);
    int fd = open(log_path, O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600);
    return real_stderr < 0 || dup2(fd, STDERR_FILENO) < 0 || close(fd) < 0;
}

static int make_writable(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)at;
    return kind == FTW_D || kind == FTW_DNR ? chmod(path, 0700) : 0;
}

static int teardown(void **state)
{
    (void)state;
    if (seteuid(getuid()) < 0)
        return 1;
    dup2(real_stderr, STDERR_FILENO);
    close(real_stderr);
    unlink(log_path);
    nftw(folder, make_writable, 64, FTW_PHYS);
    rig_folder_remove(folder);
    return 0;
}

/* How often `words` stand in the log. */
static int said(const char *words)
{
    static char text[65536];
    ssize_t len = pread(STDERR_FILENO, text, sizeof(text) - 1, 0);
    assert_true(len >= 0);
    text[len] = '\0';
    int times = 0;
    for (const char *at = text; (at = strstr(at, words)); at++)
        times++;
    return times;
}

static enum err refused(const char *path)
{
    struct store_disk_desc desc = {.folder = path, .budget_bytes = MIB};
    struct store *untouched = NULL, *s = untouched;
    enum err err = store_disk_open(&desc, &s);
    assert_ptr_equal(s, untouched);
    return err;
}

/* Rights don't bind root: such tests become somebody whom they bind, and own the folder. */
static void without_rights(void)
{
    if (geteuid() != 0)
        return;
    assert_int_equal(chown(folder, NOBODY, (gid_t)-1), 0);
    assert_int_equal(seteuid(NOBODY), 0);
}

static void set_modes(mode_t mode)
{
    char path[PATH_BYTES];
    for (unsigned shard = 0; shard < 256; shard++) {
        rig_name(path, "%s/%02x", folder, shard);
        assert_true(chmod(path, mode) == 0 || errno == ENOENT);
    }
    assert_int_equal(chmod(folder, mode | 0100), 0);
}

static void fill(uint64_t count)
{
    struct store *s = rig_open(folder, 100 * MIB);
    assert_non_null(s);
    for (uint64_t n = 0; n < count; n++)
        rig_put(s, n, BODY_BYTES);
    rig_close(s);
}

/* ---- folders that can't be used ---- */

static void a_file_is_no_folder(void **state)
{
    (void)state;
    assert_int_equal(refused(log_path), ERR_CONFIG);
    assert_int_equal(said("event=disk_cache_refused folder="), 1);
    assert_int_equal(said("reason=\"Not a directory\""), 1);
}

static void a_missing_parent_is_not_made(void **state)
{
    (void)state;
    char path[PATH_BYTES];
    rig_name(path, "%s/missing/cache", folder);
    assert_int_equal(refused(path), ERR_CONFIG);
    assert_int_equal(said("reason=\"No such file or directory\""), 1);
    *strrchr(path, '/') = '\0';
    assert_int_equal(access(path, F_OK), -1);
}

static void a_second_process_is_kept_out(void **state)
{
    (void)state;
    struct store *s = rig_open(folder, MIB);
    assert_non_null(s);
    assert_int_equal(refused(folder), ERR_CONFIG);
    assert_int_equal(said("reason=\"another process has it"), 1);
    assert_true(rig_put_wait(s, 1, BODY_BYTES)); /* and the first is not disturbed */
    assert_int_equal(rig_find(s, 1, BODY_BYTES), RIG_HIT);
    rig_close(s);
    s = rig_open(folder, MIB);
    assert_non_null(s);
    rig_close(s);
}

static void a_folder_without_the_right_to_read_is_refused(void **state)
{
    (void)state;
    without_rights();
    assert_int_equal(chmod(folder, 0300), 0);
    assert_int_equal(refused(folder), ERR_CONFIG);
    assert_int_equal(said("reason=\"Permission denied\""), 1);
}

/* ---- folders that can be read ---- */

static void a_start_opens_no_file(void **state)
{
    (void)state;
    without_rights();
    fill(20);
    set_modes(0400); /* names can be listed; no file in them can be opened or asked for its length */
    struct store *s = rig_open(folder, MIB);
    assert_non_null(s);
    assert_int_equal(rig_stats(s).entries, 20);
    assert_int_equal(rig_stats(s).bytes, 20 * 4096);
    rig_close(s);
}

static void a_read_only_folder_is_read(void **state)
{
    (void)state;
    without_rights();
    fill(20);
    set_modes(0500);
    struct store *s = rig_open(folder, 5 * 4096); /* nor is anything evicted from it */
    assert_non_null(s);
    assert_int_equal(said("event=disk_cache_read_only"), 1);
    for (uint64_t n = 0; n < 20; n++)
        assert_int_equal(rig_find(s, n, BODY_BYTES), RIG_HIT);
    for (uint64_t n = 20; n < 30; n++)
        rig_put(s, n, 10);
    struct store_stats stats = rig_stats(s);
    assert_false(stats.up);
    assert_int_equal(stats.dropped, 10);
    assert_int_equal(stats.entries, 20);
    assert_int_equal(stats.errors, 0);
    rig_close(s);
    assert_int_equal(rig_census(folder).entries, 20);
}

static void a_bad_file_in_a_read_only_folder_is_a_miss(void **state)
{
    (void)state;
    char path[PATH_BYTES];
    without_rights();
    fill(2);
    rig_path(folder, 1, BODY_BYTES, path);
    assert_int_equal(truncate(path, 100), 0);
    set_modes(0500);
    struct store *s = rig_open(folder, MIB);
    assert_non_null(s);
    for (int i = 0; i < 3; i++)
        assert_int_equal(rig_find(s, 1, BODY_BYTES), RIG_MISS);
    assert_int_equal(rig_find(s, 0, BODY_BYTES), RIG_HIT);
    assert_int_equal(rig_stats(s).corrupt, 1);
    rig_close(s);
}

static void a_file_without_the_right_to_read_is_a_miss(void **state)
{
    (void)state;
    char path[PATH_BYTES];
    without_rights();
    fill(2);
    rig_path(folder, 1, BODY_BYTES, path);
    assert_int_equal(chmod(path, 0), 0);
    struct store *s = rig_open(folder, MIB);
    assert_non_null(s);
    assert_int_equal(rig_find(s, 1, BODY_BYTES), RIG_MISS);
    assert_int_equal(rig_stats(s).corrupt, 1);
    assert_int_equal(access(path, F_OK), -1);
    assert_true(rig_put_wait(s, 1, BODY_BYTES));
    assert_int_equal(rig_find(s, 1, BODY_BYTES), RIG_HIT);
    rig_close(s);
}

static void a_folder_that_becomes_unwritable_is_still_read(void **state)
{
    (void)state;
    without_rights();
    fill(20);
    struct store *s = rig_open(folder, 100 * MIB);
    assert_non_null(s);
    set_modes(0500);
    assert_false(rig_put_wait(s, 100, BODY_BYTES));
    for (uint64_t n = 101; n < 110; n++)
        assert_false(rig_put_wait(s, n, BODY_BYTES));
    struct store_stats stats = rig_stats(s);
    assert_false(stats.up);
    assert_int_equal(stats.errors, 1); /* the others were not tried */
    assert_int_equal(stats.dropped, 10);
    assert_int_equal(said("event=disk_cache_write_failed"), 1);
    for (uint64_t n = 0; n < 20; n++)
        assert_int_equal(rig_find(s, n, BODY_BYTES), RIG_HIT);
    rig_close(s);
}

static void eviction_that_fails_keeps_the_budget_by_not_writing(void **state)
{
    (void)state;
    without_rights();
    struct store *s = rig_open(folder, MIB);
    assert_non_null(s);
    for (uint64_t n = 0; n < 256; n++)
        assert_true(rig_put_wait(s, n, BODY_BYTES));
    set_modes(0500);
    assert_int_equal(chmod(folder, 0700), 0); /* new files could be made, old ones can't be removed */
    assert_false(rig_put_wait(s, 1000, BODY_BYTES));
    struct store_stats stats = rig_stats(s);
    assert_int_equal(stats.entries, 256);
    assert_int_equal(stats.evictions, 0);
    for (uint64_t n = 0; n < 256; n++)
        assert_int_equal(rig_find(s, n, BODY_BYTES), RIG_HIT);
    rig_close(s);
}

/* ---- full disks and other limits ---- */

#define CHECK(what)                                                                                          \
    do {                                                                                                     \
        if (!(what)) {                                                                                       \
            dprintf(real_stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what);                          \
            return 1;                                                                                        \
        }                                                                                                    \
    } while (0)

#define CANNOT_MOUNT 77

static bool write_filler(size_t bytes)
{
    static uint8_t zeros[4096];
    char path[PATH_BYTES];
    rig_name(path, "%s/filler", folder);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    while (fd >= 0 && bytes >= sizeof(zeros) && write(fd, zeros, sizeof(zeros)) == (ssize_t)sizeof(zeros))
        bytes -= sizeof(zeros);
    return fd >= 0 && close(fd) == 0;
}

static bool write_words(const char *path, const char *words)
{
    int fd = open(path, O_WRONLY);
    bool written = fd >= 0 && write(fd, words, strlen(words)) == (ssize_t)strlen(words);
    if (fd >= 0)
        close(fd);
    return written;
}

/* Mounts over the folder; nobody else sees it and it ends with the process. Needs root, or a kernel that lets
 * users be root of a name space of their own. */
static bool mount_small_disk(void)
{
    char users[32], groups[32];
    uid_t uid = geteuid();
    snprintf(users, sizeof(users), "0 %u 1", (unsigned)uid);
    snprintf(groups, sizeof(groups), "0 %u 1", (unsigned)getegid());
    if (unshare(CLONE_NEWNS | (uid ? CLONE_NEWUSER : 0)) < 0)
        return false;
    if (uid && !(write_words("/proc/self/uid_map", users) && write_words("/proc/self/setgroups", "deny") &&
                 write_words("/proc/self/gid_map", groups)))
        return false;
    return mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("none", folder, "tmpfs", 0, "size=1m,mode=700") == 0;
}

static int fill_a_disk(void)
{
    if (!mount_small_disk())
        return CANNOT_MOUNT;
    struct store *s = rig_open(folder, 1000 * MIB);
    CHECK(s != NULL);
    for (uint64_t n = 0; n < 10; n++)
        CHECK(rig_put_wait(s, n, BODY_BYTES));
    CHECK(write_filler(SIZE_MAX)); /* till nothing fits */
    for (uint64_t n = 10; n < 100; n++)
        CHECK(!rig_put_wait(s, n, 20000));
    struct store_stats stats = rig_stats(s);
    CHECK(stats.errors == 1 && stats.dropped == 90 && !stats.up && stats.writes == 10);
    CHECK(said("event=disk_cache_write_failed") == 1 && said("reason=\"No space left on device\"") == 1);
    for (uint64_t n = 0; n < 10; n++)
        CHECK(rig_find(s, n, BODY_BYTES) == RIG_HIT);
    CHECK(rig_find(s, 10, 20000) == RIG_MISS);
    CHECK(!rig_census(folder).half_written && rig_census(folder).entries == 10);

    char path[PATH_BYTES];
    rig_name(path, "%s/filler", folder);
    CHECK(unlink(path) == 0);
    bool written = false;
    for (int waited_ms = 0; waited_ms < WAIT_MS && !written;
         waited_ms += 50) { /* it pauses for some seconds */
        written = rig_put_wait(s, 10, 20000);
        sleep_us(50000);
    }
    CHECK(written && rig_stats(s).up && said("event=disk_cache_writes_again") == 1);
    CHECK(rig_find(s, 10, 20000) == RIG_HIT);
    rig_close(s);

    CHECK(write_filler(SIZE_MAX)); /* a start on a full disk */
    s = rig_open(folder, 1000 * MIB);
    CHECK(s != NULL && rig_find(s, 10, 20000) == RIG_HIT && !rig_put_wait(s, 11, 20000));
    rig_close(s);
    return 0;
}

static void a_full_disk_costs_only_the_cache(void **state)
{
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(fill_a_disk());
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == CANNOT_MOUNT) {
        print_message("no file system can be mounted here\n");
        skip();
    }
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* SIGXFSZ is not ignored here: the store must see to it. */
static void a_limit_on_file_sizes_is_no_end_and_leaves_no_half_file(void **state)
{
    (void)state;
    struct rlimit before, limit;
    struct store *s = rig_open(folder, 100 * MIB);
    assert_non_null(s);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = 10000;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    bool large = rig_put_wait(s, 1, 20000), small = rig_put_wait(s, 2, BODY_BYTES);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_false(large);
    assert_true(small);
    struct store_stats stats = rig_stats(s);
    assert_int_equal(stats.errors, 1);
    assert_int_equal(stats.dropped, 1);
    assert_true(stats.up); /* others can be written */
    assert_int_equal(rig_census(folder).entries, 1);
    assert_false(rig_census(folder).half_written);
    rig_close(s);
}

static void a_lack_of_descriptors_is_not_the_fault_of_an_entry(void **state)
{
    (void)state;
    struct rlimit before, limit;
    fill(2);
    struct store *s = rig_open(folder, 100 * MIB);
    assert_non_null(s);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    limit = before;
    limit.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    enum rig_found found = rig_find(s, 1, BODY_BYTES);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(found, RIG_MISS);
    assert_int_equal(rig_stats(s).errors, 1);
    assert_int_equal(rig_stats(s).corrupt, 0);
    assert_int_equal(said("event=disk_cache_read_failed"), 1);
    assert_int_equal(rig_find(s, 1, BODY_BYTES), RIG_HIT);
    rig_close(s);
}

static int open_descriptors(void)
{
    int count = 0;
    DIR *dir = opendir("/proc/self/fd");
    assert_non_null(dir);
    while (readdir(dir))
        count++;
    closedir(dir);
    return count;
}

static void two_descriptors_stay_open_and_no_more(void **state)
{
    (void)state;
    char path[PATH_BYTES];
    int before = open_descriptors();
    struct store *s = rig_open(folder, MIB);
    assert_non_null(s);
    for (uint64_t n = 0; n < 400; n++) {
        assert_true(rig_put_wait(s, n, BODY_BYTES)); /* some are evicted */
        rig_find(s, n / 2, BODY_BYTES);
    }
    for (uint64_t n = 390; n < 400; n++) {
        rig_path(folder, n, BODY_BYTES, path);
        assert_int_equal(n % 2 ? truncate(path, 5) : unlink(path), 0);
        assert_int_equal(rig_find(s, n, BODY_BYTES), RIG_MISS);
    }
    assert_int_equal(open_descriptors(), before + 2);
    assert_int_equal(refused(folder), ERR_CONFIG);
    assert_int_equal(open_descriptors(), before + 2);
    rig_close(s);
    assert_int_equal(open_descriptors(), before);
}

/* ---- traps ---- */

static void a_subfolder_that_is_a_link_leads_nowhere(void **state)
{
    (void)state;
    char path[PATH_BYTES], outside[PATH_BYTES], shard[PATH_BYTES];
    rig_path(folder, 1, BODY_BYTES, path);
    rig_name(shard, "%.*s", (int)(strrchr(path, '/') - path), path);
    rig_name(outside, "%s/outside", folder);
    assert_int_equal(mkdir(outside, 0700), 0);
    assert_int_equal(symlink(outside, shard), 0);
    struct store *s = rig_open(folder, MIB);
    assert_non_null(s);
    assert_int_equal(said("event=disk_cache_unlisted"), 1);
    assert_false(rig_put_wait(s, 1, BODY_BYTES));
    assert_int_equal(rmdir(outside), 0); /* empty */
    uint64_t other = 2;
    char other_path[PATH_BYTES];
    do
        rig_path(folder, ++other, BODY_BYTES, other_path);
    while (strncmp(path, other_path, strlen(shard)) == 0);
    assert_true(rig_put_wait(s, other, BODY_BYTES)); /* the other subfolders are not touched by that */
    assert_true(rig_stats(s).up);
    assert_int_equal(rig_stats(s).errors, 1);
    rig_close(s);
}

static void a_link_in_place_of_the_new_file_is_not_written_through(void **state)
{
    (void)state;
    char target[PATH_BYTES], link_path[PATH_BYTES];
    struct stat st;
    rig_name(target, "%s/precious", folder);
    rig_name(link_path, "%s/new", folder);
    struct store *s = rig_open(folder, MIB);
    assert_non_null(s);
    int fd = open(target, O_WRONLY | O_CREAT, 0600);
    assert_int_equal(write(fd, "keep", 4), 4);
    close(fd);
    assert_int_equal(symlink(target, link_path), 0);
    assert_true(rig_put_wait(s, 1, BODY_BYTES));
    assert_int_equal(rig_find(s, 1, BODY_BYTES), RIG_HIT);
    assert_int_equal(stat(target, &st), 0);
    assert_int_equal(st.st_size, 4);
    rig_close(s);
}

static void one_line_in_ten_seconds_is_enough_for_bad_entries(void **state)
{
    (void)state;
    char path[PATH_BYTES];
    fill(50);
    struct store *s = rig_open(folder, 100 * MIB);
    assert_non_null(s);
    for (uint64_t n = 0; n < 50; n++) {
        rig_path(folder, n, BODY_BYTES, path);
        assert_int_equal(truncate(path, 0), 0);
        assert_int_equal(rig_find(s, n, BODY_BYTES), RIG_MISS);
    }
    assert_int_equal(rig_stats(s).corrupt, 50);
    assert_in_range(said("event=disk_cache_bad_entry"), 1, 10);
    rig_close(s);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_file_is_no_folder),
        TEST(a_missing_parent_is_not_made),
        TEST(a_second_process_is_kept_out),
        TEST(a_folder_without_the_right_to_read_is_refused),
        TEST(a_start_opens_no_file),
        TEST(a_read_only_folder_is_read),
        TEST(a_bad_file_in_a_read_only_folder_is_a_miss),
        TEST(a_file_without_the_right_to_read_is_a_miss),
        TEST(a_folder_that_becomes_unwritable_is_still_read),
        TEST(eviction_that_fails_keeps_the_budget_by_not_writing),
        TEST(a_full_disk_costs_only_the_cache),
        TEST(a_limit_on_file_sizes_is_no_end_and_leaves_no_half_file),
        TEST(a_lack_of_descriptors_is_not_the_fault_of_an_entry),
        TEST(two_descriptors_stay_open_and_no_more),
        TEST(a_subfolder_that_is_a_link_leads_nowhere),
        TEST(a_link_in_place_of_the_new_file_is_not_written_through),
        TEST(one_line_in_ten_seconds_is_enough_for_bad_entries),
    };
    return cmocka_run_group_tests_name("disk cache, faults", tests, NULL, NULL);
}
