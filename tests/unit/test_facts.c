/* test_facts.c -- what format=json says is what the picture shows. */
#include "tests/unit/ask.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "api/facts.h"
#include "renderer/bodies.h"
#include "renderer/census.h"
#include "renderer/renderer.h"
#include "shaders/codes.glsl"

static struct renderer *renderer;

static struct frame_set drawn(const struct request *r)
{
    struct frame_set set;
    struct planet_desc planet = r->planet;
    if (r->format == FORMAT_JSON)
        planet.frames = 1;
    assert_int_equal(renderer_draw(renderer, &planet, NULL, &set), ERR_NONE);
    return set;
}

static json_t *facts_of(const char *query)
{
    struct asked a = ask(query);
    assert_string_equal(a.err ? a.fault.detail : "", "");
    struct frame_set set = drawn(&a.request);
    struct blob text = {0};
    assert_int_equal(facts_write(&a.request, &set, &text), ERR_NONE);
    json_t *root = json_loadb((const char *)text.data, text.len, 0, NULL);
    assert_non_null(root);
    blob_free(&text);
    frame_set_finish(&set);
    return root;
}

static double number_at(const json_t *root, const char *object, const char *name)
{
    const json_t *value = json_object_get(json_object_get(root, object), name);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

static void shares_of_the_ground_sum_up_to_one(void **state)
{
    (void)state;
    for (int b = 0; b < BODY_COUNT; b++) {
        char query[64];
        snprintf(query, sizeof query, "format=json&seed=9&type=%s", bodies[b].name);
        json_t *root = facts_of(query), *shares = json_object_get(root, "shares");
        double sum = 0;
        static const char *const parts[] = {"sea", "land", "cap"};
        for (int i = 0; i < 3; i++)
            sum += json_number_value(json_object_get(shares, parts[i]));
        if (json_object_get(shares, "land"))
            assert_true(fabs(sum - 1) < 0.0002);
        assert_true(!json_object_get(shares, "sea") == !bodies[b].sea_mask);
        assert_true(!json_object_get(shares, "cloud") == !(bodies[b].traits & BODY_HAS_CLOUDS));
        json_decref(root);
    }
}

static void codes_are_counted_as_what_they_are(void **state)
{
    (void)state;
    struct asked a = ask("type=terrestrial");
    struct code_count codes[] = {{CODE_PLANET, 1},
                                 {CODE_PLANET | 1, 10},
                                 {CODE_PLANET | 2, 100},
                                 {CODE_PLANET | 6, 1000},
                                 {CODE_RING, 10000},
                                 {CODE_HALO, 20000},
                                 {0, 30000}};
    struct frame_set set = {.codes = codes, .code_count = (int)ARRAY_LEN(codes), .side = 8, .frames = 1};
    struct census c;
    census_count(&a.request.planet, &set, &c);
    assert_int_equal(c.sea, 11); /* deep and shallow */
    assert_int_equal(c.land, 100);
    assert_int_equal(c.cap, 1000);
    assert_int_equal(c.body, 1111);
    assert_int_equal(c.ring, 10000);
    assert_int_equal(c.air, 20000);
}

static void a_higher_sea_covers_more(void **state)
{
    (void)state;
    json_t *low = facts_of("format=json&sea_level=0.3"), *high = facts_of("format=json&sea_level=0.7");
    json_t *none = facts_of("format=json&sea_level=0&ice_caps=0&cloud_cover=0");
    assert_true(number_at(low, "shares", "sea") + 0.3 < number_at(high, "shares", "sea"));
    assert_true(number_at(none, "shares", "sea") == 0);
    assert_true(number_at(none, "shares", "land") == 1);
    assert_true(number_at(none, "shares", "cap") == 0);
    assert_true(number_at(none, "shares", "cloud") == 0);
    json_decref(low);
    json_decref(high);
    json_decref(none);
}

static void night_is_nothing_by_full_light_and_all_from_behind(void **state)
{
    (void)state;
    json_t *day = facts_of("format=json&light_elevation=90"),
           *dark = facts_of("format=json&light_elevation=-90");
    assert_true(number_at(day, "shares", "night") < 0.1);
    assert_true(number_at(dark, "shares", "night") == 1);
    json_decref(day);
    json_decref(dark);
}

/* The rightmost pixel of the middle row that is of the body. */
static void the_disc_is_where_it_is_said_to_be(void **state)
{
    (void)state;
    struct asked a = ask("format=json&pixels=100&atmosphere=off");
    struct frame_set set = drawn(&a.request);
    struct census_place place;
    struct census census;
    census_place(&a.request.planet, &place);
    census_count(&a.request.planet, &set, &census);
    int right = 99;
    while (set.colors[set.index[50 * 100 + right]] == 0)
        right--;
    assert_true(fabs(right + 1 - (place.x + place.radius)) < 1);
    assert_true(fabs(census.body - 3.14159265 * place.radius * place.radius) < 4 * place.radius);
    assert_int_equal(census.frame, 10000);
    frame_set_finish(&set);
}

static void the_rings_reach_as_far_as_is_said(void **state)
{
    (void)state;
    struct asked a = ask("format=json&rings=on&ring_angle=0&pixels=200");
    struct frame_set set = drawn(&a.request);
    struct census_place place;
    census_place(&a.request.planet, &place);
    int left = 200, top = 200;
    for (int i = 0; i < 200 * 200; i++)
        if (set.colors[set.index[i]]) {
            left = i % 200 < left ? i % 200 : left;
            top = i / 200 < top ? i / 200 : top;
        }
    assert_true(fabs(left - (place.x - place.ring_outer)) < 3); /* a stripe may be a gap */
    assert_true(top > place.y - place.radius - 3);
    frame_set_finish(&set);
}

static void counts_are_of_the_first_frame_alone(void **state)
{
    (void)state;
    struct asked still = ask("format=json&frames=6"), loop = ask("format=gif&frames=6");
    struct frame_set one = drawn(&still.request), six = drawn(&loop.request);
    assert_int_equal(six.frames, 6);
    assert_int_equal(one.frames, 1); /* words need no more */
    assert_int_equal(one.code_count, six.code_count);
    uint64_t sum = 0;
    for (int i = 0; i < six.code_count; i++) {
        sum += six.codes[i].count;
        int k = 0;
        while (k < one.code_count && one.codes[k].code != six.codes[i].code)
            k++;
        assert_true(k < one.code_count && one.codes[k].count == six.codes[i].count);
    }
    assert_int_equal(sum, 64 * 64);
    frame_set_finish(&one);
    frame_set_finish(&six);
}

static void colours_are_listed_most_first_and_sum_up_to_one(void **state)
{
    (void)state;
    json_t *root = facts_of("format=json&type=moon"), *colors = json_object_get(root, "colors");
    double sum = 0, last = 1;
    assert_int_equal(json_array_size(colors), json_integer_value(json_object_get(root, "color_count")));
    for (size_t i = 0; i < json_array_size(colors); i++) {
        double share = json_number_value(json_object_get(json_array_get(colors, i), "share"));
        assert_true(share <= last);
        sum += last = share;
    }
    assert_true(fabs(sum - 1) < 0.005);
    json_decref(root);
    root = facts_of("format=json&layer=grid&pixels=256");
    assert_int_equal(json_array_size(json_object_get(root, "colors")), FACTS_COLORS_MAX);
    json_decref(root);
}

static void each_picture_has_the_key_that_its_parameters_have(void **state)
{
    (void)state;
    static const char *const queries[] = {"type=gas&seed=3", "seed=a%20b&tilt=-12.5&frames=24&turns=2",
                                          "type=random&seed=8&rings=auto&zoom=3"};
    for (size_t i = 0; i < ARRAY_LEN(queries); i++) {
        char query[160];
        snprintf(query, sizeof query, "format=json&%s", queries[i]);
        json_t *root = facts_of(query), *pictures = json_object_get(root, "pictures");
        snprintf(query, sizeof query, "format=gif&%s", queries[i]);
        assert_string_equal(json_string_value(json_object_get(json_object_get(pictures, "gif"), "key")),
                            ask(query).key.text);
        struct asked png = ask(json_string_value(json_object_get(json_object_get(pictures, "png"), "key")));
        assert_int_equal(png.err, ERR_NONE);
        assert_int_equal(png.request.planet.frames, 1);
        assert_null(json_object_get(pictures, "json"));
        json_decref(root);
    }
}

static void the_request_posted_is_the_request(void **state)
{
    (void)state;
    static const char query[] =
        "format=json&type=ice&seed=%22x%22&palette=010203,fff&tilt=-1.5&background=fff&rings=on&frames=5";
    json_t *root = facts_of(query);
    char *body = json_dumps(json_object_get(root, "request"), 0);
    struct request r;
    struct request_fault fault;
    struct key key;
    request_init(&r);
    assert_int_equal(request_set_json(&r, body, strlen(body), &fault), ERR_NONE);
    assert_int_equal(request_finish(&r, &fault), ERR_NONE);
    key_make(&r, &key);
    assert_string_equal(key.text, ask(query).key.text);
    free(body);
    json_decref(root);
}

static void alt_is_one_sentence_that_says_what_is_there(void **state)
{
    (void)state;
    static const struct {
        const char *query, *begin;
    } rows[] = {{"type=gas&rings=on", "A gas giant with rings, lit from the upper left: night on "},
                {"type=star", "A star."},
                {"type=asteroid&light_azimuth=0", "An asteroid, lit from the right."},
                {"light_elevation=80", "A terrestrial planet, lit from the front: sea "},
                {"light_elevation=-60", "A terrestrial planet, lit from behind: sea "},
                {"light_azimuth=-90", "A terrestrial planet, lit from below: sea "},
                {"layer=height", "A terrestrial planet, drawn as its layer of height."}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct asked a = ask(rows[i].query);
        struct frame_set set = drawn(&a.request);
        char alt[FACTS_ALT_BYTES];
        facts_alt(&a.request, &set, alt);
        alt[strlen(rows[i].begin)] = '\0';
        assert_string_equal(alt, rows[i].begin);
        frame_set_finish(&set);
    }
}

static void accept_never_chooses_facts(void **state)
{
    (void)state;
    enum format format = FORMAT_COUNT;
    assert_int_equal(request_accept("application/json", &format), ERR_NOT_ACCEPTABLE);
    assert_int_equal(request_accept("application/json, image/gif;q=0.1", &format), ERR_NONE);
    assert_int_equal(format, FORMAT_GIF);
    assert_int_equal(request_accept("application/*, */*;q=0.1", &format), ERR_NONE);
    assert_int_equal(format, FORMAT_PNG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_of_the_ground_sum_up_to_one),
        cmocka_unit_test(codes_are_counted_as_what_they_are),
        cmocka_unit_test(a_higher_sea_covers_more),
        cmocka_unit_test(night_is_nothing_by_full_light_and_all_from_behind),
        cmocka_unit_test(the_disc_is_where_it_is_said_to_be),
        cmocka_unit_test(the_rings_reach_as_far_as_is_said),
        cmocka_unit_test(counts_are_of_the_first_frame_alone),
        cmocka_unit_test(colours_are_listed_most_first_and_sum_up_to_one),
        cmocka_unit_test(each_picture_has_the_key_that_its_parameters_have),
        cmocka_unit_test(the_request_posted_is_the_request),
        cmocka_unit_test(alt_is_one_sentence_that_says_what_is_there),
        cmocka_unit_test(accept_never_chooses_facts),
    };
    struct renderer_desc desc = renderer_desc_default;
    desc.backend = "cpu";
    if (renderer_open(&desc, &renderer))
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    renderer_close(renderer);
    return failed;
}
