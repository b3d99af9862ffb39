/* test_redis_url.c -- URLs of Redis servers: what is understood, what is refused, and what logs may show. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "server/redis_url.h"
#include "server/store_redis.h"

static struct redis_url parsed(const char *text)
{
    struct redis_url url;
    if (!redis_url_parse(text, &url))
        fail_msg("not understood: %s", text);
    assert_true(store_redis_url_valid(text));
    return url;
}

static void a_host_alone_means_the_usual_port_and_database_0(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct redis_url url = parsed(i ? "redis://cache.example/" : "redis://cache.example");
        assert_string_equal(url.host, "cache.example");
        assert_string_equal(url.port, "6379");
        assert_string_equal(url.path, "");
        assert_int_equal(url.database, 0);
        assert_false(url.auth);
        assert_string_equal(url.shown, "cache.example:6379/0");
    }
}

static void every_part_is_read_and_percent_signs_are_decoded(void **state)
{
    (void)state;
    struct redis_url url = parsed("redis://planet%40d:s%3Ae%2fcret@10.0.0.7:7000/12");
    assert_true(url.auth);
    assert_string_equal(url.user, "planet@d");
    assert_string_equal(url.password, "s:e/cret");
    assert_string_equal(url.host, "10.0.0.7");
    assert_string_equal(url.port, "7000");
    assert_int_equal(url.database, 12);
}

static void a_password_may_stand_alone_and_may_hold_an_at_sign_or_colon(void **state)
{
    (void)state;
    struct redis_url url = parsed("redis://:a@b:c@host");
    assert_true(url.auth);
    assert_string_equal(url.user, "");
    assert_string_equal(url.password, "a@b:c");
    assert_string_equal(url.host, "host");
}

static void a_user_may_have_no_password(void **state)
{
    (void)state;
    struct redis_url url = parsed("redis://reader@host");
    assert_true(url.auth);
    assert_string_equal(url.user, "reader");
    assert_string_equal(url.password, "");
}

static void ipv6_addresses_stand_in_brackets(void **state)
{
    (void)state;
    struct redis_url url = parsed("redis://[::1]:7000/2");
    assert_string_equal(url.host, "::1");
    assert_string_equal(url.port, "7000");
    assert_string_equal(url.shown, "[::1]:7000/2");
    assert_string_equal(parsed("redis://[fe80::1%eth0]").host, "fe80::1%eth0");
}

static void a_unix_socket_has_a_path_and_maybe_a_database_and_a_password(void **state)
{
    (void)state;
    struct redis_url url = parsed("unix:///run/redis/redis.sock");
    assert_string_equal(url.path, "/run/redis/redis.sock");
    assert_string_equal(url.host, "");
    assert_int_equal(url.database, 0);
    assert_false(url.auth);
    url = parsed("unix://u:p@/run/a%20b.sock?db=5");
    assert_string_equal(url.path, "/run/a b.sock");
    assert_string_equal(url.user, "u");
    assert_string_equal(url.password, "p");
    assert_int_equal(url.database, 5);
    assert_string_equal(url.shown, "unix:/run/a?b.sock?db=5");
}

static void what_logs_show_has_no_user_and_no_password(void **state)
{
    (void)state;
    static const char *const urls[] = {"redis://someone:hunter2@host:1/3", "redis://:hunter2@host",
                                       "redis://someone@host", "unix://someone:hunter2@/run/sock"};
    for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
        struct redis_url url = parsed(urls[i]);
        assert_null(strstr(url.shown, "hunter2"));
        assert_null(strstr(url.shown, "someone"));
    }
}

static void other_texts_are_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",
                                        "redis",
                                        "redis:",
                                        "redis:/",
                                        "redis://",
                                        "redis:///",
                                        "redis:///0",
                                        "redis://:6379",
                                        "redis://user@",
                                        "rediss://host",
                                        "http://host",
                                        "REDIS://host",
                                        " redis://host",
                                        "redis://host ",
                                        "redis://ho st",
                                        "redis://host:",
                                        "redis://host:0",
                                        "redis://host:65536",
                                        "redis://host:999999",
                                        "redis://host:-1",
                                        "redis://host:+1",
                                        "redis://host:6379x",
                                        "redis://host/x",
                                        "redis://host/-1",
                                        "redis://host/1/2",
                                        "redis://host/9999999999",
                                        "redis://host/0?x=1",
                                        "redis://host?db=1",
                                        "redis://host#0",
                                        "redis://u:%zz@host",
                                        "redis://u:%0@host",
                                        "redis://u:%00@host",
                                        "redis://u:%0a@host",
                                        "redis://[::1",
                                        "redis://[]",
                                        "redis://[::1]x",
                                        "redis://[::1]:",
                                        "redis://::1",
                                        "redis://h\"ost",
                                        "redis://h%41ost",
                                        "unix://",
                                        "unix:///",
                                        "unix://run/sock",
                                        "unix:/run/sock",
                                        "unix:///run/sock?db=",
                                        "unix:///run/sock?db=x",
                                        "unix:///run/sock?d=1",
                                        "unix:///run/%00",
                                        "unix:///run/%0a",
                                        "unix://host/run/sock"};
    struct redis_url url = {.database = 77};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        if (redis_url_parse(wrong[i], &url))
            fail_msg("understood: %s", wrong[i]);
        assert_int_equal(url.database, 77);
        assert_false(store_redis_url_valid(wrong[i]));
    }
}

/* Each part just fits, or is one byte too long. */
static void parts_that_are_too_long_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *before, *after;
        size_t fits;
    } parts[] = {{"redis://", "", REDIS_URL_PART_BYTES - 1},
                 {"redis://", "@h", REDIS_URL_PART_BYTES - 1},
                 {"redis://:", "@h", REDIS_URL_PART_BYTES - 1},
                 {"unix:///", "", REDIS_URL_PATH_BYTES - 2}};
    char text[600];
    struct redis_url url;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        for (size_t extra = 0; extra < 2; extra++) {
            size_t at = strlen(parts[i].before), len = parts[i].fits + extra;
            memcpy(text, parts[i].before, at);
            memset(text + at, 'a', len);
            memcpy(text + at + len, parts[i].after, strlen(parts[i].after) + 1);
            assert_int_equal(redis_url_parse(text, &url), extra == 0);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_host_alone_means_the_usual_port_and_database_0),
        cmocka_unit_test(every_part_is_read_and_percent_signs_are_decoded),
        cmocka_unit_test(a_password_may_stand_alone_and_may_hold_an_at_sign_or_colon),
        cmocka_unit_test(a_user_may_have_no_password),
        cmocka_unit_test(ipv6_addresses_stand_in_brackets),
        cmocka_unit_test(a_unix_socket_has_a_path_and_maybe_a_database_and_a_password),
        cmocka_unit_test(what_logs_show_has_no_user_and_no_password),
        cmocka_unit_test(other_texts_are_refused),
        cmocka_unit_test(parts_that_are_too_long_are_refused),
    };
    return cmocka_run_group_tests_name("redis_url", tests, NULL, NULL);
}
