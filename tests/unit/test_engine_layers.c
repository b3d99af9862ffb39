/* test_engine_layers.c -- normal, emission and mask: in place with the picture, and what an engine takes them
 * for. */
#include "tests/unit/ask.h"

#include <stdlib.h>

#include "renderer/bodies.h"
#include "renderer/renderer.h"

static struct renderer *renderer;

static struct frame_set drawn(const char *type, const char *layer, const char *more)
{
    char query[256];
    struct frame_set set;
    snprintf(query, sizeof query, "type=%s&layer=%s&pixels=48&seed=7&%s", type, layer, more);
    struct asked a = ask(query);
    assert_string_equal(a.err ? a.fault.detail : "", "");
    assert_int_equal(renderer_draw(renderer, &a.request.planet, NULL, &set), ERR_NONE);
    return set;
}

static uint32_t at(const struct frame_set *set, int x, int y)
{
    return set->colors[set->index[y * set->side + x]];
}

static void all_three_cover_what_the_picture_shows(void **state)
{
    (void)state;
    static const char *const looks[] = {"atmosphere=off", "atmosphere=off&rings=on&tilt=30",
                                        "atmosphere=off&background=203040"};
    for (int b = 0; b < BODY_COUNT; b++)
        for (size_t l = 0; l < ARRAY_LEN(looks); l++) {
            const char *name = bodies[b].name;
            struct frame_set normal = drawn(name, "normal", looks[l]), mask = drawn(name, "mask", looks[l]),
                             emission = drawn(name, "emission", looks[l]),
                             color = drawn(name, "color", l == 2 ? looks[0] : looks[l]);
            for (int i = 0; i < 48 * 48; i++) {
                int x = i % 48, y = i / 48;
                uint32_t alpha = RGBA_A(at(&color, x, y));
                if (RGBA_A(at(&normal, x, y)) != alpha || RGBA_A(at(&emission, x, y)) != alpha ||
                    at(&mask, x, y) != (alpha ? 0xffffffffu : 0))
                    fail_msg("%s&%s: at %d %d the layers differ", name, looks[l], x, y);
            }
            frame_set_finish(&normal);
            frame_set_finish(&mask);
            frame_set_finish(&emission);
            frame_set_finish(&color);
        }
}

static void the_halo_is_no_part_of_the_body(void **state)
{
    (void)state;
    struct frame_set with = drawn("gas", "mask", "atmosphere=ff0000"),
                     without = drawn("gas", "mask", "atmosphere=off");
    assert_memory_equal(with.index, without.index, 48 * 48 * sizeof *with.index);
    frame_set_finish(&with);
    frame_set_finish(&without);
}

static void normals_are_unit_vectors_toward_the_viewer(void **state)
{
    (void)state;
    for (int b = 0; b < BODY_COUNT; b++) {
        struct frame_set set = drawn(bodies[b].name, "normal", "rings=on&frames=1");
        for (int c = 0; c < set.color_count; c++) {
            uint32_t n = set.colors[c];
            if (!n)
                continue;
            int x = RGBA_R(n) - 128, y = RGBA_G(n) - 128, z = RGBA_B(n) - 128;
            assert_true(z >= 0);
            assert_in_range(x * x + y * y + z * z, 125 * 125, 129 * 129);
        }
        frame_set_finish(&set);
    }
}

/* Red grows to the right and green upward, as OpenGL has it. */
static void a_ball_looks_right_up_and_at_the_viewer(void **state)
{
    (void)state;
    struct frame_set set = drawn("gas", "normal", "frames=1");
    uint32_t middle = at(&set, 24, 24), right = at(&set, 44, 24), top = at(&set, 24, 3);
    assert_in_range(RGBA_R(middle), 126, 133);
    assert_in_range(RGBA_G(middle), 123, 130);
    assert_in_range(RGBA_B(middle), 254, 255);
    assert_true(RGBA_R(right) > 225);
    assert_in_range(RGBA_G(right), 123, 130);
    assert_true(RGBA_G(top) > 225);
    assert_in_range(RGBA_R(top), 126, 133);
    frame_set_finish(&set);
}

/* x and y but for the last bit, which at the rim is much of z. */
static bool near(uint32_t a, uint32_t b)
{
    return abs(RGBA_R(a) - RGBA_R(b)) <= 1 && abs(RGBA_G(a) - RGBA_G(b)) <= 1 && RGBA_A(a) == RGBA_A(b);
}

static void ground_with_height_bends_normals_and_seas_do_not(void **state)
{
    (void)state;
    struct frame_set ball = drawn("gas", "normal", "frames=1"), moon = drawn("moon", "normal", "frames=1"),
                     drowned = drawn("ocean", "normal", "sea_level=1&cloud_cover=0");
    int bent = 0, differ = 0;
    for (int i = 0; i < 48 * 48; i++) {
        bent += at(&ball, i % 48, i / 48) != at(&moon, i % 48, i / 48);
        differ += !near(at(&ball, i % 48, i / 48), at(&drowned, i % 48, i / 48));
    }
    assert_true(bent > 1000);
    assert_int_equal(differ, 0);
    frame_set_finish(&ball);
    frame_set_finish(&moon);
    frame_set_finish(&drowned);
}

static int shining(const struct frame_set *set)
{
    int n = 0;
    for (int i = 0; i < set->side * set->side; i++)
        n += (at(set, i % set->side, i / set->side) & 0xffffff) != 0;
    return n;
}

static void what_shines_is_in_emission_and_nothing_else(void **state)
{
    (void)state;
    static const struct {
        const char *type, *more;
        int least, most;
    } rows[] = {{"moon", "", 0, 0},
                {"terrestrial", "rings=on", 0, 0},
                {"lava", "", 40, 1000},
                {"lava", "sea_level=0.2", 0, 40},
                {"city", "light_elevation=-60", 40, 1200},
                {"city", "light_elevation=90", 0, 20}, /* the rim is dark */
                {"asteroid", "", 0, 0}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct frame_set set = drawn(rows[i].type, "emission", rows[i].more);
        int n = shining(&set);
        if (n < rows[i].least || n > rows[i].most)
            fail_msg("%s %s: %d pixels shine", rows[i].type, rows[i].more, n);
        frame_set_finish(&set);
    }
    struct frame_set color = drawn("star", "color", ""), emission = drawn("star", "emission", "");
    for (int i = 0; i < 48 * 48; i++)
        assert_int_equal(at(&color, i % 48, i / 48), at(&emission, i % 48, i / 48));
    frame_set_finish(&color);
    frame_set_finish(&emission);
}

static void they_are_data_and_take_no_colours(void **state)
{
    (void)state;
    struct asked plain = ask("type=moon&layer=normal"),
                 set = ask("type=moon&layer=normal&background=ff0000&colors=4");
    assert_string_equal(plain.key.text, set.key.text);
    struct frame_set own = drawn("moon", "normal", ""), fixed = drawn("moon", "normal", "palette=gameboy");
    for (int i = 0; i < 48 * 48; i++)
        assert_int_equal(at(&own, i % 48, i / 48), at(&fixed, i % 48, i / 48));
    frame_set_finish(&own);
    frame_set_finish(&fixed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_three_cover_what_the_picture_shows),
        cmocka_unit_test(the_halo_is_no_part_of_the_body),
        cmocka_unit_test(normals_are_unit_vectors_toward_the_viewer),
        cmocka_unit_test(a_ball_looks_right_up_and_at_the_viewer),
        cmocka_unit_test(ground_with_height_bends_normals_and_seas_do_not),
        cmocka_unit_test(what_shines_is_in_emission_and_nothing_else),
        cmocka_unit_test(they_are_data_and_take_no_colours),
    };
    struct renderer_desc desc = renderer_desc_default;
    desc.backend = "cpu";
    if (renderer_open(&desc, &renderer))
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    renderer_close(renderer);
    return failed;
}
