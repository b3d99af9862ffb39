/* test_scene.c -- angles, and where a planet stands in each frame. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "renderer/base/angle.h"
#include "tests/unit/codes.h"

static void sine_and_cosine_agree_with_libm(void **state)
{
    (void)state;
    for (int64_t i = -7200; i <= 7200; i++) {
        double sine, cosine, angle = (double)i / 3600 * 6.283185307179586;
        angle_sincos(i, 3600, &sine, &cosine);
        assert_true(fabs(sine - sin(angle)) < 4e-15);
        assert_true(fabs(cosine - cos(angle)) < 4e-15);
    }
}

static void quarter_turns_are_exact(void **state)
{
    (void)state;
    static const double want[4][2] = {{0, 1}, {1, 0}, {0, -1}, {-1, 0}};
    for (int64_t i = -8; i <= 8; i++) {
        double sine, cosine;
        angle_sincos(i * 90, 360, &sine, &cosine);
        assert_true(sine == want[(i % 4 + 4) % 4][0] && cosine == want[(i % 4 + 4) % 4][1]);
    }
}

static void whole_turns_change_no_bit(void **state)
{
    (void)state;
    for (int64_t i = 0; i < 240; i++) {
        double s[2], c[2];
        angle_sincos(i, 240, &s[0], &c[0]);
        angle_sincos(i + 240 * 1000001, 240, &s[1], &c[1]);
        assert_memory_equal(&s[0], &s[1], sizeof s[0]);
        assert_memory_equal(&c[0], &c[1], sizeof c[0]);
    }
}

/* The jump at the end of a loop is what the documents call the jerk: with whole cloud ratios there is none.
 */
static void the_frame_after_the_last_is_the_first_bit_for_bit(void **state)
{
    (void)state;
    for (int frames = 1; frames <= FRAMES_MAX; frames += 7)
        for (int turns = -4; turns <= 4; turns++)
            for (int ratio = 0; ratio <= 4; ratio++) {
                struct planet_desc d = desc_of("format=gif");
                d.frames = frames;
                d.turns = turns;
                d.cloud_ratio = ratio;
                d.phase_micro = 123457;
                struct scene_turn first = scene_turn_make(&d, 0), after = scene_turn_make(&d, frames);
                assert_memory_equal(&first, &after, sizeof first);
            }
}

static void a_still_at_a_phase_is_the_frame_of_the_loop_there(void **state)
{
    (void)state;
    struct planet_desc loop = desc_of("format=gif&frames=8&turns=-3&seed=4");
    for (int frame = 0; frame < 8; frame++) {
        char query[80];
        snprintf(query, sizeof query, "turns=-3&seed=4&phase=%.3f", frame / 8.0);
        struct planet_desc still = desc_of(query);
        uint32_t *a = codes_of(&loop, frame), *b = codes_of(&still, 0);
        assert_memory_equal(a, b, sizeof *a * 64 * 64);
        free(a);
        free(b);
    }
}

static void a_negative_turn_runs_the_loop_backwards(void **state)
{
    (void)state;
    struct planet_desc there = desc_of("format=gif&frames=9"), back = desc_of("format=gif&frames=9&turns=-1");
    for (int frame = 0; frame <= 9; frame++) {
        struct scene_turn a = scene_turn_make(&there, frame), b = scene_turn_make(&back, 9 - frame);
        assert_memory_equal(&a, &b, sizeof a);
    }
}

static void the_default_light_is_from_the_upper_left(void **state)
{
    (void)state;
    struct planet_desc d = desc_of("");
    struct scene s;
    scene_make(&d, &s);
    assert_true(fabsf(s.light_x + 0.5f) < 1e-6f && fabsf(s.light_y - 0.5f) < 1e-6f &&
                fabsf(s.light_z - 0.70710678f) < 1e-6f);
}

static void near_seeds_share_nothing(void **state)
{
    (void)state;
    struct planet_desc d = desc_of("");
    struct scene a, b;
    for (int bit = 0; bit < 64; bit++) {
        struct planet_desc other = d;
        other.seed ^= (uint64_t)1 << bit;
        scene_make(&d, &a);
        scene_make(&other, &b);
        assert_true(a.seed_ground != b.seed_ground && a.seed_cloud != b.seed_cloud &&
                    a.seed_crater != b.seed_crater);
        assert_true(a.seed_cap != b.seed_cap && a.seed_band != b.seed_band && a.ground_x != b.ground_x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sine_and_cosine_agree_with_libm),
        cmocka_unit_test(quarter_turns_are_exact),
        cmocka_unit_test(whole_turns_change_no_bit),
        cmocka_unit_test(the_frame_after_the_last_is_the_first_bit_for_bit),
        cmocka_unit_test(a_still_at_a_phase_is_the_frame_of_the_loop_there),
        cmocka_unit_test(a_negative_turn_runs_the_loop_backwards),
        cmocka_unit_test(the_default_light_is_from_the_upper_left),
        cmocka_unit_test(near_seeds_share_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
