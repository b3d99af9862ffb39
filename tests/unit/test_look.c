/* test_look.c -- what people see, as numbers: the properties that the documents and our own eyes ask for. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "renderer/bodies.h"
#include "renderer/palette.h"
#include "tests/unit/codes.h"

static double share(const uint32_t *codes, int side, bool (*is)(uint32_t))
{
    int yes = 0, disc = 0;
    for (int i = 0; i < side * side; i++)
        if (KIND_OF(codes[i]) == KIND_PLANET) {
            disc++;
            yes += is(codes[i]);
        }
    return (double)yes / disc;
}

/* The distribution that all thresholds rest on. A layer's code is 1 + grey. */
static void fbm_is_a_bell_around_one_half_less_a_little(void **state)
{
    (void)state;
    double n = 0, sum = 0, squares = 0, high = 0, cloudy = 0;
    for (int seed = 0; seed < 200; seed++) {
        char query[80];
        int side;
        snprintf(query, sizeof query, "layer=height&pixels=96&seed=%d", seed);
        uint32_t *codes = codes_of_query(query, &side);
        for (int i = 0; i < side * side; i++)
            if (codes[i]) {
                double h = (codes[i] - 1) / 255.0;
                n++;
                sum += h;
                squares += h * h;
                high += h > 0.75;
                cloudy += h > 0.58;
            }
        free(codes);
    }
    double mean = sum / n, deviation = sqrt(squares / n - mean * mean);
    print_message("fbm: mean %.4f, deviation %.4f, above 0.58 %.1f %%, above 0.75 %.2f %%\n", mean, deviation,
                  100 * cloudy / n, 100 * high / n);
    assert_true(mean > 0.46 && mean < 0.475);
    assert_true(deviation > 0.095 && deviation < 0.115);
    assert_true(high / n < 0.005);                       /* why a threshold of 1 - 0.6 cover shows no cloud */
    assert_true(cloudy / n > 0.12 && cloudy / n < 0.20); /* cover 0.5 */
}

static bool is_cap(uint32_t c)
{
    return STEP_OF(c) == 6;
}

static void positive_tilt_shows_the_north_cap_through_the_whole_turn(void **state)
{
    (void)state;
    struct planet_desc desc = desc_of("seed=5&tilt=40&ice_caps=0.5&format=gif&frames=12&cloud_cover=0");
    for (int frame = 0; frame < desc.frames; frame++) {
        uint32_t *codes = codes_of(&desc, frame);
        int north = 0, south = 0, side = desc.pixels;
        for (int i = 0; i < side * side; i++)
            if (KIND_OF(codes[i]) == KIND_PLANET && is_cap(codes[i]))
                *(i < side * side / 2 ? &north : &south) += 1;
        assert_true(north > side * side / 40);
        assert_int_equal(south, 0);
        free(codes);
    }
}

static void south_cap_is_smaller_than_the_north_cap(void **state)
{
    (void)state;
    double north = 0, south = 0;
    for (int seed = 0; seed < 20; seed++) {
        char query[80];
        int side;
        snprintf(query, sizeof query, "type=desert&seed=%d&tilt=50&ice_caps=0.5", seed);
        uint32_t *codes = codes_of_query(query, &side);
        snprintf(query, sizeof query, "type=desert&seed=%d&tilt=-50&ice_caps=0.5", seed);
        uint32_t *under = codes_of_query(query, &side);
        for (int i = 0; i < side * side; i++) {
            north += KIND_OF(codes[i]) == KIND_PLANET && STEP_OF(codes[i]) == 5;
            south += KIND_OF(under[i]) == KIND_PLANET && STEP_OF(under[i]) == 5;
        }
        free(codes);
        free(under);
    }
    assert_true(south > 0 && south < 0.7 * north);
}

static void a_cloud_throws_its_shadow_away_from_the_light(void **state)
{
    (void)state;
    double toward = 0, shadows = 0;
    for (int seed = 0; seed < 30; seed++) {
        char query[80];
        int side;
        snprintf(query, sizeof query, "seed=%d&pixels=96&light_azimuth=180&light_elevation=20", seed);
        uint32_t *codes = codes_of_query(query, &side);
        for (int y = 0; y < side; y++)
            for (int x = 4; x < side - 4; x++) {
                if (KIND_OF(codes[y * side + x]) != KIND_PLANET ||
                    COVER_OF(codes[y * side + x]) != COVER_SHADOW)
                    continue;
                shadows++;
                for (int d = 1; d <= 4; d++) /* the light comes from the left */
                    toward += (COVER_OF(codes[y * side + x - d]) >= COVER_EDGE) -
                              (COVER_OF(codes[y * side + x + d]) >= COVER_EDGE);
            }
        free(codes);
    }
    assert_true(shadows > 500);
    assert_true(toward > shadows * 1.5);
}

static void clouds_are_streaks_not_spots(void **state)
{
    (void)state;
    double across = 0, along = 0;
    for (int seed = 0; seed < 60; seed++) {
        char query[80];
        int side;
        snprintf(query, sizeof query, "seed=%d&tilt=0&layer=clouds", seed);
        uint32_t *codes = codes_of_query(query, &side);
        for (int y = side / 4; y < side * 3 / 4; y++)
            for (int x = side / 4; x < side * 3 / 4; x++) {
                bool here = codes[y * side + x] > 2;
                across += here != (codes[y * side + x + 1] > 2);
                along += here != (codes[(y + 1) * side + x] > 2);
            }
        free(codes);
    }
    assert_true(along > 1.3 * across); /* edges met going down, over those met going right */
}

static void the_halo_is_one_pixel_of_air_on_the_lit_side(void **state)
{
    (void)state;
    int side, halo = 0;
    uint32_t *codes = codes_of_query("light_azimuth=0&light_elevation=30", &side);
    for (int y = 0; y < side; y++)
        for (int x = 0; x < side; x++) {
            if (KIND_OF(codes[y * side + x]) != KIND_HALO)
                continue;
            bool touches = false;
            for (int v = y - 1; v <= y + 1; v++)
                for (int u = x - 1; u <= x + 1; u++)
                    touches = touches || (u >= 0 && v >= 0 && u < side && v < side &&
                                          KIND_OF(codes[v * side + u]) == KIND_PLANET);
            assert_true(touches);
            assert_true(x > side / 2);
            halo++;
        }
    assert_true(halo > side / 2);
    for (int i = 0; i < side * side; i++)
        if (KIND_OF(codes[i]) == KIND_PLANET && (codes[i] & CODE_LIMB))
            assert_true(BAND_OF(codes[i]) > 0);
    free(codes);
    codes = codes_of_query("type=moon", &side);
    for (int i = 0; i < side * side; i++)
        assert_false(KIND_OF(codes[i]) == KIND_HALO ||
                     (KIND_OF(codes[i]) == KIND_PLANET && (codes[i] & CODE_LIMB)));
    free(codes);
}

static void rings_pass_in_front_below_and_behind_above(void **state)
{
    (void)state;
    int side, front = 0, back = 0, dark = 0;
    uint32_t *codes = codes_of_query(
        "type=gas&rings=on&ring_angle=0&pixels=128&light_azimuth=180&light_elevation=10", &side);
    for (int y = 0; y < side; y++)
        for (int x = 0; x < side; x++) {
            uint32_t c = codes[y * side + x];
            double u = (x + 0.5) * 2 / side - 1, v = (y + 0.5) * 2 / side - 1;
            bool disc = u * u + v * v < 0.54 * 0.54;
            if (KIND_OF(c) != KIND_RING)
                continue;
            front += (c & RING_FRONT) && disc;
            assert_true(((c & RING_FRONT) > 0) == (v > 0));
            if (!(c & RING_FRONT)) {
                assert_false(disc);
                back++;
            }
            dark += (c & RING_DARK) > 0;
            assert_false((c & RING_DARK) &&
                         u < 0.5); /* the shadow falls away from the light, which is at the left */
        }
    assert_true(front > 50 && back > 200 && dark > 10 && dark < back);
    free(codes);
}

static void a_thin_ring_is_an_unbroken_line_before_the_planet(void **state)
{
    (void)state;
    static const char *const opens[] = {"0.02", "0.05", "0.1"};
    for (int pixels = 48; pixels <= 192; pixels *= 2)
        for (size_t i = 0; i < ARRAY_LEN(opens); i++) {
            char query[120];
            int side;
            snprintf(query, sizeof query, "type=gas&seed=9&rings=on&ring_angle=0&pixels=%d&ring_open=%s",
                     pixels, opens[i]);
            uint32_t *codes = codes_of_query(query, &side);
            for (int x = side / 4; x < side * 3 / 4; x++) { /* the disc is 55 % wide */
                int front = 0;
                for (int y = 0; y < side; y++)
                    front += KIND_OF(codes[y * side + x]) == KIND_RING && (codes[y * side + x] & RING_FRONT);
                assert_true(front > 0);
            }
            free(codes);
        }
}

/* What a stranger called a zipper: gaps narrower than a pixel must be closed, not sampled into a row of dots.
 */
static void gaps_before_the_planet_are_no_zipper(void **state)
{
    (void)state;
    int dots = 0, ring = 0;
    for (int seed = 0; seed < 20; seed++) {
        char query[80];
        int side;
        snprintf(query, sizeof query, "type=gas&rings=on&seed=%d", seed);
        uint32_t *codes = codes_of_query(query, &side);
        for (int i = side; i < side * side - side; i++) {
            bool here = KIND_OF(codes[i]) == KIND_RING, left = KIND_OF(codes[i - 1]) == KIND_RING;
            bool right = KIND_OF(codes[i + 1]) == KIND_RING;
            ring += here;
            dots += !here && left && right && KIND_OF(codes[i]) == KIND_PLANET;
        }
        free(codes);
    }
    print_message("%d dots in %d pixels of rings\n", dots, ring);
    assert_true(ring > 10000 && dots * 200 < ring);
}

static void rings_lie_over_the_equator_unless_told_otherwise(void **state)
{
    (void)state;
    struct planet_desc d = desc_of("type=gas&rings=on&ring_angle=-35");
    assert_int_equal(d.roll_decideg, -350);
    assert_int_equal(desc_of("type=gas&rings=on&ring_angle=-35&roll=0").roll_decideg, 0);
    assert_int_equal(desc_of("type=gas").roll_decideg, 0);
}

static void roll_turns_the_pole_counter_clockwise(void **state)
{
    (void)state;
    int side, left = 0, right = 0;
    uint32_t *codes = codes_of_query("type=desert&roll=90&tilt=0&ice_caps=0.6", &side);
    for (int i = 0; i < side * side; i++)
        if (KIND_OF(codes[i]) == KIND_PLANET && STEP_OF(codes[i]) == 5)
            *(i % side < side / 2 ? &left : &right) += 1;
    assert_true(left > right &&
                left > side); /* the north cap, which is the larger, has gone from the top to the left */
    free(codes);
}

static void the_planet_within_rings_is_55_percent_of_the_frame(void **state)
{
    (void)state;
    int side, first = -1, last = -1;
    uint32_t *codes = codes_of_query("type=moon&rings=on&pixels=200&ring_open=0.02&ring_angle=0", &side);
    for (int y = 0; y < side; y++)
        if (KIND_OF(codes[y * side + side / 2]) == KIND_PLANET) {
            first = first < 0 ? y : first;
            last = y;
        }
    assert_int_equal(last - first + 1, 110);
    free(codes);
}

static bool is_lava(uint32_t c)
{
    return STEP_OF(c) < 2;
}
static bool is_land(uint32_t c)
{
    return STEP_OF(c) >= 2;
}

static void most_seeds_have_something_of_each_kind(void **state)
{
    (void)state;
    int poor = 0;
    for (int seed = 0; seed < 300; seed++) {
        char query[80];
        int side;
        snprintf(query, sizeof query, "type=lava&seed=%d", seed);
        uint32_t *codes = codes_of_query(query, &side);
        double lava = share(codes, side, is_lava);
        free(codes);
        snprintf(query, sizeof query, "type=terrestrial&seed=%d&ice_caps=0", seed);
        codes = codes_of_query(query, &side);
        double land = share(codes, side, is_land);
        free(codes);
        poor += lava < 0.05 || lava > 0.65;
        poor += land < 0.15 || land > 0.85;
    }
    print_message("of 600 planets %d have little lava, land or sea on the side shown\n", poor);
    assert_true(poor < 30);
}

/* Pixels of the bowl that holds pixel i; they are cleared. */
static int take_bowl(uint32_t *codes, int side, int i)
{
    if (i < 0 || i >= side * side || KIND_OF(codes[i]) != KIND_PLANET || !(codes[i] & CODE_BOWL))
        return 0;
    codes[i] = 0;
    return 1 + take_bowl(codes, side, i - 1) + take_bowl(codes, side, i + 1) +
           take_bowl(codes, side, i - side) + take_bowl(codes, side, i + side);
}

static void craters_read_as_craters_of_five_pixels_and_more(void **state)
{
    (void)state;
    int craters = 0, large = 0;
    for (int seed = 0; seed < 30; seed++) {
        char query[80];
        int side;
        snprintf(query, sizeof query, "type=moon&seed=%d", seed);
        uint32_t *codes = codes_of_query(query, &side);
        for (int i = 0; i < side * side; i++) {
            int x = i % side - side / 2, y = i / side - side / 2;
            if (x * x + y * y > side * side / 9) /* near the rim circles are seen from the side */
                continue;
            int bowl = take_bowl(codes, side, i);
            craters += bowl > 0;
            large += bowl >= 9; /* with its rim: 5 across */
        }
        free(codes);
    }
    print_message("%d craters on 30 moons, %d of five pixels and more\n", craters, large);
    assert_true(craters > 150);
    assert_true(large > craters * 0.75);
}

/* Every pair of neighbouring ground steps keeps a visible difference in the dark, and no step becomes black.
 */
static void continents_are_readable_in_the_dark(void **state)
{
    (void)state;
    for (int body = 0; body < BODY_COUNT; body++) {
        struct planet_desc desc = desc_of("");
        desc.body = body;
        for (int step = 0; step < bodies[body].steps; step++) {
            uint32_t own = bodies[body].traits & BODY_SHINES ? CODE_SHINE : 0u;
            uint32_t c = palette_color(&desc, 0x4000u | own | (uint32_t)step);
            int light = RGBA_R(c) * 3 + RGBA_G(c) * 6 + RGBA_B(c);
            assert_true(own || light > 10 * 16); /* a hole, or dust, may be black before what shines */
            if (step == 0)
                continue;
            uint32_t below = palette_color(&desc, 0x4000u | own | (uint32_t)(step - 1));
            int difference = abs(RGBA_R(c) - RGBA_R(below)) + abs(RGBA_G(c) - RGBA_G(below)) +
                             abs(RGBA_B(c) - RGBA_B(below));
            assert_true(difference >= 18);
        }
    }
}

static void lava_shines_in_the_dark(void **state)
{
    (void)state;
    struct planet_desc desc = desc_of("type=lava");
    uint32_t full = 3u << 6;
    for (uint32_t step = 0; step < 2; step++) {
        uint32_t dark = palette_color(&desc, 0x4000u | step);
        assert_int_equal(RGBA_R(dark), bodies[BODY_LAVA].ramp[step] >> 16);
        assert_true(RGBA_R(palette_color(&desc, 0x4000u | step | full)) >= RGBA_R(dark) * 9 / 10);
    }
    assert_true(RGBA_R(palette_color(&desc, 0x4002)) < (bodies[BODY_LAVA].ramp[2] >> 16) / 2);
}

static int compare_codes(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(uint64_t));
}

static void each_seed_gives_another_picture(void **state)
{
    (void)state;
    enum { SEEDS = 2000 };
    static uint64_t sums[SEEDS];
    for (int body = 0; body < BODY_COUNT; body++) {
        for (int seed = 0; seed < SEEDS; seed++) {
            char query[80];
            int side;
            snprintf(query, sizeof query, "type=%s&seed=%d&pixels=32", bodies[body].name, seed);
            uint32_t *codes = codes_of_query(query, &side);
            uint64_t sum = 0;
            for (int i = 0; i < side * side; i++)
                sum = (sum ^ codes[i]) * 0x9e3779b97f4a7c15u + (sum >> 29);
            sums[seed] = sum;
            free(codes);
        }
        qsort(sums, SEEDS, sizeof *sums, compare_codes);
        for (int i = 1; i < SEEDS; i++)
            assert_true(sums[i] != sums[i - 1]);
    }
}

/* Of a sphere under light that makes the angle a with the line of sight, (1 + cos a) / 2 of the disc is lit;
 * light_elevation is 90 degrees less a. */
static void with_an_exact_terminator_the_lit_part_of_the_disc_is_that_of_the_phase(void **state)
{
    (void)state;
    const char *const bodies_of_it[] = {"terrestrial", "gas", "moon", "city"};
    for (int elevation = -90; elevation <= 90; elevation += 15)
        for (int i = 0; i < 4; i++) {
            char query[160];
            int side, lit = 0, disc = 0;
            snprintf(query, sizeof query,
                     "type=%s&pixels=200&terminator=exact&light_elevation=%d&light_azimuth=%d&shade_steps=%d",
                     bodies_of_it[i], elevation, 37 * i, 1 + 4 * i);
            uint32_t *codes = codes_of_query(query, &side);
            for (int k = 0; k < side * side; k++)
                if (KIND_OF(codes[k]) == KIND_PLANET) {
                    disc++;
                    lit += !(codes[k] & CODE_SHINE) && BAND_OF(codes[k]) > 0;
                }
            double expected = (1 + sin(elevation * 3.14159265358979 / 180)) / 2;
            assert_true(fabs((double)lit / disc - expected) < 0.012);
            free(codes);
        }
}

static void full_light_has_the_last_band_whatever_the_terminator(void **state)
{
    (void)state;
    for (int steps = 1; steps <= 16; steps++)
        for (int i = 0; i < 2; i++) {
            char query[120];
            int side;
            unsigned most = 0;
            snprintf(query, sizeof query, "light_elevation=90&shade_steps=%d&terminator=%s", steps,
                     i ? "exact" : "early");
            uint32_t *codes = codes_of_query(query, &side);
            for (int k = 0; k < side * side; k++)
                if (KIND_OF(codes[k]) == KIND_PLANET && BAND_OF(codes[k]) > most)
                    most = BAND_OF(codes[k]);
            assert_int_equal(most, steps);
            free(codes);
        }
}

static double brightness(const struct planet_desc *d, uint32_t code)
{
    uint32_t c = palette_color(d, code);
    return 0.2126 * RGBA_R(c) + 0.7152 * RGBA_G(c) + 0.0722 * RGBA_B(c);
}

static void min_light_lifts_the_dark_and_leaves_full_light(void **state)
{
    (void)state;
    for (int body = 0; body < BODY_COUNT; body++)
        for (int shading = 0; shading < 2; shading++)
            for (int step = 0; step < bodies[body].steps; step++) {
                struct planet_desc d = {.body = body,
                                        .shade_steps = 4,
                                        .shading = shading,
                                        .outline = -2,
                                        .atmosphere = COLOR_AUTO,
                                        .background = COLOR_NONE};
                struct planet_desc more = d, most = d;
                more.min_light_milli = 400;
                most.min_light_milli = 1000;
                uint32_t dark = CODE_PLANET | (uint32_t)step, full = dark | 4u << CODE_BAND_SHIFT;
                bool glows = bodies[body].glow_mask >> step & 1;
                assert_int_equal(palette_color(&d, full), palette_color(&more, full));
                assert_int_equal(palette_color(&most, dark), palette_color(&d, full));
                assert_true(glows || brightness(&d, dark) < brightness(&more, dark));
                assert_true(glows || brightness(&more, dark) < brightness(&d, full));
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fbm_is_a_bell_around_one_half_less_a_little),
        cmocka_unit_test(with_an_exact_terminator_the_lit_part_of_the_disc_is_that_of_the_phase),
        cmocka_unit_test(full_light_has_the_last_band_whatever_the_terminator),
        cmocka_unit_test(min_light_lifts_the_dark_and_leaves_full_light),
        cmocka_unit_test(positive_tilt_shows_the_north_cap_through_the_whole_turn),
        cmocka_unit_test(south_cap_is_smaller_than_the_north_cap),
        cmocka_unit_test(a_cloud_throws_its_shadow_away_from_the_light),
        cmocka_unit_test(clouds_are_streaks_not_spots),
        cmocka_unit_test(the_halo_is_one_pixel_of_air_on_the_lit_side),
        cmocka_unit_test(rings_pass_in_front_below_and_behind_above),
        cmocka_unit_test(a_thin_ring_is_an_unbroken_line_before_the_planet),
        cmocka_unit_test(gaps_before_the_planet_are_no_zipper),
        cmocka_unit_test(rings_lie_over_the_equator_unless_told_otherwise),
        cmocka_unit_test(roll_turns_the_pole_counter_clockwise),
        cmocka_unit_test(the_planet_within_rings_is_55_percent_of_the_frame),
        cmocka_unit_test(most_seeds_have_something_of_each_kind),
        cmocka_unit_test(craters_read_as_craters_of_five_pixels_and_more),
        cmocka_unit_test(continents_are_readable_in_the_dark),
        cmocka_unit_test(lava_shines_in_the_dark),
        cmocka_unit_test(each_seed_gives_another_picture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
