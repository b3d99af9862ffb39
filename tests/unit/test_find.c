/* test_find.c -- searches: what their ranges mean, and that what is found has what was looked for. */
#include "tests/unit/ask.h"

#include <jansson.h>
#include <stdatomic.h>

#include "api/code.h"
#include "api/file.h"
#include "api/find.h"
#include "renderer/renderer.h"

static struct renderer *renderer;
static int draws, failing_draw;
static atomic_bool cancel;

static enum err draw(struct file_artist *self, const struct planet_desc *desc, struct frame_set *ret_frames)
{
    if (++draws == failing_draw)
        atomic_store(&cancel, true);
    return renderer_draw(renderer, desc, self->cancel, ret_frames);
}

static struct file_artist artist = {draw, &cancel};

/* The document of a request that is good. */
static json_t *document(const char *query)
{
    struct asked a = ask(query);
    struct blob out = {0};
    if (a.err)
        fail_msg("%s: %s", query, a.fault.detail);
    draws = 0;
    assert_int_equal(file_make(&a.request, &a.key, &artist, &out), ERR_NONE);
    json_t *root = json_loadb((const char *)out.data, out.len, 0, NULL);
    assert_non_null(root);
    blob_free(&out);
    return root;
}

static json_t *searched(const char *query)
{
    char whole[256];
    snprintf(whole, sizeof whole, "format=find&%s", query);
    return document(whole);
}

static int number(const json_t *root, const char *name)
{
    assert_true(json_is_integer(json_object_get(root, name)));
    return (int)json_integer_value(json_object_get(root, name));
}

static double share(const json_t *one, const char *name)
{
    const json_t *value = json_object_get(json_object_get(one, "shares"), name);
    assert_non_null(value);
    return json_number_value(value);
}

static void a_range_is_read_in_each_spelling_and_written_in_one(void **state)
{
    (void)state;
    static const struct {
        const char *given, *text;
    } cases[] = {
        {"65..75", "65..75"},      {"65..", "65..100"},    {"..10", "0..10"},    {"55", "55"},
        {"55..55", "55"},          {"0..99", "0..99"},     {"0", "0"},           {"100", "100"},
        {"65.0..7.5e1", "65..75"}, {"%2B5..006.", "5..6"}, {"1..100", "1..100"},
    };
    for (size_t k = 0; k < ARRAY_LEN(cases); k++) {
        char query[64], key[160], code[CODE_MAX_BYTES], by_code[CODE_MAX_BYTES + 8];
        snprintf(query, sizeof query, "format=find&ocean=%s", cases[k].given);
        snprintf(key, sizeof key, "rev=1&type=terrestrial&seed=1&format=find&ocean=%s", cases[k].text);
        struct asked a = ask(query);
        assert_string_equal(a.err ? a.fault.detail : "", "");
        assert_string_equal(a.key.text, key);
        code_make(&a.request, code);
        snprintf(by_code, sizeof by_code, "code=%s", code);
        struct asked again = ask(by_code);
        assert_string_equal(again.err ? again.fault.detail : "", "");
        assert_string_equal(again.key.text, key);
    }
    assert_same_key("format=find&ocean=0..100&count=12&from=0", "format=find");
    assert_other_key("format=find&ocean=65..75", "format=find&ocean=65..76");
    assert_other_key("format=find&ocean=65..75", "format=find&land=65..75");
}

static void what_is_wrong_is_refused_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *query, *param, *words;
        enum err err;
    } cases[] = {
        {"ocean=75..65", "ocean", "smaller first", ERR_PARAM_RANGE},
        {"land=101", "land", "0 to 100", ERR_PARAM_RANGE},
        {"caps=-1..5", "caps", "0 to 100", ERR_PARAM_RANGE},
        {"clouds=5..1e9", "clouds", "0 to 100", ERR_PARAM_RANGE},
        {"ocean=", "ocean", "empty", ERR_PARAM_SYNTAX},
        {"ocean=..", "ocean", "such as 65..75", ERR_PARAM_SYNTAX},
        {"ocean=5.5", "ocean", "whole number", ERR_PARAM_SYNTAX},
        {"ocean=5...7", "ocean", "such as", ERR_PARAM_SYNTAX},
        {"ocean=1..2..3", "ocean", "such as", ERR_PARAM_SYNTAX},
        {"ocean=much", "ocean", "such as", ERR_PARAM_SYNTAX},
        {"ocean=5-7", "ocean", "such as", ERR_PARAM_SYNTAX},
        {"count=0", "count", "1 to 24", ERR_PARAM_RANGE},
        {"count=25", "count", "1 to 24", ERR_PARAM_RANGE},
        {"from=-1", "from", "0 to 1000000000", ERR_PARAM_RANGE},
        {"type=gas&ocean=5", "ocean", "type=gas has no ocean", ERR_PARAM_COMBINATION},
        {"type=moon&clouds=5", "clouds", "these have: terrestrial, desert", ERR_PARAM_COMBINATION},
        {"type=star&land=5", "land", "no land", ERR_PARAM_COMBINATION},
        {"layer=depth", "layer", "must be color", ERR_PARAM_COMBINATION},
        {"frames=2", "frames", "stills", ERR_PARAM_COMBINATION},
        {"pixels=363&ocean=5", "pixels", "together", ERR_PICTURE_SIZE},
        {"pixels=1024&zoom=32", "pixels", "at most", ERR_PICTURE_SIZE},
    };
    for (size_t q = 0; q < ARRAY_LEN(cases); q++) {
        char query[128];
        snprintf(query, sizeof query, "format=find&%s", cases[q].query);
        struct asked a = ask(query);
        if (a.err != cases[q].err || strcmp(a.fault.param, cases[q].param) != 0 ||
            !strstr(a.fault.detail, cases[q].words))
            fail_msg("%s: %d %s %s", query, (int)a.err, a.fault.param, a.fault.detail);
    }
    assert_int_equal(ask("format=find&pixels=362&ocean=5").err, ERR_NONE);
}

static void a_picture_is_not_told_what_to_have(void **state)
{
    (void)state;
    static const char *const formats[] = {"png", "gif", "json", "contact", "sheet"};
    for (size_t f = 0; f < ARRAY_LEN(formats); f++) {
        char query[64];
        snprintf(query, sizeof query, "format=%s&ocean=5..6", formats[f]);
        struct asked a = ask(query);
        assert_int_equal(a.err, ERR_PARAM_COMBINATION);
        assert_string_equal(a.fault.param, "ocean");
    }
    assert_same_key("count=3&from=9&ocean=0..100", ""); /* none of these asks for anything */
}

/* Where a share begins to be within a range, and where it ends. */
static void ranges_hold_their_ends_and_a_number_what_rounds_to_it(void **state)
{
    (void)state;
    static const struct {
        const char *ocean;
        uint32_t sea, body;
        bool taken;
    } cases[] = {
        {"65..75", 65, 100, true},      {"65..75", 6499, 10000, false}, {"65..75", 75, 100, true},
        {"65..75", 7501, 10000, false}, {"55", 545, 1000, true},        {"55", 5449, 10000, false},
        {"55", 5549, 10000, true},      {"55", 555, 1000, false},       {"0", 0, 10, true},
        {"0", 5, 1000, false},          {"100", 10, 10, true},          {"100", 994, 1000, false},
        {"..10", 0, 9, true},           {"90..", 9, 9, true},
    };
    for (size_t k = 0; k < ARRAY_LEN(cases); k++) {
        char query[64];
        snprintf(query, sizeof query, "format=find&ocean=%s", cases[k].ocean);
        struct asked a = ask(query);
        struct census census = {.body = cases[k].body, .sea = cases[k].sea};
        if (a.err || find_takes(&a.request, &census) != cases[k].taken)
            fail_msg("%s: %u of %u", cases[k].ocean, cases[k].sea, cases[k].body);
    }
    struct asked both = ask("format=find&land=40..60&clouds=..10");
    struct census census = {.body = 100, .land = 50, .cloud = 10};
    assert_true(find_takes(&both.request, &census));
    census.cloud = 11;
    assert_false(find_takes(&both.request, &census));
}

/* The facts of the picture at the URL of a find. */
static json_t *facts_at(const json_t *one)
{
    char query[512];
    const char *url = json_string_value(json_object_get(one, "url"));
    const char *format = strstr(url, "format=png");
    assert_true(strncmp(url, "/planet?", 8) == 0 && format);
    snprintf(query, sizeof query, "%.*sformat=json%s", (int)(format - url - 8), url + 8, format + 10);
    return document(query);
}

static void what_is_found_has_it_by_the_facts_of_its_picture(void **state)
{
    (void)state;
    static const struct {
        const char *query, *share;
        double low, high;
    } cases[] = {
        {"ocean=65..75&pixels=32", "sea", 0.65, 0.75},
        {"ocean=55&pixels=32", "sea", 0.545, 0.555},
        {"type=ice&caps=12..&count=3", "cap", 0.12, 1},
        {"type=lava&ocean=40..45&pixels=40&shading=ramp", "sea", 0.4, 0.45},
        {"type=city&land=..45&count=2", "land", 0, 0.45},
        {"type=terrestrial&clouds=..10&rings=on&count=4&tilt=40", "cloud", 0, 0.1},
        {"rings=auto&clouds=..10&count=9", "cloud", 0, 0.1},
    };
    for (size_t q = 0; q < ARRAY_LEN(cases); q++) {
        json_t *root = searched(cases[q].query), *one;
        size_t i;
        if (!json_array_size(json_object_get(root, "found")))
            fail_msg("%s: nothing found", cases[q].query);
        json_array_foreach(json_object_get(root, "found"), i, one)
        {
            json_t *facts = facts_at(one);
            assert_true(share(one, cases[q].share) >= cases[q].low - 5e-5);
            assert_true(share(one, cases[q].share) <= cases[q].high + 5e-5);
            if (!json_equal(json_object_get(facts, "shares"), json_object_get(one, "shares")))
                fail_msg("%s: seed %d", cases[q].query, number(one, "seed"));
            json_decref(facts);
        }
        json_decref(root);
    }
}

/* And nothing that has it is left out: each seed asked by itself. */
static void all_that_have_it_are_found_in_their_order(void **state)
{
    (void)state;
    json_t *root = searched("ocean=40..50&pixels=32&count=6"), *found = json_object_get(root, "found");
    int next = number(root, "next"), seen = 0;
    assert_int_equal(number(root, "tried"), next);
    assert_int_equal(draws, next);
    for (int seed = 0; seed < next; seed++) {
        char query[96];
        snprintf(query, sizeof query, "format=json&pixels=32&seed=%d", seed);
        json_t *facts = document(query);
        double sea = share(facts, "sea");
        if (sea >= 0.4 && sea <= 0.5)
            assert_int_equal(number(json_array_get(found, (size_t)seen++), "seed"), seed);
        json_decref(facts);
    }
    assert_int_equal(seen, 6);
    assert_int_equal(json_array_size(found), 6);
    json_decref(root);
}

static void a_search_goes_on_without_gap_or_repeat(void **state)
{
    (void)state;
    json_t *whole = searched("type=lava&ocean=30..40&pixels=16&count=24");
    int from = 0, seen = 0, tried = 0;
    while (seen < 24) {
        char query[96];
        snprintf(query, sizeof query, "type=lava&ocean=30..40&pixels=16&count=5&from=%d", from);
        json_t *part = searched(query), *one;
        size_t i;
        json_array_foreach(json_object_get(part, "found"), i, one)
        {
            const json_t *same = json_array_get(json_object_get(whole, "found"), (size_t)seen++);
            assert_true(!same || json_equal(one, same)); /* the last part goes on beyond the 24 */
        }
        assert_int_equal(number(part, "next"), from + number(part, "tried"));
        from = number(part, "next");
        tried += number(part, "tried");
        json_decref(part);
    }
    assert_int_equal(tried, from);
    json_decref(whole);
}

static void a_search_tries_256_seeds_at_most(void **state)
{
    (void)state;
    json_t *root = searched("ocean=100&pixels=8&from=700");
    assert_int_equal(number(root, "tried"), FIND_TRIES_MAX);
    assert_int_equal(number(root, "next"), 700 + FIND_TRIES_MAX);
    assert_int_equal(json_array_size(json_object_get(root, "found")), 0);
    assert_int_equal(draws, FIND_TRIES_MAX);
    json_decref(root);
    root = searched("pixels=8&count=7"); /* nothing to look for: each will do */
    assert_int_equal(number(root, "tried"), 7);
    assert_int_equal(json_array_size(json_object_get(root, "found")), 7);
    json_decref(root);
}

static void a_search_ends_where_numbers_end(void **state)
{
    (void)state;
    json_t *root = searched("pixels=8&from=999999998");
    assert_int_equal(number(root, "tried"), 3);
    assert_true(json_is_null(json_object_get(root, "next")));
    json_decref(root);
}

static void urls_have_what_the_search_had(void **state)
{
    (void)state;
    json_t *root = searched("type=gas&rings=on&zoom=4&palette=pico8&tilt=-20&from=5&count=1&fps=9&seed=abc");
    const json_t *one = json_array_get(json_object_get(root, "found"), 0);
    assert_string_equal(json_string_value(json_object_get(one, "url")),
                        "/planet?rev=1&type=gas&seed=5&format=png&zoom=4&tilt=-20&rings=on&palette=pico8");
    json_decref(root);
    int ringed = 0;
    root = searched("type=gas&rings=auto&count=24&pixels=16"); /* each seed chooses */
    size_t i;
    json_array_foreach(json_object_get(root, "found"), i, one)
    {
        char query[64];
        const char *url = json_string_value(json_object_get(one, "url"));
        snprintf(query, sizeof query, "type=gas&rings=auto&pixels=16&seed=%d", number(one, "seed"));
        struct asked picture = ask(query);
        assert_string_equal(url + strlen("/planet?"), picture.key.text);
        ringed += strstr(url, "rings=on") != NULL;
    }
    assert_in_range(ringed, 1, 23);
    json_decref(root);
    assert_same_key("format=find&seed=7", "format=find"); /* it tries seeds of its own */
    assert_same_key("format=find&type=random&seed=7", "format=find&type=random&seed=7&count=12");
    assert_other_key("format=find&rings=auto", "format=find&rings=off");
}

static int64_t drawn_pixels(const char *query)
{
    struct asked a = ask(query);
    return request_size(&a.request).drawn_pixels;
}

static void the_work_is_bounded_before_it_begins(void **state)
{
    (void)state;
    assert_int_equal(drawn_pixels("format=find&ocean=5..9"), 256 * 64 * 64);
    assert_int_equal(drawn_pixels("format=find&count=3"), 3 * 64 * 64);
    assert_int_equal(drawn_pixels("format=find&count=3&rings=auto"), 3 * 96 * 96);
    assert_int_equal(drawn_pixels("format=find&count=3&pixels=8"), 3 * 32 * 32);
}

static void a_search_that_nobody_waits_for_stops(void **state)
{
    (void)state;
    struct asked a = ask("format=find&ocean=100&pixels=8");
    for (failing_draw = 1; failing_draw <= 3; failing_draw++) {
        struct blob out = {0};
        draws = 0;
        assert_int_equal(file_make(&a.request, &a.key, &artist, &out), ERR_CANCELLED);
        assert_in_range(draws, failing_draw, failing_draw + 1);
        atomic_store(&cancel, false);
        blob_free(&out);
    }
    failing_draw = 0;
}

static int open_renderer(void **state)
{
    (void)state;
    struct renderer_desc desc = renderer_desc_default;
    desc.backend = "cpu";
    return renderer_open(&desc, &renderer);
}

static int close_renderer(void **state)
{
    (void)state;
    renderer_close(renderer);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_range_is_read_in_each_spelling_and_written_in_one),
        cmocka_unit_test(what_is_wrong_is_refused_by_name),
        cmocka_unit_test(a_picture_is_not_told_what_to_have),
        cmocka_unit_test(ranges_hold_their_ends_and_a_number_what_rounds_to_it),
        cmocka_unit_test(what_is_found_has_it_by_the_facts_of_its_picture),
        cmocka_unit_test(all_that_have_it_are_found_in_their_order),
        cmocka_unit_test(a_search_goes_on_without_gap_or_repeat),
        cmocka_unit_test(a_search_tries_256_seeds_at_most),
        cmocka_unit_test(a_search_ends_where_numbers_end),
        cmocka_unit_test(urls_have_what_the_search_had),
        cmocka_unit_test(the_work_is_bounded_before_it_begins),
        cmocka_unit_test(a_search_that_nobody_waits_for_stops),
    };
    return cmocka_run_group_tests_name("find", tests, open_renderer, close_renderer);
}
