/* batch_stream.c -- sends the results of a batch in order.
 *
 * The results that are fetched stand in a ring of slots, each with a waiter of its own, so threads that draw
 * call back for several slots of one exchange. They only note that a slot has landed, and wake the exchange
 * if it waits for just this slot: an exchange can wait in the mailbox of its loop once. A client that leaves
 * takes its waiters off the pipeline; for those whose result is on its way the batch lives on, without its
 * exchange, until the last has landed.
 *
 * A result that the queue has no room for is asked for once more when its turn comes: that its batch had
 * others in the queue is no reason to refuse it. (With stores, the queue refuses through landed().) Threads:
 * that of the exchange, but for landed(). */
#include "server/batch_stream.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "api/problem.h"
#include "server/asker.h"
#include "server/pack.h"
#include "server/respond.h"

#define NOBODY (-1)

enum step {
    STEP_HEAD, /* of the file `at`, or the end when there is none */
    STEP_BYTES,
    STEP_NEXT,
    STEP_DONE
};

struct slot {
    struct pipeline_waiter waiter;
    struct batch *batch;
    int index;
    bool pending; /* lock: the pipeline has the waiter */
    bool ahead;   /* asked for before its turn */
    struct blob problem;
};

struct batch {
    struct http_stream stream; /* first */
    struct http_exchange *x;   /* lives while the exchange's reference is held */
    struct pipeline *pipeline;
    bool fake;
    uint64_t client;
    struct batch_list list;
    struct slot slots[BATCH_AHEAD];
    size_t at, next; /* the file that is sent, and the first that is not fetched */
    enum step step;
    struct pack pack;
    struct blob text; /* the head, or the end */
    const uint8_t *piece;
    size_t piece_len;
    char type[32 + PACK_BOUNDARY_BYTES];
    pthread_mutex_t lock;
    int refs;       /* lock: the exchange and each pending slot */
    int waited_for; /* lock: index of the file whose landing wakes the exchange; NOBODY */
};

static struct slot *slot_of(struct batch *b, size_t index)
{
    return &b->slots[index % BATCH_AHEAD];
}

static void slot_empty(struct slot *s)
{
    entry_unref(s->waiter.entry);
    s->waiter.entry = NULL;
    blob_free(&s->problem);
}

static void batch_free(struct batch *b)
{
    for (int i = 0; i < BATCH_AHEAD; i++)
        slot_empty(&b->slots[i]);
    pack_finish(&b->pack);
    blob_free(&b->text);
    batch_list_finish(&b->list);
    pthread_mutex_destroy(&b->lock);
    free(b);
}

static void unref(struct batch *b, int refs)
{
    pthread_mutex_lock(&b->lock);
    bool last = (b->refs -= refs) == 0;
    pthread_mutex_unlock(&b->lock);
    if (last)
        batch_free(b);
}

/* ---- Fetching ---- */

/* From a thread that draws or asks stores: waiter.done. */
static void landed(struct pipeline_waiter *w)
{
    struct slot *s = (struct slot *)w;
    struct batch *b = s->batch;
    pthread_mutex_lock(&b->lock);
    s->pending = false;
    bool wake = b->waited_for == s->index;
    if (wake)
        b->waited_for = NOBODY;
    bool last = --b->refs == 0;
    pthread_mutex_unlock(&b->lock);
    if (wake) /* the exchange is suspended until this, so it has not given up its reference */
        http_stream_wake(b->x);
    else if (last)
        batch_free(b);
}

static void fetch(struct batch *b, size_t index)
{
    struct slot *s = slot_of(b, index);
    const struct batch_part *part = &b->list.parts[index];
    *s = (struct slot){.waiter = {.done = landed, .client = b->client},
                       .batch = b,
                       .index = (int)index,
                       .ahead = index > b->at,
                       .pending = true};
    pthread_mutex_lock(&b->lock);
    b->refs++;
    pthread_mutex_unlock(&b->lock);
    if (!pipeline_fetch(b->pipeline, &part->request, &part->key, &s->waiter))
        return;
    pthread_mutex_lock(&b->lock);
    b->refs--;
    s->pending = false;
    pthread_mutex_unlock(&b->lock);
}

static int64_t file_pixels(const struct batch *b, size_t index)
{
    return request_size(&b->list.parts[index].request).file_pixels;
}

/* Whether the queue had no room for it before its turn. */
static bool refused(struct batch *b, size_t index)
{
    struct slot *s = slot_of(b, index);
    pthread_mutex_lock(&b->lock);
    bool is = !s->pending && s->ahead && (s->waiter.err == ERR_BUSY || s->waiter.err == ERR_SHARE);
    pthread_mutex_unlock(&b->lock);
    return is;
}

/* None is fetched ahead of one that was refused: it would take the place that this one waits for. */
static void fetch_ahead(struct batch *b)
{
    int64_t pixels = 0;
    for (size_t i = b->at; i < b->next; i++) {
        if (refused(b, i))
            return;
        pixels += file_pixels(b, i);
    }
    while (b->next < b->list.count && b->next < b->at + BATCH_AHEAD) {
        pixels += file_pixels(b, b->next);
        if (pixels > BATCH_AHEAD_PIXELS && b->next > b->at)
            return;
        fetch(b, b->next);
        if (refused(b, b->next))
            return;
        b->next++;
    }
}

/* Whether the file that is to be sent now has landed. If not, `wait` has its landing wake the exchange. */
static bool turn_landed(struct batch *b, bool wait)
{
    struct slot *s = slot_of(b, b->at);
    if (refused(b, b->at)) /* that was before its turn; now it is */
        fetch(b, b->at);
    pthread_mutex_lock(&b->lock);
    bool pending = s->pending;
    if (pending && wait)
        b->waited_for = s->index;
    pthread_mutex_unlock(&b->lock);
    return !pending;
}

/* ---- Writing ---- */

static void note(struct batch *b, const struct pipeline_waiter *w)
{
    struct http_response *out = &b->x->out;
    out->drawn = out->drawn || w->source != SOURCE_HIT;
    if (w->err && !out->err)
        out->err = w->err; /* the log names the first */
}

/* The head of the file `at`, and its bytes into *s when there is no entry to take them from. */
static enum err head_write(struct batch *b, struct slot *s)
{
    const struct batch_part *part = &b->list.parts[b->at];
    char file_name[FILE_NAME_BYTES], name[PACK_NAME_MAX], url[KEY_MAX_BYTES + 16];
    struct entry *entry = s->waiter.entry;
    note(b, &s->waiter);
    key_file_name(&part->request, &part->key, file_name);
    snprintf(name, sizeof(name), "%02zu-%s%s", b->at + 1, file_name, entry ? "" : ".problem.json");
    snprintf(url, sizeof(url), "/planet?%s", part->key.text);
    if (!entry) {
        struct request_fault fault = {.item = (int)b->at + 1};
        enum err err = problem_write(s->waiter.err, &fault, respond_id(b->x), &s->problem);
        if (err)
            return err;
    }
    struct pack_file file = {
        .name = name,
        .type = entry ? encoders[entry->format].mime : "application/problem+json",
        .location = url,
        .etag = entry && !b->fake ? entry->etag : NULL,
        .bytes = entry ? entry->body.data : s->problem.data,
        .len = entry ? entry->body.len : s->problem.len,
    };
    b->stream.begun = file.len + 1;
    return pack_head(&b->pack, &file, &b->text);
}

static void piece_set(struct batch *b, const struct blob *bytes)
{
    b->piece = bytes->data;
    b->piece_len = bytes->len;
}

/* The next run of bytes. `wait`: the exchange will be suspended if it is pending. */
static enum http_stream_state piece_next(struct batch *b, bool wait)
{
    struct slot *s = slot_of(b, b->at);
    bool end = b->at == b->list.count;
    switch (b->step) {
    case STEP_HEAD:
        if (!end && !turn_landed(b, wait))
            return HTTP_STREAM_PENDING;
        b->text.len = 0;
        if (end ? pack_end(&b->pack, &b->text) : head_write(b, s))
            return HTTP_STREAM_FAILED;
        piece_set(b, &b->text);
        b->step = end ? STEP_DONE : STEP_BYTES;
        return HTTP_STREAM_MORE;
    case STEP_BYTES:
        piece_set(b, s->waiter.entry ? &s->waiter.entry->body : &s->problem);
        b->step = STEP_NEXT;
        return HTTP_STREAM_MORE;
    case STEP_NEXT:
        slot_empty(s);
        b->at++;
        b->step = STEP_HEAD;
        fetch_ahead(b);
        return HTTP_STREAM_MORE;
    case STEP_DONE:
        break;
    }
    return HTTP_STREAM_END;
}

static enum http_stream_state stream_read(struct http_stream *stream, char *to, size_t room, size_t *ret_len)
{
    struct batch *b = (struct batch *)stream;
    size_t len = 0;
    while (len < room) {
        if (!b->piece_len) {
            enum http_stream_state state = piece_next(b, len == 0);
            if (state != HTTP_STREAM_MORE && len == 0)
                return state;
            if (state != HTTP_STREAM_MORE) /* what there is goes first */
                break;
            continue;
        }
        size_t part = b->piece_len < room - len ? b->piece_len : room - len;
        memcpy(to + len, b->piece, part);
        b->piece += part;
        b->piece_len -= part;
        len += part;
    }
    *ret_len = len;
    return HTTP_STREAM_MORE;
}

static bool stream_leave(struct http_stream *stream)
{
    struct batch *b = (struct batch *)stream;
    pthread_mutex_lock(&b->lock);
    bool left = b->waited_for != NOBODY;
    b->waited_for = NOBODY;
    pthread_mutex_unlock(&b->lock);
    return left;
}

static void stream_destroy(struct http_stream *stream)
{
    struct batch *b = (struct batch *)stream;
    int refs = 1;
    for (size_t i = b->at; i < b->next; i++) {
        struct slot *s = slot_of(b, i);
        pthread_mutex_lock(&b->lock);
        bool pending = s->pending;
        pthread_mutex_unlock(&b->lock);
        if (pending && pipeline_leave(b->pipeline, &s->waiter))
            refs++;
    }
    unref(b, refs);
}

/* ---- The whole ---- */

enum err batch_stream_create(struct http_exchange *x, struct service *s, struct batch_list *list,
                             enum batch_container container, struct http_stream **ret_stream)
{
    struct batch *b = calloc(1, sizeof(*b));
    if (!b)
        return ERR_OOM;
    b->stream = (struct http_stream){.read = stream_read, .leave = stream_leave, .destroy = stream_destroy};
    b->x = x;
    b->pipeline = s->pipeline;
    b->fake = s->fake;
    b->client = asker_hash(x);
    b->list = *list;
    *list = (struct batch_list){0};
    b->refs = 1;
    b->waited_for = NOBODY;
    pthread_mutex_init(&b->lock, NULL);
    XXH128_hash_t name = {0, 0};
    for (size_t i = 0; i < b->list.count; i++)
        name = XXH3_128bits_withSeed(b->list.parts[i].key.text, b->list.parts[i].key.len,
                                     name.low64 ^ (name.high64 << 1) ^ i);
    pack_init(&b->pack, container, name.high64, name.low64);
    snprintf(b->type, sizeof(b->type),
             container == BATCH_ZIP ? "application/zip" : "multipart/mixed; boundary=%s", b->pack.boundary);
    fetch_ahead(b);
    *ret_stream = &b->stream;
    return ERR_NONE;
}

const char *batch_stream_type(const struct http_stream *stream)
{
    return ((const struct batch *)stream)->type;
}
