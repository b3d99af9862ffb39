/* queue.c -- which render is next: two heaps by tag, one of short and one of long items, so that the short
 * ones can be had alone; and beside each heap a list by age, for those that were overtaken too long.
 *
 * A client is remembered only while something of its waits. That forgets nothing: what was taken out last
 * moved the virtual time to its tag, so a flow that is empty would begin at the virtual time anyway. So the
 * table of clients is bounded by what waits.
 *
 * Work that is taken back (its client left) is taken off its flow's tag too, so that what was never drawn
 * doesn't count. Threads: one at a time. */
#include "server/queue.h"

#include <stdlib.h>

#define BUCKETS_START 64
#define HEAP_START    64

enum flow { FLOW_SHORT, FLOW_LONG, FLOWS };

struct queue_client {
    uint64_t id;
    uint64_t held_ns; /* work that waits */
    size_t items[FLOWS];
    uint64_t tag[FLOWS]; /* of the last item; means nothing while there is none */
    struct queue_client *bucket_next;
};

/* What waits of one kind. */
struct line {
    struct queue_item **heap; /* heap[0] has the least tag */
    size_t count, room;
    struct queue_item *oldest, *newest;
};

struct queue {
    uint64_t work_max_ns, share_ns;
    struct line lines[FLOWS];
    uint64_t work_ns;
    uint64_t virtual_ns; /* greatest tag that was taken out */
    uint64_t taken_ns;   /* work of all that was taken out */
    uint64_t added;      /* items so far: equal tags go by age */
    struct queue_client **buckets;
    size_t bucket_mask, clients;
};

/* ---- clients ---- */

static struct queue_client **bucket_of(const struct queue *q, uint64_t id)
{
    return &q->buckets[(id * 0x9e3779b97f4a7c15u >> 32) & q->bucket_mask];
}

static struct queue_client *client_find(const struct queue *q, uint64_t id)
{
    struct queue_client *c = *bucket_of(q, id);
    while (c && c->id != id)
        c = c->bucket_next;
    return c;
}

/* Without memory the chains stay long, which only costs time. */
static void buckets_grow(struct queue *q)
{
    size_t old = q->bucket_mask + 1;
    struct queue_client **before = q->buckets;
    struct queue_client **after = calloc(2 * old, sizeof(struct queue_client *));
    if (!after)
        return;
    q->buckets = after;
    q->bucket_mask = 2 * old - 1;
    for (size_t i = 0; i < old; i++)
        for (struct queue_client *c = before[i], *next; c; c = next) {
            struct queue_client **bucket = bucket_of(q, c->id);
            next = c->bucket_next;
            c->bucket_next = *bucket;
            *bucket = c;
        }
    free(before);
}

static struct queue_client *client_add(struct queue *q, uint64_t id)
{
    struct queue_client *c = calloc(1, sizeof(*c));
    if (!c)
        return NULL;
    if (q->clients > q->bucket_mask)
        buckets_grow(q);
    struct queue_client **bucket = bucket_of(q, id);
    c->id = id;
    c->bucket_next = *bucket;
    *bucket = c;
    q->clients++;
    return c;
}

static void client_forget(struct queue *q, struct queue_client *c)
{
    struct queue_client **at = bucket_of(q, c->id);
    while (*at != c)
        at = &(*at)->bucket_next;
    *at = c->bucket_next;
    q->clients--;
    free(c);
}

/* ---- lines ---- */

static bool before(const struct queue_item *a, const struct queue_item *b)
{
    return a->tag != b->tag ? a->tag < b->tag : a->order < b->order;
}

static void heap_set(struct line *line, size_t at, struct queue_item *item)
{
    line->heap[at] = item;
    item->heap_at = at;
}

/* Puts the item where it belongs, starting at a place that is free. */
static void heap_place(struct line *line, size_t at, struct queue_item *item)
{
    while (at > 0 && before(item, line->heap[(at - 1) / 2])) {
        heap_set(line, at, line->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    for (size_t child; (child = 2 * at + 1) < line->count; at = child) {
        if (child + 1 < line->count && before(line->heap[child + 1], line->heap[child]))
            child++;
        if (!before(line->heap[child], item))
            break;
        heap_set(line, at, line->heap[child]);
    }
    heap_set(line, at, item);
}

static bool line_make_room(struct line *line)
{
    if (line->count < line->room)
        return true;
    size_t room = line->room ? 2 * line->room : HEAP_START;
    struct queue_item **heap = realloc(line->heap, room * sizeof(struct queue_item *));
    if (!heap)
        return false;
    line->heap = heap;
    line->room = room;
    return true;
}

static void line_add(struct line *line, struct queue_item *item)
{
    item->older = line->newest;
    item->newer = NULL;
    if (line->newest)
        line->newest->newer = item;
    else
        line->oldest = item;
    line->newest = item;
    line->count++;
    heap_place(line, line->count - 1, item);
}

static void line_remove(struct line *line, struct queue_item *item)
{
    if (item->older)
        item->older->newer = item->newer;
    else
        line->oldest = item->newer;
    if (item->newer)
        item->newer->older = item->older;
    else
        line->newest = item->older;
    struct queue_item *last = line->heap[--line->count];
    if (last != item)
        heap_place(line, item->heap_at, last);
}

/* ---- the queue ---- */

bool queue_item_long(const struct queue_item *item)
{
    return item->work_ns > QUEUE_LONG_NS;
}

static enum flow flow_of(const struct queue_item *item)
{
    return queue_item_long(item) ? FLOW_LONG : FLOW_SHORT;
}

enum err queue_create(const struct queue_desc *desc, struct queue **ret_queue)
{
    struct queue *q = calloc(1, sizeof(*q));
    if (!q)
        return ERR_OOM;
    q->buckets = calloc(BUCKETS_START, sizeof(struct queue_client *));
    if (!q->buckets) {
        free(q);
        return ERR_OOM;
    }
    q->bucket_mask = BUCKETS_START - 1;
    q->work_max_ns = desc->work_max_ns;
    uint64_t percent = (uint64_t)desc->share_percent; /* first the hundreds: no overflow */
    q->share_ns = desc->work_max_ns / 100 * percent + desc->work_max_ns % 100 * percent / 100;
    *ret_queue = q;
    return ERR_NONE;
}

void queue_destroy(struct queue *q)
{
    if (!q)
        return;
    for (int i = 0; i < FLOWS; i++)
        free(q->lines[i].heap);
    free(q->buckets);
    free(q);
}

static bool exceeds(uint64_t held_ns, uint64_t more_ns, uint64_t max_ns)
{
    return held_ns > max_ns || more_ns > max_ns - held_ns;
}

/* Whether there is room for the item; c is its client, NULL when nothing of that client waits. */
static enum err check_room(const struct queue *q, const struct queue_item *item, const struct queue_client *c)
{
    if (queue_count(q) > 0 && exceeds(q->work_ns, item->work_ns, q->work_max_ns))
        return ERR_BUSY;
    if (c && c->id != 0 && exceeds(c->held_ns, item->work_ns, q->share_ns))
        return ERR_SHARE;
    return ERR_NONE;
}

enum err queue_add(struct queue *q, struct queue_item *item)
{
    enum flow flow = flow_of(item);
    struct queue_client *c = client_find(q, item->client);
    enum err err = check_room(q, item, c);
    if (err)
        return err;
    if (!line_make_room(&q->lines[flow]) || (!c && !(c = client_add(q, item->client))))
        return ERR_OOM;
    uint64_t begin = q->virtual_ns;
    if (c->items[flow] > 0 && c->tag[flow] > begin)
        begin = c->tag[flow];
    item->owner = c;
    item->tag = c->tag[flow] = begin + item->work_ns;
    item->order = q->added++;
    item->patient_until = q->taken_ns + QUEUE_PATIENCE * q->work_max_ns;
    c->items[flow]++;
    c->held_ns += item->work_ns;
    q->work_ns += item->work_ns;
    line_add(&q->lines[flow], item);
    return ERR_NONE;
}

static void take_out(struct queue *q, struct queue_item *item)
{
    enum flow flow = flow_of(item);
    struct queue_client *c = item->owner;
    line_remove(&q->lines[flow], item);
    q->work_ns -= item->work_ns;
    c->held_ns -= item->work_ns;
    c->items[flow]--;
    if (c->items[FLOW_SHORT] + c->items[FLOW_LONG] == 0)
        client_forget(q, c);
}

void queue_remove(struct queue *q, struct queue_item *item)
{
    item->owner->tag[flow_of(item)] -= item->work_ns;
    take_out(q, item);
}

/* The oldest item of the line, if it was overtaken too long. */
static struct queue_item *impatient(const struct queue *q, enum flow flow)
{
    struct queue_item *item = q->lines[flow].oldest;
    return item && q->taken_ns > item->patient_until ? item : NULL;
}

static struct queue_item *first(const struct queue *q, enum flow flow)
{
    return q->lines[flow].count > 0 ? q->lines[flow].heap[0] : NULL;
}

static struct queue_item *choose(const struct queue *q, bool with_long)
{
    struct queue_item *a = impatient(q, FLOW_SHORT);
    struct queue_item *b = with_long ? impatient(q, FLOW_LONG) : NULL;
    if (a && b)
        return a->order < b->order ? a : b;
    if (a || b)
        return a ? a : b;
    a = first(q, FLOW_SHORT);
    b = with_long ? first(q, FLOW_LONG) : NULL;
    if (a && b)
        return before(a, b) ? a : b;
    return a ? a : b;
}

struct queue_item *queue_take(struct queue *q, bool with_long)
{
    struct queue_item *item = choose(q, with_long);
    if (!item)
        return NULL;
    if (item->tag > q->virtual_ns)
        q->virtual_ns = item->tag;
    q->taken_ns += item->work_ns;
    take_out(q, item);
    return item;
}

size_t queue_count(const struct queue *q)
{
    return q->lines[FLOW_SHORT].count + q->lines[FLOW_LONG].count;
}

uint64_t queue_work_ns(const struct queue *q)
{
    return q->work_ns;
}

uint64_t queue_work_max_ns(const struct queue *q)
{
    return q->work_max_ns;
}
