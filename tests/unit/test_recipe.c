/* test_recipe.c -- a picture leads back to its request; what is no picture of ours leads nowhere. */
#include "tests/unit/ask.h"

#include <stdlib.h>

#include "api/recipe.h"
#include "renderer/renderer.h"

static struct renderer *renderer;

static struct blob file_of(const struct asked *a)
{
    struct frame_set set;
    struct blob file = {0};
    struct encode_desc desc = request_encode_desc(&a->request, a->key.text);
    assert_int_equal(a->err, ERR_NONE);
    assert_int_equal(renderer_draw(renderer, &a->request.planet, NULL, &set), ERR_NONE);
    assert_int_equal(encoders[a->request.format].encode(&set, &desc, NULL, &file), ERR_NONE);
    frame_set_finish(&set);
    return file;
}

static enum err read_copy(const uint8_t *bytes, size_t len, struct key *ret_key, struct request_fault *fault)
{
    struct request r;
    uint8_t *copy = malloc(len ? len : 1); /* not a byte to spare, for sanitizers */
    assert_non_null(copy);
    memcpy(copy, bytes, len);
    enum err err = recipe_read(copy, len, &r, fault);
    if (!err)
        key_make(&r, ret_key);
    free(copy);
    return err;
}

#define PLANET_EMOJI "%F0%9F%AA%90"

static const char *const queries[] = {
    "type=gas&seed=3&pixels=16",
    "type=moon&seed=%C3%A9%20x&format=gif&frames=3&pixels=16&loops=2",
    "type=terrestrial&format=gif&frames=1&pixels=16",
    "layer=grid&pixels=64",
#ifdef WITH_libwebp
    "type=ice&format=webp&frames=1&pixels=16",
    "type=gas&seed=a%20b&format=webp&frames=2&pixels=16",
#endif
    /* more than 255 bytes, so that a GIF cuts it */
    ("format=gif&frames=2&pixels=16&seed=" PLANET_EMOJI PLANET_EMOJI PLANET_EMOJI PLANET_EMOJI PLANET_EMOJI
         PLANET_EMOJI PLANET_EMOJI "&palette=000001,000002,000003,000004,000005,000006,000007,000008,000009,"
     "00000a,00000b,00000c,00000d,00000e,00000f"),
};

static void a_file_leads_back_to_its_key(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(queries); i++) {
        struct asked a = ask(queries[i]);
        struct blob file = file_of(&a);
        struct request_fault fault = {0};
        struct key key;
        if (read_copy(file.data, file.len, &key, &fault))
            fail_msg("%s: %s", queries[i], fault.detail);
        assert_string_equal(key.text, a.key.text);
        blob_free(&file);
    }
}

static void the_head_of_a_file_is_enough(void **state)
{
    (void)state;
    struct asked a = ask("type=terrestrial&pixels=512&layer=height&seed=2");
    struct blob file = file_of(&a);
    struct request_fault fault;
    struct key key;
    assert_true(file.len > 20000);
    assert_int_equal(read_copy(file.data, 2048, &key, &fault), ERR_NONE);
    assert_string_equal(key.text, a.key.text);
    blob_free(&file);
}

/* However it is cut: it is read within its bounds, and before the key is whole there is none. */
static void a_file_that_was_cut_has_a_recipe_or_none(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(queries); i++) {
        struct asked a = ask(queries[i]);
        struct blob file = file_of(&a);
        bool found = false;
        for (size_t len = 0; len <= file.len; len++) {
            struct request_fault fault;
            struct key key;
            enum err err = read_copy(file.data, len, &key, &fault);
            assert_true(err == ERR_NONE || err == ERR_RECIPE);
            assert_true(err == ERR_NONE || !found); /* once it is there it stays */
            found = err == ERR_NONE;
            if (found)
                assert_string_equal(key.text, a.key.text);
        }
        assert_true(found);
        blob_free(&file);
    }
}

#define EXIF(length) "EXIF" length "\0\0\0II*\0\x08\0\0\0\1\0\x0e\1\2\0\x0d\0\0\0\x1a\0\0\0\0\0\0\0"

static void what_is_not_ours_is_refused_with_a_reason(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t len;
        const char *words;
    } rows[] = {
        {"", 0, "neither PNG nor GIF nor WebP"},
        {"<html>", 6, "neither PNG nor GIF nor WebP"},
        {"\x89PNG\r\n\x1a\n", 8, "carries no recipe"},
        {"\x89PNG\r\n\x1a\n\xff\xff\xff\xffiTXtplanetd:key", 27, "carries no recipe"},
        {"\x89PNG\r\n\x1a\n\0\0\0\0IEND\0\0\0\0", 20, "carries no recipe"},
        {"GIF89a\1\0\1\0\xf7\0\0", 13, "carries no recipe"},
        {"GIF89a\1\0\1\0\0\0\0!\xfe\x05hello\0;", 22, "carries no recipe"},
        {"RIFF\0\0\0\0WEBP", 12, "carries no recipe"},
        {"RIFF\0\0\0\0WEBPEXIF\xff\xff\xff\xff", 20, "carries no recipe"},
        {"RIFF\0\0\0\0WEBPVP8X\1\0\0\0x", 21, "carries no recipe"},
        {"RIFF\0\0\0\0WEBP" EXIF("\x25") "rev=1&seed=1", 57, "carries no recipe"}, /* no NUL */
        {"RIFF\0\0\0\0WEBP" EXIF("\x27") "rev=1&seed=1\0", 59, ""},
        {"RIFF\0\0\0\0WEBPVP8X\1\0\0\0x\0" EXIF("\x27") "rev=1&seed=1\0", 69, ""},
        {"RIFF\0\0\0\0WEBP" EXIF("\x27") "rev=9&seed=1\0", 59, "draws revision 1, not 9"},
        {"GIF89a\1\0\1\0\0\0\0!\xfe\x0crev=1&seed=1\0;", 29, ""},
        {"GIF89a\1\0\1\0\0\0\0!\xfe\x02hi\0!\xfe\x0crev=1&seed=1\0;", 35, ""},
        {"GIF89a\1\0\1\0\0\0\0!\xfe\x0drev=1&pixels=\0;", 30, "was altered: pixels must be"},
        {"GIF89a\1\0\1\0\0\0\0!\xfe\x0crev=9&seed=1\0;", 29, "draws revision 1, not 9"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct request_fault fault = {0};
        struct key key;
        enum err err = read_copy((const uint8_t *)rows[i].bytes, rows[i].len, &key, &fault);
        if ((err != ERR_NONE) != (rows[i].words[0] != '\0') || !strstr(fault.detail, rows[i].words))
            fail_msg("row %d: %s", (int)i, fault.detail);
    }
}

/* The letters of a key count where a format has metadata, and nowhere else. */
static void a_key_among_pixels_is_none(void **state)
{
    (void)state;
    static const char bytes[] = "GIF89a\1\0\1\0\0\0\0,\0\0\0\0\1\0\1\0\0!\xfe\x0crev=1&seed=1\0;";
    struct request_fault fault;
    struct key key;
    assert_int_equal(read_copy((const uint8_t *)bytes, sizeof bytes - 1, &key, &fault), ERR_RECIPE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_leads_back_to_its_key),
        cmocka_unit_test(the_head_of_a_file_is_enough),
        cmocka_unit_test(a_file_that_was_cut_has_a_recipe_or_none),
        cmocka_unit_test(what_is_not_ours_is_refused_with_a_reason),
        cmocka_unit_test(a_key_among_pixels_is_none),
    };
    struct renderer_desc desc = renderer_desc_default;
    desc.backend = "cpu";
    if (renderer_open(&desc, &renderer))
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    renderer_close(renderer);
    return failed;
}
