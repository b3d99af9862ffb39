/* store_disk_rig.h -- a disk cache under test in a folder that lives as long as the test. Include it once in
 * a program. */
#pragma once

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "server/store_disk.h"
#include "tests/unit/store_rig.h"

#define WAIT_MS    60000 /* far more than a loaded machine needs; only a failing test waits so long */
#define PATH_BYTES 320
#define MIB        ((uint64_t)1 << 20)

static inline void sleep_us(long us)
{
    struct timespec t = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};
    nanosleep(&t, NULL);
}

static inline uint64_t rig_mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* A path, whole or not at all. */
static inline void PRINTF_LIKE(2, 3) rig_name(char ret_path[PATH_BYTES], const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int len = vsnprintf(ret_path, PATH_BYTES, format, args);
    va_end(args);
    if (len < 0 || len >= PATH_BYTES)
        abort();
}

/* ---- the folder ---- */

static inline void rig_folder_make(char ret_path[PATH_BYTES])
{
    const char *parent = getenv("TMPDIR");
    rig_name(ret_path, "%s/planetd-store-XXXXXX", parent && *parent ? parent : "/tmp");
    if (!mkdtemp(ret_path))
        abort();
}

static inline int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    return remove(path);
}

static inline void rig_folder_remove(const char *path)
{
    nftw(path, remove_one, 64, FTW_DEPTH | FTW_PHYS);
}

/* Where the entry of n, with a body of so many bytes, lies. The layout is written down here a second time, so
 * that it can't change by mistake: folders outlive a version. */
static inline void rig_path(const char *folder, uint64_t n, size_t body_bytes, char ret_path[PATH_BYTES])
{
    struct key key;
    rig_key(n, &key);
    XXH128_hash_t hash = XXH3_128bits(key.text, key.len);
    unsigned record = (unsigned)(64 + key.len + body_bytes + 16);
    rig_name(ret_path, "%s/%02x/%016" PRIx64 "%016" PRIx64 "-%08x", folder, (unsigned)(hash.high64 >> 56),
             (uint64_t)hash.high64, (uint64_t)hash.low64, record);
}

struct rig_census {
    size_t entries; /* in all subfolders */
    uint64_t bytes; /* as their names say, in whole blocks */
    bool half_written;
};

static inline struct rig_census rig_census(const char *folder)
{
    struct rig_census census = {0};
    char path[PATH_BYTES];
    for (unsigned shard = 0; shard < 256; shard++) {
        rig_name(path, "%s/%02x", folder, shard);
        DIR *dir = opendir(path);
        const struct dirent *found;
        while (dir && (found = readdir(dir)))
            if (strlen(found->d_name) == 41) {
                census.entries++;
                census.bytes += (strtoull(found->d_name + 33, NULL, 16) + 4095) / 4096 * 4096;
            }
        if (dir)
            closedir(dir);
    }
    rig_name(path, "%s/new", folder);
    census.half_written = access(path, F_OK) == 0;
    return census;
}

/* ---- the store ---- */

static inline struct store *rig_open(const char *folder, uint64_t budget_bytes)
{
    struct store_disk_desc desc = {.folder = folder, .budget_bytes = budget_bytes};
    struct store *s = NULL;
    if (store_disk_open(&desc, &s))
        return NULL;
    return s;
}

static inline void rig_close(struct store *s)
{
    s->impl->close(s, WAIT_MS);
}

static inline struct store_stats rig_stats(struct store *s)
{
    struct store_stats stats;
    s->impl->stats(s, &stats);
    return stats;
}

static inline void rig_put(struct store *s, uint64_t n, size_t body_bytes)
{
    struct entry *e = rig_entry(n, body_bytes);
    s->impl->put(s, e);
    entry_unref(e);
}

/* Waits until it is written or dropped. True when it is written. */
static inline bool rig_put_wait(struct store *s, uint64_t n, size_t body_bytes)
{
    struct store_stats before = rig_stats(s), now = before;
    rig_put(s, n, body_bytes);
    for (int waited_us = 0; waited_us < WAIT_MS * 1000; waited_us += 50) {
        now = rig_stats(s);
        if (now.writes + now.dropped > before.writes + before.dropped)
            break;
        sleep_us(50);
    }
    return now.writes > before.writes;
}

enum rig_found { RIG_MISS, RIG_HIT, RIG_WRONG };

static inline enum rig_found rig_find(struct store *s, uint64_t n, size_t body_bytes)
{
    struct key key;
    rig_key(n, &key);
    struct entry *e = s->impl->find(s, &rig_request, &key, 0);
    if (!e)
        return RIG_MISS;
    bool right = rig_entry_right(e, n, body_bytes);
    entry_unref(e);
    return right ? RIG_HIT : RIG_WRONG;
}
