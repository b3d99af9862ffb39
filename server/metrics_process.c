/* metrics_process.c -- what the kernel counts of this process, for the process_* metrics.
 *
 * It asks with few system calls, all of which the disk cache needs too, so a filter of system calls hides
 * none of it. What can't be had (no /proc) is left out and harms nothing. Threads: any. */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "server/metrics_private.h"

#define STAT_BYTES      1024 /* a line of fifty numbers and a name of 16 bytes */
#define STAT_START_TIME 20   /* fields between the name and the start time, see proc(5) */

static uint64_t clock_ns(clockid_t id)
{
    struct timespec t;
    if (clock_gettime(id, &t))
        return 0;
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The beginning of a file as text, "" if it can't be read. */
static void file_read(const char *path, char ret_text[STAT_BYTES])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, ret_text, STAT_BYTES - 1) : 0;
    if (fd >= 0)
        close(fd);
    ret_text[n > 0 ? n : 0] = '\0';
}

static uint64_t start_ns;

/* The kernel tells the start in ticks since it booted; it is made a time of day once, since clocks drift
 * against each other and the start must not seem to move. */
static void start_find(void)
{
    char text[STAT_BYTES];
    long ticks_per_s = sysconf(_SC_CLK_TCK);
    file_read("/proc/self/stat", text);
    char *at = strrchr(text, ')'); /* the name may hold anything, blanks and brackets too */
    for (int i = 0; at && i < STAT_START_TIME; i++)
        at = strchr(at + 1, ' ');
    if (!at || ticks_per_s <= 0)
        return;
    uint64_t since_boot = strtoull(at, NULL, 10) * (1000000000u / (uint64_t)ticks_per_s);
    uint64_t now = clock_ns(CLOCK_REALTIME), up = clock_ns(CLOCK_BOOTTIME);
    if (up >= since_boot && now > up - since_boot)
        start_ns = now - (up - since_boot);
}

static uint64_t resident_bytes(void)
{
    char text[STAT_BYTES];
    long page = sysconf(_SC_PAGESIZE);
    file_read("/proc/self/statm", text);
    const char *second = strchr(text, ' ');
    return second && page > 0 ? strtoull(second, NULL, 10) * (uint64_t)page : 0;
}

static uint64_t open_fds(void)
{
    uint64_t n = 0;
    DIR *folder = opendir("/proc/self/fd");
    if (!folder)
        return 0;
    for (const struct dirent *e; (e = readdir(folder));) /* NOLINT(concurrency-mt-unsafe): its own stream */
        n += e->d_name[0] != '.';
    closedir(folder);
    return n > 0 ? n - 1 : 0; /* without the one that reads the folder */
}

void metrics_process(struct metrics_process *ret_process)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct rlimit files = {0};
    pthread_once(&once, start_find);
    if (getrlimit(RLIMIT_NOFILE, &files))
        files.rlim_cur = 0;
    *ret_process = (struct metrics_process){
        .start_ns = start_ns,
        .cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID),
        .resident_bytes = resident_bytes(),
        .open_fds = open_fds(),
        .max_fds = files.rlim_cur,
    };
}
