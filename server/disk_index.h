/* What lies in the folder of the disk cache, in memory: the hash of each key, the file's size, and who goes
 * next. Knows no files and takes no lock. Threads: one at a time. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "renderer/base/attr.h"
#include "renderer/base/err.h"

#define DISK_BLOCK_BYTES 4096 /* what a file takes is counted in these */

/* 128 bits of hash over the text of a key. Two keys that share one are told apart by the file's content. */
struct disk_id {
    uint64_t high, low;
};

/* About 48 bytes of memory for each entry. */
struct disk_slot;

enum disk_place {
    DISK_SMALL,  /* newcomers, about a tenth of the budget */
    DISK_MAIN,   /* who was asked for again, and what was there at the start */
    DISK_LEAVING /* its file is being removed: not found any more, still counted */
};

struct disk_queue {
    uint32_t oldest, newest; /* slots */
    uint64_t bytes;
};

/* Make it with disk_index_init(). */
struct disk_index {
    struct disk_slot *slots;
    uint32_t *buckets;
    uint32_t capacity, used, free; /* slots: allocated, ever used, first of those that are free again */
    uint32_t serial;
    struct disk_queue queues[2];
    uint64_t bytes; /* of all entries, in whole blocks */
    size_t entries;
};

void disk_index_init(struct disk_index *ix);
void disk_index_finish(struct disk_index *ix); /* empties it */

uint64_t disk_index_cost(uint32_t file_bytes); /* in whole blocks */

/* Makes sure that the next disk_index_add() has room. ERR_OOM. */
MUST_USE enum err disk_index_reserve(struct disk_index *ix);

/* Adds an entry as the newest of `place`. Nothing happens if the id is there. */
void disk_index_add(struct disk_index *ix, struct disk_id id, uint32_t file_bytes, enum disk_place place);

/* Whether it is there, leaving or not. */
bool disk_index_has(const struct disk_index *ix, struct disk_id id);

/* True if it is there and not leaving. Counts as being asked for. *ret_serial tells it from a later entry of
 * the same id. */
bool disk_index_find(struct disk_index *ix, struct disk_id id, uint32_t *ret_file_bytes,
                     uint32_t *ret_serial);

/* An entry leaves in two steps, because removing its file takes time: it is first found no more, then
 * forgotten. disk_index_leave() is false if this very entry is not there or leaves already. */
bool disk_index_leave(struct disk_index *ix, struct disk_id id, uint32_t serial);

/* Has whoever should go next leave. False if there is nobody. `budget_bytes` decides from which queue. */
bool disk_index_evict(struct disk_index *ix, uint64_t budget_bytes, struct disk_id *ret_id,
                      uint32_t *ret_file_bytes);

/* For one that is leaving: forgets it, or takes it back since its file couldn't be removed. */
void disk_index_forget(struct disk_index *ix, struct disk_id id);
void disk_index_take_back(struct disk_index *ix, struct disk_id id);
