/* store_disk.c -- the disk cache: who may write when, what is counted, what is said.
 *
 * Finding happens on the thread that asks: look into the index, read the file, check it. Everything that
 * writes happens on one thread of the store's own, behind a queue bounded in bytes: it makes room, writes,
 * and only then tells the index. So put() never waits for a disk, no two writes meet, and eviction has no
 * rival. No lock is held during input or output: an entry whose file is being removed stays in the index as
 * "leaving", is found no more, and is not written again before it is forgotten.
 *
 * Whatever is wrong with a file (cut, altered, swapped, of other libraries, unreadable) makes it a miss; it
 * is removed, and the picture drawn instead is written in its place. When writing as a whole fails (disk
 * full, read-only, broken), the queue is dropped and writing rests for PAUSE_MS; reading goes on.
 *
 * A find keeps no deadline: a read of a local file can't be given up half-way, and takes less time than the
 * drawing that it saves. A folder on a network file system that hangs makes finds hang with it.
 *
 * Threads: see store.h. Two locks, never both at once: `lock` for index and counts, `queue_lock` for the
 * queue and the state of writing. */
#include "server/store_disk.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <xxhash.h>

#include "server/disk_folder.h"
#include "server/disk_index.h"
#include "server/log.h"
#include "server/record.h"

#define QUEUE_MAX_BYTES ((size_t)32 << 20) /* waits to be written; one picture may be larger, alone */
#define ENTRY_SHARE     10    /* a file above one part in this many is not kept: it would push out too much */
#define PAUSE_MS        3000  /* after a write that failed; a full disk is asked again no more often */
#define SPEAK_MS        10000 /* one line about single entries in so long; counts tell the rest */
#define QUOTED          512

struct job {
    struct job *next;
    struct entry *entry;
    size_t bytes;
};

struct store_disk {
    struct store base;
    struct disk_folder folder;
    uint64_t budget;

    pthread_mutex_t lock; /* guards these three */
    struct disk_index index;
    struct store_stats counts; /* those of events; the rest is filled in when asked for */
    uint64_t speak_after_ms;

    pthread_mutex_t queue_lock; /* guards all below */
    pthread_cond_t queue_changed;
    struct job *oldest, *newest;
    size_t queued_bytes; /* with the one that is being written */
    bool closing;
    uint64_t close_by_ms;
    int failing; /* errno of the last write, if it failed in a way that stops all; else 0 */
    uint64_t paused_until_ms;

    pthread_t writer; /* not in a folder that is read only */
};

static uint64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static struct disk_id id_of(const struct key *key)
{
    XXH128_hash_t hash = XXH3_128bits(key->text, key->len);
    return (struct disk_id){.high = hash.high64, .low = hash.low64};
}

static void count(struct store_disk *d, uint64_t *which, uint64_t how_many)
{
    pthread_mutex_lock(&d->lock);
    *which += how_many;
    pthread_mutex_unlock(&d->lock);
}

/* Whether there was no line about a single entry for a while. */
static bool may_speak(struct store_disk *d)
{
    uint64_t now = now_ms();
    pthread_mutex_lock(&d->lock);
    bool may = now >= d->speak_after_ms;
    if (may)
        d->speak_after_ms = now + SPEAK_MS;
    pthread_mutex_unlock(&d->lock);
    return may;
}

/* ---- the queue ---- */

static void jobs_free(struct job *list, uint64_t *ret_how_many)
{
    *ret_how_many = 0;
    while (list) {
        struct job *next = list->next;
        entry_unref(list->entry);
        free(list);
        list = next;
        ++*ret_how_many;
    }
}

/* With the queue lock held. */
static struct job *queue_empty(struct store_disk *d)
{
    struct job *all = d->oldest;
    for (struct job *job = all; job; job = job->next)
        d->queued_bytes -= job->bytes;
    d->oldest = d->newest = NULL;
    return all;
}

static void queue_drop(struct store_disk *d)
{
    uint64_t dropped;
    pthread_mutex_lock(&d->queue_lock);
    struct job *all = queue_empty(d);
    pthread_mutex_unlock(&d->queue_lock);
    jobs_free(all, &dropped);
    count(d, &d->counts.dropped, dropped);
}

static bool queue_add(struct store_disk *d, struct job *job)
{
    pthread_mutex_lock(&d->queue_lock);
    bool fits = d->queued_bytes == 0 || d->queued_bytes + job->bytes <= QUEUE_MAX_BYTES;
    bool taken = fits && now_ms() >= d->paused_until_ms;
    if (taken) {
        if (d->newest)
            d->newest->next = job;
        else
            d->oldest = job;
        d->newest = job;
        d->queued_bytes += job->bytes;
        pthread_cond_signal(&d->queue_changed);
    }
    pthread_mutex_unlock(&d->queue_lock);
    return taken;
}

/* Waits for a job, which stays counted in queued_bytes. NULL: the store closes, and all is written or the
 * time is over. */
static struct job *queue_take(struct store_disk *d)
{
    pthread_mutex_lock(&d->queue_lock);
    while (!d->oldest && !d->closing)
        pthread_cond_wait(&d->queue_changed, &d->queue_lock);
    struct job *job = d->closing && now_ms() >= d->close_by_ms ? NULL : d->oldest;
    if (job) {
        d->oldest = job->next;
        if (!d->oldest)
            d->newest = NULL;
        job->next = NULL;
    }
    pthread_mutex_unlock(&d->queue_lock);
    return job;
}

static void queue_done(struct store_disk *d, struct job *job)
{
    uint64_t one;
    pthread_mutex_lock(&d->queue_lock);
    d->queued_bytes -= job->bytes;
    pthread_mutex_unlock(&d->queue_lock);
    jobs_free(job, &one);
}

static bool out_of_time(struct store_disk *d)
{
    pthread_mutex_lock(&d->queue_lock);
    bool over = d->closing && now_ms() >= d->close_by_ms;
    pthread_mutex_unlock(&d->queue_lock);
    return over;
}

/* ---- writing, all on the writer's thread ---- */

/* Whether other entries could be written all the same. */
static bool is_of_one_entry(int why)
{
    return why == EFBIG || why == EISDIR || why == ENOTDIR || why == ELOOP || why == ENOTEMPTY ||
           why == EEXIST;
}

static void write_failed(struct store_disk *d, const char *what, int why)
{
    count(d, &d->counts.errors, 1);
    if (is_of_one_entry(why)) {
        if (may_speak(d))
            log_warn("event=disk_cache_entry_failed message=\"can't %s an entry\" reason=\"%s\"", what,
                     strerror(why));
        return;
    }
    pthread_mutex_lock(&d->queue_lock);
    bool news = d->failing != why;
    d->failing = why;
    d->paused_until_ms = now_ms() + PAUSE_MS;
    pthread_mutex_unlock(&d->queue_lock);
    queue_drop(d);
    if (news)
        log_warn("event=disk_cache_write_failed message=\"can't %s; reading goes on, writing is tried again "
                 "every %d s\" reason=\"%s\"",
                 what, PAUSE_MS / 1000, strerror(why));
}

static void write_worked(struct store_disk *d)
{
    pthread_mutex_lock(&d->queue_lock);
    bool news = d->failing != 0;
    d->failing = 0;
    pthread_mutex_unlock(&d->queue_lock);
    count(d, &d->counts.writes, 1);
    if (news)
        log_info("event=disk_cache_writes_again");
}

/* Evicts until `cost` more bytes fit. False: they can't be made to. */
static bool make_room(struct store_disk *d, uint64_t cost)
{
    for (;;) {
        struct disk_id id;
        uint32_t file_bytes;
        pthread_mutex_lock(&d->lock);
        bool fits = d->index.bytes + cost <= d->budget;
        bool evicted = !fits && disk_index_evict(&d->index, d->budget, &id, &file_bytes);
        pthread_mutex_unlock(&d->lock);
        if (fits || !evicted)
            return fits;
        int why = disk_folder_remove(&d->folder, id, file_bytes);
        pthread_mutex_lock(&d->lock);
        if (why) {
            disk_index_take_back(&d->index, id);
        } else {
            disk_index_forget(&d->index, id);
            d->counts.evictions++;
        }
        pthread_mutex_unlock(&d->lock);
        if (why)
            write_failed(d, "remove", why);
        if (why || out_of_time(d))
            return false;
    }
}

/* Whether it is not there yet, and the index could take it. */
static bool wanted(struct store_disk *d, struct disk_id id, bool *ret_known)
{
    pthread_mutex_lock(&d->lock);
    *ret_known = disk_index_has(&d->index, id);
    bool room = !*ret_known && disk_index_reserve(&d->index) == ERR_NONE;
    pthread_mutex_unlock(&d->lock);
    return room;
}

/* False if it was dropped. */
static bool write_entry(struct store_disk *d, const struct entry *e)
{
    struct disk_id id = id_of(&e->key);
    uint32_t file_bytes = (uint32_t)record_bytes(e);
    bool known;
    if (!wanted(d, id, &known))
        return known;
    struct blob record = {0};
    if (!make_room(d, disk_index_cost(file_bytes)) || record_write(e, &record))
        return false;
    int why = disk_folder_write(&d->folder, id, record.data, file_bytes);
    blob_free(&record);
    if (why) {
        write_failed(d, "write", why);
        return false;
    }
    pthread_mutex_lock(&d->lock); /* only this thread adds: the room is still there */
    disk_index_add(&d->index, id, file_bytes, DISK_SMALL);
    pthread_mutex_unlock(&d->lock);
    write_worked(d);
    return true;
}

static void *writer_run(void *ctx)
{
    struct store_disk *d = ctx;
    struct job *job;
    make_room(d, 0); /* the budget may be smaller than it was */
    while ((job = queue_take(d))) {
        if (!write_entry(d, job->entry))
            count(d, &d->counts.dropped, 1);
        queue_done(d, job);
    }
    return NULL;
}

/* ---- finding ---- */

/* The index knows a file that is gone or wrong. Of several threads that see it, one gets true. */
static bool remove_wrong(struct store_disk *d, struct disk_id id, uint32_t file_bytes, uint32_t serial)
{
    pthread_mutex_lock(&d->lock);
    bool ours = disk_index_leave(&d->index, id, serial);
    pthread_mutex_unlock(&d->lock);
    if (!ours)
        return false;
    /* One that can't be removed is met again after the next start. */
    int why = d->folder.read_only ? 0 : disk_folder_remove(&d->folder, id, file_bytes);
    pthread_mutex_lock(&d->lock);
    disk_index_forget(&d->index, id);
    d->counts.errors += why != 0;
    pthread_mutex_unlock(&d->lock);
    return true;
}

static void found_wrong(struct store_disk *d, struct disk_id id, uint32_t file_bytes, uint32_t serial,
                        const char *reason)
{
    if (!remove_wrong(d, id, file_bytes, serial))
        return;
    count(d, &d->counts.corrupt, 1);
    if (may_speak(d))
        log_warn("event=disk_cache_bad_entry id=%016llx bytes=%u message=\"removed, drawn again\" "
                 "reason=\"%s\"",
                 (unsigned long long)id.high, file_bytes, reason);
}

static void find_failed(struct store_disk *d, int why)
{
    count(d, &d->counts.errors, 1);
    if (may_speak(d))
        log_warn("event=disk_cache_read_failed reason=\"%s\"", strerror(why));
}

/* Reads and checks the file; NULL after having dealt with what is wrong. */
static struct entry *read_entry(struct store_disk *d, const struct request *r, const struct key *key,
                                uint32_t file_bytes, uint32_t serial)
{
    struct disk_id id = id_of(key);
    struct entry *e = NULL;
    uint8_t *bytes = NULL;
    int why = 0;
    switch (disk_folder_read(&d->folder, id, file_bytes, &bytes, &why)) {
    case DISK_READ_OK:
        break;
    case DISK_READ_GONE:
        remove_wrong(d, id, file_bytes, serial);
        return NULL;
    case DISK_READ_BAD:
        found_wrong(d, id, file_bytes, serial, why ? strerror(why) : "not a file of this length");
        return NULL;
    case DISK_READ_FAILED:
        find_failed(d, why);
        return NULL;
    }
    enum record_verdict verdict = record_read(bytes, file_bytes, r, key, &e);
    free(bytes);
    if (verdict == RECORD_CORRUPT)
        found_wrong(d, id, file_bytes, serial, "checksum");
    else if (verdict == RECORD_OTHER)
        found_wrong(d, id, file_bytes, serial, "of another key or other libraries");
    else if (verdict == RECORD_OOM)
        find_failed(d, ENOMEM);
    return e;
}

static struct entry *store_disk_find(struct store *s, const struct request *r, const struct key *key,
                                     uint64_t deadline_ns)
{
    (void)deadline_ns; /* see the top of this file */
    struct store_disk *d = (struct store_disk *)s;
    uint32_t file_bytes, serial;
    pthread_mutex_lock(&d->lock);
    bool known = disk_index_find(&d->index, id_of(key), &file_bytes, &serial);
    pthread_mutex_unlock(&d->lock);
    struct entry *e = known ? read_entry(d, r, key, file_bytes, serial) : NULL;
    count(d, e ? &d->counts.hits : &d->counts.misses, 1);
    return e;
}

/* ---- the rest of a store ---- */

static void store_disk_put(struct store *s, struct entry *e)
{
    struct store_disk *d = (struct store_disk *)s;
    bool small = e->body.len > 0 && e->body.len <= RECORD_BODY_MAX_BYTES &&
                 disk_index_cost((uint32_t)record_bytes(e)) <= d->budget / ENTRY_SHARE;
    struct job *job = small && !d->folder.read_only ? malloc(sizeof(*job)) : NULL;
    if (job) {
        *job = (struct job){.entry = entry_ref(e), .bytes = record_bytes(e)};
        if (queue_add(d, job))
            return;
        entry_unref(job->entry);
        free(job);
    }
    count(d, &d->counts.dropped, 1);
}

static void store_disk_stats(struct store *s, struct store_stats *ret_stats)
{
    struct store_disk *d = (struct store_disk *)s;
    pthread_mutex_lock(&d->lock);
    struct store_stats stats = d->counts;
    stats.bytes = (size_t)d->index.bytes;
    stats.entries = d->index.entries;
    pthread_mutex_unlock(&d->lock);
    stats.budget = (size_t)d->budget;
    pthread_mutex_lock(&d->queue_lock);
    stats.up = !d->folder.read_only && !d->failing;
    pthread_mutex_unlock(&d->queue_lock);
    *ret_stats = stats;
}

static void store_disk_free(struct store_disk *d)
{
    disk_index_finish(&d->index);
    disk_folder_close(&d->folder);
    pthread_cond_destroy(&d->queue_changed);
    pthread_mutex_destroy(&d->queue_lock);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

static void store_disk_close(struct store *s, int ms)
{
    struct store_disk *d = (struct store_disk *)s;
    if (!d->folder.read_only) {
        pthread_mutex_lock(&d->queue_lock);
        d->closing = true;
        d->close_by_ms = now_ms() + (uint64_t)(ms > 0 ? ms : 0);
        pthread_cond_signal(&d->queue_changed);
        pthread_mutex_unlock(&d->queue_lock);
        pthread_join(d->writer, NULL);
        queue_drop(d);
    }
    store_disk_free(d);
}

static const struct store_impl store_disk_impl = {
    .tier = STORE_DISK,
    .find = store_disk_find,
    .put = store_disk_put,
    .stats = store_disk_stats,
    .close = store_disk_close,
};

/* ---- opening ---- */

struct loading {
    struct disk_index *index;
    bool out_of_memory;
};

/* Two files of one id, of different length: what a wrong file that couldn't be removed leaves. One goes. */
static bool load(void *ctx, struct disk_id id, uint32_t file_bytes)
{
    struct loading *loading = ctx;
    if (disk_index_has(loading->index, id))
        return false;
    if (disk_index_reserve(loading->index))
        loading->out_of_memory = true;
    else
        disk_index_add(loading->index, id, file_bytes, DISK_MAIN);
    return true;
}

/* A limit on file sizes must end in an error of write() and not in SIGXFSZ; other signals are the business of
 * the main thread. */
static bool writer_start(struct store_disk *d)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&d->writer, NULL, writer_run, d) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

static void say_ready(const struct store_disk *d, const char *folder, uint64_t began_ms)
{
    char quoted[QUOTED];
    log_info("event=disk_cache_ready folder=%s entries=%zu bytes=%llu budget=%llu ms=%llu",
             log_quote(folder, strlen(folder), quoted, sizeof(quoted)), d->index.entries,
             (unsigned long long)d->index.bytes, (unsigned long long)d->budget,
             (unsigned long long)(now_ms() - began_ms));
}

enum err store_disk_open(const struct store_disk_desc *desc, struct store **ret_store)
{
    uint64_t began_ms = now_ms();
    struct store_disk *d = calloc(1, sizeof(*d));
    if (!d)
        return ERR_OOM;
    enum err err = disk_folder_open(desc->folder, &d->folder);
    if (err) {
        free(d);
        return err;
    }
    d->base.impl = &store_disk_impl;
    d->budget = desc->budget_bytes;
    disk_index_init(&d->index);
    pthread_mutex_init(&d->lock, NULL);
    pthread_mutex_init(&d->queue_lock, NULL);
    pthread_cond_init(&d->queue_changed, NULL);
    struct loading loading = {.index = &d->index};
    disk_folder_list(&d->folder, load, &loading);
    if (loading.out_of_memory)
        goto fail;
    say_ready(d, desc->folder, began_ms);
    if (!d->folder.read_only && !writer_start(d))
        goto fail;
    *ret_store = &d->base;
    return ERR_NONE;
fail:
    log_error("event=no_disk_cache error=%s reason=\"%s\"", err_name(ERR_OOM), err_words(ERR_OOM));
    store_disk_free(d);
    return ERR_OOM;
}
