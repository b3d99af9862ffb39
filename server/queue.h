/* Which render is next. Bounded by work, not by count; fair between clients; short work first.
 *
 * Self-clocked fair queueing (Golestani: "A self-clocked fair queueing scheme for broadband applications",
 * INFOCOM 1994) over flows: a flow is one client's short work or one client's long work. Each item gets a
 * tag, the later of the queue's virtual time and its flow's last tag, plus its work; the least tag goes first
 * and is the virtual time from then on. So a still overtakes animations that wait, and a client with a
 * hundred requests and one with one take turns. And nothing waits for ever: whoever has been overtaken for so
 * long that QUEUE_PATIENCE times the bound was taken out meanwhile goes next.
 *
 * Threads: one at a time (the pipeline's lock). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "renderer/base/attr.h"
#include "renderer/base/err.h"

#define QUEUE_LONG_NS 50000000u /* work above 50 ms is long: nobody waits for it at a prompt */
#define QUEUE_PATIENCE                                                                                       \
    2 /* once the bound is what a full queue first come, first served would cost anyway                      \
       */

struct queue_item {   /* embedded in what is queued */
    uint64_t client;  /* whose work it is: a hash of the address; 0 = nobody's, never refused for its share */
    uint64_t work_ns; /* estimated processor time */
    /* For queue.c alone. */
    uint64_t tag, order, patient_until;
    size_t heap_at;
    struct queue_client *owner;
    struct queue_item *older, *newer;
};

struct queue_desc {
    uint64_t work_max_ns; /* of all that waits; an item larger than that is let in when nothing waits */
    int share_percent;    /* of work_max_ns that one client may hold, 1..100; at least one item always */
};

struct queue;
MUST_USE enum err queue_create(const struct queue_desc *desc, struct queue **ret_queue);
void queue_destroy(struct queue *q); /* must be empty; accepts NULL */

/* client, work_ns are filled by the caller. ERR_BUSY: there is no room for it, whosoever it is. ERR_SHARE:
 * there would be, but this client has its share. ERR_OOM. */
MUST_USE enum err queue_add(struct queue *q, struct queue_item *item);
void queue_remove(struct queue *q, struct queue_item *item); /* one that is in it */

/* Takes out the next one, or returns NULL. with_long false: only short ones. */
struct queue_item *queue_take(struct queue *q, bool with_long);

size_t queue_count(const struct queue *q);
uint64_t queue_work_ns(const struct queue *q);
uint64_t queue_work_max_ns(const struct queue *q);
bool queue_item_long(const struct queue_item *item);
