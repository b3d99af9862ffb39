/* The folder of the disk cache: names, files and the lock. Every access is relative to a descriptor of the
 * folder and follows no symbolic link; besides two descriptors that stay open, each call opens two at most
 * and closes them. Only disk_folder_open() and disk_folder_list() log. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "renderer/base/attr.h"
#include "renderer/base/err.h"
#include "server/disk_index.h"

struct disk_folder {
    int root, lock; /* descriptors; lock is -1 where there is none */
    bool read_only; /* found to be so when it was opened, or not lockable */
};

/* Makes the folder if it is missing, locks it against other processes, removes what a killed process left
 * half-written. ERR_CONFIG, logged: no folder, can't be read or made, another process has it. */
MUST_USE enum err disk_folder_open(const char *path, struct disk_folder *ret_folder);
void disk_folder_close(struct disk_folder *f);

/* Calls `visit` for each entry, in no order, from names alone: no file is opened, none is asked for its size.
 * An entry for which it returns false is removed. */
void disk_folder_list(const struct disk_folder *f, bool (*visit)(void *, struct disk_id, uint32_t file_bytes),
                      void *ctx);

/* Writes a new file. 0 or an errno; then nothing of it is left. Threads: one at a time. */
MUST_USE int disk_folder_write(const struct disk_folder *f, struct disk_id id, const uint8_t *bytes,
                               uint32_t file_bytes);

enum disk_read {
    DISK_READ_OK,
    DISK_READ_GONE,  /* somebody else removed it */
    DISK_READ_BAD,   /* unreadable, no file, or not of the size that its name says */
    DISK_READ_FAILED /* not the entry's fault: memory or descriptors are short */
};

/* On success *ret_bytes has file_bytes bytes, which the caller frees. Else *ret_errno says why, 0 when it is
 * the size. Threads: any. */
enum disk_read disk_folder_read(const struct disk_folder *f, struct disk_id id, uint32_t file_bytes,
                                uint8_t **ret_bytes, int *ret_errno);

/* 0 if it is gone now, also if it was before; else an errno. Threads: any. */
int disk_folder_remove(const struct disk_folder *f, struct disk_id id, uint32_t file_bytes);
