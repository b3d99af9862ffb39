/* test_sky.c -- stars and nebulae behind a planet. */
#include "tests/unit/ask.h"

#include <stdlib.h>

#include "renderer/renderer.h"
#include "renderer/sky.h"
#include "tests/unit/codes.h"

static uint32_t *sky_of(const char *query, int *ret_side)
{
    struct planet_desc desc = desc_of(query);
    uint32_t *sky;
    assert_int_equal(sky_make(&desc, &sky), ERR_NONE);
    *ret_side = desc.pixels;
    return sky;
}

/* How much the gas changes from column x to the next, and from row y to the next; stars left out. */
static int step_at(const uint32_t *sky, int side, int at, bool columns)
{
    int sum = 0, next = (at + 1) % side;
    for (int i = 0; i < side; i++) {
        int a = (int)STEP_OF(columns ? sky[i * side + at] : sky[at * side + i]);
        int b = (int)STEP_OF(columns ? sky[i * side + next] : sky[next * side + i]);
        sum += a < 7 && b < 7 ? abs(a - b) : 0;
    }
    return sum;
}

static void copies_side_by_side_show_no_seam(void **state)
{
    (void)state;
    for (int seed = 1; seed <= 20; seed++) {
        char query[80];
        int side;
        snprintf(query, sizeof query, "type=gas&seed=%d&background=nebula&pixels=96", seed);
        uint32_t *sky = sky_of(query, &side);
        for (int columns = 0; columns < 2; columns++) {
            int most = 0;
            for (int at = 0; at < side - 1; at++) {
                int step = step_at(sky, side, at, columns);
                most = step > most ? step : most;
            }
            assert_true(step_at(sky, side, side - 1, columns) <= most);
        }
        free(sky);
    }
}

static void half_of_a_nebula_is_dark_and_stars_are_few(void **state)
{
    (void)state;
    for (int seed = 1; seed <= 40; seed++) {
        char query[80];
        int side, dark = 0, stars = 0;
        snprintf(query, sizeof query, "type=gas&seed=%d&background=nebula&pixels=128", seed);
        uint32_t *sky = sky_of(query, &side);
        for (int i = 0; i < side * side; i++) {
            assert_true(STEP_OF(sky[i]) < SKY_TONES);
            dark += STEP_OF(sky[i]) == 0;
            stars += STEP_OF(sky[i]) >= 7;
        }
        assert_in_range(dark, side * side / 10, side * side * 19 / 20);
        assert_in_range(stars, side * side / 400, side * side / 40);
        free(sky);
    }
}

static struct frame_set drawn(struct renderer *r, const char *query)
{
    struct planet_desc desc = desc_of(query);
    struct frame_set set;
    assert_int_equal(renderer_draw(r, &desc, NULL, &set), ERR_NONE);
    return set;
}

/* What is opaque without a sky is the same with one; the rest is opaque too, and stands still while the
 * planet turns. */
static void a_sky_changes_nothing_but_what_was_clear(void **state)
{
    (void)state;
    struct renderer *r;
    assert_int_equal(renderer_open(&(struct renderer_desc){.backend = "cpu", .cpu_mask = ""}, &r), ERR_NONE);
    static const char *const types[] = {"gas&rings=on&moons=2", "galaxy", "asteroid", "lava&outline=ffffff"};
    for (size_t t = 0; t < ARRAY_LEN(types); t++) {
        char query[160];
        const char *same = "seed=4&format=gif&frames=3&pixels=64";
        snprintf(query, sizeof query, "type=%s&%s", types[t], same);
        struct frame_set plain = drawn(r, query);
        snprintf(query, sizeof query, "type=%s&%s&background=nebula", types[t], same);
        struct frame_set with = drawn(r, query);
        int area = 64 * 64;
        for (int i = 0; i < area * 3; i++) {
            uint32_t before = plain.colors[plain.index[i]], after = with.colors[with.index[i]];
            assert_int_equal(RGBA_A(after), 255);
            if (RGBA_A(before) == 255)
                assert_int_equal(before, after);
            if (before == 0 && plain.colors[plain.index[i % area]] == 0)
                assert_int_equal(after, with.colors[with.index[i % area]]);
        }
        frame_set_finish(&plain);
        frame_set_finish(&with);
    }
    renderer_close(r);
}

static void each_seed_has_its_own_sky_and_layers_have_none(void **state)
{
    (void)state;
    int side;
    uint32_t *a = sky_of("seed=1&background=stars", &side), *b = sky_of("seed=2&background=stars", &side);
    assert_true(memcmp(a, b, (size_t)side * (size_t)side * sizeof *a) != 0);
    free(a);
    free(b);
    struct asked layer = ask("layer=height&background=stars"), plain = ask("layer=height");
    assert_string_equal(layer.key.text, plain.key.text);
    assert_null(sky_of("layer=height&background=stars", &side));
    assert_null(sky_of("background=ff8800", &side));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_side_by_side_show_no_seam),
        cmocka_unit_test(half_of_a_nebula_is_dark_and_stars_are_few),
        cmocka_unit_test(a_sky_changes_nothing_but_what_was_clear),
        cmocka_unit_test(each_seed_has_its_own_sky_and_layers_have_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
