/* test_accept.c -- what Accept and Accept-Encoding choose. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/request.h"
#include "renderer/base/attr.h"

static enum format chosen(const char *accept)
{
    enum format format = FORMAT_COUNT;
    if (request_accept(accept, &format))
        fail_msg("nothing is acceptable in: %s", accept);
    return format;
}

static void png_is_chosen_without_a_wish(void **state)
{
    (void)state;
    static const char *const headers[] = {
        NULL,
        "",
        "  \t",
        "*/*",
        "image/*",
        "image/png",
        "IMAGE/PNG",
        "image/png, image/gif",
        "image/gif, image/png",
        "image/gif;q=0.5, image/png;q=0.5",
        "image/png;q=0.9, image/gif;q=0.8",
        "image/gif;q=0.5, */*;q=0.8",
        "image/gif;q=0, */*",
        "image/gif;q=0, image/*;q=0.1",
        "text/html,application/xhtml+xml,image/avif,image/webp,image/apng,*/*;q=0.8",
        "image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8",
        "*/*;q=0.001",
        "image/png;q=0.001",
        ", ,image/png,,",
    };
    for (size_t k = 0; k < ARRAY_LEN(headers); k++)
        if (chosen(headers[k]) != FORMAT_PNG)
            fail_msg("not png: %s", headers[k]);
}

static void gif_is_chosen_when_liked_better_or_named_more_closely(void **state)
{
    (void)state;
    static const char *const headers[] = {
        "image/gif",
        "image/GIF",
        "image/gif;q=0.1",
        "image/gif, */*",
        "*/*, image/gif",
        "image/gif, image/*",
        "image/gif;q=0.5, */*;q=0.5",
        "image/gif, image/png;q=0.9",
        "image/gif;q=0.301,image/png;q=0.3",
        "image/png;q=0, image/*",
        "image/png;q=0,*/*;q=0.1",
        "image/gif ; q=1.000 , image/png ; q=0.999",
        "image/gif;Q=0.8, image/png;q=0.7",
        "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2",
        "text/plain;a=\",image/png\", image/gif",
        "text/plain;a=\"\\\",image/png\", image/gif",
        "image/png;q=0.5;ext=1, image/gif;q=0.6",
        "image/gif;level=\"1;q=0\";q=1",
        "image/png;q=2, image/gif",
        "image/png;q=, image/gif",
        "image/png;q=0.5555, image/gif;q=0.1",
        "image/png;q, image/gif;q=0.1",
        "image/png x, image/gif;q=0.1",
        "image /png, image/gif;q=0.1",
        "*/png, image/gif;q=0.1",
    };
    for (size_t k = 0; k < ARRAY_LEN(headers); k++)
        if (chosen(headers[k]) != FORMAT_GIF)
            fail_msg("not gif: %s", headers[k]);
}

static void apng_is_chosen_by_name_where_neither_png_nor_gif_is_allowed(void **state)
{
    (void)state;
    static const char *const headers[] = {"image/apng", "image/apng;q=0.1, text/html",
                                          "image/png;q=0, image/gif;q=0, image/apng, */*"};
    for (size_t k = 0; k < ARRAY_LEN(headers); k++)
        if (chosen(headers[k]) != FORMAT_APNG)
            fail_msg("not apng: %s", headers[k]);
#ifdef WITH_libwebp
    assert_int_equal(chosen("image/webp"), FORMAT_WEBP);
    assert_int_equal(chosen("image/webp;q=0.5, image/apng"), FORMAT_APNG);
    assert_int_equal(chosen("image/webp, */*"), FORMAT_PNG);
#endif
    assert_int_equal(chosen("image/apng, image/gif;q=0.1"), FORMAT_GIF);
    assert_int_equal(chosen("image/apng, image/png;q=0.1"), FORMAT_PNG);
}

static void nothing_is_chosen_when_both_are_excluded(void **state)
{
    (void)state;
    static const char *const headers[] = {
        "text/html",
        "image/avif",
        "image/*;q=0",
        "*/*;q=0",
        "image/png;q=0, image/gif;q=0.000",
        "image/pngx",
        "image/pn",
        "images/*",
        "*/png",
        "image/png;q=0, image/gif;q=0, */*",
        "image",
        "png",
        "image/",
        "/png",
        "image/*;q=0, */*",
        "\"image/png",
        ";q=1",
        "image/avif,*/*;q=0.0",
        "image/png/",
        "\xc3\xa9/\xc3\xa9",
    };
    for (size_t k = 0; k < ARRAY_LEN(headers); k++) {
        enum format format = FORMAT_COUNT;
        if (request_accept(headers[k], &format) != ERR_NOT_ACCEPTABLE)
            fail_msg("acceptable: %s", headers[k]);
        assert_int_equal(format, FORMAT_COUNT);
    }
}

static void html_is_for_those_who_name_it(void **state)
{
    (void)state;
    static const char *const yes[] = {
        "text/html",
        "TEXT/HTML;q=0.1",
        "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
        "text/html, text/plain",
        "text/html, text/plain;q=0.9",
        "text/html;level=1",
        "*/*;q=0.1, text/html;q=0.2",
    };
    static const char *const no[] = {
        NULL,
        "",
        "*/*",
        "text/*",
        "text/plain",
        "text/html;q=0",
        "text/html;q=",
        "text/htmlx",
        "text",
        "image/png",
        "text/html;q=0.5, text/*",
        "text/plain, text/html;q=0.5",
    };
    for (size_t k = 0; k < ARRAY_LEN(yes); k++)
        if (!request_accepts_html(yes[k]))
            fail_msg("not html: %s", yes[k]);
    for (size_t k = 0; k < ARRAY_LEN(no); k++)
        if (request_accepts_html(no[k]))
            fail_msg("html: %s", no[k] ? no[k] : "no header");
}

static void gzip_is_for_those_who_allow_it(void **state)
{
    (void)state;
    static const char *const yes[] = {
        "gzip",
        "GZip",
        "x-gzip",
        "gzip, deflate, br, zstd",
        "br;q=1.0, gzip;q=0.8, *;q=0.1",
        "*",
        "*;q=0.1",
        "identity, gzip",
        "identity;q=0.5, gzip;q=0.5",
        "gzip;q=0.001",
        "gzip;q=0, gzip",
        ", ,gzip,",
        "identity;q=0, *",
        "br;x=\",gzip;q=0\", gzip",
    };
    static const char *const no[] = {
        NULL,
        "",
        " ",
        "identity",
        "br",
        "gzipp",
        "gzi",
        "gzip;q=0",
        "gzip;q=0.000, *",
        "*;q=0",
        "gzip;q=2",
        "gzip;q=x",
        "gzip x",
        "identity, gzip;q=0.9",
        "br;x=\"gzip, gzip",
        "gzip;q=0, *;q=1",
    };
    for (size_t k = 0; k < ARRAY_LEN(yes); k++)
        if (!request_accepts_gzip(yes[k]))
            fail_msg("no gzip: %s", yes[k]);
    for (size_t k = 0; k < ARRAY_LEN(no); k++)
        if (request_accepts_gzip(no[k]))
            fail_msg("gzip: %s", no[k] ? no[k] : "no header");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(png_is_chosen_without_a_wish),
        cmocka_unit_test(gif_is_chosen_when_liked_better_or_named_more_closely),
        cmocka_unit_test(apng_is_chosen_by_name_where_neither_png_nor_gif_is_allowed),
        cmocka_unit_test(nothing_is_chosen_when_both_are_excluded),
        cmocka_unit_test(html_is_for_those_who_name_it),
        cmocka_unit_test(gzip_is_for_those_who_allow_it),
    };
    return cmocka_run_group_tests_name("accept", tests, NULL, NULL);
}
