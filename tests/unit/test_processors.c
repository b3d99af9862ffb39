/* test_processors.c -- quotas of control groups, read from folders that look like a machine's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <ftw.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server/processors.h"

static char machine[64]; /* the folder that stands for / */

static int begin(void **state)
{
    (void)state;
    snprintf(machine, sizeof(machine), "/tmp/test_processors.XXXXXX");
    return mkdtemp(machine) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *s, int kind, struct FTW *ftw)
{
    (void)s, (void)kind, (void)ftw;
    return remove(path);
}

static int end(void **state)
{
    (void)state;
    return nftw(machine, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void file(const char *path, const char *text)
{
    char whole[512];
    snprintf(whole, sizeof(whole), "%s%s", machine, path);
    for (char *slash = whole + strlen(machine) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        if (mkdir(whole, 0777) && errno != EEXIST)
            fail_msg("%s: %s", whole, strerror(errno));
        *slash = '/';
    }
    FILE *f = fopen(whole, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

#define V2_MOUNT "25 1 0:22 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"

static void v2(const char *group)
{
    char line[256];
    snprintf(line, sizeof(line), "0::%s\n", group);
    file("/proc/self/cgroup", line);
    file("/proc/self/mountinfo", "22 1 0:21 / /proc rw - proc proc rw\n" V2_MOUNT);
}

static void quota_is(int quota)
{
    assert_int_equal(processors_quota(machine), quota);
    int usable = processors_usable(machine), all = processors_usable("/nowhere");
    assert_int_equal(usable, quota && quota < all ? quota : all);
}

static void without_any_files_the_affinity_mask_decides(void **state)
{
    (void)state;
    cpu_set_t before, one;
    quota_is(0);
    assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
    assert_int_equal(processors_usable(machine), CPU_COUNT(&before));
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
        if (CPU_ISSET(i, &before))
            CPU_SET(i, &one);
    assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
    assert_int_equal(processors_usable(machine), 1);
    assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
}

static void a_quota_of_version_2_is_rounded_up(void **state)
{
    (void)state;
    v2("/");
    static const struct {
        const char *text;
        int quota;
    } cases[] = {
        {"max 100000\n", 0},    {"50000 100000\n", 1},
        {"100000 100000\n", 1}, {"100001 100000\n", 2},
        {"250000 100000\n", 3}, {"400000 100000", 4},
        {"1000 100000\n", 1},   {"1 1000000\n", 1},
        {"75000 50000\n", 2},   {"9223372036854775807 1\n", INT32_MAX},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        file("/sys/fs/cgroup/cpu.max", cases[i].text);
        quota_is(cases[i].quota);
    }
}

static void the_least_quota_on_the_way_up_counts(void **state)
{
    (void)state;
    v2("/a.slice/b.scope/c");
    file("/sys/fs/cgroup/a.slice/b.scope/c/cpu.max", "max 100000\n");
    file("/sys/fs/cgroup/a.slice/b.scope/cpu.max", "700000 100000\n");
    file("/sys/fs/cgroup/a.slice/cpu.max", "150000 50000\n");
    file("/sys/fs/cgroup/other/cpu.max", "50000 100000\n");
    quota_is(3);
    file("/sys/fs/cgroup/a.slice/b.scope/c/cpu.max", "200000 100000\n");
    quota_is(2);
    file("/sys/fs/cgroup/cpu.max", "90000 100000\n"); /* the root of a namespace has one */
    quota_is(1);
}

static void a_level_without_files_does_not_end_the_way_up(void **state)
{
    (void)state;
    v2("/a/b/c");
    file("/sys/fs/cgroup/a/cpu.max", "200000 100000\n");
    quota_is(2);
}

static void garbage_limits_nothing(void **state)
{
    (void)state;
    static const char *const garbage[] = {
        "",           "\n",        "max",        "100000\n",        "100000 0\n",
        "0 100000\n", "-5 100000", "x 100000\n", "100000 x\n",      "2.5 100000\n",
        "0x10 10\n",  "max max\n", " 1 1\n",     "100000 -100000\n"};
    v2("/a");
    for (size_t i = 0; i < sizeof(garbage) / sizeof(garbage[0]); i++) {
        file("/sys/fs/cgroup/a/cpu.max", garbage[i]);
        quota_is(0);
    }
    file("/sys/fs/cgroup/a/cpu.max", "100000 100000\n");
    quota_is(1);
    static const char *const groups[] = {"",       "\n",      "0\n",    "0:\n",      "0::\n",
                                         "0::a\n", "x::/a\n", "::::\n", "1:cpu:/a\n"};
    for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
        file("/proc/self/cgroup", groups[i]);
        quota_is(0);
    }
    file("/proc/self/cgroup", "0::/a\n");
    static const char *const mounts[] = {"",
                                         "\n",
                                         " - cgroup2 x rw\n",
                                         "25 1 - cgroup2 x rw\n",
                                         " - \n",
                                         "- cgroup2\n",
                                         "25 1 0:22 / /sys/fs/cgroup rw cgroup2 cgroup2 rw\n"};
    for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
        file("/proc/self/mountinfo", mounts[i]);
        quota_is(0);
    }
}

static void version_1_has_quota_and_period_in_two_files(void **state)
{
    (void)state;
    file("/proc/self/cgroup", "12:cpuset:/x\n4:cpu,cpuacct:/docker/abc\n1:name=systemd:/docker/abc\n0::/\n");
    file("/proc/self/mountinfo",
         "31 24 0:27 / /sys/fs/cgroup/cpuset rw shared:9 master:3 - cgroup cgroup rw,cpuset\n"
         "32 24 0:28 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n");
    quota_is(0);
    file("/sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_quota_us", "250000\n");
    quota_is(0); /* no period */
    file("/sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_period_us", "100000\n");
    quota_is(3);
    file("/sys/fs/cgroup/cpu,cpuacct/docker/cpu.cfs_quota_us", "50000\n");
    file("/sys/fs/cgroup/cpu,cpuacct/docker/cpu.cfs_period_us", "100000\n");
    quota_is(1);
    file("/sys/fs/cgroup/cpu,cpuacct/docker/cpu.cfs_quota_us", "-1\n");
    quota_is(3);
    file("/sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_quota_us", "-1\n");
    quota_is(0);
}

static void a_mount_that_shows_only_the_group_itself_is_understood(void **state)
{
    (void)state;
    file("/proc/self/cgroup", "4:cpu,cpuacct:/docker/abc/inner\n");
    file("/proc/self/mountinfo",
         "32 24 0:28 /docker/abc /sys/fs/cgroup/my\\040cpu rw - cgroup cgroup rw,cpu\n");
    file("/sys/fs/cgroup/my cpu/cpu.cfs_quota_us", "150000\n");
    file("/sys/fs/cgroup/my cpu/cpu.cfs_period_us", "50000\n");
    quota_is(3);
    file("/sys/fs/cgroup/my cpu/inner/cpu.cfs_quota_us", "100000\n");
    file("/sys/fs/cgroup/my cpu/inner/cpu.cfs_period_us", "50000\n");
    quota_is(2);
    file("/proc/self/cgroup", "4:cpu,cpuacct:/docker/abcdef/inner\n"); /* not below /docker/abc */
    quota_is(3);
}

static void a_group_outside_the_namespace_leaves_the_mount_itself(void **state)
{
    (void)state;
    v2("/../sibling");
    file("/sys/fs/cgroup/cpu.max", "200000 100000\n");
    file("/sys/fs/sibling/cpu.max", "100000 100000\n");
    quota_is(2);
}

static void with_both_versions_the_lower_quota_counts(void **state)
{
    (void)state;
    file("/proc/self/cgroup", "4:cpu:/g\n0::/g\n");
    file("/proc/self/mountinfo", V2_MOUNT "32 24 0:28 / /v1 rw - cgroup cgroup rw,cpu\n");
    file("/sys/fs/cgroup/g/cpu.max", "500000 100000\n");
    quota_is(5);
    file("/v1/g/cpu.cfs_quota_us", "200000\n");
    file("/v1/g/cpu.cfs_period_us", "100000\n");
    quota_is(2);
    file("/sys/fs/cgroup/g/cpu.max", "100000 100000\n");
    quota_is(1);
}

static void paths_of_any_length_are_survived(void **state)
{
    (void)state;
    char *line = malloc(20000);
    assert_non_null(line);
    for (size_t len = 4000; len < 19000; len += 997) {
        memset(line, 'a', len);
        memcpy(line, "0::/", 4);
        line[len] = '\0';
        v2("/");
        file("/proc/self/cgroup", line);
        processors_quota(machine);
        memcpy(line, "1 1 1 /", 7);
        file("/proc/self/mountinfo", line);
        processors_quota(machine);
    }
    free(line);
}

/* ---- A group of the kernel's ---- */

static bool write_text(const char *folder, const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *f = fopen(path, "r+"); /* the kernel makes the files */
    bool ok = f && fputs(text, f) >= 0;
    return f && fclose(f) == 0 && ok;
}

static void a_real_group_s_quota_is_obeyed(void **state)
{
    (void)state;
    static const char *const tops[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"};
    char folder[256], pid[32];
    bool limited = false;
    for (size_t i = 0; i < 3 && !limited; i++) {
        snprintf(folder, sizeof(folder), "%s/test_processors.%d", tops[i], (int)getpid());
        if (mkdir(folder, 0755))
            continue;
        limited = write_text(folder, "cpu.max", "90000 100000\n") ||
                  write_text(folder, "cpu.cfs_quota_us", "90000\n");
        if (!limited)
            rmdir(folder);
    }
    if (!limited) {
        print_message("no control group with a CPU quota can be made here\n");
        skip();
    }
    pid_t child = fork();
    if (child == 0) {
        snprintf(pid, sizeof(pid), "%d\n", (int)getpid());
        _exit(write_text(folder, "cgroup.procs", pid) ? processors_usable("") : 99);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    rmdir(folder);
    if (WEXITSTATUS(status) == 99) {
        print_message("no process can be moved to another control group here\n");
        skip();
    }
    assert_int_equal(WEXITSTATUS(status), 1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(without_any_files_the_affinity_mask_decides),
        TEST(a_quota_of_version_2_is_rounded_up),
        TEST(the_least_quota_on_the_way_up_counts),
        TEST(a_level_without_files_does_not_end_the_way_up),
        TEST(garbage_limits_nothing),
        TEST(version_1_has_quota_and_period_in_two_files),
        TEST(a_mount_that_shows_only_the_group_itself_is_understood),
        TEST(a_group_outside_the_namespace_leaves_the_mount_itself),
        TEST(with_both_versions_the_lower_quota_counts),
        TEST(paths_of_any_length_are_survived),
        cmocka_unit_test(a_real_group_s_quota_is_obeyed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
