/* PNG files, read back by libpng's own decoder and by walking their chunks. tests/roundtrip asks other
 * decoders. Threads: one, and four at once in the last test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <png.h>
#include <pthread.h>

#include "renderer/encode/encoder.h"
#include "tests/unit/encode_samples.h"

static const struct encode_desc desc_plain = {
    .zoom = 1, .fps = 15, .loops = 0, .key = "rev=1&type=gas&seed=3"};

static struct blob encode(const struct frame_set *set, const struct encode_desc *desc)
{
    struct blob out = {0};
    assert_int_equal(encoders[FORMAT_PNG].encode(set, desc, NULL, &out), ERR_NONE);
    return out;
}

/* The first chunk of a type: its data and length, or NULL. */
static const uint8_t *chunk(const struct blob *file, const char *type, size_t *ret_len)
{
    for (size_t at = 8; at + 12 <= file->len;) {
        const uint8_t *p = file->data + at;
        size_t len = (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3];
        if (memcmp(p + 4, type, 4) == 0) {
            *ret_len = len;
            return p + 8;
        }
        at += 12 + len;
    }
    return NULL;
}

static int depth_of(const struct blob *file)
{
    size_t len = 0;
    return chunk(file, "IHDR", &len)[8];
}

static int color_type_of(const struct blob *file)
{
    size_t len = 0;
    return chunk(file, "IHDR", &len)[9];
}

/* Decodes with libpng and compares every pixel. */
static void check_pixels(const struct blob *file, const struct frame_set *set, int zoom)
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    assert_true(png_image_begin_read_from_memory(&image, file->data, file->len));
    assert_int_equal(image.width, set->side * zoom);
    assert_int_equal(image.height, set->side * zoom);
    image.format = PNG_FORMAT_RGBA;
    uint8_t *rgba = malloc(PNG_IMAGE_SIZE(image));
    assert_non_null(rgba);
    assert_true(png_image_finish_read(&image, NULL, rgba, 0, NULL));
    size_t wrong = 0, at = 0;
    for (int y = 0; y < set->side * zoom; y++) {
        for (int x = 0; x < set->side * zoom; x++, at += 4) {
            uint32_t c = sample_at(set, (size_t)(y / zoom) * (size_t)set->side + (size_t)(x / zoom));
            wrong += RGBA(rgba[at], rgba[at + 1], rgba[at + 2], rgba[at + 3]) != c;
        }
    }
    free(rgba);
    assert_int_equal(wrong, 0);
}

/* A square with `colors` colours, one for each pixel while they last; the first `clear` of them half-clear.
 */
static struct frame_set ladder(int side, int colors, int clear)
{
    size_t pixels = (size_t)side * (size_t)side;
    uint32_t *rgba = malloc(pixels * sizeof(*rgba));
    assert_non_null(rgba);
    for (size_t i = 0; i < pixels; i++) {
        uint32_t n = (uint32_t)(i % (size_t)colors);
        rgba[i] = RGBA(n & 255, n >> 8, 77, n < (uint32_t)clear ? 100 : 255);
    }
    struct frame_set set = sample_from_rgba(rgba, side, 1);
    free(rgba);
    assert_int_equal(set.color_count, colors);
    return set;
}

static void depth_is_the_smallest_that_holds_the_colours(void **state)
{
    (void)state;
    static const struct {
        int colors, depth, type;
    } cases[] = {
        {1, 1, PNG_COLOR_TYPE_PALETTE},  {2, 1, PNG_COLOR_TYPE_PALETTE},   {3, 2, PNG_COLOR_TYPE_PALETTE},
        {4, 2, PNG_COLOR_TYPE_PALETTE},  {5, 4, PNG_COLOR_TYPE_PALETTE},   {16, 4, PNG_COLOR_TYPE_PALETTE},
        {17, 8, PNG_COLOR_TYPE_PALETTE}, {255, 8, PNG_COLOR_TYPE_PALETTE}, {256, 8, PNG_COLOR_TYPE_PALETTE},
        {257, 8, PNG_COLOR_TYPE_RGB},    {900, 8, PNG_COLOR_TYPE_RGB}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (int zoom = 1; zoom <= 3; zoom++) {
            struct encode_desc desc = desc_plain;
            desc.zoom = zoom;
            struct frame_set set = ladder(33, cases[i].colors, 0);
            struct blob file = encode(&set, &desc);
            assert_int_equal(depth_of(&file), cases[i].depth);
            assert_int_equal(color_type_of(&file), cases[i].type);
            check_pixels(&file, &set, zoom);
            blob_free(&file);
            frame_set_finish(&set);
        }
    }
}

static void alpha_of_a_palette_is_as_short_as_it_can_be(void **state)
{
    (void)state;
    struct frame_set set = ladder(20, 100, 7);
    struct blob file = encode(&set, &desc_plain);
    size_t len = 0;
    assert_non_null(chunk(&file, "tRNS", &len));
    assert_int_equal(len, 7);
    check_pixels(&file, &set, 1);
    blob_free(&file);
    frame_set_finish(&set);
}

static void opaque_pictures_have_no_alpha(void **state)
{
    (void)state;
    for (int colors = 100; colors <= 300; colors += 200) {
        struct frame_set set = ladder(20, colors, 0);
        struct blob file = encode(&set, &desc_plain);
        size_t len = 0;
        assert_null(chunk(&file, "tRNS", &len));
        assert_int_equal(color_type_of(&file) & PNG_COLOR_MASK_ALPHA, 0);
        blob_free(&file);
        frame_set_finish(&set);
    }
}

static void true_colour_keeps_alpha(void **state)
{
    (void)state;
    for (int zoom = 1; zoom <= 32; zoom += 31) {
        struct encode_desc desc = desc_plain;
        desc.zoom = zoom;
        struct frame_set set = ladder(24, 400, 30);
        struct blob file = encode(&set, &desc);
        assert_int_equal(color_type_of(&file), PNG_COLOR_TYPE_RGB_ALPHA);
        check_pixels(&file, &set, zoom);
        blob_free(&file);
        frame_set_finish(&set);
    }
}

static void noise_and_planets_come_back_exactly(void **state)
{
    (void)state;
    for (int side = 8; side <= 200; side += 37) {
        for (int i = 0; i < 6; i++) {
            static const int colors[6] = {2, 15, 200, 256, 3000, 65000};
            struct frame_set set = i ? sample_random(side, 1, colors[i], 10, 0, (uint32_t)side)
                                     : sample_planet(side, 1, 3, (uint32_t)side);
            struct blob file = encode(&set, &desc_plain);
            check_pixels(&file, &set, 1);
            blob_free(&file);
            frame_set_finish(&set);
        }
    }
}

static void largest_side_and_zoom_are_written(void **state)
{
    (void)state;
    struct encode_desc desc = desc_plain;
    desc.zoom = 5; /* 26 of the 32 Mi pixels that a picture may have */
    struct frame_set set = sample_planet(1024, 1, 3, 1);
    struct blob file = encode(&set, &desc);
    check_pixels(&file, &set, 5);
    blob_free(&file);
    frame_set_finish(&set);
}

static void key_is_in_an_itxt_chunk(void **state)
{
    (void)state;
    struct frame_set set = ladder(8, 3, 0);
    struct blob file = encode(&set, &desc_plain);
    size_t len = 0;
    const uint8_t *text = chunk(&file, "iTXt", &len);
    /* keyword, NUL, not compressed, method, no language, no translation */
    static const char head[] = "planetd:key\0\0\0\0";
    assert_non_null(text);
    assert_int_equal(len, sizeof(head) + strlen(desc_plain.key));
    assert_memory_equal(text, head, sizeof(head));
    assert_memory_equal(text + sizeof(head), desc_plain.key, strlen(desc_plain.key));
    blob_free(&file);
    frame_set_finish(&set);
}

static void colours_are_said_to_be_srgb(void **state)
{
    (void)state;
    struct frame_set set = ladder(8, 3, 0);
    struct blob file = encode(&set, &desc_plain);
    size_t len = 0;
    assert_non_null(chunk(&file, "sRGB", &len));
    assert_int_equal(len, 1);
    blob_free(&file);
    frame_set_finish(&set);
}

static void order_of_colours_in_the_set_does_not_matter(void **state)
{
    (void)state;
    struct frame_set set = sample_planet(64, 1, 3, 5);
    struct blob one = encode(&set, &desc_plain);
    for (size_t i = 0; i < 64 * 64; i++)
        set.index[i] = (uint16_t)(set.color_count - 1 - set.index[i]);
    for (int i = 0; i < set.color_count / 2; i++) {
        uint32_t c = set.colors[i];
        set.colors[i] = set.colors[set.color_count - 1 - i];
        set.colors[set.color_count - 1 - i] = c;
    }
    struct blob other = encode(&set, &desc_plain);
    assert_int_equal(one.len, other.len);
    assert_memory_equal(one.data, other.data, one.len);
    blob_free(&one);
    blob_free(&other);
    frame_set_finish(&set);
}

static void full_buffer_is_an_error_and_not_a_crash(void **state)
{
    (void)state;
    struct frame_set set = sample_planet(64, 1, 3, 5);
    struct blob whole = encode(&set, &desc_plain);
    for (size_t limit = 1; limit < whole.len; limit += 13) {
        struct blob out = {.max_bytes = limit};
        assert_int_equal(encoders[FORMAT_PNG].encode(&set, &desc_plain, NULL, &out), ERR_OOM);
        blob_free(&out);
    }
    blob_free(&whole);
    frame_set_finish(&set);
}

static void cancel_stops_the_work(void **state)
{
    (void)state;
    atomic_bool cancel = true;
    for (int colors = 100; colors <= 300; colors += 200) {
        struct frame_set set = ladder(20, colors, 0);
        struct blob out = {0};
        assert_int_equal(encoders[FORMAT_PNG].encode(&set, &desc_plain, &cancel, &out), ERR_CANCELLED);
        blob_free(&out);
        frame_set_finish(&set);
    }
}

static void more_than_one_frame_is_refused(void **state)
{
    (void)state;
    struct frame_set set = sample_planet(16, 2, 3, 5);
    struct blob out = {0};
    assert_int_equal(encoders[FORMAT_PNG].encode(&set, &desc_plain, NULL, &out), ERR_ENCODE);
    blob_free(&out);
    frame_set_finish(&set);
}

struct race {
    const struct frame_set *set;
    const struct blob *expect;
    int wrong;
};

static void *race_run(void *ctx)
{
    struct race *race = ctx;
    for (int i = 0; i < 50; i++) {
        struct blob out = {0};
        if (encoders[FORMAT_PNG].encode(race->set, &desc_plain, NULL, &out) || out.len != race->expect->len ||
            memcmp(out.data, race->expect->data, out.len) != 0)
            race->wrong++;
        blob_free(&out);
    }
    return NULL;
}

static void threads_write_the_same_bytes_at_once(void **state)
{
    (void)state;
    struct frame_set set = sample_planet(64, 1, 3, 9);
    struct blob expect = encode(&set, &desc_plain);
    pthread_t threads[4];
    struct race races[4];
    for (int i = 0; i < 4; i++) {
        races[i] = (struct race){.set = &set, .expect = &expect};
        assert_int_equal(pthread_create(&threads[i], NULL, race_run, &races[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(races[i].wrong, 0);
    }
    blob_free(&expect);
    frame_set_finish(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(depth_is_the_smallest_that_holds_the_colours),
        cmocka_unit_test(alpha_of_a_palette_is_as_short_as_it_can_be),
        cmocka_unit_test(opaque_pictures_have_no_alpha),
        cmocka_unit_test(true_colour_keeps_alpha),
        cmocka_unit_test(noise_and_planets_come_back_exactly),
        cmocka_unit_test(largest_side_and_zoom_are_written),
        cmocka_unit_test(key_is_in_an_itxt_chunk),
        cmocka_unit_test(colours_are_said_to_be_srgb),
        cmocka_unit_test(order_of_colours_in_the_set_does_not_matter),
        cmocka_unit_test(full_buffer_is_an_error_and_not_a_crash),
        cmocka_unit_test(cancel_stops_the_work),
        cmocka_unit_test(more_than_one_frame_is_refused),
        cmocka_unit_test(threads_write_the_same_bytes_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
