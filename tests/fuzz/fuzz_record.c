/* fuzz_record.c -- a record of the disk or shared cache. The first byte says what the rest is:
 *   0  a record as it was read
 *   1  the same but for its checksum, which is made here: random bytes would never get past it
 *   2  changes to a good record: each three bytes are a place and what is xored there
 *   3  the same, and then a checksum that is right
 * No step beyond the bytes, and what is called good is byte for byte what would be written. */
#include <xxhash.h>

#include "server/record.h"
#include "tests/fuzz/fuzz.h"

#define SUM_BYTES ((size_t)16)
#define PICTURE   "not really a picture"

static struct request request;
static struct key key;

static void prepare(void)
{
    struct request_fault fault;
    if (key.len)
        return;
    request_init(&request);
    CHECK(request_set_query(&request, "type=gas&seed=3", 15, &fault) == ERR_NONE);
    CHECK(request_finish(&request, &fault) == ERR_NONE);
    key_make(&request, &key);
}

static void good_record(struct blob *ret_record)
{
    struct blob body = {0};
    struct entry *e = NULL;
    CHECK(blob_append(&body, PICTURE, strlen(PICTURE)) == ERR_NONE);
    CHECK(entry_create(&request, &key, &body, &e) == ERR_NONE);
    CHECK(record_write(e, ret_record) == ERR_NONE);
    entry_unref(e);
}

static void sum_again(struct blob *record)
{
    XXH128_canonical_t sum;
    if (record->len < SUM_BYTES)
        return;
    XXH128_canonicalFromHash(&sum, XXH3_128bits(record->data, record->len - SUM_BYTES));
    memcpy(record->data + record->len - SUM_BYTES, &sum, SUM_BYTES);
}

static enum record_verdict read_one(const struct blob *record)
{
    struct entry *e = NULL;
    uint8_t *bytes = fuzz_copy(record->data, record->len);
    enum record_verdict verdict = record_read(bytes, record->len, &request, &key, &e);
    CHECK((verdict == RECORD_GOOD) == (e != NULL));
    CHECK(verdict >= RECORD_GOOD && verdict <= RECORD_OOM);
    if (e) {
        struct blob again = {0};
        CHECK(record_write(e, &again) == ERR_NONE);
        CHECK(again.len == record->len && memcmp(again.data, bytes, again.len) == 0);
        CHECK(again.len == record_bytes(e));
        blob_free(&again);
    }
    entry_unref(e);
    free(bytes);
    return verdict;
}

/* A good record with changes; true if there are any. */
static bool altered_record(const uint8_t *changes, size_t size, struct blob *ret_record)
{
    struct blob good = {0};
    good_record(ret_record);
    good_record(&good);
    for (size_t i = 0; i + 2 < size; i += 3)
        ret_record->data[(changes[i] * 256u + changes[i + 1]) % ret_record->len] ^= changes[i + 2];
    if (size % 3 == 1) /* one byte left over: so many are cut off */
        ret_record->len -= changes[size - 1] % ret_record->len;
    bool altered = ret_record->len != good.len || memcmp(ret_record->data, good.data, good.len) != 0;
    blob_free(&good);
    return altered;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct blob record = {0};
    if (!size)
        return 0;
    prepare();
    if (data[0] % 4 < 2) {
        CHECK(blob_append(&record, data + 1, size - 1) == ERR_NONE);
        if (data[0] % 4 == 1)
            sum_again(&record);
        read_one(&record);
    } else {
        bool altered = altered_record(data + 1, size - 1, &record);
        CHECK(data[0] % 4 == 3 || (read_one(&record) == RECORD_GOOD) == !altered);
        sum_again(&record);
        read_one(&record);
    }
    blob_free(&record);
    return 0;
}
