/* store_redis_writer.c -- writes behind: entries go from the queue to the server, a few at a time.
 *
 * Records are made here and not by put(), which runs on the way of an answer. What fails is dropped, not
 * tried again: the next planetd that draws it will put it again. Threads: this is one. */
#include "server/store_redis_private.h"

#ifdef WITH_hiredis

#include <stdlib.h>
#include <string.h>

#include "server/log.h"
#include "server/record.h"

#define BATCH_MAX       16                   /* commands sent before their answers are read */
#define BATCH_MAX_BYTES ((size_t)1 << 20)    /* unless a single one has more */
#define BATCH_NS        UINT64_C(5000000000) /* 8 MiB at 14 Mbit/s */

#define REFUSALS_NS UINT64_C(60000000000) /* between two lines about writes that are refused */

struct batch {
    struct job *first;
    int sent, answered, written, refused, unmade; /* of entries, but for sent and answered */
    const char *refusal;                          /* a fixed text; NULL = none */
};

/* Moves jobs from the queue. With the lock held. */
static struct batch batch_take(struct store_redis *s)
{
    struct batch batch = {.first = s->first};
    size_t bytes = 0;
    struct job **end = &s->first;
    for (int n = 0; *end && n < BATCH_MAX && (n == 0 || bytes + (*end)->bytes <= BATCH_MAX_BYTES); n++) {
        bytes += (*end)->bytes;
        end = &(*end)->next;
    }
    s->first = *end;
    *end = NULL;
    if (!s->first)
        s->last = &s->first;
    s->queue_bytes -= bytes;
    return batch;
}

static enum talk job_send(struct store_redis *s, struct redis_client *c, struct job *job,
                          const struct redis_wait *wait, struct batch *batch)
{
    struct redis_command command = store_redis_command2("DEL", job->name);
    struct blob record = {0};
    if (job->entry) {
        if (record_write(job->entry, &record) != ERR_NONE) {
            batch->unmade++;
            return TALK_DONE;
        }
        command = (struct redis_command){s->ttl[0] ? 5 : 3,
                                         {"SET", job->name, (const char *)record.data, "EX", s->ttl},
                                         {3, strlen(job->name), record.len, 2, strlen(s->ttl)}};
    }
    enum talk talk = redis_client_send(c, &command, wait);
    blob_free(&record);
    batch->sent += !talk;
    return talk;
}

static enum talk answer_receive(struct redis_client *c, const struct redis_wait *wait, struct batch *batch)
{
    struct redis_answer answer = {0};
    enum talk talk = redis_client_receive(c, LINE_ANSWER_MAX, wait, &answer);
    if (talk)
        return talk;
    batch->answered++;
    if (answer.kind == REDIS_STATUS) {
        batch->written++;
    } else if (answer.kind == REDIS_ERROR) {
        batch->refused++;
        batch->refusal = store_redis_code(&answer);
    } else if (answer.kind != REDIS_NUMBER) { /* DEL's */
        talk = TALK_GARBAGE;
    }
    redis_answer_free(&answer);
    return talk;
}

static enum talk batch_write(struct store_redis *s, struct redis_client *c, struct batch *batch)
{
    struct redis_wait wait = {.deadline_ns = redis_wait_now() + BATCH_NS, .stop_fd = s->stop_fd[0]};
    enum talk talk = TALK_DONE;
    for (struct job *job = batch->first; job && !talk; job = job->next)
        talk = job_send(s, c, job, &wait, batch);
    while (!talk && batch->answered < batch->sent)
        talk = answer_receive(c, &wait, batch);
    return talk;
}

/* Counts. Writes that are refused are logged, but not each: a server that is just full takes one and refuses
 * the next for hours. Without the lock. */
static void batch_count(struct store_redis *s, const struct batch *batch, enum talk talk)
{
    uint64_t entries = 0, now = redis_wait_now(), refusals = 0;
    for (const struct job *job = batch->first; job; job = job->next)
        entries += job->entry != NULL;
    pthread_mutex_lock(&s->lock);
    s->stats.writes += (uint64_t)batch->written;
    s->stats.dropped += (uint64_t)batch->unmade;
    s->stats.errors += talk ? entries - (uint64_t)(batch->written + batch->unmade) : (uint64_t)batch->refused;
    if (!talk && batch->written)
        breaker_worked(&s->breaker);
    s->refusals += (uint64_t)batch->refused;
    if (batch->refused && now >= s->refusals_ns) {
        refusals = s->refusals;
        s->refusals = 0;
        s->refusals_ns = now + REFUSALS_NS;
    }
    pthread_mutex_unlock(&s->lock);
    if (refusals)
        log_warn("event=shared_cache_refuses_writes server=\"%s\" reason=\"%s\" writes=%llu", s->url.shown,
                 batch->refusal, (unsigned long long)refusals);
}

/* Writes one batch. With the lock held, which is given up meanwhile. */
static void write_some(struct store_redis *s, struct slot *slot)
{
    struct batch batch = batch_take(s);
    slot->state = SLOT_BUSY;
    pthread_mutex_unlock(&s->lock);
    enum talk talk = batch_write(s, slot->client, &batch);
    batch_count(s, &batch, talk);
    store_redis_jobs_free(batch.first);
    if (talk && talk != TALK_STOPPED && talk != TALK_OOM)
        store_redis_failed(s, redis_client_words(talk));
    pthread_mutex_lock(&s->lock);
    store_redis_slot_give(s, slot, !talk);
}

void *store_redis_writer_run(void *arg)
{
    struct store_redis *s = arg;
    struct slot *slot = &s->slots[WRITER_SLOT];
    pthread_mutex_lock(&s->lock);
    while (!s->stopping && (s->first || !s->closing)) {
        bool ready = s->first && slot->state == SLOT_FREE;
        if (ready && redis_client_quiet(slot->client))
            write_some(s, slot);
        else if (ready)
            store_redis_slot_empty(s, slot);
        else
            pthread_cond_wait(&s->writer_wake, &s->lock);
    }
    s->writer_ended = true;
    pthread_cond_signal(&s->ended);
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

#endif
