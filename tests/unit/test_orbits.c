/* test_orbits.c -- moons: where they go, that loops close, and what is in whose shadow; the rings' shadow. */
#include "tests/unit/ask.h"

#include <math.h>

#include "renderer/scene.h"
#include "tests/unit/codes.h"

#define SEEDS 60

static int moon_pixels(const uint32_t *codes, int side)
{
    int n = 0;
    for (int i = 0; i < side * side; i++)
        n += (codes[i] & CODE_MOON) != 0;
    return n;
}

static bool is_edge(int i, int side)
{
    int x = i % side, y = i / side;
    return x == 0 || y == 0 || x == side - 1 || y == side - 1;
}

static void no_moon_is_cut_by_the_frame_and_a_still_shows_all_but_one_that_another_hides(void **state)
{
    (void)state;
    for (int seed = 1; seed <= SEEDS; seed++)
        for (int moons = 1; moons <= MOONS_MAX; moons++) {
            char query[120];
            snprintf(query, sizeof query, "type=gas&seed=%d&moons=%d&format=gif&frames=24&tilt=%d&roll=%d",
                     seed, moons, seed * 7 % 181 - 90, seed * 13 % 361 - 180);
            struct planet_desc desc = desc_of(query);
            for (int frame = 0; frame < 24; frame += 5) {
                uint32_t *codes = codes_of(&desc, frame);
                for (int i = 0; i < desc.pixels * desc.pixels; i++)
                    assert_false((codes[i] & CODE_MOON) && is_edge(i, desc.pixels));
                free(codes);
            }
            snprintf(query, sizeof query, "type=gas&seed=%d&moons=%d", seed, moons);
            desc = desc_of(query);
            uint32_t *codes = codes_of(&desc, 0);
            bool there[MOONS_MAX] = {false};
            for (int i = 0; i < desc.pixels * desc.pixels; i++)
                if (codes[i] & CODE_MOON)
                    there[STEP_OF(codes[i]) / 3] = true;
            assert_true(moon_pixels(codes, desc.pixels) >= 12);
            assert_true(there[0] + there[1] + there[2] >= (moons == 1 ? 1 : moons - 1));
            free(codes);
        }
}

static void loops_with_moons_close_at_every_speed(void **state)
{
    (void)state;
    for (int turns = -4; turns <= 4; turns++) {
        char query[120];
        snprintf(query, sizeof query, "type=eyeball&seed=5&moons=3&format=gif&frames=7&turns=%d&phase=0.3",
                 turns);
        struct planet_desc desc = desc_of(query);
        uint32_t *first = codes_of(&desc, 0), *last = codes_of(&desc, 7), *middle = codes_of(&desc, 3);
        size_t bytes = (size_t)desc.pixels * (size_t)desc.pixels * sizeof *first;
        assert_memory_equal(first, last, bytes);
        assert_true((memcmp(first, middle, bytes) != 0) == (turns != 0));
        free(first);
        free(last);
        free(middle);
    }
}

static void a_moon_passes_before_the_planet_and_behind_it(void **state)
{
    (void)state;
    int before = 0, hidden = 0;
    struct planet_desc desc = desc_of("type=gas&seed=3&moons=1&tilt=5&format=gif&frames=48");
    for (int frame = 0; frame < 48; frame++) {
        struct scene_turn turn = scene_turn_make(&desc, frame);
        uint32_t *codes = codes_of(&desc, frame);
        double x = turn.moons[0].x, y = turn.moons[0].y, away = sqrt(x * x + y * y);
        int pixels = moon_pixels(codes, desc.pixels);
        if (away < 0.8 && turn.moons[0].z > 0) {
            before++;
            assert_true(pixels >= 12);
        } else if (away < 0.8) {
            hidden++;
            assert_int_equal(pixels, 0);
        }
        free(codes);
    }
    assert_true(before > 3 && hidden > 3);
}

/* Of the planet: pixels whose band is `less` below that of their place, and those where it is another number.
 */
struct darker {
    int as_told, otherwise;
};

static struct darker darker_of(const char *query, int frame, int less)
{
    struct planet_desc desc = desc_of(query);
    struct scene scene;
    struct darker n = {0};
    scene_make(&desc, &scene);
    uint32_t *codes = codes_of(&desc, frame);
    double radius = 1.0 / scene.inverse_radius;
    for (int i = 0; i < desc.pixels * desc.pixels; i++) {
        int column = i % desc.pixels, row = i / desc.pixels;
        double x = ((column + 0.5) * 2 / desc.pixels - 1) / radius,
               y = -((row + 0.5) * 2 / desc.pixels - 1) / radius, d = x * x + y * y;
        if (KIND_OF(codes[i]) != KIND_PLANET || (codes[i] & CODE_MOON) || d > 0.98)
            continue;
        double lit = x * scene.light_x + y * scene.light_y + sqrt(1 - d) * scene.light_z;
        double bands = (lit < 0 ? 0 : lit) * desc.shade_steps + 0.35;
        if (fabs(bands - round(bands)) < 0.001)
            continue; /* on an edge, rounding decides */
        int missing = (int)floor(bands) - (int)BAND_OF(codes[i]);
        n.as_told += missing == (less ? less : (int)floor(bands)) && missing > 0;
        n.otherwise += missing != 0 && missing != (less ? less : (int)floor(bands));
    }
    free(codes);
    return n;
}

static void a_moon_throws_a_shadow_on_the_lit_side_and_all_of_it_is_dark(void **state)
{
    (void)state;
    int shadows = 0;
    for (int frame = 0; frame < 24; frame++) {
        struct darker n =
            darker_of("type=gas&seed=3&moons=1&format=gif&frames=24&light_elevation=60", frame, 0);
        assert_int_equal(n.otherwise, 0);
        shadows += n.as_told > 8;
    }
    assert_true(shadows >= 2);
    struct darker none = darker_of("type=gas&seed=3", 0, 0);
    assert_int_equal(none.as_told + none.otherwise, 0);
}

static void the_rings_throw_a_shadow_of_one_band(void **state)
{
    (void)state;
    struct darker n = darker_of("type=gas&seed=4&rings=on&light_elevation=20&light_azimuth=-130", 0, 1);
    assert_true(n.as_told > 100);
    assert_int_equal(n.otherwise, 0);
    /* From above, the planet is too narrow to reach what the rings, wider than it, leave dark. */
    n = darker_of("type=gas&seed=4&rings=on&light_elevation=10&light_azimuth=120", 0, 1);
    assert_int_equal(n.as_told + n.otherwise, 0);
    /* Light along their plane passes between them and the ground. */
    n = darker_of("type=gas&seed=4&rings=on&ring_angle=0&light_elevation=0&light_azimuth=180", 0, 1);
    assert_int_equal(n.as_told + n.otherwise, 0);
}

static void the_planet_darkens_a_moon_behind_it(void **state)
{
    (void)state;
    int dark = 0;
    struct planet_desc desc =
        desc_of("type=gas&seed=3&moons=1&format=gif&frames=48&light_elevation=5&light_azimuth=180");
    for (int frame = 0; frame < 48; frame++) {
        uint32_t *codes = codes_of(&desc, frame);
        int pixels = moon_pixels(codes, desc.pixels), lit = 0;
        for (int i = 0; i < desc.pixels * desc.pixels; i++)
            lit += (codes[i] & CODE_MOON) && BAND_OF(codes[i]) > 0;
        dark += pixels > 20 && lit == 0;
        free(codes);
    }
    assert_in_range(dark, 1, 12);
}

static void bodies_without_a_sphere_have_no_moons(void **state)
{
    (void)state;
    struct asked with = ask("type=galaxy&seed=3&moons=2"), without = ask("type=galaxy&seed=3");
    assert_string_equal(with.key.text, without.key.text);
    assert_int_equal(with.request.planet.moons, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_moon_is_cut_by_the_frame_and_a_still_shows_all_but_one_that_another_hides),
        cmocka_unit_test(loops_with_moons_close_at_every_speed),
        cmocka_unit_test(a_moon_passes_before_the_planet_and_behind_it),
        cmocka_unit_test(a_moon_throws_a_shadow_on_the_lit_side_and_all_of_it_is_dark),
        cmocka_unit_test(the_rings_throw_a_shadow_of_one_band),
        cmocka_unit_test(the_planet_darkens_a_moon_behind_it),
        cmocka_unit_test(bodies_without_a_sphere_have_no_moons),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
