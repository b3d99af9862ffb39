/* test_apng.c -- what only an encoder's own test can see; tests/roundtrip decodes its files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "renderer/encode/encoder.h"
#include "tests/unit/encode_samples.h"

static const struct encode_desc plain = {.zoom = 1, .fps = 15, .key = "key"};

static enum err encode(const struct frame_set *set, const atomic_bool *cancel, struct blob *out)
{
    return encoders[FORMAT_APNG].encode(set, &plain, cancel, out);
}

/* Bytes of all chunks of that name. */
static size_t chunk_bytes(const struct blob *file, const char *name)
{
    size_t at = 8, sum = 0;
    while (at + 12 <= file->len) {
        const uint8_t *c = file->data + at;
        size_t len = (size_t)c[0] << 24 | (size_t)c[1] << 16 | (size_t)c[2] << 8 | c[3];
        if (!memcmp(c + 4, name, 4))
            sum += len;
        at += 12 + len;
    }
    return sum;
}

static void frames_that_do_not_change_cost_a_pixel(void **state)
{
    (void)state;
    struct frame_set set = sample_frozen(64, 20, 3);
    struct blob file = {0};
    assert_int_equal(encode(&set, NULL, &file), ERR_NONE);
    assert_in_range(chunk_bytes(&file, "fdAT"), 1, 19 * 20);
    assert_int_equal(chunk_bytes(&file, "fcTL"), 20 * 26);
    assert_int_equal(chunk_bytes(&file, "acTL"), 8);
    blob_free(&file);
    frame_set_finish(&set);
}

/* Opaque noise that changes a little: what stays is left out. */
static void what_stays_is_left_out_where_that_is_shorter(void **state)
{
    (void)state;
    struct frame_set set = sample_random(64, 6, 15, 0, 97, 4);
    struct blob file = {0};
    assert_int_equal(encode(&set, NULL, &file), ERR_NONE);
    assert_true(chunk_bytes(&file, "fdAT") < 5 * chunk_bytes(&file, "IDAT") / 3);
    blob_free(&file);
    frame_set_finish(&set);
}

static void full_buffer_is_an_error_and_not_a_crash(void **state)
{
    (void)state;
    struct frame_set set = sample_walker(24, 4);
    struct blob whole = {0};
    assert_int_equal(encode(&set, NULL, &whole), ERR_NONE);
    for (size_t limit = 1; limit < whole.len; limit++) {
        struct blob out = {.max_bytes = limit};
        assert_int_equal(encode(&set, NULL, &out), ERR_OOM);
        blob_free(&out);
    }
    blob_free(&whole);
    frame_set_finish(&set);
}

static void cancel_stops_the_work(void **state)
{
    (void)state;
    atomic_bool cancel = true;
    struct frame_set set = sample_walker(24, 4);
    struct blob out = {0};
    assert_int_equal(encode(&set, &cancel, &out), ERR_CANCELLED);
    blob_free(&out);
    frame_set_finish(&set);
}

static void numbers_out_of_range_are_refused(void **state)
{
    (void)state;
    static const struct encode_desc bad[] = {{.zoom = 0, .fps = 15, .key = ""},
                                             {.zoom = 1, .fps = 0, .key = ""},
                                             {.zoom = 1, .fps = 51, .key = ""},
                                             {.zoom = 1, .fps = 15, .loops = -1, .key = ""}};
    struct frame_set set = sample_walker(24, 2);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct blob out = {0};
        assert_int_equal(encoders[FORMAT_APNG].encode(&set, &bad[i], NULL, &out), ERR_ENCODE);
        blob_free(&out);
    }
    frame_set_finish(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_that_do_not_change_cost_a_pixel),
        cmocka_unit_test(what_stays_is_left_out_where_that_is_shorter),
        cmocka_unit_test(full_buffer_is_an_error_and_not_a_crash),
        cmocka_unit_test(cancel_stops_the_work),
        cmocka_unit_test(numbers_out_of_range_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
