/* test_space.c -- the bodies that are no spheres: one rock in one piece, nothing blank, loops that close, and
 * which parameters they react to. */
#include "tests/unit/ask.h"

#include "renderer/bodies.h"
#include "renderer/palette.h"
#include "tests/unit/codes.h"

#define SEEDS 1000

static const int space[] = {BODY_ASTEROID, BODY_STAR, BODY_BLACK_HOLE, BODY_GALAXY, BODY_COMET};

static uint64_t hash_of(const struct planet_desc *desc, int frame, int *ret_pixels)
{
    uint32_t *codes = codes_of(desc, frame);
    uint64_t sum = 0;
    *ret_pixels = 0;
    for (int i = 0; i < desc->pixels * desc->pixels; i++) {
        sum = (sum ^ palette_color(desc, codes[i])) * 0x9e3779b97f4a7c15u + (sum >> 29);
        *ret_pixels += codes[i] > 0;
    }
    free(codes);
    return sum;
}

static int compare_hashes(const void *a, const void *b)
{
    const uint64_t *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

static void a_thousand_seeds_are_a_thousand_pictures_and_none_is_blank(void **state)
{
    (void)state;
    for (size_t b = 0; b < ARRAY_LEN(space); b++) {
        static uint64_t hashes[SEEDS];
        int least = 1 << 30, most = 0;
        for (int seed = 0; seed < SEEDS; seed++) {
            char query[80];
            snprintf(query, sizeof query, "type=%s&seed=%d&pixels=32", bodies[space[b]].name, seed);
            struct planet_desc desc = desc_of(query);
            int pixels;
            hashes[seed] = hash_of(&desc, 0, &pixels);
            least = pixels < least ? pixels : least;
            most = pixels > most ? pixels : most;
        }
        print_message("%s: %d to %d of 1024 pixels\n", bodies[space[b]].name, least, most);
        assert_true(least > 90 && most < 900);
        qsort(hashes, SEEDS, sizeof *hashes, compare_hashes);
        for (int i = 1; i < SEEDS; i++)
            assert_true(hashes[i] != hashes[i - 1]);
    }
}

static void seeds_differ_in_colour_too(void **state)
{
    (void)state;
    for (size_t b = 0; b < ARRAY_LEN(space); b++) {
        const struct body_info *body = &bodies[space[b]];
        unsigned seen = 0;
        for (uint64_t seed = 0; seed < 200; seed++) {
            struct planet_desc desc = desc_of("");
            desc.body = space[b];
            desc.seed = seed * 0x9e3779b97f4a7c15u;
            uint32_t c = palette_color(&desc, CODE_PLANET | CODE_SHINE | 1u);
            for (int i = 0; i < body->ramp_count; i++) {
                uint32_t hex = body->ramps[i][1];
                if (RGBA_R(c) == hex >> 16 && RGBA_G(c) == (hex >> 8 & 255) && RGBA_B(c) == (hex & 255))
                    seen |= 1u << i;
            }
        }
        assert_true(body->ramp_count > 1);
        assert_int_equal(seen, (1u << body->ramp_count) - 1);
    }
}

static void loops_close_and_move(void **state)
{
    (void)state;
    static const char *const turns[] = {"1", "-1", "2", "3"};
    for (size_t b = 0; b < ARRAY_LEN(space); b++)
        for (size_t t = 0; t < ARRAY_LEN(turns); t++) {
            char query[120];
            int pixels;
            snprintf(query, sizeof query, "type=%s&seed=5&pixels=48&format=gif&frames=10&turns=%s",
                     bodies[space[b]].name, turns[t]);
            struct planet_desc desc = desc_of(query);
            assert_true(hash_of(&desc, 0, &pixels) == hash_of(&desc, 10, &pixels));
            assert_true(hash_of(&desc, 0, &pixels) != hash_of(&desc, 3, &pixels));
        }
}

/* Pixels of the piece that holds pixel i; they are cleared. */
static int take_piece(uint32_t *codes, int side, int i)
{
    if (i < 0 || i >= side * side || !codes[i])
        return 0;
    codes[i] = 0;
    int count = 1;
    for (int y = -1; y <= 1; y++)
        for (int x = -1; x <= 1; x++)
            count += take_piece(codes, side, i + y * side + x);
    return count;
}

static void an_asteroid_is_one_piece_without_holes(void **state)
{
    (void)state;
    int holes = 0, rock = 0;
    for (int seed = 0; seed < 300; seed++) {
        char query[80];
        int side, pixels = 0;
        snprintf(query, sizeof query, "type=asteroid&seed=%d&phase=0.%d", seed, seed % 10);
        uint32_t *codes = codes_of_query(query, &side);
        for (int i = 0; i < side * side; i++)
            pixels += codes[i] > 0;
        for (int i = side; i < side * side - side; i++)
            holes += !codes[i] && codes[i - 1] && codes[i + 1] && codes[i - side] && codes[i + side];
        rock += pixels;
        assert_true(codes[side * side / 2 + side / 2]); /* its middle is within it */
        assert_true(take_piece(codes, side, side * side / 2 + side / 2) >= pixels - 2);
        free(codes);
    }
    print_message("%d holes in %d pixels of rock\n", holes, rock);
    assert_true(holes < 6);
}

/* A ray through the middle of the disc's shadow meets nothing; around it shines the ring; the disc passes
 * before. */
static void a_black_hole_has_a_shadow_a_ring_and_a_disc_above_and_below(void **state)
{
    (void)state;
    for (int seed = 0; seed < 40; seed++) {
        char query[80];
        int side, ring = 0, shadow = 0, above = 0, below = 0;
        snprintf(query, sizeof query, "type=black_hole&seed=%d&pixels=96", seed);
        uint32_t *codes = codes_of_query(query, &side);
        for (int i = 0; i < side * side; i++) {
            int x = i % side - side / 2, y = i / side - side / 2;
            bool disc = codes[i] && STEP_OF(codes[i]) > 0 && STEP_OF(codes[i]) < 7;
            ring += codes[i] && STEP_OF(codes[i]) == 7;
            shadow += codes[i] && STEP_OF(codes[i]) == 0;
            above += disc && y < -side / 5 && x * x < side * side / 64;
            below += disc && y > side / 5 && x * x < side * side / 64;
        }
        assert_true(ring > side && shadow > side * side / 30);
        assert_true(above > side / 2 && below > side / 8);
        free(codes);
    }
}

static void a_comet_s_tails_point_away_from_the_light(void **state)
{
    (void)state;
    static const struct {
        int azimuth, x, y;
    } cases[] = {{0, -1, 0}, {90, 0, 1}, {180, 1, 0}, {-90, 0, -1}, {135, 1, 1}};
    for (size_t k = 0; k < ARRAY_LEN(cases); k++) {
        char query[80];
        int side, ahead = 0, behind = 0;
        snprintf(query, sizeof query, "type=comet&seed=3&light_azimuth=%d", cases[k].azimuth);
        uint32_t *codes = codes_of_query(query, &side);
        double rock_x = 0, rock_y = 0, rocks = 0;
        for (int i = 0; i < side * side; i++)
            if (codes[i] && !(codes[i] & CODE_SHINE)) {
                int row = i / side;
                rock_x += i % side;
                rock_y += row;
                rocks++;
            }
        assert_true(rocks > 20);
        for (int i = 0; i < side * side; i++)
            if (codes[i] & CODE_SHINE) {
                int row = i / side;
                double along = (i % side - rock_x / rocks) * cases[k].x + (row - rock_y / rocks) * cases[k].y;
                ahead += along < -side / 5.0;
                behind += along > side / 5.0;
            }
        assert_int_equal(ahead, 0);
        assert_true(behind > 100);
        free(codes);
    }
}

static void a_comet_lit_from_the_viewer_has_a_head_and_no_tail(void **state)
{
    (void)state;
    static const char *const from[] = {"90", "-90"};
    for (size_t k = 0; k < ARRAY_LEN(from); k++) {
        char query[80];
        int side, pixels = 0;
        snprintf(query, sizeof query, "type=comet&seed=14&light_elevation=%s", from[k]);
        uint32_t *codes = codes_of_query(query, &side);
        for (int i = 0; i < side * side; i++)
            pixels += codes[i] > 0;
        assert_true(codes[side * side / 2 + side / 2]);
        assert_in_range(pixels, side * side / 100, side * side / 10);
        free(codes);
    }
}

static void what_cannot_be_seen_leaves_the_key(void **state)
{
    (void)state;
    for (size_t b = 0; b < ARRAY_LEN(space); b++) {
        static const char *const idle[] = {
            "rings=on",      "rings=auto",    "ring_angle=5",    "ring_open=0.5", "atmosphere=ff0000",
            "sea_level=0.1", "cloud_cover=1", "cloud_stretch=3", "cloud_ratio=4", "ice_caps=0.9"};
        static const char *const light[] = {"light_azimuth=10", "light_elevation=10", "shade_steps=7"};
        char plain[80], query[160];
        const char *name = bodies[space[b]].name;
        snprintf(plain, sizeof plain, "type=%s", name);
        for (size_t i = 0; i < ARRAY_LEN(idle); i++) {
            snprintf(query, sizeof query, "type=%s&%s", name, idle[i]);
            assert_same_key(plain, query);
        }
        for (size_t i = 0; i < ARRAY_LEN(light); i++) {
            snprintf(query, sizeof query, "type=%s&%s", name, light[i]);
            if (bodies[space[b]].traits & BODY_SHINES)
                assert_same_key(plain, query);
            else
                assert_other_key(plain, query);
        }
    }
}

static void what_the_key_keeps_changes_a_picture(void **state)
{
    (void)state;
    static const char *const more[] = {"seed=2",
                                       "phase=0.3",
                                       "scale=3",
                                       "tilt=40",
                                       "roll=50",
                                       "palette=000000,ff0000,ffffff",
                                       "background=00ff00",
                                       "pixels=65",
                                       "light_azimuth=10",
                                       "light_elevation=10",
                                       "shade_steps=7"};
    for (size_t b = 0; b < ARRAY_LEN(space); b++)
        for (size_t i = 0; i < ARRAY_LEN(more); i++) {
            char plain[80], query[160];
            int pixels;
            snprintf(plain, sizeof plain, "type=%s", bodies[space[b]].name);
            snprintf(query, sizeof query, "%s&%s", plain, more[i]);
            struct asked left = ask(plain), right = ask(query);
            bool same =
                hash_of(&left.request.planet, 0, &pixels) == hash_of(&right.request.planet, 0, &pixels);
            if (same != !strcmp(left.key.text, right.key.text))
                fail_msg("%s", query);
        }
}

static void layers_of_a_sphere_are_refused(void **state)
{
    (void)state;
    struct asked a = ask("type=galaxy&layer=depth");
    assert_int_equal(a.err, ERR_PARAM_COMBINATION);
    assert_non_null(strstr(a.fault.detail, "terrestrial"));
    assert_null(strstr(a.fault.detail, "comet"));
    assert_int_equal(ask("type=star&layer=rings&rings=on").err, ERR_PARAM_COMBINATION);
    assert_int_equal(ask("type=star&layer=grid").err, ERR_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thousand_seeds_are_a_thousand_pictures_and_none_is_blank),
        cmocka_unit_test(seeds_differ_in_colour_too),
        cmocka_unit_test(loops_close_and_move),
        cmocka_unit_test(an_asteroid_is_one_piece_without_holes),
        cmocka_unit_test(a_black_hole_has_a_shadow_a_ring_and_a_disc_above_and_below),
        cmocka_unit_test(a_comet_s_tails_point_away_from_the_light),
        cmocka_unit_test(a_comet_lit_from_the_viewer_has_a_head_and_no_tail),
        cmocka_unit_test(what_cannot_be_seen_leaves_the_key),
        cmocka_unit_test(what_the_key_keeps_changes_a_picture),
        cmocka_unit_test(layers_of_a_sphere_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
