/* blob.c -- a growable run of bytes with a limit.
 * It doubles, so that many small appends cost linear time, and never beyond its limit, so that no picture can
 * eat the machine. Threads: one at a time per blob. */
#include "renderer/base/blob.h"

#include <stdlib.h>
#include <string.h>

#define BLOB_FIRST_BYTES 256 /* the first growth: a small PNG fits after two more */

static size_t blob_limit(const struct blob *b)
{
    return b->max_bytes ? b->max_bytes : BLOB_MAX_BYTES;
}

enum err blob_reserve(struct blob *b, size_t extra)
{
    size_t limit = blob_limit(b);
    if (b->len > limit || extra > limit - b->len)
        return ERR_OOM;
    size_t need = b->len + extra;
    if (need <= b->capacity)
        return ERR_NONE;

    size_t grown = b->capacity > limit / 2 ? limit : b->capacity * 2;
    if (grown < BLOB_FIRST_BYTES)
        grown = BLOB_FIRST_BYTES < limit ? BLOB_FIRST_BYTES : limit;
    if (grown < need)
        grown = need;
    uint8_t *data = realloc(b->data, grown);
    if (!data)
        return ERR_OOM;
    b->data = data;
    b->capacity = grown;
    return ERR_NONE;
}

enum err blob_append(struct blob *b, const void *bytes, size_t len)
{
    if (!len)
        return ERR_NONE;
    enum err err = blob_reserve(b, len);
    if (err)
        return err;
    memcpy(b->data + b->len, bytes, len);
    b->len += len;
    return ERR_NONE;
}

void blob_shrink(struct blob *b)
{
    if (b->capacity == b->len)
        return;
    if (!b->len) {
        free(b->data);
        b->data = NULL;
        b->capacity = 0;
        return;
    }
    uint8_t *data = realloc(b->data, b->len);
    if (!data)
        return; /* the larger block is still good */
    b->data = data;
    b->capacity = b->len;
}

void blob_free(struct blob *b)
{
    free(b->data);
    b->data = NULL;
    b->len = 0;
    b->capacity = 0;
}

struct blob blob_take(struct blob *b)
{
    struct blob taken = *b;
    b->data = NULL;
    b->len = 0;
    b->capacity = 0;
    return taken;
}
