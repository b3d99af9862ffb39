/* A finished file as caches outside the process keep it: a header that says what it is, the key, the bytes,
 * and a checksum over all of it. Whatever such a cache gives back is taken for hostile until record_read()
 * has passed it.
 *
 * Layout, little endian: magic "PLNTREC" and a version byte; u32 key length; u32 0; u64 body length; the
 * entity tag (ETAG_BYTES, padded with NUL: it changes with the revision and with the libraries that write
 * files); key; body; and last the XXH3 128-bit hash (canonical form) of all bytes before it. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "api/key.h"
#include "renderer/base/attr.h"
#include "renderer/base/blob.h"
#include "renderer/base/err.h"
#include "server/cache.h"

/* Pictures above this are kept in memory alone: reading one back would cost about what drawing it does. */
#define RECORD_BODY_MAX_BYTES ((size_t)64 << 20)

/* No record is longer: whoever reads one may refuse by its length alone. */
#define RECORD_MAX_BYTES (RECORD_BODY_MAX_BYTES + KEY_MAX_BYTES + ETAG_BYTES + 40)

/* Bytes that the record of this entry has. */
size_t record_bytes(const struct entry *e);

/* Replaces *ret_record. ERR_OOM, also for a body that is empty or above the limit. Threads: any. */
MUST_USE enum err record_write(const struct entry *e, struct blob *ret_record);

enum record_verdict {
    RECORD_GOOD,
    RECORD_CORRUPT, /* truncated, altered, or not a record at all */
    RECORD_OTHER,   /* a sound record of another key, revision or library version */
    RECORD_OOM
};

/* Checks everything, then makes an entry with one reference, which the caller holds. *ret_entry is set with
 * RECORD_GOOD only. Reads nothing outside bytes[0..len). Threads: any. */
enum record_verdict record_read(const uint8_t *bytes, size_t len, const struct request *r,
                                const struct key *key, struct entry **ret_entry);
