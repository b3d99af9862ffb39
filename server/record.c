/* record.c -- the bytes that stand for an entry outside the process.
 *
 * The checksum is the first thing that is believed and covers all else, so a record that was cut, altered or
 * mixed up is told from one that belongs to another request. It is no signature: it guards against disks and
 * half-written files, and against nobody who can write to the cache on purpose. Numbers are put together byte
 * by byte, so that a folder may move between machines. Threads: any; nothing is kept between calls. */
#include "server/record.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define MAGIC_BYTES  8
#define HEADER_BYTES (MAGIC_BYTES + 4 + 4 + 8 + ETAG_BYTES)
#define SUM_BYTES    ((size_t)16)

/* The last byte is the version of the layout. */
static const uint8_t magic[MAGIC_BYTES] = {'P', 'L', 'N', 'T', 'R', 'E', 'C', 1};

_Static_assert(sizeof(XXH128_canonical_t) == SUM_BYTES, "checksum");
_Static_assert(RECORD_MAX_BYTES == HEADER_BYTES + KEY_MAX_BYTES + RECORD_BODY_MAX_BYTES + SUM_BYTES,
               "the header file says what the parts sum up to");

static void put_number(uint8_t *to, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

static uint64_t get_number(const uint8_t *from, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)from[i] << 8 * i;
    return value;
}

static XXH128_canonical_t sum_of(const uint8_t *bytes, size_t len)
{
    XXH128_canonical_t sum;
    XXH128_canonicalFromHash(&sum, XXH3_128bits(bytes, len));
    return sum;
}

size_t record_bytes(const struct entry *e)
{
    return HEADER_BYTES + e->key.len + e->body.len + SUM_BYTES;
}

enum err record_write(const struct entry *e, struct blob *ret_record)
{
    if (e->body.len < 1 || e->body.len > RECORD_BODY_MAX_BYTES)
        return ERR_OOM;
    struct blob record = {.max_bytes = RECORD_MAX_BYTES};
    enum err err = blob_reserve(&record, record_bytes(e));
    if (err)
        return err;
    uint8_t *to = record.data;
    memcpy(to, magic, MAGIC_BYTES);
    put_number(to + 8, e->key.len, 4);
    put_number(to + 12, 0, 4);
    put_number(to + 16, e->body.len, 8);
    memset(to + 24, 0, ETAG_BYTES);
    memcpy(to + 24, e->etag, strnlen(e->etag, ETAG_BYTES));
    to += HEADER_BYTES;
    memcpy(to, e->key.text, e->key.len);
    to += e->key.len;
    memcpy(to, e->body.data, e->body.len);
    to += e->body.len;
    XXH128_canonical_t sum = sum_of(record.data, (size_t)(to - record.data));
    memcpy(to, &sum, SUM_BYTES);
    record.len = record_bytes(e);
    blob_free(ret_record);
    *ret_record = record;
    return ERR_NONE;
}

/* Whether all of bytes[0..len) is one sound record; then also where its body begins. */
static bool sound(const uint8_t *bytes, size_t len, size_t *ret_key_len, size_t *ret_body_len)
{
    if (len < HEADER_BYTES + SUM_BYTES || len > RECORD_MAX_BYTES || memcmp(bytes, magic, MAGIC_BYTES) != 0)
        return false;
    uint64_t key_len = get_number(bytes + 8, 4), body_len = get_number(bytes + 16, 8);
    if (key_len >= KEY_MAX_BYTES || get_number(bytes + 12, 4) != 0)
        return false;
    if (body_len < 1 || body_len > RECORD_BODY_MAX_BYTES) /* no picture is empty */
        return false;
    if (len != HEADER_BYTES + key_len + body_len + SUM_BYTES) /* both are small: no overflow */
        return false;
    XXH128_canonical_t sum = sum_of(bytes, len - SUM_BYTES);
    if (memcmp(&sum, bytes + len - SUM_BYTES, SUM_BYTES) != 0)
        return false;
    *ret_key_len = (size_t)key_len;
    *ret_body_len = (size_t)body_len;
    return true;
}

enum record_verdict record_read(const uint8_t *bytes, size_t len, const struct request *r,
                                const struct key *key, struct entry **ret_entry)
{
    size_t key_len, body_len;
    if (!sound(bytes, len, &key_len, &body_len))
        return RECORD_CORRUPT;
    char etag[ETAG_BYTES] = {0};
    key_etag(key, etag);
    if (memcmp(bytes + 24, etag, ETAG_BYTES) != 0 || key_len != key->len ||
        memcmp(bytes + HEADER_BYTES, key->text, key_len) != 0)
        return RECORD_OTHER;
    struct blob body = {0};
    if (blob_reserve(&body, body_len))
        return RECORD_OOM;
    memcpy(body.data, bytes + HEADER_BYTES + key_len, body_len);
    body.len = body_len;
    blob_shrink(&body); /* a small one was given more room than it needs */
    if (entry_create(r, key, &body, ret_entry)) {
        blob_free(&body);
        return RECORD_OOM;
    }
    return RECORD_GOOD;
}
