/* redis_rig.h -- what the tests of the shared cache have in common: pictures with their keys, stores, time,
 * and the log. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "server/redis_wait.h"
#include "server/store_redis.h"

#define SKIPPED    77
#define WAIT_MS    60000 /* far more than a loaded machine needs; only a failing test waits so long */
#define TIMEOUT_MS 200   /* of finds */
#define SLACK_MS   600   /* what a loaded machine, or a sanitizer, may add to a limit */
#define AT_ONCE_MS 5 /* a find that asks nobody; the median of many, since any one may lose the processor */
#define BODY_BYTES 3000

static inline void sleep_ms(int ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
    nanosleep(&t, NULL);
}

static inline int ms_since(uint64_t start_ns)
{
    return (int)((redis_wait_now() - start_ns) / 1000000);
}

/* ---- pictures ---- */

static const struct request rig_request = {.format = FORMAT_GIF, .seed = "7", .seed_len = 1};

static inline void make_key(uint64_t n, struct key *key)
{
    memset(key, 0, sizeof(*key));
    key->len = (size_t)snprintf(key->text, sizeof(key->text), "rev=1&seed=%llu", (unsigned long long)n);
    key->hash = n;
}

static inline uint8_t body_byte(uint64_t n, size_t i)
{
    return (uint8_t)(n * 31 + i * 7 + i / 251);
}

static inline struct entry *make_entry(uint64_t n, size_t bytes)
{
    struct key key;
    struct blob body = {.data = malloc(bytes), .len = bytes, .capacity = bytes};
    struct entry *e = NULL;
    assert_non_null(body.data);
    for (size_t i = 0; i < bytes; i++)
        body.data[i] = body_byte(n, i);
    make_key(n, &key);
    assert_int_equal(entry_create(&rig_request, &key, &body, &e), ERR_NONE);
    return e;
}

/* ---- stores ---- */

static inline struct store *store_start(const char *url, int timeout_ms, int64_t ttl_seconds)
{
    struct store *s = NULL;
    struct store_redis_desc desc = {url, timeout_ms, ttl_seconds};
    assert_int_equal(store_redis_open(&desc, &s), ERR_NONE);
    assert_int_equal(s->impl->tier, STORE_SHARED);
    return s;
}

static inline void store_end(struct store *s)
{
    s->impl->close(s, 0);
}

static inline struct store_stats stats_of(struct store *s)
{
    struct store_stats st;
    s->impl->stats(s, &st);
    return st;
}

static inline void wait_up(struct store *s, bool up)
{
    for (int i = 0; i < WAIT_MS && stats_of(s).up != up; i++)
        sleep_ms(1);
    assert_int_equal(stats_of(s).up, up);
}

static inline void put_sized(struct store *s, uint64_t n, size_t bytes)
{
    struct entry *e = make_entry(n, bytes);
    s->impl->put(s, e);
    entry_unref(e);
}

static inline void put(struct store *s, uint64_t n)
{
    put_sized(s, n, BODY_BYTES);
}

/* Puts, and waits until the entry is written. */
static inline void put_now(struct store *s, uint64_t n)
{
    uint64_t before = stats_of(s).writes;
    put(s, n);
    for (int i = 0; i < WAIT_MS && stats_of(s).writes == before; i++)
        sleep_ms(1);
    assert_int_equal(stats_of(s).writes, before + 1);
}

/* True on a hit; checks that what came is picture n, whole. */
static inline bool find_by(struct store *s, uint64_t n, uint64_t deadline_ns)
{
    struct key key;
    make_key(n, &key);
    struct entry *e = s->impl->find(s, &rig_request, &key, deadline_ns);
    if (!e)
        return false;
    assert_string_equal(e->key.text, key.text);
    for (size_t i = 0; i < e->body.len; i++)
        assert_int_equal(e->body.data[i], body_byte(n, i));
    entry_unref(e);
    return true;
}

static inline bool find(struct store *s, uint64_t n)
{
    return find_by(s, n, 0);
}

/* Finds until it was tried: right after a failure there may be no connection for a moment. */
static inline bool find_tried(struct store *s, uint64_t n)
{
    for (int i = 0; i < WAIT_MS; i++) {
        uint64_t skipped = stats_of(s).skipped;
        bool found = find(s, n);
        if (stats_of(s).skipped == skipped)
            return found;
        sleep_ms(1);
    }
    fail_msg("all finds were skipped");
    return false;
}

static inline int by_size(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* Finds ask nobody: all are skipped, at once. */
static inline void assert_finds_skip_at_once(struct store *s)
{
    int took_ms[101];
    uint64_t skipped = stats_of(s).skipped, begin = redis_wait_now();
    for (int i = 0; i < 101; i++) {
        uint64_t start = redis_wait_now();
        assert_false(find(s, 1));
        took_ms[i] = ms_since(start);
    }
    assert_int_equal(stats_of(s).skipped, skipped + 101);
    qsort(took_ms, 101, sizeof(took_ms[0]), by_size);
    assert_true(took_ms[50] < AT_ONCE_MS);
    assert_true(ms_since(begin) < 101 * AT_ONCE_MS + SLACK_MS);
}

/* A find that comes to nothing, in its time. */
static inline void assert_find_fails_in_time(struct store *s, uint64_t n, int timeout_ms)
{
    uint64_t start = redis_wait_now();
    assert_false(find(s, n));
    assert_true(ms_since(start) <= timeout_ms + SLACK_MS);
}

/* ---- the log ---- */

struct log_tap {
    FILE *file;
    int old_fd;
};

static inline struct log_tap log_tap_open(void)
{
    struct log_tap tap = {.file = tmpfile(), .old_fd = dup(STDERR_FILENO)};
    assert_non_null(tap.file);
    assert_true(tap.old_fd >= 0);
    assert_true(dup2(fileno(tap.file), STDERR_FILENO) >= 0);
    return tap;
}

/* What was logged; the caller frees it. */
static inline char *log_tap_close(struct log_tap *tap)
{
    dup2(tap->old_fd, STDERR_FILENO);
    close(tap->old_fd);
    long len = lseek(fileno(tap->file), 0, SEEK_END);
    char *text = calloc(1, (size_t)len + 1);
    assert_non_null(text);
    assert_int_equal(pread(fileno(tap->file), text, (size_t)len, 0), len);
    fclose(tap->file);
    return text;
}

static inline int count_of(const char *text, const char *word)
{
    int count = 0;
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
        count++;
    return count;
}
