/* test_log.c -- quoting, pairs to JSON, lines of requests, and that lines reach the pipe whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "server/access_log.h"
#include "server/log.h"

#define STAMP "2026-11-30T12:00:00.123Z"

static void quoting_escapes_and_cuts(void **state)
{
    (void)state;
    char to[32];
    assert_string_equal(log_quote("a\"\\\n\x01", 5, to, sizeof(to)), "\"a\\\"\\\\\\n\\x01\"");
    assert_string_equal(log_quote("", 0, to, sizeof(to)), "\"\"");
    assert_string_equal(log_quote("0123456789", 10, to, 13), "\"0123456...\"");
    for (size_t size = 8; size <= sizeof(to); size++) {
        memset(to, '#', sizeof(to));
        log_quote("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 10, to, size);
        assert_true(strlen(to) < size);
        assert_string_equal(to + strlen(to) - 4, "...\"");
    }
}

/* Reads a JSON text back. */
static void check_json_text(const char *bytes, size_t len, const char *expected)
{
    char to[256];
    size_t n = log_json_text(bytes, len, to, sizeof(to));
    assert_int_equal(n, strlen(to));
    json_t *j = json_loads(to, JSON_DECODE_ANY, NULL);
    assert_non_null(j);
    assert_string_equal(json_string_value(j), expected);
    json_decref(j);
}

static void json_texts_say_what_the_client_sent(void **state)
{
    (void)state;
    check_json_text("", 0, "");
    check_json_text("a\"\\\n\r\t\x01\x7f/", 9, "a\"\\\n\r\t\x01\x7f/");
    check_json_text("\xc3\xa9\xe2\x98\x83\xf0\x9f\x8c\x8d", 9, "\xc3\xa9\xe2\x98\x83\xf0\x9f\x8c\x8d");
    check_json_text("\xff\xc3(\xc0\x80", 5, "\xef\xbf\xbd\xef\xbf\xbd(\xef\xbf\xbd\xef\xbf\xbd");
    check_json_text("\xed\xa0\x80", 3, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"); /* a surrogate */
    check_json_text("\xe2\x98", 2, "\xef\xbf\xbd\xef\xbf\xbd");                 /* cut */
}

static void json_texts_are_cut_between_characters(void **state)
{
    (void)state;
    static const char text[] =
        "\xe2\x98\x83\x01\xe2\x98\x83\xff\xe2\x98\x83\xe2\x98\x83\"\"\"\xe2\x98\x83 and more of it";
    char to[64];
    for (size_t size = 8; size <= sizeof(to); size++) {
        memset(to, '#', sizeof(to));
        size_t n = log_json_text(text, sizeof(text) - 1, to, size);
        assert_true(n < size && to[n] == '\0' && (size == sizeof(to) || to[size] == '#'));
        json_t *j = json_loads(to, JSON_DECODE_ANY, NULL); /* refuses what is no UTF-8 */
        assert_non_null(j);
        json_decref(j);
    }
}

static json_t *object_of(const char *pairs, size_t size)
{
    static char to[LOG_LINE_BYTES];
    memset(to, '#', sizeof(to));
    size_t n = log_json_object(STAMP, LOG_WARN, pairs, to, size);
    assert_true(n < size && strlen(to) == n);
    json_t *j = json_loads(to, JSON_REJECT_DUPLICATES, NULL);
    if (!j)
        fail_msg("%s", to);
    assert_string_equal(json_string_value(json_object_get(j, "time")), STAMP);
    assert_string_equal(json_string_value(json_object_get(j, "level")), "warn");
    return j;
}

static void check_text(const json_t *j, const char *key, const char *expected)
{
    const char *text = json_string_value(json_object_get(j, key));
    assert_non_null(text);
    assert_string_equal(text, expected);
}

static void pairs_become_an_object(void **state)
{
    (void)state;
    char quoted[64], pairs[512];
    snprintf(pairs, sizeof(pairs),
             "event=x n=12 neg=-3 frac=0.250 zero=0 hex=0x10 lead=007 id=12ab exp=1e5 dot=1. "
             "long=1234567890123456 empty= "
             "word=on quoted=\"12\" client=%s",
             log_quote("a\" b=\"c\\\xc3\xa9\n", 11, quoted, sizeof(quoted)));
    json_t *j = object_of(pairs, LOG_LINE_BYTES);
    assert_int_equal(json_object_size(j), 17);
    assert_int_equal(json_integer_value(json_object_get(j, "n")), 12);
    assert_int_equal(json_integer_value(json_object_get(j, "neg")), -3);
    assert_true(json_is_integer(json_object_get(j, "zero")));
    assert_true(json_real_value(json_object_get(j, "frac")) == 0.25);
    check_text(j, "hex", "0x10");
    check_text(j, "lead", "007");
    check_text(j, "id", "12ab");
    check_text(j, "exp", "1e5");
    check_text(j, "dot", "1.");
    check_text(j, "long", "1234567890123456");
    check_text(j, "empty", "");
    check_text(j, "word", "on");
    check_text(j, "quoted", "12");
    check_text(j, "client", "a\" b=\"c\\\xc3\xa9\n");
    json_decref(j);
}

static void what_is_no_pair_is_kept_as_text(void **state)
{
    (void)state;
    json_t *j = object_of("event=x some words \"and\" more=1", LOG_LINE_BYTES);
    check_text(j, "rest", "some words \"and\" more=1");
    json_decref(j);
    j = object_of("reason=\"can't open \"x\" for reading\" n=1",
                  LOG_LINE_BYTES); /* a caller that forgot to quote */
    check_text(j, "reason", "can't open \"x");
    json_decref(j);
    j = object_of("reason=\"never closed", LOG_LINE_BYTES);
    check_text(j, "reason", "never closed");
    json_decref(j);
    j = object_of("", LOG_LINE_BYTES);
    assert_int_equal(json_object_size(j), 2);
    json_decref(j);
}

static void objects_that_do_not_fit_are_cut_and_still_objects(void **state)
{
    (void)state;
    for (size_t size = 64; size < 200; size++)
        json_decref(object_of(
            "event=something message=\"\\x01\\x02\\x03 \xe2\x98\x83 and much more of it\" n=123456789 "
            "last=\"the last one\"",
            size));
}

static void hidden(const char *target, const char *expected)
{
    char to[128];
    size_t n = access_log_hide(target, to, sizeof(to));
    assert_int_equal(n, strlen(to));
    assert_string_equal(to, expected);
}

static void signatures_are_hidden_however_they_are_spelt(void **state)
{
    (void)state;
    hidden("/planet?a=1&signature=SECRET&b=2", "/planet?a=1&signature=***&b=2");
    hidden("/planet?signature=SECRET", "/planet?signature=***");
    hidden("/planet?%73igna%74ure=SECRET&b", "/planet?%73igna%74ure=***&b");
    hidden("/planet?SigNature=S&signature=T", "/planet?SigNature=***&signature=***");
    hidden("/planet%3Fsignature%3dSECRET", "/planet%3Fsignature%3d***");
    hidden("/planet?signatur=1&signatures=2&s=%", "/planet?signatur=1&signatures=2&s=%");
    hidden("/planet?signature", "/planet?signature");
    hidden("%", "%");
    hidden("", "");
    for (size_t room = 1; room < 40; room++) {
        char to[40];
        memset(to, '#', sizeof(to));
        size_t n = access_log_hide("/p?signature=SECRET&x=1", to, room);
        assert_true(n < room && to[n] == '\0');
        assert_null(strstr(to, "SE"));
    }
}

/* ---- What goes through the pipe ---- */

/* Runs `work` with standard error as a pipe and returns what came, at most `size` - 1 bytes. */
static size_t captured(void (*work)(void *ctx), void *ctx, char *to, size_t size)
{
    int fds[2], saved = dup(STDERR_FILENO);
    assert_int_equal(pipe(fds), 0);
    assert_true(fcntl(fds[1], F_SETPIPE_SZ, 1 << 20) > 0);
    dup2(fds[1], STDERR_FILENO);
    work(ctx);
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(fds[1]);
    size_t len = 0;
    for (ssize_t n; (n = read(fds[0], to + len, size - 1 - len)) > 0;)
        len += (size_t)n;
    close(fds[0]);
    to[len] = '\0';
    return len;
}

static struct http_exchange exchange(void)
{
    return (struct http_exchange){
        .in = {.method = HTTP_GET, .target = "/planet?seed=1"},
        .out = {.status = 200, .body_len = 12, .cache = "hit"},
        .id = "abc",
        .client = {{[10] = 0xff, [11] = 0xff, [12] = 192, [13] = 0, [14] = 2, [15] = 255}},
        .started_ns = 1};
}

static void add_lines(void *ctx)
{
    struct access_log *a = ctx;
    struct http_exchange x = exchange();
    for (int i = 0; i < 1000; i++)
        access_log_add(a, &x, false, true);
    access_log_flush(a);
    access_log_flush(a);
}

static void lines_of_requests_arrive_whole_and_once(void **state)
{
    (void)state;
    static struct access_log a;
    static char text[1 << 20];
    log_open("info", "text");
    captured(add_lines, &a, text, sizeof(text));
    int lines = 0;
    for (char *line = text; *line; lines++) {
        char *end = strchr(line, '\n');
        assert_non_null(end);
        *end = '\0';
        assert_memory_equal(line, "time=20", 7);
        char *rest =
            strstr(line, "Z level=info event=request id=abc method=GET target=\"/planet?seed=1\" status=200 "
                         "bytes=12 ms=");
        assert_non_null(rest);
        assert_int_equal(rest - line, 5 + LOG_STAMP_BYTES - 2);
        assert_non_null(strstr(rest, " cache=hit client=192.0.2.255"));
        line = end + 1;
    }
    assert_int_equal(lines, 1000);
}

static void add_worst(void *ctx)
{
    static char target[HTTP_URL_MAX_BYTES + 1];
    struct access_log *a = ctx;
    struct http_exchange x = exchange();
    memset(target, 0x01, sizeof(target) - 1);
    memset(x.id, 'x', sizeof(x.id) - 1);
    memcpy(x.traceparent, "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", HTTP_TRACEPARENT_BYTES);
    memset(x.client.bytes, 0xfe, 8);
    x.in.target = target;
    x.out = (struct http_response){
        .status = 503, .body_len = (size_t)1 << 60, .err = ERR_REQUEST_SYNTAX, .cache = "coalesced"};
    for (int i = 0; i < 40; i++)
        access_log_add(a, &x, false, true);
    access_log_flush(a);
}

static void the_longest_lines_fit(void **state)
{
    (void)state;
    static char text[1 << 20];
    for (int json = 0; json < 2; json++) {
        static struct access_log a;
        a = (struct access_log){.mode = ACCESS_NONE}; /* an error of the service has a line anyway */
        log_open("warn", json ? "json" : "text");
        captured(add_worst, &a, text, sizeof(text));
        int lines = 0;
        for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1, lines++) {
            assert_true(end - line < ACCESS_LOG_LINE_BYTES);
            *end = '\0';
            json_t *j = json ? json_loads(line, JSON_REJECT_DUPLICATES, NULL) : json_null();
            assert_non_null(j);
            json_decref(j);
        }
        assert_int_equal(lines, 40);
    }
    log_open("info", "text");
}

static void log_long(void *ctx)
{
    char text[2 * LOG_LINE_BYTES];
    memset(text, 'x', sizeof(text));
    log_info("event=long text=\"%.*s\"", (int)sizeof(text), text);
    log_info("event=next");
    (void)ctx;
}

static void a_line_that_is_too_long_is_cut_and_the_next_one_is_whole(void **state)
{
    (void)state;
    static char text[1 << 20];
    for (int json = 0; json < 2; json++) {
        log_open("info", json ? "json" : "text");
        captured(log_long, NULL, text, sizeof(text));
        char *end = strchr(text, '\n');
        assert_non_null(end);
        assert_true(end + 1 - text <= LOG_LINE_BYTES);
        assert_non_null(strstr(end, json ? "\"event\":\"next\"" : "event=next"));
        if (json) {
            *end = '\0';
            json_t *j = json_loads(text, 0, NULL);
            assert_non_null(j);
            json_decref(j);
        }
    }
    log_open("info", "text");
}

static void stamps_are_utc_with_milliseconds(void **state)
{
    (void)state;
    char stamp[LOG_STAMP_BYTES];
    log_stamp(&(struct timespec){.tv_sec = 1796040000, .tv_nsec = 7999999}, stamp);
    assert_string_equal(stamp, "2026-11-30T12:00:00.007Z");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quoting_escapes_and_cuts),
        cmocka_unit_test(json_texts_say_what_the_client_sent),
        cmocka_unit_test(json_texts_are_cut_between_characters),
        cmocka_unit_test(pairs_become_an_object),
        cmocka_unit_test(what_is_no_pair_is_kept_as_text),
        cmocka_unit_test(objects_that_do_not_fit_are_cut_and_still_objects),
        cmocka_unit_test(signatures_are_hidden_however_they_are_spelt),
        cmocka_unit_test(lines_of_requests_arrive_whole_and_once),
        cmocka_unit_test(the_longest_lines_fit),
        cmocka_unit_test(a_line_that_is_too_long_is_cut_and_the_next_one_is_whole),
        cmocka_unit_test(stamps_are_utc_with_milliseconds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
