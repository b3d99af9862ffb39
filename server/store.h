/* A cache outside the process: a folder, or a server that several planetd share. The pipeline asks stores in
 * order after the memory cache has missed, from a thread that may wait, and tells each of what was drawn. A
 * store that fails costs nothing but its hits: no function here reports an error, they are counted and
 * logged. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/key.h"
#include "api/request.h"
#include "server/cache.h"

enum store_tier { STORE_DISK, STORE_SHARED, STORE_TIERS };

struct store_stats {
    uint64_t hits, misses; /* of finds that were tried */
    uint64_t corrupt;      /* entries that did not pass record_read(): removed, drawn again */
    uint64_t errors;       /* failed reads and writes, time-outs */
    uint64_t skipped;      /* finds not tried: breaker open, past the deadline */
    uint64_t writes;       /* entries written */
    uint64_t dropped; /* entries not written: the write queue was full, too large, no room, breaker open */
    uint64_t evictions;
    size_t bytes, entries, budget; /* of a shared cache: 0 */
    bool up;                       /* can be read and written right now */
};

struct store;
struct store_impl {
    enum store_tier tier;
    /* A reference that the caller gives back, or NULL. May block on input and output, but not past
     * deadline_ns (CLOCK_MONOTONIC, 0 = none) by more than a few milliseconds. Threads: any. */
    struct entry *(*find)(struct store *s, const struct request *r, const struct key *key,
                          uint64_t deadline_ns);
    /* Has the entry written some time soon, by a thread of the store's own, or not. Never blocks. Takes a
     * reference of its own. Threads: any. */
    void (*put)(struct store *s, struct entry *e);
    void (*stats)(struct store *s, struct store_stats *ret_stats); /* Threads: any */
    /* Writes what is queued within `ms`, drops the rest, frees all. No call may be running or follow. */
    void (*close)(struct store *s, int ms);
};

/* First member of every store. */
struct store {
    const struct store_impl *impl;
};
