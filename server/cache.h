/* Finished files in memory, by key, within a byte budget. Eviction is S3-FIFO (Yang, Zhang, Qiu, Yue, Rashmi:
 * "FIFO queues are all you need for cache eviction", SOSP 2023): a small queue takes newcomers, only what is
 * asked for again moves to the main queue, so a crawler that walks seeds can't push out what is hot. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/key.h"
#include "renderer/base/attr.h"
#include "renderer/base/blob.h"
#include "renderer/base/err.h"

/* A finished file. Immutable once made, except for the reference count and what cache.c keeps. Threads: any,
 * by reference. */
struct entry {
    atomic_int refs;
    uint64_t serial; /* from 1, no two entries of a process have the same: an address may come again */
    struct key key;
    struct blob body;
    enum format format;
    char etag[ETAG_BYTES];
    char file_name[FILE_NAME_BYTES];
    /* For cache.c alone. */
    struct entry *bucket_next, *queue_next;
    atomic_uchar frequency;
    unsigned char queue;
};

/* Takes *body on success (and empties it). One reference, which the caller holds. ERR_OOM. */
MUST_USE enum err entry_create(const struct request *r, const struct key *key, struct blob *body,
                               struct entry **ret_entry);
struct entry *entry_ref(struct entry *e); /* returns e */
void entry_unref(struct entry *e);        /* accepts NULL; the last one frees */

/* Entries of the process that exist: in the cache, or evicted and still being sent. Threads: any. */
int entry_alive(void);

/* Bytes that an entry counts in the budget: body and struct. */
size_t entry_cost(const struct entry *e);

struct cache;
struct cache_stats {
    uint64_t hits, misses, insertions, evictions;
    size_t bytes, entries, budget;
};

/* budget_bytes 0: stores nothing, always misses. ERR_OOM. */
MUST_USE enum err cache_create(size_t budget_bytes, struct cache **ret_cache);
void cache_destroy(struct cache *c); /* accepts NULL */

/* A reference that the caller gives back with entry_unref(), or NULL. Never blocks on a render. Threads: any.
 */
struct entry *cache_find(struct cache *c, const struct key *key);

/* Keeps a reference of its own, or not: an entry above the budget's share is not kept. An equal key that is
 * there already stays; one that was evicted isn't taken again. Threads: any. */
void cache_put(struct cache *c, struct entry *e);

void cache_stats(struct cache *c, struct cache_stats *ret_stats); /* Threads: any */
