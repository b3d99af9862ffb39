/* test_request.c -- good and bad input by query and path, and what the finished request is. */
#include "tests/unit/ask.h"

#include <inttypes.h>

#include "renderer/base/attr.h"
#include "renderer/bodies.h"

/* `param` and `words` (may be NULL) must stand in the fault. */
struct bad {
    const char *query;
    enum err err;
    const char *param;
    const char *words;
};

static void assert_bad(const struct bad *b, const struct asked *a)
{
    if (a->err != b->err)
        fail_msg("%s gave %s (%s)", b->query, err_name(a->err), a->fault.detail);
    assert_string_equal(a->fault.param, b->param);
    if (b->words && !strstr(a->fault.detail, b->words))
        fail_msg("%s: \"%s\" lacks \"%s\"", b->query, a->fault.detail, b->words);
    assert_true(strlen(a->fault.detail) > 10);
}

static void assert_all_bad(const struct bad *list, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        struct asked a = ask(list[k].query);
        assert_bad(&list[k], &a);
    }
}

static void good_queries_are_taken(void **state)
{
    (void)state;
    static const char *const good[] = {"",
                                       "&",
                                       "&&&",
                                       "type=gas&seed=3",
                                       "&type=gas&&seed=3&",
                                       "type=random",
                                       "seed=%20",
                                       "seed=+",
                                       "seed=a=b",
                                       "seed=%3D%26",
                                       "seed=%F0%9F%AA%90",
                                       "seed=\xf0\x9f\xaa\x90",
                                       "t%79pe=g%61s",
                                       "format=gif&frames=240&pixels=64",
                                       "background=%23fff",
                                       "palette=auto",
                                       "palette=%23fff,000",
                                       "rev=1",
                                       "rev=1.0",
                                       "turns=-0",
                                       "rings=off",
                                       "layer=rings&rings=on",
                                       "type=moon&layer=craters",
                                       "type=gas&layer=bands",
                                       "pixels=1024&zoom=5",
                                       "frames=1",
                                       "format=gif&frames=1",
                                       "type=moon&atmosphere=f00"};
    for (size_t k = 0; k < ARRAY_LEN(good); k++) {
        struct asked a = ask(good[k]);
        if (a.err)
            fail_msg("%s: %s", good[k], a.fault.detail);
    }
}

static void unknown_names_are_refused_with_the_nearest_one(void **state)
{
    (void)state;
    static const struct bad list[] = {
        {"pixles=64", ERR_PARAM_UNKNOWN, "pixles", "did you mean \"pixels\"?"},
        {"Seed=4", ERR_PARAM_UNKNOWN, "Seed", "did you mean \"seed\"?"},
        {"cloudcover=1", ERR_PARAM_UNKNOWN, "cloudcover", "did you mean \"cloud_cover\"?"},
        {"cloud-cover=1", ERR_PARAM_UNKNOWN, "cloud-cover", "did you mean \"cloud_cover\"?"},
        {"light=3", ERR_PARAM_UNKNOWN, "light", "did you mean \"light_azimuth\"?"},
        {"tpye=gas", ERR_PARAM_UNKNOWN, "tpye", "did you mean \"type\"?"},
        {"ring=on", ERR_PARAM_UNKNOWN, "ring", "did you mean \"rings\"?"},
        {"utm_source=x", ERR_PARAM_UNKNOWN, "utm_source", "no parameter is called \"utm_source\"; /types"},
        {"=4", ERR_PARAM_UNKNOWN, "", NULL},
        {"=", ERR_PARAM_UNKNOWN, "", NULL},
        {"type =gas", ERR_PARAM_UNKNOWN, "type ", "did you mean \"type\"?"},
        {"%C3%A9t%C3%A9=1", ERR_PARAM_UNKNOWN, "", "no parameter is called that"},
        {"a%0Ab=1", ERR_PARAM_UNKNOWN, "", "no parameter is called that"},
        {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa=1",
         ERR_PARAM_UNKNOWN, "", "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...\""},
        {"planet.seed=1", ERR_PARAM_UNKNOWN, "planet.seed", NULL},
        {"nope=%00", ERR_PARAM_UNKNOWN, "nope", NULL},
    };
    assert_all_bad(list, ARRAY_LEN(list));
}

static void repeated_names_are_refused_even_with_equal_values(void **state)
{
    (void)state;
    static const struct bad list[] = {
        {"seed=1&seed=1", ERR_PARAM_REPEATED, "seed", "seed is given more than once"},
        {"pixels=64&type=gas&p%69xels=32", ERR_PARAM_REPEATED, "pixels", NULL},
        {"palette=auto&palette=auto", ERR_PARAM_REPEATED, "palette", NULL},
        {"rev=1&rev=bad", ERR_PARAM_REPEATED, "rev", NULL},
    };
    assert_all_bad(list, ARRAY_LEN(list));
}

static void bad_values_are_refused_with_what_is_allowed(void **state)
{
    (void)state;
    static const struct bad list[] = {
        {"pixels=5px", ERR_PARAM_SYNTAX, "pixels",
         "pixels must be a whole number from 8 to 1024; \"5px\" is not"},
        {"pixels", ERR_PARAM_SYNTAX, "pixels", "an empty value is not"},
        {"pixels=", ERR_PARAM_SYNTAX, "pixels", "an empty value is not"},
        {"pixels=64.5", ERR_PARAM_SYNTAX, "pixels", "whole number"},
        {"pixels=5000", ERR_PARAM_RANGE, "pixels", "from 8 to 1024"},
        {"sea_level=1.001", ERR_PARAM_RANGE, "sea_level", "a number from 0 to 1, rounded to steps of 0.001"},
        {"turns=+1", ERR_PARAM_SYNTAX, "turns", "\" 1\" is not"},
        {"turns=1%00", ERR_TEXT_ENCODING, "turns", "NUL"},
        {"type=venus", ERR_PARAM_SYNTAX, "type", "terrestrial, desert, ice, lava, gas, moon, "},
        {"atmosphere=blue", ERR_PARAM_SYNTAX, "atmosphere", "auto, off or a colour"},
        {"background=none2", ERR_PARAM_SYNTAX, "background", "must be none, stars, nebula or a colour"},
        {"palette=fff", ERR_PARAM_RANGE, "palette", "2 to 16 colours"},
        {"seed=", ERR_PARAM_SYNTAX, "seed", "1 to 64 bytes"},
        {"seed", ERR_PARAM_SYNTAX, "seed", "1 to 64 bytes"},
        {"seed=a%0Ab", ERR_PARAM_SYNTAX, "seed", "the value given is not"},
        {"seed=%1f", ERR_PARAM_SYNTAX, "seed", "control characters"},
        {"rev=0", ERR_PARAM_RANGE, "rev", NULL},
        {"rev=99", ERR_REVISION, "rev", "revision 1, not 99"},
        {"layer=", ERR_PARAM_SYNTAX, "layer", "emission or mask"},
    };
    assert_all_bad(list, ARRAY_LEN(list));
}

static void broken_encodings_are_refused_by_name(void **state)
{
    (void)state;
    static const struct bad list[] = {
        {"seed=%", ERR_TEXT_ENCODING, "seed", "percent"},
        {"seed=%4", ERR_TEXT_ENCODING, "seed", "percent"},
        {"seed=%4g", ERR_TEXT_ENCODING, "seed", "percent"},
        {"seed=%-1", ERR_TEXT_ENCODING, "seed", "percent"},
        {"seed=%%41", ERR_TEXT_ENCODING, "seed", "percent"},
        {"seed=% 1", ERR_TEXT_ENCODING, "seed", "percent"},
        {"seed=a%00b", ERR_TEXT_ENCODING, "seed", "NUL"},
        {"type=%00", ERR_TEXT_ENCODING, "type", "NUL"},
        {"seed=%80", ERR_TEXT_ENCODING, "seed", "UTF-8"},
        {"seed=%C3", ERR_TEXT_ENCODING, "seed", "UTF-8"},
        {"seed=%C0%80", ERR_TEXT_ENCODING, "seed", "UTF-8"},
        {"seed=%C1%BF", ERR_TEXT_ENCODING, "seed", "UTF-8"},
        {"seed=%E0%9F%BF", ERR_TEXT_ENCODING, "seed", "UTF-8"},
        {"seed=%ED%A0%80", ERR_TEXT_ENCODING, "seed", "UTF-8"},
        {"seed=%F0%8F%BF%BF", ERR_TEXT_ENCODING, "seed", "UTF-8"},
        {"seed=%F4%90%80%80", ERR_TEXT_ENCODING, "seed", "UTF-8"},
        {"seed=%F5%80%80%80", ERR_TEXT_ENCODING, "seed", "UTF-8"},
        {"seed=%E2%82", ERR_TEXT_ENCODING, "seed", "UTF-8"},
        {"seed=\xff", ERR_TEXT_ENCODING, "seed", "UTF-8"},
        {"seed=%E2%82x", ERR_TEXT_ENCODING, "seed", "UTF-8"},
        {"seed=%F0%9F%AAx", ERR_TEXT_ENCODING, "seed", "UTF-8"},
        {"%=1", ERR_TEXT_ENCODING, "", "name of a parameter"},
        {"se%zzed=1", ERR_TEXT_ENCODING, "", "name of a parameter"},
        {"%00=1", ERR_TEXT_ENCODING, "", "NUL"},
        {"seed%00=1", ERR_TEXT_ENCODING, "", "NUL"},
        {"%FF=1", ERR_TEXT_ENCODING, "", "UTF-8"},
        {"%FF=%", ERR_TEXT_ENCODING, "", "UTF-8"},
    };
    assert_all_bad(list, ARRAY_LEN(list));
    static const char raw[] = "seed=a\0b";
    struct asked a = ask_bytes(raw, sizeof raw - 1);
    assert_int_equal(a.err, ERR_TEXT_ENCODING);
    assert_string_equal(a.fault.param, "seed");
}

static void the_ends_of_utf8_are_taken(void **state)
{
    (void)state;
    static const char *const good[] = {"seed=%C2%A0",       "seed=%DF%BF",      "seed=%E0%A0%80",
                                       "seed=%ED%9F%BF",    "seed=%EE%80%80",   "seed=%EF%BF%BF",
                                       "seed=%F0%90%80%80", "seed=%F4%8F%BF%BF"};
    for (size_t k = 0; k < ARRAY_LEN(good); k++)
        assert_int_equal(ask(good[k]).err, ERR_NONE);
}

static void spellings_of_one_number_are_one_request(void **state)
{
    (void)state;
    static const char *const ones[] = {"zoom=1",       "zoom=1.0", "zoom=1e0",     "zoom=01",
                                       "zoom=%2B1",    "zoom=1.",  "zoom=10e-1",   "zoom=0.1e1",
                                       "zoom=.1e%2B1", "zoom=1E0", "zoom=001.000", "zoom=1000e-0003",
                                       "z%6Fom=%31"};
    for (size_t k = 0; k < ARRAY_LEN(ones); k++)
        assert_same_key(ones[k], "");
    assert_same_key("tilt=-0", "tilt=0");
    assert_same_key("tilt=-0.0e5", "tilt=0");
    assert_same_key("tilt=0e999999999999999999999", "tilt=0");
    assert_same_key("tilt=-0.04", "tilt=0");
    assert_same_key("cloud_cover=.25", "cloud_cover=25e-2");
}

static int32_t snapped(const char *query, int row)
{
    struct asked a = ask(query);
    if (a.err)
        fail_msg("%s: %s", query, a.fault.detail);
    return param_get(row, &a.request);
}

static void numbers_are_snapped_half_away_from_zero(void **state)
{
    (void)state;
    assert_int_equal(snapped("sea_level=0.12345", PARAM_ROW_sea_level), 123);
    assert_int_equal(snapped("sea_level=0.1235", PARAM_ROW_sea_level), 124);
    assert_int_equal(snapped("sea_level=0.12349999999999999999999999999999", PARAM_ROW_sea_level), 123);
    assert_int_equal(snapped("sea_level=0.0005", PARAM_ROW_sea_level), 1);
    assert_int_equal(snapped("sea_level=0.00049", PARAM_ROW_sea_level), 0);
    assert_int_equal(snapped("sea_level=5e-4", PARAM_ROW_sea_level), 1);
    assert_int_equal(snapped("sea_level=5e-5", PARAM_ROW_sea_level), 0);
    assert_int_equal(snapped("sea_level=1e-999999999999", PARAM_ROW_sea_level), 0);
    assert_int_equal(snapped("sea_level=0.9995", PARAM_ROW_sea_level), 1000);
    assert_int_equal(snapped("tilt=-12.35", PARAM_ROW_tilt), -124);
    assert_int_equal(snapped("tilt=12.35", PARAM_ROW_tilt), 124);
    assert_int_equal(snapped("tilt=-12.349", PARAM_ROW_tilt), -123);
    assert_int_equal(snapped("phase=0.1234565&turns=2", PARAM_ROW_phase), 123457);
    assert_int_equal(snapped("scale=10.005", PARAM_ROW_scale), 1001);
}

static void numbers_outside_the_range_are_refused_though_they_round_into_it(void **state)
{
    (void)state;
    static const struct bad list[] = {
        {"tilt=90.04", ERR_PARAM_RANGE, "tilt",
         "tilt must be a number from -90 to 90, rounded to steps of 0.1"},
        {"tilt=-90.000001", ERR_PARAM_RANGE, "tilt", NULL},
        {"ring_open=0.0196", ERR_PARAM_RANGE, "ring_open", NULL},
        {"ring_open=0.01999999999999999999999999", ERR_PARAM_RANGE, "ring_open", NULL},
        {"scale=0.245", ERR_PARAM_RANGE, "scale", NULL},
        {"sea_level=-0.0001", ERR_PARAM_RANGE, "sea_level", NULL},
        {"sea_level=-1e-300", ERR_PARAM_RANGE, "sea_level", NULL},
        {"sea_level=1.0000000000000002", ERR_PARAM_RANGE, "sea_level", NULL},
        {"phase=1.0000001", ERR_PARAM_RANGE, "phase", NULL},
        {"light_azimuth=180.04", ERR_PARAM_RANGE, "light_azimuth", NULL},
        {"pixels=1024.1", ERR_PARAM_RANGE, "pixels", NULL},
    };
    assert_all_bad(list, ARRAY_LEN(list));
    assert_int_equal(snapped("tilt=89.96", PARAM_ROW_tilt), 900);
    assert_int_equal(snapped("tilt=-89.95", PARAM_ROW_tilt), -900);
    assert_int_equal(snapped("tilt=90.000", PARAM_ROW_tilt), 900);
    assert_int_equal(snapped("rings=on&ring_open=0.0204", PARAM_ROW_ring_open), 20);
    assert_int_equal(snapped("sea_level=-0.000", PARAM_ROW_sea_level), 0);
    assert_int_equal(snapped("sea_level=0.99951", PARAM_ROW_sea_level), 1000);
}

static void control_characters_of_every_kind_are_no_seed(void **state)
{
    (void)state;
    for (int c = 1; c < 0x20; c++) {
        char query[16];
        snprintf(query, sizeof query, "seed=a%%%02x", (unsigned)c);
        assert_int_equal(ask(query).err, ERR_PARAM_SYNTAX);
    }
    static const struct bad list[] = {
        {"seed=%7f", ERR_PARAM_SYNTAX, "seed", "without control characters"},
        {"seed=a%7Fb", ERR_PARAM_SYNTAX, "seed", "without control characters"},
        {"seed=%c2%80", ERR_PARAM_SYNTAX, "seed", "without control characters"},
        {"seed=x%c2%85", ERR_PARAM_SYNTAX, "seed", "without control characters"},
        {"seed=%c2%9f!", ERR_PARAM_SYNTAX, "seed", "without control characters"},
    };
    assert_all_bad(list, ARRAY_LEN(list));
    static const char *const good[] = {"seed=%20", "seed=~", "seed=%c2%a0", "seed=%c3%80",
                                       "seed=%c3%82%c2%b5"};
    for (size_t k = 0; k < ARRAY_LEN(good); k++)
        assert_int_equal(ask(good[k]).err, ERR_NONE);
}

static void what_the_path_gives_is_said_to_be_given_by_the_path(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        struct bad bad;
    } list[] = {
        {"/gas/3.gif", {"format=gif", ERR_PARAM_REPEATED, "format", "the path already gives format"}},
        {"/gas/3.gif", {"type=gas", ERR_PARAM_REPEATED, "type", "the path already gives type"}},
        {"/gas/3.gif", {"seed=4", ERR_PARAM_REPEATED, "seed", "the path already gives seed"}},
        {".png", {"format=gif", ERR_PARAM_REPEATED, "format", "the path already gives format"}},
        {".png", {"seed=4&seed=4", ERR_PARAM_REPEATED, "seed", "seed is given more than once"}},
    };
    for (size_t k = 0; k < ARRAY_LEN(list); k++) {
        struct asked a = ask_path(list[k].path, list[k].bad.query);
        assert_bad(&list[k].bad, &a);
    }
}

static void the_format_of_a_path_is_known_whatever_else_is_wrong(void **state)
{
    (void)state;
    static const char *const paths[] = {"/gas/.gif", "/venus/3.gif", "/gas/%zz.gif", "/gas/a%00.gif"};
    for (size_t k = 0; k < ARRAY_LEN(paths); k++) {
        struct asked a = ask_path(paths[k], "");
        assert_int_not_equal(a.err, ERR_NONE);
        assert_true(request_has(&a.request, "format"));
    }
}

/* "sea_level=", then `before`, `zeros` zeros, `after`. */
static struct asked ask_long(const char *before, int zeros, const char *after)
{
    char query[1200];
    int len = snprintf(query, sizeof query, "sea_level=%s%0*d%s", before, zeros, 0, after);
    assert_in_range(len, 0, sizeof query - 1);
    return ask(query);
}

static void long_numbers_are_exact(void **state)
{
    (void)state;
    struct asked a = ask_long("0.", 990, "5e990");
    assert_int_equal(a.err, ERR_NONE);
    assert_int_equal(a.request.planet.sea_level_milli, 500);
    a = ask_long("", 1000, "0.25");
    assert_int_equal(a.err, ERR_NONE);
    assert_int_equal(a.request.planet.sea_level_milli, 250);
    assert_int_equal(ask_long("1", 1000, "").err, ERR_PARAM_RANGE);
    assert_int_equal(ask_long("0.", 1000, "1").err, ERR_NONE);
    assert_int_equal(ask_long("", 1080, "").err, ERR_PARAM_SYNTAX); /* longer than any sensible spelling */
}

static void seeds_are_text_of_up_to_64_bytes(void **state)
{
    (void)state;
    char query[128] = "seed=";
    memset(query + 5, 'x', SEED_MAX_BYTES);
    struct asked a = ask(query);
    assert_int_equal(a.err, ERR_NONE);
    assert_int_equal(a.request.seed_len, SEED_MAX_BYTES);
    query[5 + SEED_MAX_BYTES] = 'x';
    assert_int_equal(ask(query).err, ERR_PARAM_RANGE);
    static const char start[5] = "seed=";
    char huge[4000];
    memset(huge, 'x', sizeof huge);
    memcpy(huge, start, sizeof start);
    assert_int_equal(ask_bytes(huge, sizeof huge).err, ERR_PARAM_RANGE);
    assert_same_key("", "seed=1");
    assert_other_key("seed=1", "seed=01");
    assert_other_key("seed=1", "seed=1.0");
    assert_other_key("seed=a", "seed=A");
    assert_same_key("seed=a+b", "seed=a%20b");
    assert_other_key("seed=a+b", "seed=a%2Bb");
}

static void every_bit_of_a_seed_counts(void **state)
{
    (void)state;
    char seed[SEED_MAX_BYTES + 1];
    memset(seed, 'a', SEED_MAX_BYTES);
    seed[SEED_MAX_BYTES] = '\0';
    uint64_t seen[1 + SEED_MAX_BYTES * 6];
    size_t n = 0;
    for (int byte = -1; byte < SEED_MAX_BYTES; byte++)
        for (int bit = 0; bit < (byte < 0 ? 1 : 6); bit++) {
            char query[SEED_MAX_BYTES + 8];
            char *at = seed + (byte < 0 ? 0 : byte), kept = *at;
            if (byte >= 0)
                *at = (char)('@' + ((kept - '@') ^ (1 << bit))); /* stays within '@'..DEL */
            snprintf(query, sizeof query, "seed=%s", seed);
            struct asked a = ask(query);
            assert_int_equal(a.err, ERR_NONE);
            seen[n++] = a.request.planet.seed;
            *at = kept;
        }
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            assert_true(seen[i] != seen[k]);
}

static void random_type_is_drawn_from_the_seed_and_covers_the_first_six(void **state)
{
    (void)state;
    int count[BODY_COUNT] = {0};
    for (int s = 0; s < 6000; s++) {
        char query[48];
        snprintf(query, sizeof query, "type=random&seed=%d", s);
        struct asked a = ask(query), again = ask(query);
        assert_int_equal(a.err, ERR_NONE);
        assert_string_equal(a.key.text, again.key.text);
        assert_in_range(a.request.type, 0, BODIES_AT_RANDOM - 1);
        assert_int_equal(a.request.type, a.request.planet.body);
        count[a.request.type]++;
        if (s < 50) { /* the key of the body that was drawn, asked for by name */
            snprintf(query, sizeof query, "type=%s&seed=%d", bodies[a.request.type].name, s);
            assert_string_equal(ask(query).key.text, a.key.text);
        }
    }
    for (int b = 0; b < BODIES_AT_RANDOM; b++)
        assert_in_range(count[b], 850, 1150); /* 1000 expected, 29 is the standard deviation */
}

static void paths_say_type_seed_and_format(void **state)
{
    (void)state;
    static const struct {
        const char *path, *query;
    } same[] = {
        {"", ""},
        {".png", "format=png"},
        {".gif", "format=gif"},
        {"/gas/3.png", "type=gas&seed=3&format=png"},
        {"/random/x.gif", "type=random&seed=x&format=gif"},
        {"/gas/v1.2.png", "type=gas&seed=v1.2&format=png"},
        {"/gas/a+b.png", "type=gas&seed=a%2Bb&format=png"},
        {"/gas/a%2Fb.png", "type=gas&seed=a%2Fb&format=png"},
        {"/g%61s/%F0%9F%AA%90.png", "type=gas&seed=%F0%9F%AA%90&format=png"},
        {"/gas/.png.png", "type=gas&seed=.png&format=png"},
        {"/gas/%2Egif.png", "type=gas&seed=.gif&format=png"},
    };
    for (size_t k = 0; k < ARRAY_LEN(same); k++) {
        struct asked a = ask_path(same[k].path, ""), b = ask(same[k].query);
        if (a.err)
            fail_msg("%s: %s", same[k].path, a.fault.detail);
        assert_string_equal(a.key.text, b.key.text);
    }
    assert_int_equal(ask_path("/gas/3.png", "pixels=32").request.planet.pixels, 32);
    struct asked with = ask_path("/gas/3.png", ""), without = ask_path("", "seed=4");
    assert_true(request_has(&with.request, "format") && request_has(&with.request, "seed"));
    assert_false(request_has(&without.request, "format"));
}

static void other_paths_are_not_found(void **state)
{
    (void)state;
    static const char *const paths[] = {"/",         "/gas",        "/gas/3",   "/gas/3.jpg",  ".jpg",
                                        ".",         ".PNG",        "/gas.png", "/gas/3/.png", "/gas/3/4.png",
                                        "//3.png",   "x.png",       "/.png",    "/gas/3.png/", "/gas/3%2Epng",
                                        "gas/3.png", "/gas/3.pngx", "/gas/3.",  "/a.b/c"};
    for (size_t k = 0; k < ARRAY_LEN(paths); k++) {
        struct asked a = ask_path(paths[k], "");
        if (a.err != ERR_NOT_FOUND)
            fail_msg("%s gave %s", paths[k], err_name(a.err));
        assert_string_equal(a.fault.param, "");
    }
}

static void paths_are_as_strict_as_queries(void **state)
{
    (void)state;
    static const struct {
        const char *path, *query;
        enum err err;
        const char *param;
    } bad[] = {
        {"/venus/3.png", "", ERR_PARAM_SYNTAX, "type"},
        {"/gas/.png", "", ERR_PARAM_SYNTAX, "seed"},
        {"/gas/3.png", "type=gas", ERR_PARAM_REPEATED, "type"},
        {"/gas/3.png", "seed=3", ERR_PARAM_REPEATED, "seed"},
        {".png", "format=png", ERR_PARAM_REPEATED, "format"},
        {"/gas/%00.png", "", ERR_TEXT_ENCODING, "seed"},
        {"/gas/%zz.png", "", ERR_TEXT_ENCODING, "seed"},
        {"/%/1.png", "", ERR_TEXT_ENCODING, "type"},
        {"/gas/%FF.png", "", ERR_TEXT_ENCODING, "seed"},
        {".png", "frames=2", ERR_PARAM_COMBINATION, "frames"},
    };
    for (size_t k = 0; k < ARRAY_LEN(bad); k++) {
        struct asked a = ask_path(bad[k].path, bad[k].query);
        if (a.err != bad[k].err)
            fail_msg("%s?%s gave %s", bad[k].path, bad[k].query, err_name(a.err));
        assert_string_equal(a.fault.param, bad[k].param);
    }
}

static void values_that_exclude_each_other_are_refused(void **state)
{
    (void)state;
    static const struct bad list[] = {
        {"frames=2", ERR_PARAM_COMBINATION, "frames", "format=gif"},
        {"format=png&frames=120", ERR_PARAM_COMBINATION, "frames", "format=gif"},
        {"layer=rings", ERR_PARAM_COMBINATION, "layer", "rings=on"},
        {"layer=rings&rings=off", ERR_PARAM_COMBINATION, "layer", "rings=on"},
        {"type=gas&layer=craters", ERR_PARAM_COMBINATION, "layer", "these have it: moon"},
        {"type=moon&layer=bands", ERR_PARAM_COMBINATION, "layer", "these have it: gas"},
        {"type=gas&layer=height", ERR_PARAM_COMBINATION, "layer", "type=gas has no layer=height"},
        {"type=gas&layer=sea", ERR_PARAM_COMBINATION, "layer", "terrestrial, desert, ice"},
        {"type=moon&layer=clouds", ERR_PARAM_COMBINATION, "layer", "terrestrial, desert, ice"},
        {"type=lava&layer=clouds", ERR_PARAM_COMBINATION, "layer", NULL},
        {"type=gas&layer=shadow", ERR_PARAM_COMBINATION, "layer", NULL},
    };
    assert_all_bad(list, ARRAY_LEN(list));
}

static void layers_are_there_just_for_bodies_with_the_trait(void **state)
{
    (void)state;
    static const unsigned needs[LAYER_COUNT] = {
        [LAYER_HEIGHT] = BODY_HAS_HEIGHT,   [LAYER_SEA] = BODY_HAS_HEIGHT,
        [LAYER_CLOUDS] = BODY_HAS_CLOUDS,   [LAYER_SHADOW] = BODY_HAS_CLOUDS,
        [LAYER_CRATERS] = BODY_HAS_CRATERS, [LAYER_BANDS] = BODY_HAS_BANDS,
    };
    for (int b = 0; b < BODY_COUNT; b++)
        for (int l = 0; l < LAYER_COUNT; l++) {
            char query[80];
            snprintf(query, sizeof query, "rings=on&type=%s&layer=%s", bodies[b].name,
                     params[PARAM_ROW_layer].words[l]);
            bool has = (bodies[b].traits & needs[l]) == needs[l];
            if (bodies[b].traits & BODY_FILLS_FRAME) /* no sphere to look at step by step */
                has = l == LAYER_COLOR || l == LAYER_GRID || l >= LAYER_NORMAL;
            assert_int_equal(ask(query).err, has ? ERR_NONE : ERR_PARAM_COMBINATION);
        }
}

static void pictures_beyond_the_pixel_limit_are_refused_with_product_and_limit(void **state)
{
    (void)state;
    static const struct bad list[] = {
        {"pixels=1024&zoom=6", ERR_PICTURE_SIZE, "pixels", "37748736"},
        {"format=gif&pixels=1024&frames=33", ERR_PICTURE_SIZE, "pixels",
         "is 34603008 here and may be 33554432 at most"},
        {"format=gif&pixels=1024&frames=240&zoom=32", ERR_PICTURE_SIZE, "pixels", "257698037760"},
    };
    assert_all_bad(list, ARRAY_LEN(list));
    assert_int_equal(ask("format=gif&pixels=1024&frames=32").err, ERR_NONE); /* the limit itself */
    assert_int_equal(ask("pixels=1024&zoom=5").err, ERR_NONE);
}

static void what_cannot_change_the_picture_is_not_in_the_key(void **state)
{
    (void)state;
    assert_same_key("fps=30", "");
    assert_same_key("loops=3&fps=1", "");
    assert_same_key("turns=3", "");
    assert_same_key("turns=3&phase=0", "phase=1");
    assert_same_key("turns=0&phase=0.5", "");
    assert_same_key("format=gif&turns=0&phase=0.5", "format=gif&turns=0");
    assert_same_key("format=gif&phase=1", "format=gif");
    assert_same_key("format=gif&frames=1&fps=3&loops=9&turns=-2", "format=gif&frames=1");
    assert_same_key("cloud_ratio=4", "");
    assert_same_key("cloud_cover=0&cloud_stretch=3&cloud_ratio=1&phase=0.5", "cloud_cover=0&phase=0.5");
    assert_same_key("type=moon&cloud_cover=1&cloud_stretch=3&cloud_ratio=1&phase=0.5", "type=moon&phase=0.5");
    assert_same_key("type=gas&sea_level=0.1&ice_caps=1", "type=gas");
    assert_same_key("ring_angle=45&ring_open=0.5", "");
    assert_same_key("rings=off", "");
    assert_same_key("light_azimuth=-180", "light_azimuth=180");
    assert_same_key("shading=ramp&dither=checker&clean=on", "shading=ramp");
    assert_same_key("shading=steps&dither=none&clean=off&min_light=0&outline=none&terminator=early", "");
    assert_other_key("shading=ramp&clean=off", "shading=ramp");
    assert_same_key("type=star&min_light=0.5&terminator=exact", "type=star");
    assert_same_key("layer=depth&shading=ramp&dither=bayer8&clean=on&outline=fff", "layer=depth");
    assert_other_key("layer=light&shading=ramp", "layer=light");
    assert_same_key("light_azimuth=7&light_elevation=90", "light_elevation=90");
    assert_same_key("rings=on&ring_angle=-180", "rings=on&ring_angle=180");
    assert_same_key("type=moon&atmosphere=off", "type=moon");
    assert_same_key("type=lava&atmosphere=auto", "type=lava");
    char own[48];
    snprintf(own, sizeof own, "type=gas&atmosphere=%06" PRIx32, bodies[BODY_GAS].atmosphere);
    assert_same_key(own, "type=gas");
}

static void what_can_change_the_picture_is_in_the_key(void **state)
{
    (void)state;
    assert_other_key("turns=2&phase=0.25", "phase=0.25");
    assert_other_key("turns=-1&phase=0.25", "phase=0.25");
    assert_other_key("cloud_ratio=4&phase=0.25", "phase=0.25");
    assert_other_key("format=gif&cloud_ratio=4", "format=gif");
    assert_other_key("format=gif&fps=30", "format=gif");
    assert_other_key("format=gif&loops=2", "format=gif");
    assert_other_key("format=gif&turns=0", "format=gif");
    assert_other_key("format=gif&phase=0.5", "format=gif");
    assert_other_key("format=gif", "format=png");
    assert_other_key("format=gif&frames=1", "format=png");
    assert_other_key("rings=on&ring_angle=0", "rings=on&ring_angle=180");
    assert_other_key("rings=on", "");
    assert_other_key("rings=on&pixels=64", "rings=on");
    assert_other_key("type=moon&atmosphere=f00", "type=moon");
    assert_other_key("atmosphere=off", "");
    assert_other_key("cloud_cover=0", "");
    assert_other_key("cloud_stretch=3", "");
    assert_other_key("background=000", "");
    assert_other_key("palette=000,fff", "palette=fff,000");
    assert_other_key("zoom=2", "");
    assert_other_key("tilt=0.1", "");
    assert_other_key("light_azimuth=7&light_elevation=89.9", "light_elevation=89.9");
}

static void encode_desc_is_the_request_s(void **state)
{
    (void)state;
    struct asked a = ask("format=gif&zoom=3&fps=24&loops=7");
    struct encode_desc d = request_encode_desc(&a.request, a.key.text);
    assert_int_equal(d.zoom, 3);
    assert_int_equal(d.fps, 24);
    assert_int_equal(d.loops, 7);
    assert_ptr_equal(d.key, a.key.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_queries_are_taken),
        cmocka_unit_test(unknown_names_are_refused_with_the_nearest_one),
        cmocka_unit_test(repeated_names_are_refused_even_with_equal_values),
        cmocka_unit_test(bad_values_are_refused_with_what_is_allowed),
        cmocka_unit_test(broken_encodings_are_refused_by_name),
        cmocka_unit_test(the_ends_of_utf8_are_taken),
        cmocka_unit_test(spellings_of_one_number_are_one_request),
        cmocka_unit_test(numbers_are_snapped_half_away_from_zero),
        cmocka_unit_test(numbers_outside_the_range_are_refused_though_they_round_into_it),
        cmocka_unit_test(control_characters_of_every_kind_are_no_seed),
        cmocka_unit_test(what_the_path_gives_is_said_to_be_given_by_the_path),
        cmocka_unit_test(the_format_of_a_path_is_known_whatever_else_is_wrong),
        cmocka_unit_test(long_numbers_are_exact),
        cmocka_unit_test(seeds_are_text_of_up_to_64_bytes),
        cmocka_unit_test(every_bit_of_a_seed_counts),
        cmocka_unit_test(random_type_is_drawn_from_the_seed_and_covers_the_first_six),
        cmocka_unit_test(paths_say_type_seed_and_format),
        cmocka_unit_test(other_paths_are_not_found),
        cmocka_unit_test(paths_are_as_strict_as_queries),
        cmocka_unit_test(values_that_exclude_each_other_are_refused),
        cmocka_unit_test(layers_are_there_just_for_bodies_with_the_trait),
        cmocka_unit_test(pictures_beyond_the_pixel_limit_are_refused_with_product_and_limit),
        cmocka_unit_test(what_cannot_change_the_picture_is_not_in_the_key),
        cmocka_unit_test(what_can_change_the_picture_is_in_the_key),
        cmocka_unit_test(encode_desc_is_the_request_s),
    };
    return cmocka_run_group_tests_name("request", tests, NULL, NULL);
}
