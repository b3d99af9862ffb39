/* store_redis.c -- the shared cache: finds and puts on established connections, and its start and end.
 *
 * A find is on the way of an answer, so it does nothing that has no limit: it takes one of a few connections
 * that exist, or none; one deadline holds for its whole conversation; and after a failure the connection is
 * closed, since a late answer would be taken for the next key's. All else is left to two threads: the keeper
 * makes connections and probes a server that fails (store_redis_keeper.c), the writer writes behind
 * (store_redis_writer.c). Two, because a large write over a slow line takes seconds, and finds can't wait so
 * long for a connection.
 *
 * What the server sends back is never trusted: record_read() checks the checksum, the key and the revision.
 *
 * The breaker counts what hangs, breaks or refuses reading. A refused write (OOM: the server is full and may
 * not evict; READONLY: a replica) is counted and does not open it: such a server still answers finds, and
 * hits are what it is for.
 *
 * Threads: any; one lock for slots, queue, breaker and counts, never held while something waits. */
#include "server/store_redis.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "renderer/renderer.h"
#include "server/log.h"
#include "server/record.h"
#include "server/redis_url.h"

bool store_redis_url_valid(const char *url)
{
    struct redis_url parsed;
    return redis_url_parse(url, &parsed);
}

#ifdef WITH_hiredis

#include "server/store_redis_private.h"

/* ---- helpers of all three files ---- */

enum talk store_redis_ask(struct redis_client *c, const struct redis_command *command, size_t bytes_max,
                          const struct redis_wait *wait, struct redis_answer *ret_answer)
{
    enum talk talk = redis_client_send(c, command, wait);
    return talk ? talk : redis_client_receive(c, bytes_max, wait, ret_answer);
}

struct redis_command store_redis_command2(const char *verb, const char *name)
{
    return (struct redis_command){2, {verb, name}, {strlen(verb), strlen(name)}};
}

const char *store_redis_code(const struct redis_answer *answer)
{
    static const char *const codes[] = {"ERR",      "NOAUTH",      "WRONGPASS", "NOPERM",
                                        "LOADING",  "OOM",         "MOVED",     "ASK",
                                        "TRYAGAIN", "CLUSTERDOWN", "READONLY",  "MISCONF",
                                        "BUSY",     "MASTERDOWN",  "WRONGTYPE", "NOREPLICAS"};
    size_t len = 0;
    while (len < answer->len && answer->bytes[len] != ' ')
        len++;
    for (size_t i = 0; i < ARRAY_LEN(codes); i++)
        if (strlen(codes[i]) == len && memcmp(codes[i], answer->bytes, len) == 0)
            return codes[i];
    return "an error of another kind";
}

void store_redis_sleep(struct store_redis *s, pthread_cond_t *wake, uint64_t until_ns)
{
    struct timespec until = {.tv_sec = (time_t)(until_ns / 1000000000u),
                             .tv_nsec = (long)(until_ns % 1000000000u)};
    pthread_cond_timedwait(wake, &s->lock, &until);
}

void store_redis_jobs_free(struct job *first)
{
    while (first) {
        struct job *next = first->next;
        entry_unref(first->entry);
        free(first);
        first = next;
    }
}

struct job *store_redis_queue_take(struct store_redis *s)
{
    struct job *first = s->first;
    s->first = NULL;
    s->last = &s->first;
    s->queue_bytes = 0;
    return first;
}

/* ---- slots ---- */

bool store_redis_has_finder(const struct store_redis *s)
{
    for (int i = 0; i < FIND_CLIENTS; i++)
        if (s->slots[i].state != SLOT_EMPTY)
            return true;
    return false;
}

void store_redis_slot_empty(struct store_redis *s, struct slot *slot)
{
    redis_client_close(slot->client);
    slot->client = NULL;
    slot->state = SLOT_EMPTY;
    pthread_cond_signal(&s->keeper_wake);
    if (!store_redis_has_finder(s))
        pthread_cond_broadcast(&s->find_wake); /* nothing is left to wait for */
}

void store_redis_slot_give(struct store_redis *s, struct slot *slot, bool keep)
{
    if (!keep || s->breaker.open) {
        store_redis_slot_empty(s, slot);
        return;
    }
    slot->state = SLOT_FREE;
    slot->used_ns = redis_wait_now();
    pthread_cond_signal(slot == &s->slots[WRITER_SLOT] ? &s->writer_wake : &s->find_wake);
}

/* A connection for one find, or NULL: the breaker is open, there is none, or none became free in time. One
 * that the server has closed meanwhile, or that has something to say unasked, is not used. */
static struct slot *slot_take(struct store_redis *s, uint64_t deadline_ns)
{
    struct slot *taken = NULL;
    pthread_mutex_lock(&s->lock);
    while (!taken && !s->breaker.open && redis_wait_now() < deadline_ns) {
        bool busy = false;
        for (int i = 0; i < FIND_CLIENTS && !taken; i++) {
            struct slot *slot = &s->slots[i];
            busy = busy || slot->state == SLOT_BUSY;
            if (slot->state != SLOT_FREE)
                continue;
            if (redis_client_quiet(slot->client))
                taken = slot;
            else
                store_redis_slot_empty(s, slot);
        }
        if (!taken && !busy)
            break;
        if (!taken)
            store_redis_sleep(s, &s->find_wake, deadline_ns);
    }
    if (taken)
        taken->state = SLOT_BUSY;
    else
        s->stats.skipped++;
    if (!taken)
        pthread_cond_signal(&s->find_wake); /* this wake-up may have been meant for one who still has time */
    pthread_mutex_unlock(&s->lock);
    return taken;
}

void store_redis_failed(struct store_redis *s, const char *reason)
{
    struct job *dropped = NULL;
    bool opened, log = false;
    pthread_mutex_lock(&s->lock);
    opened = breaker_failed(&s->breaker, redis_wait_now());
    if (opened) {
        for (int i = 0; i < CLIENT_SLOTS; i++)
            if (s->slots[i].state == SLOT_FREE)
                store_redis_slot_empty(s, &s->slots[i]);
        for (const struct job *j = s->first; j; j = j->next)
            s->stats.dropped += j->entry != NULL;
        dropped = store_redis_queue_take(s);
        pthread_cond_broadcast(&s->find_wake);
        pthread_cond_signal(&s->keeper_wake);
        pthread_cond_signal(&s->writer_wake);
        log = !s->closing;
        s->shown_up = false;
    }
    pthread_mutex_unlock(&s->lock);
    store_redis_jobs_free(dropped);
    if (log)
        log_warn("event=shared_cache_down server=\"%s\" reason=\"%s\"", s->url.shown, reason);
}

/* ---- finding ---- */

static void name_make(const struct key *key, char ret_name[NAME_BYTES])
{
    XXH128_canonical_t hash;
    XXH128_canonicalFromHash(&hash, XXH3_128bits(key->text, key->len));
    int len = snprintf(ret_name, NAME_BYTES, "planetd:%d:", RENDERER_REVISION);
    for (size_t i = 0; i < sizeof(hash.digest); i++)
        len += snprintf(ret_name + len, NAME_BYTES - (size_t)len, "%02x", hash.digest[i]);
}

/* Queues a job with the lock held. False: no memory, no room, or nobody to write it. */
static bool queue_add(struct store_redis *s, struct entry *e, size_t bytes, const char *name)
{
    if (s->breaker.open || s->closing || bytes > VALUE_MAX_BYTES || bytes > QUEUE_MAX_BYTES - s->queue_bytes)
        return false;
    struct job *job = calloc(1, sizeof(*job));
    if (!job)
        return false;
    job->entry = e ? entry_ref(e) : NULL;
    job->bytes = bytes;
    snprintf(job->name, sizeof(job->name), "%s", name);
    *s->last = job;
    s->last = &job->next;
    s->queue_bytes += bytes;
    pthread_cond_signal(&s->writer_wake);
    return true;
}

enum finding { FOUND, ABSENT, CORRUPT, FAILED, NO_MEMORY };

/* What an answer to GET says. */
static enum finding answer_judge(const struct redis_answer *a, const struct request *r, const struct key *key,
                                 struct entry **ret_entry)
{
    if (a->kind == REDIS_NIL)
        return ABSENT;
    if (a->kind == REDIS_ERROR) /* another type under our name is not ours: as good as altered */
        return strcmp(store_redis_code(a), "WRONGTYPE") == 0 ? CORRUPT : FAILED;
    if (a->kind != REDIS_BYTES)
        return FAILED;
    switch (record_read((const uint8_t *)a->bytes, a->len, r, key, ret_entry)) {
    case RECORD_GOOD:
        return FOUND;
    case RECORD_CORRUPT:
        return CORRUPT;
    case RECORD_OTHER:
        return ABSENT;
    case RECORD_OOM:
        break;
    }
    return NO_MEMORY;
}

static void finding_count(struct store_redis *s, enum finding finding, const char *name)
{
    pthread_mutex_lock(&s->lock);
    if (finding == FOUND || finding == ABSENT || finding == CORRUPT)
        breaker_worked(&s->breaker);
    s->stats.hits += finding == FOUND;
    s->stats.misses += finding == ABSENT || finding == CORRUPT;
    s->stats.corrupt += finding == CORRUPT;
    s->stats.errors += finding == FAILED || finding == NO_MEMORY;
    if (finding == CORRUPT)
        (void)queue_add(s, NULL, sizeof(struct job), name);
    pthread_mutex_unlock(&s->lock);
}

static struct entry *find(struct store *store, const struct request *r, const struct key *key,
                          uint64_t deadline_ns)
{
    struct store_redis *s = (struct store_redis *)store;
    struct redis_wait wait = {.deadline_ns = redis_wait_now() + s->timeout_ns, .stop_fd = -1};
    bool sooner = deadline_ns && deadline_ns < wait.deadline_ns;
    bool hurried = sooner && wait.deadline_ns - deadline_ns > s->timeout_ns / 2;
    if (sooner)
        wait.deadline_ns = deadline_ns;
    struct slot *slot = slot_take(s, wait.deadline_ns);
    if (!slot)
        return NULL;

    char name[NAME_BYTES];
    name_make(key, name);
    struct entry *e = NULL;
    struct redis_answer answer = {0};
    struct redis_command get = store_redis_command2("GET", name);
    enum talk talk = store_redis_ask(slot->client, &get, VALUE_MAX_BYTES, &wait, &answer);
    enum finding finding = talk == TALK_OOM ? NO_MEMORY : talk ? FAILED : answer_judge(&answer, r, key, &e);

    pthread_mutex_lock(&s->lock);
    store_redis_slot_give(s, slot, !talk && finding != FAILED);
    pthread_mutex_unlock(&s->lock);
    finding_count(s, finding, name);
    /* A caller who had less than half of the time may just have waited too short; the next one will tell. */
    if (finding == FAILED && !(talk == TALK_LATE && hurried))
        store_redis_failed(s, talk                         ? redis_client_words(talk)
                              : answer.kind == REDIS_ERROR ? store_redis_code(&answer)
                                                           : redis_client_words(TALK_GARBAGE));
    redis_answer_free(&answer);
    return e;
}

static void put(struct store *store, struct entry *e)
{
    struct store_redis *s = (struct store_redis *)store;
    char name[NAME_BYTES];
    name_make(&e->key, name);
    size_t bytes = record_bytes(e);
    pthread_mutex_lock(&s->lock);
    if (!queue_add(s, e, bytes, name))
        s->stats.dropped++;
    pthread_mutex_unlock(&s->lock);
}

static void stats(struct store *store, struct store_stats *ret_stats)
{
    struct store_redis *s = (struct store_redis *)store;
    pthread_mutex_lock(&s->lock);
    *ret_stats = s->stats;
    ret_stats->up = !s->breaker.open && store_redis_has_finder(s);
    pthread_mutex_unlock(&s->lock);
}

/* ---- start and end ---- */

static void store_free(struct store_redis *s)
{
    for (int i = 0; i < CLIENT_SLOTS; i++)
        redis_client_close(s->slots[i].client);
    store_redis_jobs_free(s->first);
    redis_resolver_destroy(s->resolver);
    pthread_cond_destroy(&s->find_wake);
    pthread_cond_destroy(&s->keeper_wake);
    pthread_cond_destroy(&s->writer_wake);
    pthread_cond_destroy(&s->ended);
    pthread_mutex_destroy(&s->lock);
    close(s->stop_fd[0]);
    close(s->stop_fd[1]);
    free(s);
}

/* Ends the keeper, whatever it waits for, and the writer if `writer` is set. */
static void threads_stop(struct store_redis *s, bool writer)
{
    pthread_mutex_lock(&s->lock);
    s->closing = true;
    s->stopping = true;
    ssize_t written = write(s->stop_fd[1], "", 1); /* an empty pipe has room */
    (void)written;
    pthread_cond_signal(&s->keeper_wake);
    pthread_cond_signal(&s->writer_wake);
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->keeper, NULL);
    if (writer)
        pthread_join(s->writer, NULL);
}

static void close_store(struct store *store, int ms)
{
    struct store_redis *s = (struct store_redis *)store;
    uint64_t deadline_ns = redis_wait_now() + (uint64_t)(ms > 0 ? ms : 0) * 1000000u;
    pthread_mutex_lock(&s->lock);
    s->closing = true;
    pthread_cond_signal(&s->writer_wake);
    while (!s->writer_ended && redis_wait_now() < deadline_ns)
        store_redis_sleep(s, &s->ended, deadline_ns);
    pthread_mutex_unlock(&s->lock);
    threads_stop(s, true);
    store_free(s);
}

static const struct store_impl impl = {
    .tier = STORE_SHARED, .find = find, .put = put, .stats = stats, .close = close_store};

static enum err store_create(const struct store_redis_desc *desc, const struct redis_url *url,
                             struct store_redis **ret_store)
{
    struct store_redis *s = calloc(1, sizeof(*s));
    if (!s)
        return ERR_OOM;
    s->base.impl = &impl;
    s->url = *url;
    s->timeout_ns = (uint64_t)(desc->timeout_ms > 0 ? desc->timeout_ms : 1) * 1000000u;
    if (desc->ttl_seconds > 0)
        snprintf(s->ttl, sizeof(s->ttl), "%lld", (long long)desc->ttl_seconds);
    breaker_init(&s->breaker);
    s->last = &s->first;
    if (pipe2(s->stop_fd, O_CLOEXEC) < 0) {
        free(s);
        return ERR_OOM;
    }
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->find_wake, &clock);
    pthread_cond_init(&s->keeper_wake, &clock);
    pthread_cond_init(&s->writer_wake, &clock);
    pthread_cond_init(&s->ended, &clock);
    pthread_condattr_destroy(&clock);
    if (url->host[0] && redis_resolver_create(url->host, url->port, &s->resolver) != ERR_NONE) {
        store_free(s);
        return ERR_OOM;
    }
    *ret_store = s;
    return ERR_NONE;
}

static enum err threads_start(struct store_redis *s)
{
    if (pthread_create(&s->keeper, NULL, store_redis_keeper_run, s) != 0)
        return ERR_OOM;
    if (pthread_create(&s->writer, NULL, store_redis_writer_run, s) != 0) {
        threads_stop(s, false);
        return ERR_OOM;
    }
    return ERR_NONE;
}

enum err store_redis_open(const struct store_redis_desc *desc, struct store **ret_store)
{
    struct redis_url url;
    struct store_redis *s = NULL;
    if (!redis_url_parse(desc->url, &url)) {
        log_error("event=no_shared_cache reason=\"the URL has not the form "
                  "redis://[user[:password]@]host[:port][/database] or unix:///path[?db=N]\"");
        return ERR_CONFIG;
    }
    enum err err = store_create(desc, &url, &s);
    if (!err) {
        log_info("event=shared_cache server=\"%s\" timeout_ms=%d ttl_seconds=%lld", url.shown,
                 desc->timeout_ms, (long long)desc->ttl_seconds);
        err = threads_start(s);
        if (err)
            store_free(s);
    }
    if (err) {
        log_error("event=no_shared_cache server=\"%s\" reason=\"%s\"", url.shown, err_words(err));
        return err;
    }
    *ret_store = &s->base;
    return ERR_NONE;
}

#else

enum err store_redis_open(const struct store_redis_desc *desc, struct store **ret_store)
{
    (void)desc;
    (void)ret_store;
    log_error("event=no_shared_cache reason=\"this binary was built without hiredis\"");
    return ERR_CONFIG;
}

#endif
