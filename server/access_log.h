/* One line for each request. Each HTTP loop has a log of its own, collects the lines of a turn in it and
 * writes them together: a system call for each would cost as much as a hit. Threads: the loop. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "server/http.h"
#include "server/log.h"

#define ACCESS_LOG_BYTES      32768 /* when a turn has more it is written in several goes */
#define ACCESS_LOG_LINE_BYTES 2048  /* no line has more: targets are cut */

/* Zeroed but for `mode` it is empty. */
struct access_log {
    enum access_mode mode;
    bool stamped; /* `stamp` is of this turn */
    time_t second;
    char stamp[LOG_STAMP_BYTES];
    size_t len;
    char text[ACCESS_LOG_BYTES];
};

/* "all", "drawn" or "none"; any other word means "all". */
enum access_mode access_log_mode(const char *word);

/* Adds the line of an exchange that has ended, if it gets one. `probe`: its path is one that machines ask all
 * the time. `sent`: the client took the answer. */
void access_log_add(struct access_log *a, struct http_exchange *x, bool probe, bool sent);

/* Writes what there is. At the end of each turn. */
void access_log_flush(struct access_log *a);

/* Copies a target, cut to `room`, NUL-terminated, with *** for what follows `signature=`, however it is
 * spelt. Returns the length. */
size_t access_log_hide(const char *target, char *to, size_t room);
