/* A growable run of bytes with a limit. Every encoder writes into one. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "renderer/base/attr.h"
#include "renderer/base/err.h"

/* Zeroed it is empty and valid. `max_bytes` 0 means BLOB_MAX_BYTES. Threads: one at a time. */
struct blob {
    uint8_t *data;
    size_t len;
    size_t capacity;
    size_t max_bytes;
};

#define BLOB_MAX_BYTES ((size_t)256 << 20) /* no picture within the pixel limit comes near it */

/* Appends `len` bytes. ERR_OOM when memory or the limit is used up; the blob then keeps what it had. */
MUST_USE enum err blob_append(struct blob *b, const void *bytes, size_t len);

/* Makes room for `extra` more bytes without changing len. ERR_OOM as above. */
MUST_USE enum err blob_reserve(struct blob *b, size_t extra);

/* Gives back what capacity exceeds len. */
void blob_shrink(struct blob *b);

/* Frees the bytes and empties the blob. Accepts a zeroed one. */
void blob_free(struct blob *b);

/* Returns the contents of *b and empties it; the caller frees the result with blob_free(). */
struct blob blob_take(struct blob *b);
