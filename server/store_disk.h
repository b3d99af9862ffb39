/* The disk cache: one file for each picture in a folder of its own, an index in memory, a byte budget. */
#pragma once

#include "renderer/base/attr.h"
#include "renderer/base/err.h"
#include "server/store.h"

struct store_disk_desc {
    const char *folder;    /* made if it is missing (not its parents) */
    uint64_t budget_bytes; /* of disk space, counted in whole blocks */
};

/* Reads the names in the folder (no file), removes what a killed process left half-written, and locks the
 * folder against a second process. A folder that can be read and not written is used for reading (the log
 * says so). ERR_CONFIG, logged: it is no folder, can't be read or made, or another process has it. ERR_OOM,
 * logged.
 *
 * Keeps two descriptors open, and two more while a call reads or writes; one thread of its own. Memory: about
 * 50 bytes for each entry, and up to 32 MiB (or one larger picture) that wait to be written. find() takes no
 * notice of its deadline: a read of a local file can't be given up half-way. */
MUST_USE enum err store_disk_open(const struct store_disk_desc *desc, struct store **ret_store);
