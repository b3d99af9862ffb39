/* test_params.c -- the table of parameters against itself and against the parser: each row at its ends, past
 * them, and with values of the wrong kind. */
#include "tests/unit/ask.h"

#include <inttypes.h>

#include "api/describe.h"
#include "api/text.h"
#include "renderer/base/attr.h"
#include "renderer/bodies.h"
#include "renderer/renderer.h"

static enum err set_one(int i, const char *value, struct request *r, struct request_fault *fault)
{
    request_init(r);
    memset(fault, 0, sizeof *fault);
    return request_set(r, params[i].name, strlen(params[i].name), value, strlen(value), fault);
}

/* The value is refused with this error, by name, and the sentence says what is allowed. */
static void assert_refused(int i, const char *value, enum err expected)
{
    struct request r;
    struct request_fault fault;
    char allowed[PARAM_ALLOWED_BYTES];
    enum err err = set_one(i, value, &r, &fault);
    if (err != expected)
        fail_msg("%s=%s gave %s", params[i].name, value, err_name(err));
    param_allowed(i, allowed);
    assert_string_equal(fault.param, params[i].name);
    assert_non_null(strstr(fault.detail, allowed));
}

static void numbers_are_taken_at_both_ends_and_refused_one_step_beyond(void **state)
{
    (void)state;
    int seen = 0;
    for (int i = 0; i < param_count; i++) {
        if (params[i].kind != PARAM_NUMBER)
            continue;
        const int32_t ends[] = {params[i].minimum, params[i].maximum};
        char text[PARAM_TEXT_BYTES];
        struct request r;
        struct request_fault fault;
        for (int e = 0; e < 2; e++) {
            param_text(i, ends[e], text);
            assert_int_equal(set_one(i, text, &r, &fault), ERR_NONE);
            assert_int_equal(param_get(i, &r), ends[e]);
            param_text(i, ends[e] + (e ? 1 : -1), text);
            assert_refused(i, text, ERR_PARAM_RANGE);
        }
        seen++;
    }
    assert_true(seen >= 18);
}

static void numbers_far_beyond_are_out_of_range(void **state)
{
    (void)state;
    static const char *const far[] = {
        "99999999999999999999", "-99999999999999999999", "1e309", "-1e309", "1e99999999999999999",
        "4294967297",           "2147483648e1",          "1e18"};
    for (int i = 0; i < param_count; i++)
        for (size_t k = 0; params[i].kind == PARAM_NUMBER && k < ARRAY_LEN(far); k++)
            assert_refused(i, far[k], ERR_PARAM_RANGE);
}

static void numbers_of_the_wrong_kind_are_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",
                                        "nan",
                                        "NaN",
                                        "inf",
                                        "-inf",
                                        "infinity",
                                        "0x10",
                                        "1 ",
                                        " 1",
                                        "5px",
                                        "--1",
                                        "+-1",
                                        "1e",
                                        "1e+",
                                        "1e1.",
                                        ".",
                                        "-",
                                        "+",
                                        "e1",
                                        ".e1",
                                        "1,5",
                                        "1_0",
                                        "1..2",
                                        "1.2.3",
                                        "on",
                                        "true",
                                        "1d",
                                        "1f",
                                        "1e1e",
                                        "\t1",
                                        "1\n",
                                        "auto",
                                        "1'0",
                                        "0b1",
                                        "1e ",
                                        "\xd9\xa3", /* Arabic 3 */
                                        "\xef\xbc\x91" /* full-width 1 */};
    for (int i = 0; i < param_count; i++)
        for (size_t k = 0; params[i].kind == PARAM_NUMBER && k < ARRAY_LEN(wrong); k++)
            assert_refused(i, wrong[k], ERR_PARAM_SYNTAX);
}

static void fractions_are_snapped_unless_the_parameter_is_whole(void **state)
{
    (void)state;
    for (int i = 0; i < param_count; i++) {
        if (params[i].kind != PARAM_NUMBER)
            continue;
        struct request r;
        struct request_fault fault;
        char text[PARAM_TEXT_BYTES + 24], low[PARAM_TEXT_BYTES];
        param_text(i, params[i].minimum, low);
        if (!params[i].decimals) {
            snprintf(text, sizeof text, "%s.0", low);
            assert_int_equal(set_one(i, text, &r, &fault), ERR_NONE);
            snprintf(text, sizeof text, "%" PRId32 ".5", params[i].maximum - 1);
            assert_refused(i, text, ERR_PARAM_SYNTAX);
        } else {
            param_text(i, params[i].minimum + (params[i].maximum - params[i].minimum) / 2, low);
            snprintf(text, sizeof text, "%s%s0000000001", low, strchr(low, '.') ? "000000" : ".000000");
            assert_int_equal(set_one(i, text, &r, &fault), ERR_NONE);
            assert_int_equal(param_get(i, &r),
                             params[i].minimum + (params[i].maximum - params[i].minimum) / 2);
            param_text(i, params[i].maximum, low);
            snprintf(text, sizeof text, "%s%s0000000001", low, strchr(low, '.') ? "000000" : ".000000");
            assert_refused(i, text, ERR_PARAM_RANGE);
        }
    }
}

static void each_word_of_a_choice_is_taken_and_nothing_else(void **state)
{
    (void)state;
    for (int i = 0; i < param_count; i++) {
        if (params[i].kind != PARAM_CHOICE)
            continue;
        for (int w = 0; params[i].words[w]; w++) {
            struct request r;
            struct request_fault fault;
            assert_int_equal(set_one(i, params[i].words[w], &r, &fault), ERR_NONE);
            assert_int_equal(param_get(i, &r), w);
        }
        static const char *const wrong[] = {"",   "GAS",  "0",   "1",    "-1",  "gas ",
                                            "ga", "gass", "yes", "true", "PNG", "jpg"};
        for (size_t k = 0; k < ARRAY_LEN(wrong); k++)
            assert_refused(i, wrong[k], ERR_PARAM_SYNTAX);
    }
}

static void colours_are_hex_of_either_case_with_or_without_a_hash(void **state)
{
    (void)state;
    static const char *const same[] = {"ff8800", "#ff8800", "FF8800", "#Ff8800", "f80", "#F80"};
    static const char *const wrong[] = {"",           "#",      "ff",    "ff88",    "ff880", "ff88000",
                                        "ff8800ff",   "gg8800", "##f80", "0xf80",   "red",   " ff8800",
                                        "rgb(1,2,3)", "-ff880", "AUTO",  "ff8800,", "aut"};
    for (int i = 0; i < param_count; i++) {
        if (params[i].kind != PARAM_COLOR)
            continue;
        struct request r;
        struct request_fault fault;
        for (size_t k = 0; k < ARRAY_LEN(same); k++) {
            assert_int_equal(set_one(i, same[k], &r, &fault), ERR_NONE);
            assert_int_equal(param_get(i, &r), 0xff8800);
        }
        for (size_t k = 0; k < ARRAY_LEN(wrong); k++)
            assert_refused(i, wrong[k], ERR_PARAM_SYNTAX);
        static const int32_t meaning[COLOR_WORD_COUNT] = {COLOR_AUTO, COLOR_NONE, COLOR_STARS, COLOR_NEBULA};
        for (int w = 0; w < COLOR_WORD_COUNT; w++)
            if (params[i].words[w]) {
                assert_int_equal(set_one(i, params[i].words[w], &r, &fault), ERR_NONE);
                assert_int_equal(param_get(i, &r), meaning[w]);
            }
    }
    assert_refused(PARAM_ROW_atmosphere, "none", ERR_PARAM_SYNTAX);
    assert_refused(PARAM_ROW_background, "auto", ERR_PARAM_SYNTAX);
}

static void palettes_have_two_to_sixteen_colours(void **state)
{
    (void)state;
    struct request r;
    struct request_fault fault;
    const int i = PARAM_ROW_palette;
    char text[256] = "";
    for (int n = 1; n <= 18; n++) {
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%06x", n > 1 ? "," : "", (unsigned)n);
        if (n < 2 || n > PALETTE_MAX) {
            assert_refused(i, text, ERR_PARAM_RANGE);
            continue;
        }
        assert_int_equal(set_one(i, text, &r, &fault), ERR_NONE);
        assert_int_equal(r.planet.palette_count, n);
        for (int c = 0; c < PALETTE_MAX; c++)
            assert_int_equal(r.planet.palette[c], c < n ? c + 1 : 0);
    }
    assert_int_equal(set_one(i, "#fff,000", &r, &fault), ERR_NONE);
    assert_int_equal(r.planet.palette[0], 0xffffff);
    assert_int_equal(set_one(i, "auto", &r, &fault), ERR_NONE);
    assert_int_equal(r.planet.palette_count, 0);
    static const char *const wrong[] = {"",         ",",       "fff,",     ",fff",    "fff,,000",
                                        "fff, 000", "fff;000", "auto,fff", "fff,auto"};
    for (size_t k = 0; k < ARRAY_LEN(wrong); k++)
        assert_refused(i, wrong[k], ERR_PARAM_SYNTAX);
}

static void rows_are_found_by_exact_name_only(void **state)
{
    (void)state;
    for (int i = 0; i < param_count; i++) {
        assert_int_equal(param_find(params[i].name, strlen(params[i].name)), i);
        int singular = i == PARAM_ROW_layers ? PARAM_ROW_layer : i == PARAM_ROW_seeds ? PARAM_ROW_seed : -1;
        assert_int_equal(param_find(params[i].name, strlen(params[i].name) - 1), singular);
        assert_true(strlen(params[i].name) < sizeof((struct request_fault *)0)->param);
        assert_true(strlen(params[i].help) > 10);
        assert_non_null(params[i].unit);
    }
    assert_int_equal(param_find("fps\0x", 5), -1);
    assert_int_equal(param_find("fps\0", 4), -1);
    assert_int_equal(param_find("", 0), -1);
    assert_int_equal(param_find("Fps", 3), -1);
}

static void words_are_those_of_the_tables_they_name(void **state)
{
    (void)state;
    for (int b = 0; b < BODY_COUNT; b++)
        assert_string_equal(params[PARAM_ROW_type].words[b], bodies[b].name);
    for (int f = 0; f < FORMAT_COUNT; f++)
        assert_string_equal(params[PARAM_ROW_format].words[f], encoders[f].name);
    assert_string_equal(params[PARAM_ROW_type].words[TYPE_RANDOM], "random");
}

/* A default that is said in words must be the one that is taken, and lie within its own range. */
static void defaults_are_within_range_and_as_documented(void **state)
{
    (void)state;
    for (int b = 0; b < BODY_COUNT; b++) {
        char query[64];
        snprintf(query, sizeof query, "type=%s", bodies[b].name);
        struct asked a = ask(query);
        assert_int_equal(a.err, ERR_NONE);
        for (int i = 0; i < param_count; i++) {
            if (!param_has_number(i) || i == PARAM_ROW_type)
                continue;
            int32_t value = param_get(i, &a.request);
            struct decimal said;
            char text[PARAM_TEXT_BYTES];
            assert_int_equal(value, param_default(i, &a.request));
            if (params[i].kind == PARAM_NUMBER)
                assert_in_range(value - params[i].minimum, 0, params[i].maximum - params[i].minimum);
            const char *words = params[i].default_text;
            if (params[i].kind == PARAM_NUMBER &&
                text_decimal(words, strlen(words), params[i].decimals, &said)) {
                assert_true(said.exact);
                assert_int_equal(said.steps, value);
            } else if (params[i].kind != PARAM_NUMBER && !param_by_body(i)) {
                param_text(i, value,
                           text); /* one of those that are said, the first unless another default decides */
                const char *said_at = strstr(words, text);
                assert_non_null(said_at);
                assert_true(said_at == words || a.request.planet.shading == SHADING_RAMP);
            }
        }
    }
}

static void defaults_follow_body_rings_format_and_shading(void **state)
{
    (void)state;
    assert_int_equal(ask("").request.planet.pixels, 64);
    assert_int_equal(ask("rings=on").request.planet.pixels, 96);
    assert_int_equal(ask("rings=on&pixels=64").request.planet.pixels, 64);
    assert_int_equal(ask("").request.planet.frames, 1);
    assert_int_equal(ask("format=gif").request.planet.frames, 120);
    assert_int_equal(ask("format=gif").request.fps, 15);
    assert_int_equal(ask("").request.planet.dither, DITHER_NONE);
    assert_int_equal(ask("").request.planet.clean, 0);
    assert_int_equal(ask("shading=ramp").request.planet.dither, DITHER_CHECKER);
    assert_int_equal(ask("shading=ramp").request.planet.clean, 1);
    assert_int_equal(ask("dither=none&shading=ramp").request.planet.dither, DITHER_NONE);
    for (int b = 0; b < BODY_COUNT; b++) {
        char query[64];
        snprintf(query, sizeof query, "type=%s", bodies[b].name);
        struct asked a = ask(query);
        assert_int_equal(a.request.planet.scale_centi, bodies[b].scale_centi);
        assert_int_equal(a.request.planet.sea_level_milli, bodies[b].sea_level_milli);
        assert_int_equal(a.request.planet.ice_caps_milli, bodies[b].ice_caps_milli);
        assert_int_equal(a.request.planet.body, b);
    }
}

static void rings_auto_lets_the_seed_choose_at_the_rate_of_the_body(void **state)
{
    (void)state;
    for (int b = 0; b < BODY_COUNT; b++) {
        int rings = 0;
        for (int seed = 0; seed < 2000; seed++) {
            char query[64];
            snprintf(query, sizeof query, "type=%s&rings=auto&seed=%d", bodies[b].name, seed);
            struct asked a = ask(query);
            rings += a.request.planet.rings;
            assert_int_equal(a.request.planet.pixels, a.request.planet.rings ? 96 : 64);
            assert_true((strstr(a.key.text, "rings=on") != NULL) == (a.request.planet.rings == 1));
        }
        assert_in_range(rings, bodies[b].rings_percent * 20 * 6 / 10, bodies[b].rings_percent * 20 * 14 / 10);
    }
}

static void values_are_written_in_shortest_form(void **state)
{
    (void)state;
    static const struct {
        int row;
        int32_t value;
        const char *text;
    } cases[] = {
        {PARAM_ROW_cloud_cover, 500, "0.5"},        {PARAM_ROW_cloud_cover, 1000, "1"},
        {PARAM_ROW_cloud_cover, 5, "0.005"},        {PARAM_ROW_phase, 1, "0.000001"},
        {PARAM_ROW_light_azimuth, -5, "-0.5"},      {PARAM_ROW_light_azimuth, -1800, "-180"},
        {PARAM_ROW_scale, 1025, "10.25"},           {PARAM_ROW_turns, -4, "-4"},
        {PARAM_ROW_background, 0xff, "0000ff"},     {PARAM_ROW_background, COLOR_NONE, "none"},
        {PARAM_ROW_atmosphere, COLOR_AUTO, "auto"}, {PARAM_ROW_layer, LAYER_DEPTH, "depth"},
    };
    for (size_t k = 0; k < ARRAY_LEN(cases); k++) {
        char text[PARAM_TEXT_BYTES];
        assert_int_equal(param_text(cases[k].row, cases[k].value, text), strlen(cases[k].text));
        assert_string_equal(text, cases[k].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_taken_at_both_ends_and_refused_one_step_beyond),
        cmocka_unit_test(numbers_far_beyond_are_out_of_range),
        cmocka_unit_test(numbers_of_the_wrong_kind_are_refused),
        cmocka_unit_test(fractions_are_snapped_unless_the_parameter_is_whole),
        cmocka_unit_test(each_word_of_a_choice_is_taken_and_nothing_else),
        cmocka_unit_test(colours_are_hex_of_either_case_with_or_without_a_hash),
        cmocka_unit_test(palettes_have_two_to_sixteen_colours),
        cmocka_unit_test(rows_are_found_by_exact_name_only),
        cmocka_unit_test(words_are_those_of_the_tables_they_name),
        cmocka_unit_test(defaults_are_within_range_and_as_documented),
        cmocka_unit_test(defaults_follow_body_rings_format_and_shading),
        cmocka_unit_test(rings_auto_lets_the_seed_choose_at_the_rate_of_the_body),
        cmocka_unit_test(values_are_written_in_shortest_form),
    };
    return cmocka_run_group_tests_name("params", tests, NULL, NULL);
}
