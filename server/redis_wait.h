/* Waiting for a file descriptor with one limit for a whole conversation, however many pieces it comes in. */
#pragma once

#include <stdint.h>

#include "renderer/base/attr.h"

struct redis_wait {
    uint64_t deadline_ns; /* CLOCK_MONOTONIC */
    int stop_fd;          /* gives up when it becomes readable; -1 = none */
};

enum redis_wait_end {
    REDIS_WAIT_READY,
    REDIS_WAIT_LATE,
    REDIS_WAIT_STOPPED,
    REDIS_WAIT_BROKEN /* poll() failed */
};

/* CLOCK_MONOTONIC in nanoseconds. Threads: any. */
uint64_t redis_wait_now(void);

/* Waits for events of poll(). Late comes before ready: data that never stops does not extend the limit. */
MUST_USE enum redis_wait_end redis_wait_for(int fd, short events, const struct redis_wait *wait);
