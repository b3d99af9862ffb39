/* test_code.c -- share codes lead to the request they were made of, and to nothing when they were altered. */
#include "tests/unit/ask.h"
#include "tests/unit/random_request.h"

#include <stdlib.h>

#include "api/code.h"
#include "renderer/base/attr.h"

#define RANDOM_REQUESTS 20000

static struct asked ask_code(const char *code)
{
    char query[CODE_MAX_BYTES + 8];
    snprintf(query, sizeof query, "code=%s", code);
    return ask(query);
}

static void a_code_leads_to_the_request_it_was_made_of(void **state)
{
    (void)state;
    random_state = 11;
    for (int n = 0; n < RANDOM_REQUESTS; n++) {
        struct pairs q;
        char code[CODE_MAX_BYTES], again[CODE_MAX_BYTES];
        struct asked a = random_request(&q);
        code_make(&a.request, code);
        struct asked b = ask_code(code);
        if (b.err || strcmp(a.key.text, b.key.text) != 0)
            fail_msg("%s\n%s\n%s %s", code, a.key.text, b.key.text, b.fault.detail);
        code_make(&b.request, again);
        assert_string_equal(again, code);
        assert_true(request_has(&b.request, "format") && request_has(&b.request, "rev"));
        assert_true(strspn(code, "0123456789abcdefghjkmnpqrstvwxyz") == strlen(code));
    }
}

/* If this fails, codes that people have kept lead elsewhere: raise CODE_VERSION. */
static void codes_stay_as_they_are(void **state)
{
    (void)state;
    static const struct {
        const char *query, *code;
    } rows[] = {
        {"type=gas&seed=3", "11400rcgjn"},
        {"", "110008827b"},
        {"type=comet&seed=%C3%A9&format=gif&frames=24", "11g160w7aek06724y"},
        {"seed=my%20save&tilt=-23.4&background=fff&palette=000,FF8800&rings=on",
         "11013dqs877gyv5s9kx1gp37zzzzr0g0000zy4008tws"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char code[CODE_MAX_BYTES];
        struct asked a = ask(rows[i].query);
        code_make(&a.request, code);
        assert_string_equal(code, rows[i].code);
    }
}

static void a_default_picture_with_a_small_seed_has_ten_characters(void **state)
{
    (void)state;
    char code[CODE_MAX_BYTES];
    struct asked a = ask("type=gas&seed=63");
    code_make(&a.request, code);
    assert_int_equal(strlen(code), 10);
}

static void one_wrong_or_missing_character_is_seen(void **state)
{
    (void)state;
    static const char alphabet[] = "0123456789abcdefghjkmnpqrstvwxyz";
    char code[CODE_MAX_BYTES], bad[CODE_MAX_BYTES + 1];
    struct asked a = ask("type=terrestrial&seed=my%20save&sea_level=0.61&tilt=-20&rings=on");
    code_make(&a.request, code);
    size_t len = strlen(code);
    for (size_t i = 0; i < len; i++) {
        for (const char *c = alphabet; *c; c++) {
            memcpy(bad, code, len + 1);
            bad[i] = *c;
            if (*c != code[i])
                assert_int_equal(ask_code(bad).err, ERR_PARAM_SYNTAX);
        }
        memcpy(bad, code, i);
        memcpy(bad + i, code + i + 1, len - i);
        assert_int_equal(ask_code(bad).err, ERR_PARAM_SYNTAX);
        if (i + 1 < len && code[i] != code[i + 1]) { /* two that changed places */
            memcpy(bad, code, len + 1);
            bad[i] = code[i + 1];
            bad[i + 1] = code[i];
            assert_int_equal(ask_code(bad).err, ERR_PARAM_SYNTAX);
        }
    }
    static const char *const nonsense[] = {"", "1", "abc", "u", "!", "%00", "0000000000", "zzzzzzzzzzzz"};
    for (size_t i = 0; i < ARRAY_LEN(nonsense); i++) {
        struct asked b = ask_code(nonsense[i]);
        assert_int_equal(b.err, ERR_PARAM_SYNTAX);
        assert_string_equal(b.fault.param, "code");
    }
}

static void a_code_may_be_copied_carelessly(void **state)
{
    (void)state;
    char code[CODE_MAX_BYTES], loose[CODE_MAX_BYTES * 2] = "";
    struct asked a = ask("type=gas&seed=1010&tilt=11");
    code_make(&a.request, code);
    for (size_t i = 0; code[i]; i++) {
        char c = code[i];
        c = (char)(c == '1' ? 'L' : c == '0' ? 'o' : c >= 'a' ? c - 'a' + 'A' : c);
        snprintf(loose + strlen(loose), 3, "%s%c", i && i % 4 == 0 ? "-" : "", c);
    }
    assert_string_not_equal(loose, code);
    assert_string_equal(ask_code(loose).key.text, a.key.text);
}

static void a_code_goes_with_no_other_parameter(void **state)
{
    (void)state;
    char code[CODE_MAX_BYTES], query[CODE_MAX_BYTES * 2 + 32];
    struct asked a = ask("type=gas&seed=3");
    code_make(&a.request, code);
    snprintf(query, sizeof query, "code=%s&seed=3", code);
    assert_int_equal(ask(query).err, ERR_PARAM_COMBINATION);
    snprintf(query, sizeof query, "seed=3&code=%s", code);
    assert_int_equal(ask(query).err, ERR_PARAM_COMBINATION);
    snprintf(query, sizeof query, "code=%s&code=%s", code, code);
    assert_int_equal(ask(query).err, ERR_PARAM_REPEATED);
    snprintf(query, sizeof query, "code=%s", code);
    assert_int_equal(ask_path(".gif", query).err, ERR_PARAM_COMBINATION);
}

static void the_longest_code_fits(void **state)
{
    (void)state;
    char code[CODE_MAX_BYTES];
    struct asked a = ask("type=terrestrial&format=gif&rings=on");
    struct request r = a.request;
    memset(r.seed, 0xff, sizeof r.seed);
    r.seed_len = SEED_MAX_BYTES;
    r.planet.palette_source = PALETTE_LIST;
    r.planet.palette_count = PALETTE_MAX;
    for (int i = 0; i < param_count; i++)
        if (params[i].kind == PARAM_NUMBER && i != PARAM_ROW_rev)
            param_put(i, &r,
                      param_default(i, &r) == params[i].maximum ? params[i].minimum : params[i].maximum);
        else if (params[i].kind == PARAM_SPAN)
            param_put(i, &r, SPAN_OF(99, 100));
        else if (params[i].kind == PARAM_COLOR)
            param_put(i, &r, 0xffffff);
        else if (params[i].kind == PARAM_SWEEP)
            memset(param_sweep(i, &r), 'a', SWEEP_BYTES - 1);
    code_make(&r, code);
    assert_in_range(strlen(code), 250, CODE_MAX_BYTES - 1);
}

static void a_code_in_a_body_is_the_same(void **state)
{
    (void)state;
    char code[CODE_MAX_BYTES], body[CODE_MAX_BYTES + 64];
    struct asked a = ask("type=gas&seed=3");
    code_make(&a.request, code);
    struct request r;
    struct request_fault fault;
    struct key key;
    snprintf(body, sizeof body, "{\"code\": \"%s\"}", code);
    request_init(&r);
    assert_int_equal(request_set_json(&r, body, strlen(body), &fault), ERR_NONE);
    assert_int_equal(request_finish(&r, &fault), ERR_NONE);
    key_make(&r, &key);
    assert_string_equal(key.text, a.key.text);
    request_init(&r);
    assert_int_equal(request_set_json(&r, "{\"code\": 5}", 11, &fault), ERR_PARAM_SYNTAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_code_leads_to_the_request_it_was_made_of),
        cmocka_unit_test(codes_stay_as_they_are),
        cmocka_unit_test(a_default_picture_with_a_small_seed_has_ten_characters),
        cmocka_unit_test(one_wrong_or_missing_character_is_seen),
        cmocka_unit_test(a_code_may_be_copied_carelessly),
        cmocka_unit_test(a_code_goes_with_no_other_parameter),
        cmocka_unit_test(the_longest_code_fits),
        cmocka_unit_test(a_code_in_a_body_is_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
