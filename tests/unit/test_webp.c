/* test_webp.c -- what only an encoder's own test can see; tests/roundtrip decodes its files with others. Is
 * skipped where the binary is built without libwebp, but for what such a binary says. */
#include "tests/unit/ask.h"

#include "api/params.h"
#include "renderer/encode/encoder.h"

#ifdef WITH_libwebp

#include <webp/decode.h>

#include "tests/unit/encode_samples.h"

static const struct encode_desc plain = {.zoom = 1, .fps = 15, .key = "key"};

static struct blob encode(const struct frame_set *set, const struct encode_desc *desc)
{
    struct blob out = {0};
    assert_int_equal(encoders[FORMAT_WEBP].encode(set, desc, NULL, &out), ERR_NONE);
    return out;
}

static uint32_t le(const uint8_t *at, int bytes)
{
    uint32_t v = 0;
    while (bytes--)
        v = v << 8 | at[bytes];
    return v;
}

/* The nth chunk of that name, its head included; NULL. *ret_len: bytes of data. */
static const uint8_t *chunk(const struct blob *file, const char *name, int nth, size_t *ret_len)
{
    for (size_t at = 12; at + 8 <= file->len;) {
        size_t len = le(file->data + at + 4, 4);
        assert_true(at + 8 + len <= file->len);
        if (!memcmp(file->data + at, name, 4) && nth-- == 0) {
            *ret_len = len;
            return file->data + at;
        }
        at += 8 + len + (len & 1);
    }
    return NULL;
}

static void a_still_decodes_to_its_very_pixels(void **state)
{
    (void)state;
    for (int zoom = 1; zoom <= 3; zoom += 2) {
        struct frame_set set = sample_random(33, 1, 400, 20, 0, 4); /* clear, half clear and opaque */
        struct blob file = encode(&set, &(struct encode_desc){.zoom = zoom, .fps = 15, .key = "key"});
        int width, height;
        uint8_t *rgba = WebPDecodeRGBA(file.data, file.len, &width, &height);
        assert_non_null(rgba);
        assert_int_equal(width, 33 * zoom);
        assert_int_equal(height, 33 * zoom);
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++) {
                uint32_t want = sample_at(&set, (size_t)(y / zoom * 33 + x / zoom));
                assert_int_equal(le(rgba + 4 * ((size_t)y * (size_t)width + (size_t)x), 4), want);
            }
        WebPFree(rgba);
        blob_free(&file);
        frame_set_finish(&set);
    }
}

static void time_does_not_drift(void **state)
{
    (void)state;
    for (int fps = 1; fps <= 50; fps++) {
        struct frame_set set = sample_walker(8, 50);
        struct blob file = encode(&set, &(struct encode_desc){.zoom = 1, .fps = fps, .loops = 7, .key = ""});
        size_t len;
        uint32_t sum = 0;
        for (int i = 0; i < 50; i++) {
            const uint8_t *frame = chunk(&file, "ANMF", i, &len);
            assert_non_null(frame);
            uint32_t delay = le(frame + 8 + 12, 3);
            assert_in_range(delay, 1000 / fps, 1000 / fps + 1);
            sum += delay;
            assert_in_range(2 * (uint32_t)fps * sum + (uint32_t)fps, 2000 * (i + 1),
                            2000 * (i + 1) + 2 * fps);
        }
        assert_null(chunk(&file, "ANMF", 50, &len));
        const uint8_t *animation = chunk(&file, "ANIM", 0, &len);
        assert_non_null(animation);
        assert_int_equal(le(animation + 8 + 4, 2), 7);
        blob_free(&file);
        frame_set_finish(&set);
    }
}

static void the_key_stands_before_the_first_pixel(void **state)
{
    (void)state;
    for (int frames = 1; frames <= 2; frames++) {
        struct frame_set set = sample_walker(24, frames);
        struct blob file = encode(&set, &plain);
        size_t len;
        const uint8_t *exif = chunk(&file, "EXIF", 0, &len);
        const uint8_t *pixels = chunk(&file, frames == 1 ? "VP8L" : "ANMF", 0, &len);
        assert_non_null(exif);
        assert_non_null(pixels);
        assert_true(exif < pixels);
        assert_int_equal(le(file.data + 4, 4), file.len - 8);
        blob_free(&file);
        frame_set_finish(&set);
    }
}

static void frames_that_do_not_change_cost_a_pixel(void **state)
{
    (void)state;
    struct frame_set set = sample_frozen(64, 20, 3);
    struct blob file = encode(&set, &plain);
    size_t len = 0;
    for (int i = 1; i < 20; i++) {
        assert_non_null(chunk(&file, "ANMF", i, &len));
        assert_in_range(len, 16, 64);
    }
    blob_free(&file);
    frame_set_finish(&set);
}

static void full_buffer_is_an_error_and_not_a_crash(void **state)
{
    (void)state;
    struct frame_set set = sample_walker(24, 3);
    struct blob whole = encode(&set, &plain);
    for (size_t limit = 1; limit < whole.len; limit++) {
        struct blob out = {.max_bytes = limit};
        assert_int_equal(encoders[FORMAT_WEBP].encode(&set, &plain, NULL, &out), ERR_OOM);
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
    assert_int_equal(encoders[FORMAT_WEBP].encode(&set, &plain, &cancel, &out), ERR_CANCELLED);
    blob_free(&out);
    frame_set_finish(&set);
}

static void numbers_out_of_range_are_refused(void **state)
{
    (void)state;
    static const struct encode_desc bad[] = {{.zoom = 0, .fps = 15, .key = ""},
                                             {.zoom = 1, .fps = 0, .key = ""},
                                             {.zoom = 1, .fps = 15, .loops = 65536, .key = ""}};
    struct frame_set set = sample_walker(24, 2);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct blob out = {0};
        assert_int_equal(encoders[FORMAT_WEBP].encode(&set, &bad[i], NULL, &out), ERR_ENCODE);
        blob_free(&out);
    }
    frame_set_finish(&set);
}

static void a_binary_with_libwebp_takes_the_format(void **state)
{
    (void)state;
    char allowed[PARAM_ALLOWED_BYTES];
    struct asked a = ask("format=webp");
    assert_int_equal(a.err, ERR_NONE);
    assert_int_equal(a.request.planet.frames, 120);
    param_allowed(PARAM_ROW_format, allowed);
    assert_non_null(strstr(allowed, "webp"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_still_decodes_to_its_very_pixels),
        cmocka_unit_test(time_does_not_drift),
        cmocka_unit_test(the_key_stands_before_the_first_pixel),
        cmocka_unit_test(frames_that_do_not_change_cost_a_pixel),
        cmocka_unit_test(full_buffer_is_an_error_and_not_a_crash),
        cmocka_unit_test(cancel_stops_the_work),
        cmocka_unit_test(numbers_out_of_range_are_refused),
        cmocka_unit_test(a_binary_with_libwebp_takes_the_format),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

static void a_binary_without_libwebp_says_so(void **state)
{
    (void)state;
    char allowed[PARAM_ALLOWED_BYTES];
    struct asked a = ask("format=webp");
    assert_int_equal(a.err, ERR_PARAM_COMBINATION);
    assert_non_null(strstr(a.fault.detail, "without libwebp"));
    param_allowed(PARAM_ROW_format, allowed);
    assert_null(strstr(allowed, "webp"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_binary_without_libwebp_says_so)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
