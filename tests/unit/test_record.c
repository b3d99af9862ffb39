/* test_record.c -- what comes back from a cache outside the process is the picture that was put there, or it
 * is refused. */
#include "tests/unit/store_rig.h"

#define BODY_BYTES 100

enum { KEY_LEN_AT = 8, ZERO_AT = 12, BODY_LEN_AT = 16, ETAG_AT = 24, KEY_AT = 64, SUM_BYTES = 16 };

static struct blob record_of(uint64_t n)
{
    struct entry *e = rig_entry(n, BODY_BYTES);
    struct blob record = {0};
    assert_int_equal(record_write(e, &record), ERR_NONE);
    assert_int_equal(record.len, record_bytes(e));
    entry_unref(e);
    return record;
}

/* Reads from a block of exactly `len` bytes, so that a sanitizer sees a step beyond them. An entry that comes
 * out must be that of n. */
static enum record_verdict read_exact(const uint8_t *bytes, size_t len, uint64_t n)
{
    struct key key;
    rig_key(n, &key);
    uint8_t *copy = malloc(len ? len : 1);
    assert_non_null(copy);
    if (len)
        memcpy(copy, bytes, len);
    struct entry *e = NULL;
    enum record_verdict verdict = record_read(len ? copy : copy + 1, len, &rig_request, &key, &e);
    free(copy);
    assert_int_equal(e != NULL, verdict == RECORD_GOOD);
    if (e) {
        assert_true(rig_entry_right(e, n, BODY_BYTES));
        assert_int_equal(atomic_load(&e->refs), 1);
        assert_int_equal(e->body.capacity, e->body.len);
    }
    entry_unref(e);
    return verdict;
}

/* Makes the checksum right again after an alteration: what is left for other checks to find. */
static void sum_again(struct blob *record)
{
    XXH128_canonical_t sum;
    XXH128_canonicalFromHash(&sum, XXH3_128bits(record->data, record->len - SUM_BYTES));
    memcpy(record->data + record->len - SUM_BYTES, &sum, SUM_BYTES);
}

static void set_number(struct blob *record, size_t at, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        record->data[at + (size_t)i] = (uint8_t)(value >> 8 * i);
}

static void a_record_gives_back_its_entry(void **state)
{
    (void)state;
    struct blob record = record_of(7);
    assert_int_equal(read_exact(record.data, record.len, 7), RECORD_GOOD);
    struct entry *e = rig_entry(8, BODY_BYTES);
    assert_int_equal(record_write(e, &record), ERR_NONE); /* replaces, and frees what was there */
    assert_int_equal(read_exact(record.data, record.len, 8), RECORD_GOOD);
    entry_unref(e);
    blob_free(&record);
}

static void the_layout_is_that_of_the_header_file(void **state)
{
    (void)state;
    struct blob record = record_of(7);
    struct entry *e = rig_entry(7, BODY_BYTES);
    assert_int_equal(record.len, KEY_AT + e->key.len + BODY_BYTES + SUM_BYTES);
    assert_memory_equal(record.data, "PLNTREC\x01", 8);
    assert_int_equal(record.data[KEY_LEN_AT], e->key.len);
    assert_int_equal(record.data[BODY_LEN_AT], BODY_BYTES);
    assert_memory_equal(record.data + ETAG_AT, e->etag, ETAG_BYTES);
    assert_memory_equal(record.data + KEY_AT, e->key.text, e->key.len);
    assert_memory_equal(record.data + KEY_AT + e->key.len, e->body.data, BODY_BYTES);
    entry_unref(e);
    blob_free(&record);
}

static void every_flipped_bit_is_noticed(void **state)
{
    (void)state;
    struct blob record = record_of(7);
    for (size_t bit = 0; bit < record.len * 8; bit++) {
        record.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_int_equal(read_exact(record.data, record.len, 7), RECORD_CORRUPT);
        record.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    assert_int_equal(read_exact(record.data, record.len, 7), RECORD_GOOD);
    blob_free(&record);
}

static void every_truncation_is_noticed(void **state)
{
    (void)state;
    struct blob record = record_of(7);
    for (size_t len = 0; len < record.len; len++) {
        assert_int_equal(read_exact(record.data, len, 7), RECORD_CORRUPT);
        assert_int_equal(read_exact(record.data + record.len - len, len, 7), RECORD_CORRUPT);
    }
    blob_free(&record);
}

static void bytes_after_the_end_are_noticed(void **state)
{
    (void)state;
    struct blob record = record_of(7), more = {0};
    assert_int_equal(blob_append(&more, record.data, record.len), ERR_NONE);
    for (int i = 0; i < 40; i++) {
        assert_int_equal(blob_append(&more, "", 1), ERR_NONE);
        assert_int_equal(read_exact(more.data, more.len, 7), RECORD_CORRUPT);
    }
    blob_free(&more);
    blob_free(&record);
}

static void another_key_is_another_record(void **state)
{
    (void)state;
    struct blob record = record_of(7);
    assert_int_equal(read_exact(record.data, record.len, 8), RECORD_OTHER);
    assert_int_equal(read_exact(record.data, record.len, 70), RECORD_OTHER);
    record.data[KEY_AT + 4] = '2'; /* a sound record of a key that differs in the revision alone */
    sum_again(&record);
    assert_int_equal(read_exact(record.data, record.len, 7), RECORD_OTHER);
    blob_free(&record);
}

static void another_library_version_is_another_record(void **state)
{
    (void)state;
    struct blob record = record_of(7);
    for (size_t at = 0; at < ETAG_BYTES; at++) {
        record.data[ETAG_AT + at] ^= 1;
        sum_again(&record);
        assert_int_equal(read_exact(record.data, record.len, 7), RECORD_OTHER);
        record.data[ETAG_AT + at] ^= 1;
    }
    blob_free(&record);
}

/* A hostile record has a right checksum. Its lengths must not be believed: no huge allocation, no step beyond
 * the bytes. */
static void lengths_that_lie_are_noticed(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        int bytes;
        uint64_t value;
    } lies[] = {
        {KEY_LEN_AT, 4, 0},
        {KEY_LEN_AT, 4, KEY_MAX_BYTES},
        {KEY_LEN_AT, 4, UINT32_MAX},
        {ZERO_AT, 4, 1},
        {BODY_LEN_AT, 8, 0},
        {BODY_LEN_AT, 8, BODY_BYTES - 1},
        {BODY_LEN_AT, 8, BODY_BYTES + 1},
        {BODY_LEN_AT, 8, RECORD_BODY_MAX_BYTES},
        {BODY_LEN_AT, 8, RECORD_BODY_MAX_BYTES + 1},
        {BODY_LEN_AT, 8, UINT64_MAX},
        {BODY_LEN_AT, 8, UINT64_MAX - 200},
        {BODY_LEN_AT, 8, (uint64_t)1 << 32 | BODY_BYTES},
    };
    for (size_t i = 0; i < ARRAY_LEN(lies); i++) {
        struct blob record = record_of(7);
        set_number(&record, lies[i].at, lies[i].value, lies[i].bytes);
        sum_again(&record);
        assert_int_equal(read_exact(record.data, record.len, 7), RECORD_CORRUPT);
        blob_free(&record);
    }
    /* Two lies that add up to the right length. */
    struct blob record = record_of(7);
    set_number(&record, KEY_LEN_AT, 4000, 4);
    set_number(&record, BODY_LEN_AT, record.len - KEY_AT - SUM_BYTES - 4000, 8); /* wraps */
    sum_again(&record);
    assert_int_equal(read_exact(record.data, record.len, 7), RECORD_CORRUPT);
    /* And a body of nothing, all else right: a picture is never empty. */
    struct key key;
    rig_key(7, &key);
    set_number(&record, KEY_LEN_AT, key.len, 4);
    set_number(&record, BODY_LEN_AT, 0, 8);
    record.len = KEY_AT + key.len + SUM_BYTES;
    sum_again(&record);
    assert_int_equal(read_exact(record.data, record.len, 7), RECORD_CORRUPT);
    blob_free(&record);
}

static void only_bodies_within_the_limit_become_records(void **state)
{
    (void)state;
    struct blob record = record_of(7);
    struct entry *e = rig_entry(1, 10);
    size_t len = e->body.len;
    e->body.len = RECORD_BODY_MAX_BYTES + 1; /* refused before a byte of it is touched */
    assert_int_equal(record_write(e, &record), ERR_OOM);
    e->body.len = 0;
    assert_int_equal(record_write(e, &record), ERR_OOM);
    e->body.len = len;
    assert_int_equal(read_exact(record.data, record.len, 7), RECORD_GOOD); /* left alone */
    entry_unref(e);
    blob_free(&record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_gives_back_its_entry),
        cmocka_unit_test(the_layout_is_that_of_the_header_file),
        cmocka_unit_test(every_flipped_bit_is_noticed),
        cmocka_unit_test(every_truncation_is_noticed),
        cmocka_unit_test(bytes_after_the_end_are_noticed),
        cmocka_unit_test(another_key_is_another_record),
        cmocka_unit_test(another_library_version_is_another_record),
        cmocka_unit_test(lengths_that_lie_are_noticed),
        cmocka_unit_test(only_bodies_within_the_limit_become_records),
    };
    return cmocka_run_group_tests_name("record", tests, NULL, NULL);
}
