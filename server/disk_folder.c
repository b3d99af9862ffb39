/* disk_folder.c -- one file for each entry, named by what the index needs to know.
 *
 *     lock                                          held with flock() as long as the process lives
 *     new                                           the file that is being written
 *     a3/a35c...(32 hex digits)-000004d2            hash of the key, length of the file
 *
 * A name is all that a start reads, so it takes as long as listing does. 256 folders keep each one short for
 * file systems that search them linearly, and for people.
 *
 * A file is written as "new" and then renamed, so a process that is killed leaves a whole file or "new", of
 * which there is one at most because one thread writes. No fsync(): it would cost more than drawing the
 * picture does, for a cache. What was written before a kill is safe with the kernel. After a power cut an
 * entry may be missing, empty or wrong; its length and its checksum tell, and it is drawn again.
 *
 * Only names of this form are read or removed: in a folder that holds other things too, those are left
 * alone. Threads: any, but one writer. */
#include "server/disk_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/log.h"
#include "server/record.h"

#define SHARDS      256
#define SHARD_BYTES 3
#define NAME_BYTES  42
#define LOCK_NAME   "lock"
#define NEW_NAME    "new"
#define QUOTED      512

/* ---- names ---- */

static void shard_name(unsigned shard, char ret_name[SHARD_BYTES])
{
    snprintf(ret_name, SHARD_BYTES, "%02x", shard & 0xff);
}

static unsigned shard_of(struct disk_id id)
{
    return (unsigned)(id.high >> 56);
}

static void file_name(struct disk_id id, uint32_t file_bytes, char ret_name[NAME_BYTES])
{
    snprintf(ret_name, NAME_BYTES, "%016" PRIx64 "%016" PRIx64 "-%08" PRIx32, id.high, id.low, file_bytes);
}

/* Reads `digits` lower-case hex digits; false if there are fewer. */
static bool hex_read(const char *text, int digits, uint64_t *ret_value)
{
    uint64_t value = 0;
    for (int i = 0; i < digits; i++) {
        char c = text[i];
        if (c >= '0' && c <= '9')
            value = value << 4 | (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            value = value << 4 | (uint64_t)(c - 'a' + 10);
        else
            return false;
    }
    *ret_value = value;
    return true;
}

/* The one name that file_name() gives, and nothing else. */
static bool name_read(const char *name, unsigned shard, struct disk_id *ret_id, uint32_t *ret_file_bytes)
{
    uint64_t bytes;
    if (!hex_read(name, 16, &ret_id->high) || !hex_read(name + 16, 16, &ret_id->low) || name[32] != '-' ||
        !hex_read(name + 33, 8, &bytes) || name[41] != '\0')
        return false;
    *ret_file_bytes = (uint32_t)bytes;
    return shard_of(*ret_id) == shard && bytes > 0 && bytes <= RECORD_MAX_BYTES;
}

static int shard_open(const struct disk_folder *f, unsigned shard)
{
    char name[SHARD_BYTES];
    shard_name(shard, name);
    return openat(f->root, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* ---- opening ---- */

static enum err refuse(const char *path, const char *reason)
{
    char quoted[QUOTED];
    log_error("event=disk_cache_refused folder=%s reason=\"%s\"",
              log_quote(path, strlen(path), quoted, sizeof(quoted)), reason);
    return ERR_CONFIG;
}

static void become_read_only(struct disk_folder *f, const char *path, const char *what, int why)
{
    char quoted[QUOTED];
    f->read_only = true;
    log_warn("event=disk_cache_read_only folder=%s message=\"used for reading alone until the next start: "
             "can't %s\" reason=\"%s\"",
             log_quote(path, strlen(path), quoted, sizeof(quoted)), what, strerror(why));
}

/* A process that can only read takes a shared lock, where there is a file to lock. */
static enum err lock_folder(struct disk_folder *f, const char *path)
{
    f->lock = openat(f->root, LOCK_NAME, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (f->lock < 0) {
        become_read_only(f, path, "make the lock file", errno);
        f->lock = openat(f->root, LOCK_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (f->lock < 0)
            return ERR_NONE;
    }
    if (flock(f->lock, (f->read_only ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0)
        return ERR_NONE;
    if (errno == EWOULDBLOCK)
        return refuse(path, "another process has it; each planetd needs a folder of its own");
    if (!f->read_only)
        become_read_only(f, path, "lock it", errno);
    return ERR_NONE;
}

/* Also sweeps what a killed process was writing. A full disk is left to the writer, which tries again. */
static void try_writing(struct disk_folder *f, const char *path)
{
    unlinkat(f->root, NEW_NAME, 0);
    int fd = openat(f->root, NEW_NAME, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd >= 0) {
        close(fd);
        unlinkat(f->root, NEW_NAME, 0);
    } else if (errno != ENOSPC && errno != EDQUOT) {
        become_read_only(f, path, "write in it", errno);
    }
}

enum err disk_folder_open(const char *path, struct disk_folder *ret_folder)
{
    struct disk_folder f = {.root = -1, .lock = -1};
    int not_made = mkdir(path, 0700) < 0 ? errno : 0; /* EEXIST as a rule */
    f.root = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (f.root < 0)
        return refuse(path, strerror(errno == ENOENT && not_made ? not_made : errno));
    enum err err = lock_folder(&f, path);
    if (err) {
        disk_folder_close(&f);
        return err;
    }
    if (!f.read_only)
        try_writing(&f, path);
    *ret_folder = f;
    return ERR_NONE;
}

void disk_folder_close(struct disk_folder *f)
{
    if (f->root >= 0)
        close(f->root);
    if (f->lock >= 0)
        close(f->lock); /* opens the lock */
    f->root = f->lock = -1;
}

/* ---- listing ---- */

/* 0 or an errno. */
static int list_shard(const struct disk_folder *f, unsigned shard,
                      bool (*visit)(void *, struct disk_id, uint32_t), void *ctx)
{
    int fd = shard_open(f, shard);
    if (fd < 0)
        return errno == ENOENT ? 0 : errno;
    DIR *dir = fdopendir(fd);
    if (!dir) {
        int why = errno;
        close(fd);
        return why;
    }
    const struct dirent *found;
    struct disk_id id;
    uint32_t file_bytes;
    errno = 0;
    while ((found = readdir(dir))) {
        if (name_read(found->d_name, shard, &id, &file_bytes) && !visit(ctx, id, file_bytes) && !f->read_only)
            unlinkat(fd, found->d_name, 0);
        errno = 0;
    }
    int why = errno;
    closedir(dir);
    return why;
}

void disk_folder_list(const struct disk_folder *f, bool (*visit)(void *, struct disk_id, uint32_t), void *ctx)
{
    int failed = 0, why = 0;
    for (unsigned shard = 0; shard < SHARDS; shard++) {
        int error = list_shard(f, shard, visit, ctx);
        if (error) {
            failed++;
            why = error;
        }
    }
    if (failed)
        log_warn("event=disk_cache_unlisted subfolders=%d message=\"what lies in them is not used\" "
                 "reason=\"%s\"",
                 failed, strerror(why));
}

/* ---- writing ---- */

static int write_all(int fd, const uint8_t *bytes, size_t len)
{
    while (len) {
        ssize_t n = write(fd, bytes, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno;
        bytes += n;
        len -= (size_t)n;
    }
    return 0;
}

static int new_open(const struct disk_folder *f)
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(f->root, NEW_NAME, flags, 0600);
    if (fd < 0 && errno == EEXIST && unlinkat(f->root, NEW_NAME, 0) == 0)
        fd = openat(f->root, NEW_NAME, flags, 0600); /* an earlier one couldn't be removed then */
    return fd;
}

/* Moves "new" to its place, and makes the place if it is the first there. */
static int new_rename(const struct disk_folder *f, struct disk_id id, uint32_t file_bytes)
{
    int fd = shard_open(f, shard_of(id));
    if (fd < 0 && errno == ENOENT) {
        char shard[SHARD_BYTES];
        shard_name(shard_of(id), shard);
        if (mkdirat(f->root, shard, 0700) < 0)
            return errno;
        fd = shard_open(f, shard_of(id));
    }
    if (fd < 0)
        return errno;
    char name[NAME_BYTES];
    file_name(id, file_bytes, name);
    int why = renameat(f->root, NEW_NAME, fd, name) < 0 ? errno : 0;
    close(fd);
    return why;
}

int disk_folder_write(const struct disk_folder *f, struct disk_id id, const uint8_t *bytes,
                      uint32_t file_bytes)
{
    int fd = new_open(f);
    if (fd < 0)
        return errno;
    int why = write_all(fd, bytes, file_bytes);
    if (close(fd) < 0 && !why) /* network file systems tell of a full disk here */
        why = errno;
    if (!why)
        why = new_rename(f, id, file_bytes);
    if (why)
        unlinkat(f->root, NEW_NAME, 0);
    return why;
}

/* ---- reading ---- */

static enum disk_read verdict_of(int why)
{
    switch (why) {
    case ENOENT:
        return DISK_READ_GONE;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
        return DISK_READ_FAILED;
    default:
        return DISK_READ_BAD;
    }
}

/* O_NONBLOCK: what somebody put in the file's place may be a pipe. */
static int file_open(const struct disk_folder *f, struct disk_id id, uint32_t file_bytes)
{
    char name[NAME_BYTES];
    file_name(id, file_bytes, name);
    int shard = shard_open(f, shard_of(id));
    if (shard < 0)
        return -1;
    int fd = openat(shard, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    int why = errno;
    close(shard);
    errno = why;
    return fd;
}

static enum disk_read read_all(int fd, uint8_t *bytes, size_t len, int *ret_errno)
{
    *ret_errno = 0;
    while (len) {
        ssize_t n = read(fd, bytes, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            *ret_errno = errno;
        if (n <= 0)
            return DISK_READ_BAD;
        bytes += n;
        len -= (size_t)n;
    }
    return DISK_READ_OK;
}

enum disk_read disk_folder_read(const struct disk_folder *f, struct disk_id id, uint32_t file_bytes,
                                uint8_t **ret_bytes, int *ret_errno)
{
    int fd = file_open(f, id, file_bytes);
    if (fd < 0) {
        *ret_errno = errno;
        return verdict_of(errno);
    }
    struct stat st;
    uint8_t *bytes = NULL;
    enum disk_read outcome = DISK_READ_BAD;
    *ret_errno = 0;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == (off_t)file_bytes) {
        bytes = malloc(file_bytes);
        *ret_errno = ENOMEM;
        outcome = bytes ? read_all(fd, bytes, file_bytes, ret_errno) : DISK_READ_FAILED;
    }
    close(fd);
    if (outcome == DISK_READ_OK)
        *ret_bytes = bytes;
    else
        free(bytes);
    return outcome;
}

int disk_folder_remove(const struct disk_folder *f, struct disk_id id, uint32_t file_bytes)
{
    if (f->read_only)
        return EROFS;
    int shard = shard_open(f, shard_of(id));
    if (shard < 0)
        return errno == ENOENT ? 0 : errno;
    char name[NAME_BYTES];
    file_name(id, file_bytes, name);
    int why = unlinkat(shard, name, 0) < 0 ? errno : 0;
    if (why == EISDIR || why == EPERM) /* an empty folder that stands in the file's place */
        why = unlinkat(shard, name, AT_REMOVEDIR) < 0 ? why : 0;
    close(shard);
    return why == ENOENT ? 0 : why;
}
