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
 * says so). ERR_CONFIG, logged: it is no folder, can't be read or made, or another process has it. ERR_OOM.
 */
MUST_USE enum err store_disk_open(const struct store_disk_desc *desc, struct store **ret_store);
