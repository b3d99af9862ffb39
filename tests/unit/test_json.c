/* test_json.c -- requests as JSON: the same keys as by query, and what is refused. */
#include "tests/unit/ask.h"

#include <stdlib.h>

#include "renderer/base/attr.h"

static struct asked ask_json_bytes(const char *body, size_t len)
{
    struct asked a;
    memset(&a, 0, sizeof a);
    request_init(&a.request);
    a.err = request_set_json(&a.request, body, len, &a.fault);
    asked_finish(&a);
    return a;
}

static struct asked ask_json(const char *body)
{
    return ask_json_bytes(body, strlen(body));
}

static void json_gives_the_key_of_the_query(void **state)
{
    (void)state;
    static const struct {
        const char *json, *query;
    } same[] = {
        {"{}", ""},
        {" \n{ } \n", ""},
        {"{\"type\":\"gas\",\"seed\":3}", "type=gas&seed=3"},
        {"{\"seed\":\"3\"}", "seed=3"},
        {"{\"seed\":-9223372036854775808}", "seed=-9223372036854775808"},
        {"{\"seed\":\"\\u00e9\\ud83e\\ude90\"}", "seed=%C3%A9%F0%9F%AA%90"},
        {"{\"\\u0073eed\":\"a b\"}", "seed=a+b"},
        {"{\"pixels\":32}", "pixels=32"},
        {"{\"pixels\":32.0}", "pixels=32"},
        {"{\"pixels\":3.2e1}", "pixels=32"},
        {"{\"pixels\":\"32\"}", "pixels=32"},
        {"{\"sea_level\":0.3}", "sea_level=0.3"},
        {"{\"sea_level\":0.1235}", "sea_level=0.1235"},
        {"{\"sea_level\":0.0005}", "sea_level=0.0005"},
        {"{\"sea_level\":0.0025}", "sea_level=0.0025"},
        {"{\"sea_level\":1}", "sea_level=1"},
        {"{\"sea_level\":1e-300}", "sea_level=0"},
        {"{\"tilt\":-12.35}", "tilt=-12.35"},
        {"{\"tilt\":-0.0}", "tilt=0"},
        {"{\"rings\":true}", "rings=on"},
        {"{\"rings\":false}", "rings=off"},
        {"{\"rings\":\"auto\"}", ""},
        {"{\"atmosphere\":false}", "atmosphere=off"},
        {"{\"atmosphere\":\"#F80\"}", "atmosphere=ff8800"},
        {"{\"palette\":[\"#fff\",\"000\"]}", "palette=fff,000"},
        {"{\"palette\":\"fff,000\"}", "palette=fff,000"},
        {"{\"palette\":\"auto\"}", ""},
        {"{\"palette\":[\"#000001\",\"#000002\",\"#000003\",\"#000004\",\"#000005\",\"#000006\",\"#000007\","
         "\"#000008\","
         "\"#000009\",\"#00000a\",\"#00000b\",\"#00000c\",\"#00000d\",\"#00000e\",\"#00000f\",\"#000010\"]}",
         "palette=000001,000002,000003,000004,000005,000006,000007,000008,000009,00000a,00000b,00000c,00000d,"
         "00000e,"
         "00000f,000010"},
        {"{\"format\":\"gif\",\"frames\":8,\"rev\":1}", "format=gif&frames=8"},
    };
    for (size_t k = 0; k < ARRAY_LEN(same); k++) {
        struct asked a = ask_json(same[k].json), b = ask(same[k].query);
        if (a.err)
            fail_msg("%s: %s", same[k].json, a.fault.detail);
        assert_string_equal(a.key.text, b.key.text);
    }
}

/* Every decimal of the step below reads the same from JSON, halves included, though a double can't hold it.
 */
static void json_reals_are_snapped_as_their_text_is(void **state)
{
    (void)state;
    for (int n = 0; n <= 10000; n += 5) {
        char json[48], query[48];
        snprintf(json, sizeof json, "{\"sea_level\":%d.%04d}", n / 10000, n % 10000);
        snprintf(query, sizeof query, "sea_level=%d.%04d", n / 10000, n % 10000);
        assert_string_equal(ask_json(json).key.text, ask(query).key.text);
    }
}

static void bad_members_are_refused_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        enum err err;
        const char *param, *words;
    } bad[] = {
        {"{\"pixles\":64}", ERR_PARAM_UNKNOWN, "pixles", "\"pixels\""},
        {"{\"\":64}", ERR_PARAM_UNKNOWN, "", NULL},
        {"{\"pixels\":64,\"pixels\":64}", ERR_PARAM_REPEATED, "pixels", "more than once"},
        {"{\"nope\":64,\"nope\":64}", ERR_PARAM_REPEATED, "", "more than once"},
        {"{\"pixels\":64.5}", ERR_PARAM_SYNTAX, "pixels", "whole number"},
        {"{\"pixels\":1e300}", ERR_PARAM_RANGE, "pixels", "8 to 1024"},
        {"{\"pixels\":9223372036854775807}", ERR_PARAM_RANGE, "pixels", "8 to 1024"},
        {"{\"pixels\":true}", ERR_PARAM_SYNTAX, "pixels", "true is not"},
        {"{\"pixels\":null}", ERR_PARAM_SYNTAX, "pixels", "null is not"},
        {"{\"pixels\":{}}", ERR_PARAM_SYNTAX, "pixels", "an object is not"},
        {"{\"pixels\":[64]}", ERR_PARAM_SYNTAX, "pixels", "an array is not"},
        {"{\"seed\":1.5}", ERR_PARAM_SYNTAX, "seed", "an integer without point or exponent"},
        {"{\"seed\":true}", ERR_PARAM_SYNTAX, "seed", "true is not"},
        {"{\"seed\":null}", ERR_PARAM_SYNTAX, "seed", "null"},
        {"{\"seed\":\"\"}", ERR_PARAM_SYNTAX, "seed", "1 to 64"},
        {"{\"seed\":\"a\\u0000b\"}", ERR_TEXT_ENCODING, "seed", "NUL"},
        {"{\"seed\":\"a\\nb\"}", ERR_PARAM_SYNTAX, "seed", "control"},
        {"{\"type\":\"gas\\u0000\"}", ERR_TEXT_ENCODING, "type", "NUL"},
        {"{\"type\":5}", ERR_PARAM_SYNTAX, "type", "\"5\" is not"},
        {"{\"palette\":[]}", ERR_PARAM_RANGE, "palette", "2 to 16"},
        {"{\"palette\":[\"fff\"]}", ERR_PARAM_RANGE, "palette", "2 to 16"},
        {"{\"palette\":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]}", ERR_PARAM_RANGE, "palette", "2 to 16"},
        {"{\"palette\":[\"fff\",5]}", ERR_PARAM_SYNTAX, "palette", "2 to 16"},
        {"{\"palette\":[\"fff\",[\"000\"]]}", ERR_PARAM_SYNTAX, "palette", "2 to 16"},
        {"{\"palette\":[\"fff\",\"0,0\"]}", ERR_PARAM_SYNTAX, "palette", "2 to 16"},
        {"{\"palette\":[\"fff\",\"\"]}", ERR_PARAM_SYNTAX, "palette", "2 to 16"},
        {"{\"palette\":[\"fff\",\"ff00000\"]}", ERR_PARAM_SYNTAX, "palette", "2 to 16"},
        {"{\"palette\":[\"fff\",\"ff00\\u0000\"]}", ERR_TEXT_ENCODING, "palette", "NUL"},
        {"{\"palette\":[\"auto\",\"fff\"]}", ERR_PARAM_SYNTAX, "palette", "2 to 16"},
        {"{\"frames\":2}", ERR_PARAM_COMBINATION, "frames", "format=gif"},
        {"{\"rev\":7}", ERR_REVISION, "rev", "not 7"},
    };
    for (size_t k = 0; k < ARRAY_LEN(bad); k++) {
        struct asked a = ask_json(bad[k].json);
        if (a.err != bad[k].err)
            fail_msg("%s gave %s (%s)", bad[k].json, err_name(a.err), a.fault.detail);
        assert_string_equal(a.fault.param, bad[k].param);
        if (bad[k].words && !strstr(a.fault.detail, bad[k].words))
            fail_msg("%s: \"%s\" lacks \"%s\"", bad[k].json, a.fault.detail, bad[k].words);
    }
}

static void malformed_json_is_refused_with_line_and_column(void **state)
{
    (void)state;
    static const char *const bad[] = {"{",
                                      "}",
                                      "{\"a\"}",
                                      "{\"a\":}",
                                      "{a:1}",
                                      "{},",
                                      "{}{}",
                                      "{\"seed\":1,}",
                                      "{'seed':1}",
                                      "{\"seed\":01}",
                                      "{\"seed\":+1}",
                                      "{\"seed\":NaN}",
                                      "{\"seed\":Infinity}",
                                      "{\"seed\":0x1}",
                                      "{\"seed\":99999999999999999999}",
                                      "{\"pixels\":1e309}",
                                      "{\"seed\":\"a",
                                      "{} // x",
                                      "type=gas"};
    for (size_t k = 0; k < ARRAY_LEN(bad); k++) {
        struct asked a = ask_json(bad[k]);
        if (a.err != ERR_BODY_SYNTAX)
            fail_msg("%s gave %s", bad[k], err_name(a.err));
        assert_non_null(strstr(a.fault.detail, "line "));
        assert_non_null(strstr(a.fault.detail, "column "));
        assert_string_equal(a.fault.param, "");
    }
    assert_non_null(strstr(ask_json("{\"type\":\"gas\",\n\"seed\":}").fault.detail, "line 2, column"));
}

static void assert_body_refused(const char *json, const char *words)
{
    struct asked a = ask_json(json);
    assert_int_equal(a.err, ERR_BODY_SYNTAX);
    assert_string_equal(a.fault.param, "");
    if (!strstr(a.fault.detail, words))
        fail_msg("%s: \"%s\" lacks \"%s\"", json, a.fault.detail, words);
}

static void an_empty_body_is_said_to_be_empty(void **state)
{
    (void)state;
    assert_body_refused("", "the body is empty; a JSON object is expected");
    assert_body_refused(" \r\n\t", "the body is empty; a JSON object is expected");
}

static void json_that_is_no_object_is_not_called_malformed(void **state)
{
    (void)state;
    static const char *const values[] = {"\"x\"", "null", "3", "[]", "true", "1.5", "[{\"seed\":1}]"};
    for (size_t k = 0; k < ARRAY_LEN(values); k++) {
        assert_body_refused(values[k], "a JSON object is expected");
        assert_null(strstr(ask_json(values[k]).fault.detail, "malformed"));
    }
}

static void numbers_too_large_for_json_are_not_said_to_be_seeds(void **state)
{
    (void)state;
    assert_body_refused("{\"phase\":1e400}", "a number is too large for any parameter");
    assert_body_refused("{\"seed\":99999999999999999999}", "send one of so many digits in quotes");
    assert_body_refused("{\"seed\":-99999999999999999999}", "send one of so many digits in quotes");
    assert_null(strstr(ask_json("{\"phase\":1e400}").fault.detail, "seed"));
}

static void a_seed_written_as_a_real_is_told_to_be_an_integer_or_text(void **state)
{
    (void)state;
    static const char *const reals[] = {"{\"seed\":3.0}", "{\"seed\":1e3}", "{\"seed\":-0.5}"};
    for (size_t k = 0; k < ARRAY_LEN(reals); k++) {
        struct asked a = ask_json(reals[k]);
        assert_int_equal(a.err, ERR_PARAM_SYNTAX);
        assert_string_equal(a.fault.param, "seed");
        assert_non_null(strstr(a.fault.detail, "must be an integer without point or exponent"));
        assert_non_null(strstr(a.fault.detail, "as text"));
    }
    assert_int_equal(ask_json("{\"seed\":\"1e3\"}").err, ERR_NONE);
}

static void true_and_false_are_quoted_as_they_were_sent(void **state)
{
    (void)state;
    static const struct {
        const char *json, *words;
    } cases[] = {{"{\"pixels\":true}", "true is not"},
                 {"{\"type\":false}", "false is not"},
                 {"{\"palette\":true}", "true is not"},
                 {"{\"background\":false}", "false is not"},
                 {"{\"atmosphere\":true}", "true is not"}};
    for (size_t k = 0; k < ARRAY_LEN(cases); k++) {
        struct asked a = ask_json(cases[k].json);
        assert_int_equal(a.err, ERR_PARAM_SYNTAX);
        assert_non_null(strstr(a.fault.detail, cases[k].words));
    }
}

static void broken_text_in_json_is_refused(void **state)
{
    (void)state;
    assert_int_equal(ask_json("{\"seed\":\"\xff\"}").err, ERR_TEXT_ENCODING);
    assert_int_equal(ask_json("{\"seed\":\"\xc0\x80\"}").err, ERR_TEXT_ENCODING);
    assert_int_equal(ask_json("{\"seed\":\"\xed\xa0\x80\"}").err, ERR_TEXT_ENCODING);
    assert_int_equal(ask_json("{\"a\\u0000b\":1}").err, ERR_TEXT_ENCODING);
    assert_int_not_equal(ask_json("{\"seed\":\"\\ud800\"}").err, ERR_NONE);
    static const char raw_nul[] = "{\"seed\":\"a\0b\"}";
    assert_int_not_equal(ask_json_bytes(raw_nul, sizeof raw_nul - 1).err, ERR_NONE);
    static const char after_nul[] = "{}\0";
    assert_int_not_equal(ask_json_bytes(after_nul, sizeof after_nul - 1).err, ERR_NONE);
}

/* Writes the text over the bytes there, without its NUL. */
static void overwrite(char *bytes, const char *text)
{
    for (; *text; text++)
        *bytes++ = *text;
}

/* 64 KiB is what the server lets through: nothing in it may exhaust the stack. */
static void deep_nesting_is_refused(void **state)
{
    (void)state;
    size_t len = 65536;
    char *body = malloc(len);
    assert_non_null(body);
    memset(body, '[', len);
    assert_int_equal(ask_json_bytes(body, len).err, ERR_BODY_SYNTAX);
    overwrite(body, "{\"palette\":");
    struct asked a = ask_json_bytes(body, len);
    assert_int_equal(a.err, ERR_BODY_SYNTAX);
    assert_non_null(strstr(a.fault.detail, "nested too deeply"));
    for (size_t i = 0; i + 5 <= len; i += 5)
        overwrite(body + i, "{\"a\":");
    assert_int_equal(ask_json_bytes(body, len).err, ERR_BODY_SYNTAX);
    free(body);
}

static void long_values_are_refused_by_name(void **state)
{
    (void)state;
    char body[4096];
    memset(body, '1', sizeof body);
    overwrite(body, "{\"seed\":\"");
    overwrite(body + sizeof body - 2, "\"}");
    struct asked a = ask_json_bytes(body, sizeof body);
    assert_int_equal(a.err, ERR_PARAM_RANGE);
    assert_string_equal(a.fault.param, "seed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_gives_the_key_of_the_query),
        cmocka_unit_test(json_reals_are_snapped_as_their_text_is),
        cmocka_unit_test(bad_members_are_refused_by_name),
        cmocka_unit_test(malformed_json_is_refused_with_line_and_column),
        cmocka_unit_test(an_empty_body_is_said_to_be_empty),
        cmocka_unit_test(json_that_is_no_object_is_not_called_malformed),
        cmocka_unit_test(numbers_too_large_for_json_are_not_said_to_be_seeds),
        cmocka_unit_test(a_seed_written_as_a_real_is_told_to_be_an_integer_or_text),
        cmocka_unit_test(true_and_false_are_quoted_as_they_were_sent),
        cmocka_unit_test(broken_text_in_json_is_refused),
        cmocka_unit_test(deep_nesting_is_refused),
        cmocka_unit_test(long_values_are_refused_by_name),
    };
    return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
