/* redis_wait.c -- poll() against an absolute time. A time-out for each read would not do: a server that sends
 * a byte now and then would hold its reader for ever. Threads: any. */
#include "server/redis_wait.h"

#include <errno.h>
#include <poll.h>
#include <time.h>

#define NS_A_SECOND UINT64_C(1000000000)

uint64_t redis_wait_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * NS_A_SECOND + (uint64_t)t.tv_nsec;
}

enum redis_wait_end redis_wait_for(int fd, short events, const struct redis_wait *wait)
{
    for (;;) {
        uint64_t now = redis_wait_now();
        if (now >= wait->deadline_ns)
            return REDIS_WAIT_LATE;
        uint64_t left = wait->deadline_ns - now;
        struct timespec limit = {.tv_sec = (time_t)(left / NS_A_SECOND),
                                 .tv_nsec = (long)(left % NS_A_SECOND)};
        struct pollfd fds[2] = {{.fd = fd, .events = events}, {.fd = wait->stop_fd, .events = POLLIN}};
        int n = ppoll(fds, 2, &limit, NULL);
        if (n < 0 && errno != EINTR)
            return REDIS_WAIT_BROKEN;
        if (n > 0 && fds[1].revents)
            return REDIS_WAIT_STOPPED;
        if (n > 0)
            return REDIS_WAIT_READY;
    }
}
