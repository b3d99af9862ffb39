/* bench_store.c -- what the disk cache costs: a start with 100,000 entries, a miss, a hit, a put until the
 * file is written. In a folder under TMPDIR (/tmp), whose file system is what is measured. Prints; judges
 * nothing. */
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

#include "server/store_disk.h"

#define ENTRIES    100000
#define BODY_BYTES 1500 /* a small picture */
#define ASKS       50000
#define BATCH      5000 /* puts at a time: their bytes fit the queue */
#define CLOSE_MS   600000

static const struct request request = {.format = FORMAT_PNG};

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void make_key(unsigned n, struct key *key)
{
    memset(key, 0, sizeof(*key));
    key->len = (size_t)snprintf(key->text, sizeof(key->text), "rev=1&type=gas&seed=%u&format=png", n);
    key->hash = XXH3_64bits(key->text, key->len);
}

static struct entry *make_entry(unsigned n)
{
    struct key key;
    make_key(n, &key);
    struct blob body = {.data = calloc(1, BODY_BYTES), .len = BODY_BYTES, .capacity = BODY_BYTES};
    struct entry *e = NULL;
    if (!body.data || entry_create(&request, &key, &body, &e))
        abort();
    return e;
}

static struct store *open_store(const char *folder)
{
    const struct store_disk_desc desc = {.folder = folder, .budget_bytes = (uint64_t)10 << 30};
    struct store *s = NULL;
    if (store_disk_open(&desc, &s))
        exit(1);
    return s;
}

static void put_all(struct store *s)
{
    struct store_stats stats;
    double begin = now_s();
    for (unsigned n = 0; n < ENTRIES; n++) {
        struct entry *e = make_entry(n);
        s->impl->put(s, e);
        entry_unref(e);
        if (n % BATCH < BATCH - 1)
            continue;
        do {
            usleep(200);
            s->impl->stats(s, &stats);
        } while (stats.writes + stats.dropped <= n);
    }
    printf("disk cache, put:  %7.1f us each until written (%d files of %d bytes)%s\n",
           (now_s() - begin) * 1e6 / ENTRIES, ENTRIES, BODY_BYTES, stats.dropped ? " (some dropped!)" : "");
}

static void ask(struct store *s, const char *name, unsigned first, bool there)
{
    int wrong = 0;
    double begin = now_s();
    for (unsigned i = 0; i < ASKS; i++) {
        struct key key;
        make_key(first + i * 7919u % ENTRIES, &key);
        struct entry *e = s->impl->find(s, &request, &key, 0);
        wrong += (e != NULL) != there;
        entry_unref(e);
    }
    printf("disk cache, %s: %7.1f us each, one thread, files in the page cache%s\n", name,
           (now_s() - begin) * 1e6 / ASKS, wrong ? " (unexpected!)" : "");
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    return remove(path);
}

int main(void)
{
    const char *parent = getenv("TMPDIR");
    char folder[256];
    snprintf(folder, sizeof(folder), "%.200s/planetd-bench-XXXXXX", parent && *parent ? parent : "/tmp");
    if (!mkdtemp(folder))
        return 1;
    struct store *s = open_store(folder);
    put_all(s);
    s->impl->close(s, CLOSE_MS);
    double begin = now_s();
    s = open_store(folder);
    printf("disk cache, start: %6.1f ms with %d entries\n", (now_s() - begin) * 1e3, ENTRIES);
    ask(s, "hit ", 0, true);
    ask(s, "miss", ENTRIES, false);
    s->impl->close(s, CLOSE_MS);
    return nftw(folder, remove_one, 64, FTW_DEPTH | FTW_PHYS) ? 1 : 0;
}
