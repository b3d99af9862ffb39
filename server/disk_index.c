/* disk_index.c -- a hash table for finding, two queues for deciding who goes.
 *
 * Slots stand in one array and are linked by number: half of what pointers would take, and a million entries
 * are a few dozen megabytes. The array and the table double together.
 *
 * Who goes: S3-FIFO as in cache.c, less its ghosts. Newcomers enter the small queue and reach the main queue
 * only if they are asked for meanwhile, once being enough: a second ask within a short time is answered from
 * memory and never seen here. What the folder held at the start has shown before that it is worth its place,
 * so it begins in the main queue. A crawl through all seeds so passes through a tenth of the budget.
 *
 * Threads: one at a time. */
#include "server/disk_index.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define NONE          UINT32_MAX
#define CAPACITY_MIN  1024
#define CAPACITY_MAX  ((uint32_t)1 << 31)
#define FREQUENCY_MAX 3
#define SMALL_SHARE   10 /* the small queue has one part in this many of the budget */

struct disk_slot {
    struct disk_id id;
    uint32_t file_bytes, serial;
    uint32_t bucket_next; /* of a free slot: the next free one */
    uint32_t older, newer;
    uint8_t frequency, place;
};

/* ---- table ---- */

static uint32_t *bucket_of(const struct disk_index *ix, struct disk_id id)
{
    return &ix->buckets[id.low & (ix->capacity - 1)];
}

static uint32_t slot_of(const struct disk_index *ix, struct disk_id id)
{
    if (!ix->capacity)
        return NONE;
    uint32_t at = *bucket_of(ix, id);
    while (at != NONE && (ix->slots[at].id.low != id.low || ix->slots[at].id.high != id.high))
        at = ix->slots[at].bucket_next;
    return at;
}

static void table_add(struct disk_index *ix, uint32_t at)
{
    uint32_t *bucket = bucket_of(ix, ix->slots[at].id);
    ix->slots[at].bucket_next = *bucket;
    *bucket = at;
}

static void table_remove(struct disk_index *ix, uint32_t at)
{
    uint32_t *link = bucket_of(ix, ix->slots[at].id);
    while (*link != at)
        link = &ix->slots[*link].bucket_next;
    *link = ix->slots[at].bucket_next;
}

enum err disk_index_reserve(struct disk_index *ix)
{
    if (ix->free != NONE || ix->used < ix->capacity)
        return ERR_NONE;
    if (ix->capacity >= CAPACITY_MAX)
        return ERR_OOM;
    uint32_t capacity = ix->capacity ? ix->capacity * 2 : CAPACITY_MIN;
    uint32_t *buckets = malloc(capacity * sizeof(*buckets));
    struct disk_slot *slots = buckets ? realloc(ix->slots, capacity * sizeof(*slots)) : NULL;
    if (!slots) {
        free(buckets);
        return ERR_OOM;
    }
    memset(buckets, 0xff, capacity * sizeof(*buckets)); /* NONE */
    free(ix->buckets);
    ix->buckets = buckets;
    ix->slots = slots;
    ix->capacity = capacity;
    for (uint32_t at = 0; at < ix->used; at++) /* none is free, else there were room */
        table_add(ix, at);
    return ERR_NONE;
}

/* ---- queues ---- */

static void queue_push(struct disk_index *ix, uint32_t at, enum disk_place place)
{
    struct disk_queue *q = &ix->queues[place];
    struct disk_slot *slot = &ix->slots[at];
    slot->place = (uint8_t)place;
    slot->older = q->newest;
    slot->newer = NONE;
    if (q->newest != NONE)
        ix->slots[q->newest].newer = at;
    else
        q->oldest = at;
    q->newest = at;
    q->bytes += disk_index_cost(slot->file_bytes);
}

static void queue_remove(struct disk_index *ix, uint32_t at)
{
    struct disk_slot *slot = &ix->slots[at];
    struct disk_queue *q = &ix->queues[slot->place];
    if (slot->older != NONE)
        ix->slots[slot->older].newer = slot->newer;
    else
        q->oldest = slot->newer;
    if (slot->newer != NONE)
        ix->slots[slot->newer].older = slot->older;
    else
        q->newest = slot->older;
    q->bytes -= disk_index_cost(slot->file_bytes);
    slot->place = DISK_LEAVING;
}

/* The one that goes next, NONE if both queues are empty. Ends: each round moves one out of the small queue or
 * lowers a frequency. */
static uint32_t victim(struct disk_index *ix, uint64_t budget_bytes)
{
    for (;;) {
        struct disk_queue *small = &ix->queues[DISK_SMALL], *main = &ix->queues[DISK_MAIN];
        bool from_small = main->oldest == NONE || small->bytes >= budget_bytes / SMALL_SHARE;
        if (small->oldest == NONE)
            from_small = false;
        uint32_t at = from_small ? small->oldest : main->oldest;
        if (at == NONE || ix->slots[at].frequency == 0)
            return at;
        ix->slots[at].frequency = (uint8_t)(from_small ? 0 : ix->slots[at].frequency - 1);
        queue_remove(ix, at);
        queue_push(ix, at, DISK_MAIN);
    }
}

/* ---- the index ---- */

uint64_t disk_index_cost(uint32_t file_bytes)
{
    return ((uint64_t)file_bytes + DISK_BLOCK_BYTES - 1) / DISK_BLOCK_BYTES * DISK_BLOCK_BYTES;
}

void disk_index_init(struct disk_index *ix)
{
    *ix = (struct disk_index){.free = NONE, .queues = {{NONE, NONE, 0}, {NONE, NONE, 0}}};
}

void disk_index_finish(struct disk_index *ix)
{
    free(ix->slots);
    free(ix->buckets);
    disk_index_init(ix);
}

void disk_index_add(struct disk_index *ix, struct disk_id id, uint32_t file_bytes, enum disk_place place)
{
    assert(place != DISK_LEAVING && (ix->free != NONE || ix->used < ix->capacity));
    if (disk_index_has(ix, id))
        return;
    uint32_t at = ix->free;
    if (at != NONE)
        ix->free = ix->slots[at].bucket_next;
    else
        at = ix->used++;
    ix->slots[at] = (struct disk_slot){.id = id, .file_bytes = file_bytes, .serial = ++ix->serial};
    table_add(ix, at);
    queue_push(ix, at, place);
    ix->bytes += disk_index_cost(file_bytes);
    ix->entries++;
}

bool disk_index_has(const struct disk_index *ix, struct disk_id id)
{
    return slot_of(ix, id) != NONE;
}

bool disk_index_find(struct disk_index *ix, struct disk_id id, uint32_t *ret_file_bytes, uint32_t *ret_serial)
{
    uint32_t at = slot_of(ix, id);
    if (at == NONE || ix->slots[at].place == DISK_LEAVING)
        return false;
    struct disk_slot *slot = &ix->slots[at];
    if (slot->frequency < FREQUENCY_MAX)
        slot->frequency++;
    *ret_file_bytes = slot->file_bytes;
    *ret_serial = slot->serial;
    return true;
}

bool disk_index_leave(struct disk_index *ix, struct disk_id id, uint32_t serial)
{
    uint32_t at = slot_of(ix, id);
    if (at == NONE || ix->slots[at].place == DISK_LEAVING || ix->slots[at].serial != serial)
        return false;
    queue_remove(ix, at);
    return true;
}

bool disk_index_evict(struct disk_index *ix, uint64_t budget_bytes, struct disk_id *ret_id,
                      uint32_t *ret_file_bytes)
{
    uint32_t at = victim(ix, budget_bytes);
    if (at == NONE)
        return false;
    queue_remove(ix, at);
    *ret_id = ix->slots[at].id;
    *ret_file_bytes = ix->slots[at].file_bytes;
    return true;
}

void disk_index_forget(struct disk_index *ix, struct disk_id id)
{
    uint32_t at = slot_of(ix, id);
    assert(at != NONE && ix->slots[at].place == DISK_LEAVING);
    table_remove(ix, at);
    ix->bytes -= disk_index_cost(ix->slots[at].file_bytes);
    ix->entries--;
    ix->slots[at].bucket_next = ix->free;
    ix->free = at;
}

void disk_index_take_back(struct disk_index *ix, struct disk_id id)
{
    uint32_t at = slot_of(ix, id);
    assert(at != NONE && ix->slots[at].place == DISK_LEAVING);
    queue_push(ix, at, DISK_MAIN);
}
