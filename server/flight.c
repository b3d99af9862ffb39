/* flight.c -- the table of flights by key, and the list of waiters of each. Waiters are a list with two ends
 * to each link, because any of hundreds may leave at any time. Threads: the pipeline's lock. */
#include "server/flight.h"

#include <stdlib.h>
#include <string.h>

static struct flight **bucket_of(const struct flight_table *t, const struct key *key)
{
    return &t->buckets[key->hash % FLIGHT_BUCKETS];
}

enum err flight_table_init(struct flight_table *t)
{
    t->buckets = calloc(FLIGHT_BUCKETS, sizeof(struct flight *));
    return t->buckets ? ERR_NONE : ERR_OOM;
}

void flight_table_finish(struct flight_table *t)
{
    free(t->buckets);
    t->buckets = NULL;
}

struct flight *flight_table_find(const struct flight_table *t, const struct key *key)
{
    for (struct flight *f = *bucket_of(t, key); f; f = f->bucket_next)
        if (f->key.hash == key->hash && f->key.len == key->len && !memcmp(f->key.text, key->text, key->len))
            return f;
    return NULL;
}

void flight_table_add(struct flight_table *t, struct flight *f)
{
    struct flight **bucket = bucket_of(t, &f->key);
    f->bucket_next = *bucket;
    *bucket = f;
    f->in_table = true;
}

void flight_table_remove(struct flight_table *t, struct flight *f)
{
    struct flight **at = bucket_of(t, &f->key);
    while (*at != f)
        at = &(*at)->bucket_next;
    *at = f->bucket_next;
    f->in_table = false;
}

void flight_join(struct flight *f, struct pipeline_waiter *w, enum pipeline_source source)
{
    w->flight = f;
    w->source = source;
    w->previous = NULL;
    w->next = f->waiters;
    if (f->waiters)
        f->waiters->previous = w;
    f->waiters = w;
}

void flight_leave(struct flight *f, struct pipeline_waiter *w)
{
    if (w->previous)
        w->previous->next = w->next;
    else
        f->waiters = w->next;
    if (w->next)
        w->next->previous = w->previous;
    w->flight = NULL;
}

struct pipeline_waiter *flight_land(struct flight *f, enum err err, struct entry *entry)
{
    struct pipeline_waiter *waiters = f->waiters;
    f->waiters = NULL;
    for (struct pipeline_waiter *w = waiters; w; w = w->next) {
        w->flight = NULL;
        w->err = err;
        w->entry = entry ? entry_ref(entry) : NULL;
        w->times = f->times;
    }
    return waiters;
}

void flight_answer(struct pipeline_waiter *waiters)
{
    while (waiters) {
        struct pipeline_waiter *w = waiters;
        waiters = w->next;
        w->done(w);
    }
}
