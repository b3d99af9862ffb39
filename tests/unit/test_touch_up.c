/* test_touch_up.c -- dither between tones, cleaning and outline: what they promise, pixel by pixel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "renderer/bodies.h"
#include "renderer/palette.h"
#include "renderer/renderer.h"
#include "renderer/touch_up.h"
#include "tests/unit/codes.h"

#define GROUND(step, band) (CODE_PLANET | (uint32_t)(step) | (uint32_t)(band) << CODE_BAND_SHIFT)

static const char *const dithers[] = {"none", "checker", "bayer2", "bayer4", "bayer8"};

/* A body's frame, drawn and touched up. */
static uint32_t *touched(const struct planet_desc *d)
{
    uint32_t *codes = codes_of(d, 0);
    touch_up(d, codes);
    return codes;
}

static struct planet_desc body_desc(int body, const char *more)
{
    char query[240];
    snprintf(query, sizeof query, "type=%s&%s", bodies[body].name, more);
    return desc_of(query);
}

/* How many of the eight around have the code, and how many shine. */
static int around(const uint32_t *codes, int side, int x, int y, uint32_t code, int *ret_lights)
{
    int same = 0;
    *ret_lights = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
            if ((!dx && !dy) || x + dx < 0 || y + dy < 0 || x + dx >= side || y + dy >= side)
                continue;
            uint32_t there = codes[(y + dy) * side + x + dx];
            same += there == code;
            *ret_lights += (there & CODE_SHINE) != 0;
        }
    return same;
}

static int orphans(const uint32_t *codes, int side)
{
    int count = 0, lights;
    for (int y = 0; y < side; y++)
        for (int x = 0; x < side; x++) {
            uint32_t code = codes[y * side + x];
            int same = around(codes, side, x, y, code, &lights);
            count += same == 0 && !((code & CODE_SHINE) && lights < 6);
        }
    return count;
}

static void cleaning_leaves_no_orphan_on_any_body(void **state)
{
    (void)state;
    int before = 0;
    for (int body = 0; body < BODY_COUNT; body++)
        for (int seed = 0; seed < 6; seed++) {
            char more[80];
            snprintf(more, sizeof more, "seed=%d&pixels=%d&shading=%s&clean=on&scale=5", seed, 24 + 20 * seed,
                     seed & 1 ? "ramp" : "steps");
            struct planet_desc d = body_desc(body, more);
            uint32_t *codes = codes_of(&d, 0);
            before += orphans(codes, d.pixels);
            touch_up(&d, codes);
            assert_int_equal(orphans(codes, d.pixels), 0);
            free(codes);
        }
    assert_true(before > 1000);
}

static void cleaning_leaves_no_orphan_in_pure_noise(void **state)
{
    (void)state;
    struct planet_desc d = desc_of("pixels=64&clean=on");
    uint32_t random = 1, codes[64 * 64];
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 64 * 64; i++) {
            random = random * 1664525u + 1013904223u;
            codes[i] = random >> 28 ? GROUND(random >> 24 & 7, random >> 20 & 3) : 0;
        }
        touch_up(&d, codes);
        assert_int_equal(orphans(codes, 64), 0);
    }
}

/* All pixels ground, but for the places that are listed. */
static void paint(uint32_t *codes, int side, uint32_t ground, const int (*places)[2], int count,
                  uint32_t code)
{
    for (int i = 0; i < side * side; i++)
        codes[i] = ground;
    for (int i = 0; i < count; i++)
        codes[places[i][1] * side + places[i][0]] = code;
}

static void a_cluster_of_two_stays_whether_edge_or_corner_joins_it(void **state)
{
    (void)state;
    struct planet_desc d = desc_of("pixels=16&clean=on");
    static const int flat[][2] = {{5, 5}, {6, 5}}, slant[][2] = {{5, 5}, {6, 6}},
                     corner[][2] = {{0, 0}, {1, 1}};
    static const int(*const clusters[])[2] = {flat, slant, corner};
    for (int i = 0; i < 3; i++) {
        uint32_t codes[256], before[256];
        paint(codes, 16, GROUND(1, 3), clusters[i], 2, GROUND(3, 3));
        memcpy(before, codes, sizeof before);
        touch_up(&d, codes);
        assert_memory_equal(codes, before, sizeof before);
    }
}

static void an_orphan_joins_the_commonest_neighbour_of_its_own_sort(void **state)
{
    (void)state;
    struct planet_desc d = desc_of("pixels=16&clean=on");
    static const int one[][2] = {{5, 5}};
    uint32_t codes[256];
    paint(codes, 16, GROUND(1, 3), one, 1, GROUND(4, 3));
    touch_up(&d, codes);
    assert_int_equal(codes[5 * 16 + 5], GROUND(1, 3));
    /* At the silhouette, with more sky than ground around: the ground keeps its shape. */
    paint(codes, 16, 0, one, 1, GROUND(4, 3));
    codes[6 * 16 + 4] = codes[6 * 16 + 5] = codes[6 * 16 + 6] = GROUND(1, 3);
    touch_up(&d, codes);
    assert_int_equal(codes[5 * 16 + 5], GROUND(1, 3));
}

static void a_lone_lamp_stays_and_a_lone_tone_of_a_shining_area_goes(void **state)
{
    (void)state;
    struct planet_desc d = desc_of("type=city&pixels=16&clean=on");
    static const int one[][2] = {{5, 5}};
    uint32_t codes[256], lamp = CODE_PLANET | CODE_SHINE | 6, bright = CODE_PLANET | CODE_SHINE | 7;
    paint(codes, 16, GROUND(1, 0), one, 1, lamp);
    touch_up(&d, codes);
    assert_int_equal(codes[5 * 16 + 5], lamp);
    paint(codes, 16, bright, one, 1, lamp);
    touch_up(&d, codes);
    assert_int_equal(codes[5 * 16 + 5], bright);
}

static void cleaning_a_loop_is_cleaning_each_of_its_frames(void **state)
{
    (void)state;
    struct planet_desc d = desc_of("seed=3&format=gif&frames=4&pixels=40&shading=ramp&scale=4");
    struct renderer_desc with = renderer_desc_default;
    struct renderer *r;
    struct frame_set set;
    with.backend = "cpu";
    assert_int_equal(renderer_open(&with, &r), ERR_NONE);
    assert_int_equal(renderer_draw(r, &d, NULL, &set), ERR_NONE);
    for (int frame = 0; frame < 4; frame++) {
        uint32_t *codes = codes_of(&d, frame);
        touch_up(&d, codes);
        for (int i = 0; i < 40 * 40; i++)
            assert_int_equal(set.colors[set.index[frame * 1600 + i]], palette_color(&d, codes[i]));
        free(codes);
    }
    frame_set_finish(&set);
    renderer_close(r);
}

static bool is_solid(uint32_t code)
{
    return KIND_OF(code) == KIND_PLANET || KIND_OF(code) == KIND_RING;
}

/* With the frame's edge: what lies beyond it is not there. */
static bool beside_solid(const uint32_t *codes, int side, int x, int y)
{
    return (x > 0 && is_solid(codes[y * side + x - 1])) ||
           (x + 1 < side && is_solid(codes[y * side + x + 1])) ||
           (y > 0 && is_solid(codes[(y - 1) * side + x])) ||
           (y + 1 < side && is_solid(codes[(y + 1) * side + x]));
}

static void an_outline_is_all_that_touches_the_silhouette_with_an_edge_and_nothing_else(void **state)
{
    (void)state;
    for (int body = 0; body < BODY_COUNT; body++)
        for (int rings = 0; rings < 2; rings++) {
            struct planet_desc d =
                body_desc(body, rings ? "pixels=70&rings=on&shading=steps&outline=ff0000"
                                      : "pixels=45&rings=off&shading=steps&outline=ff0000");
            uint32_t *codes = codes_of(&d, 0), *after = touched(&d);
            int lines = 0;
            for (int y = 0; y < d.pixels; y++)
                for (int x = 0; x < d.pixels; x++) {
                    int i = y * d.pixels + x;
                    bool line = !is_solid(codes[i]) && beside_solid(codes, d.pixels, x, y);
                    assert_int_equal(after[i], line ? CODE_OUTLINE : codes[i]);
                    lines += line;
                }
            assert_true(lines > 20);
            assert_int_equal(palette_color(&d, CODE_OUTLINE), RGBA(255, 0, 0, 255));
            free(codes);
            free(after);
        }
}

static void at_the_frames_edge_the_outline_ends(void **state)
{
    (void)state;
    struct planet_desc d = desc_of("pixels=16&outline=ff0000");
    static const int corner[][2] = {{0, 0}};
    uint32_t codes[256];
    paint(codes, 16, 0, corner, 1, GROUND(1, 3));
    touch_up(&d, codes);
    assert_int_equal(codes[0], GROUND(1, 3));
    for (int i = 1; i < 256; i++)
        assert_int_equal(codes[i], i == 1 || i == 16 ? CODE_OUTLINE : 0);
}

/* Pixels whose `mask` the dither changes in the frames of some seeds. */
static int changed(int body, const char *dither, uint32_t mask, const char *more)
{
    int count = 0;
    for (int seed = 0; seed < 8; seed++) {
        char query[160];
        snprintf(query, sizeof query, "%s&seed=%d&pixels=160&clean=off&dither=%s", more, seed, dither);
        struct planet_desc d = body_desc(body, query);
        uint32_t *codes = codes_of(&d, 0), *after = touched(&d);
        for (int i = 0; i < d.pixels * d.pixels; i++)
            count += ((codes[i] ^ after[i]) & mask) != 0;
        free(codes);
        free(after);
    }
    return count;
}

/* A fault of other generators: a dither that misses layers. */
static void dither_reaches_the_tones_of_every_body_and_its_clouds_and_caps(void **state)
{
    (void)state;
    for (int body = 0; body < BODY_COUNT; body++)
        for (int i = 0; i < DITHER_COUNT; i++) {
            int ground = changed(body, dithers[i], CODE_STEP_MASK, "shading=steps");
            int cover = changed(body, dithers[i], CODE_COVER_MASK << CODE_COVER_SHIFT, "shading=steps");
            if (i && !ground)
                print_message("%s %s\n", bodies[body].name, dithers[i]);
            assert_true(i ? ground > 0 : ground == 0);
            assert_true(i && bodies[body].traits & BODY_HAS_CLOUDS ? cover > 0 : cover == 0);
        }
}

/* The kernels' part: compared with an undithered frame, bands differ, and by one at most. */
static void dither_lies_between_neighbouring_bands_of_light_on_every_lit_body(void **state)
{
    (void)state;
    for (int body = 0; body < BODY_COUNT; body++)
        for (int i = 1; i < DITHER_COUNT && !(bodies[body].traits & BODY_SHINES); i++) {
            char query[80];
            int differ = 0;
            snprintf(query, sizeof query, "pixels=128&shading=steps&dither=%s", dithers[i]);
            struct planet_desc plain = body_desc(body, "pixels=128&shading=steps"),
                               d = body_desc(body, query);
            uint32_t *codes = codes_of(&plain, 0), *after = codes_of(&d, 0);
            for (int k = 0; k < 128 * 128; k++) {
                if ((codes[k] | after[k]) & CODE_SHINE || KIND_OF(codes[k]) != KIND_PLANET)
                    continue;
                int step = (int)BAND_OF(codes[k]) - (int)BAND_OF(after[k]);
                assert_true(step >= -1 && step <= 1);
                differ += step != 0;
            }
            assert_true(differ > 0);
            free(codes);
            free(after);
        }
}

static void a_straight_edge_between_two_tones_gets_one_row_of_checkers(void **state)
{
    (void)state;
    struct planet_desc d = desc_of("type=gas&pixels=32&dither=checker");
    for (int upright = 0; upright < 2; upright++) {
        uint32_t codes[32 * 32];
        for (int i = 0; i < 32 * 32; i++)
            codes[i] = GROUND((upright ? i % 32 : i / 32) < 16 ? 1 : 2, 3);
        touch_up(&d, codes);
        for (int y = 0; y < 32; y++)
            for (int x = 0; x < 32; x++) {
                int across = upright ? x : y;
                bool low = across < 16 || (across == 16 && (x + y) % 2 == 1);
                assert_int_equal(codes[y * 32 + x], GROUND(low ? 1 : 2, 3));
            }
    }
}

static void a_wide_edge_has_less_of_a_tone_the_farther_away_it_is(void **state)
{
    (void)state;
    for (int i = 2; i < DITHER_COUNT; i++) {
        char query[80];
        snprintf(query, sizeof query, "type=gas&pixels=64&dither=%s", dithers[i]);
        struct planet_desc d = desc_of(query);
        int high[16] = {0}; /* by row, the edge before row 8, over all that the matrix can stand to it */
        for (int edge = 24; edge < 32; edge++) {
            uint32_t codes[64 * 64];
            for (int k = 0; k < 64 * 64; k++)
                codes[k] = GROUND(k / 64 < edge ? 1 : 2, 3);
            touch_up(&d, codes);
            for (int k = 0; k < 16 * 64; k++)
                high[k / 64] += STEP_OF(codes[(edge - 8) * 64 + k]) == 2;
        }
        for (int y = 1; y < 16; y++)
            assert_true(high[y] >= high[y - 1]);
        assert_int_equal(high[3], 0);
        assert_int_equal(high[12], 8 * 64);
        assert_int_equal(high[7] + high[8], 8 * 64);
        assert_true(high[7] > 0 && high[7] < high[8]);
    }
}

static void coasts_lamps_and_thin_lines_stay_sharp(void **state)
{
    (void)state;
    struct planet_desc d = desc_of("type=terrestrial&pixels=32&dither=bayer8");
    uint32_t codes[32 * 32], before[32 * 32];
    for (int i = 0; i < 32 * 32; i++) /* water and beach, and a line of deep water in it */
        codes[i] = GROUND(i / 32 < 16 ? (i / 32 == 8 ? 0 : 1) : 2, 3);
    memcpy(before, codes, sizeof before);
    touch_up(&d, codes);
    assert_memory_equal(codes, before, sizeof before);
}

static void other_layers_are_left_as_they_are(void **state)
{
    (void)state;
    struct planet_desc d = desc_of("layer=bands&type=gas&pixels=32");
    d.dither = DITHER_BAYER8;
    d.clean = 1;
    d.outline = 0xff0000;
    uint32_t *codes = codes_of(&d, 0), *after = touched(&d);
    assert_memory_equal(codes, after, 32 * 32 * sizeof *codes);
    free(codes);
    free(after);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cleaning_leaves_no_orphan_on_any_body),
        cmocka_unit_test(cleaning_leaves_no_orphan_in_pure_noise),
        cmocka_unit_test(a_cluster_of_two_stays_whether_edge_or_corner_joins_it),
        cmocka_unit_test(an_orphan_joins_the_commonest_neighbour_of_its_own_sort),
        cmocka_unit_test(a_lone_lamp_stays_and_a_lone_tone_of_a_shining_area_goes),
        cmocka_unit_test(cleaning_a_loop_is_cleaning_each_of_its_frames),
        cmocka_unit_test(an_outline_is_all_that_touches_the_silhouette_with_an_edge_and_nothing_else),
        cmocka_unit_test(at_the_frames_edge_the_outline_ends),
        cmocka_unit_test(dither_reaches_the_tones_of_every_body_and_its_clouds_and_caps),
        cmocka_unit_test(dither_lies_between_neighbouring_bands_of_light_on_every_lit_body),
        cmocka_unit_test(a_straight_edge_between_two_tones_gets_one_row_of_checkers),
        cmocka_unit_test(a_wide_edge_has_less_of_a_tone_the_farther_away_it_is),
        cmocka_unit_test(coasts_lamps_and_thin_lines_stay_sharp),
        cmocka_unit_test(other_layers_are_left_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
