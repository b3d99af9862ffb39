/* test_pack.c -- streams of many files: every byte that an archive's records must have, and what they cannot
 * hold. That others read them is seen in tests/http/test_batch.py. */
#include "tests/unit/ask.h"

#include <stdlib.h>

#include "server/pack.h"

static void add(struct pack *p, const char *name, const char *bytes, struct blob *out)
{
    struct pack_file file = {
        .name = name, .type = "text/plain", .bytes = (const uint8_t *)bytes, .len = strlen(bytes)};
    assert_int_equal(pack_head(p, &file, out), ERR_NONE);
    if (file.len)
        assert_int_equal(blob_append(out, bytes, file.len), ERR_NONE);
}

static void an_archive_is_what_the_format_says_to_the_byte(void **state)
{
    (void)state;
    static const uint8_t expected[] = /* CRC-32 of "123456789" is cbf43926 */
        "PK\3\4\x14\0\0\x08\0\0\0\0\x21\0\x26\x39\xf4\xcb\x09\0\0\0\x09\0\0\0\x01\0\0\0"
        "a"
        "123456789"
        "PK\3\4\x14\0\0\x08\0\0\0\0\x21\0\0\0\0\0\0\0\0\0\0\0\0\0\x02\0\0\0"
        "bc"
        "PK\1\2\x14\0\x14\0\0\x08\0\0\0\0\x21\0\x26\x39\xf4\xcb\x09\0\0\0\x09\0\0\0\x01\0"
        "\0\0" /* no extra fields, no comment, disk 0, attributes of the inside and the outside, offset */
        "\0\0"
        "\0\0"
        "\0\0"
        "\0\0\0\0"
        "\0\0\0\0"
        "a"
        "PK\1\2\x14\0\x14\0\0\x08\0\0\0\0\x21\0\0\0\0\0\0\0\0\0\0\0\0\0\x02\0"
        "\0\0"
        "\0\0"
        "\0\0"
        "\0\0"
        "\0\0\0\0"
        "\x28\0\0\0"
        "bc"
        "PK\5\6\0\0\0\0\x02\0\x02\0\x5f\0\0\0\x48\0\0\0\0";
    struct pack p;
    struct blob out = {0};
    pack_init(&p, BATCH_ZIP, 0, 0);
    add(&p, "a", "123456789", &out);
    add(&p, "bc", "", &out);
    assert_int_equal(pack_end(&p, &out), ERR_NONE);
    assert_int_equal(out.len, sizeof(expected)); /* its NUL is the end of the last number */
    assert_memory_equal(out.data, expected, out.len);
    pack_finish(&p);
    blob_free(&out);
}

static void an_archive_of_4_gib_is_refused_before_it_lies(void **state)
{
    (void)state;
    struct pack p;
    struct blob out = {0};
    struct pack_file file = {.name = "a", .type = "text/plain", .bytes = (const uint8_t *)"12", .len = 2};
    pack_init(&p, BATCH_ZIP, 0, 0);
    uint64_t records = 30 + 1 + 2 + 46 + 1 + 22;
    p.offset = 0xffffffffu - records;
    assert_int_equal(pack_head(&p, &file, &out), ERR_ENCODE);
    assert_int_equal(out.len, 0);
    p.offset--;
    assert_int_equal(pack_head(&p, &file, &out), ERR_NONE);
    pack_finish(&p);
    blob_free(&out);
}

static void parts_have_what_is_known_of_them(void **state)
{
    (void)state;
    static const char expected[] =
        "--planetd-00000000000000010000000000000002\r\nContent-Type: image/png\r\nContent-Length: 2\r\n"
        "Content-Disposition: inline; filename=\"a.png\"\r\nContent-Location: /x\r\nETag: \"t\"\r\n\r\n"
        "hi\r\n--planetd-00000000000000010000000000000002\r\nContent-Type: text/plain\r\nContent-Length: "
        "0\r\n"
        "Content-Disposition: inline; filename=\"b\"\r\n\r\n"
        "\r\n--planetd-00000000000000010000000000000002--\r\n";
    struct pack p;
    struct blob out = {0};
    struct pack_file file = {.name = "a.png",
                             .type = "image/png",
                             .location = "/x",
                             .etag = "\"t\"",
                             .bytes = (const uint8_t *)"hi",
                             .len = 2};
    pack_init(&p, BATCH_MULTIPART, 1, 2);
    assert_int_equal(pack_head(&p, &file, &out), ERR_NONE);
    assert_int_equal(blob_append(&out, "hi", 2), ERR_NONE);
    add(&p, "b", "", &out);
    assert_int_equal(pack_end(&p, &out), ERR_NONE);
    assert_int_equal(out.len, sizeof(expected) - 1);
    assert_memory_equal(out.data, expected, out.len);
    pack_finish(&p);
    blob_free(&out);
}

static void without_memory_it_says_so(void **state)
{
    (void)state;
    for (int container = BATCH_ZIP; container <= BATCH_MULTIPART; container++) {
        struct pack p;
        struct blob out = {.max_bytes = 10};
        struct pack_file file = {.name = "a", .type = "text/plain", .bytes = (const uint8_t *)"", .len = 0};
        pack_init(&p, (enum batch_container)container, 0, 0);
        assert_int_equal(pack_head(&p, &file, &out), ERR_OOM);
        assert_int_equal(pack_end(&p, &out), ERR_OOM);
        pack_finish(&p);
        blob_free(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_archive_is_what_the_format_says_to_the_byte),
        cmocka_unit_test(an_archive_of_4_gib_is_refused_before_it_lies),
        cmocka_unit_test(parts_have_what_is_known_of_them),
        cmocka_unit_test(without_memory_it_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
