/* test_ramp.c -- shading=ramp: what a pixel artist asks of tones, as numbers. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "renderer/bodies.h"
#include "renderer/oklab.h"
#include "renderer/palette.h"
#include "renderer/ramp.h"
#include "renderer/scene.h"
#include "tests/unit/codes.h"

static bool lit_from_outside(int body, int step)
{
    return !(bodies[body].traits & BODY_SHINES) && !(bodies[body].glow_mask >> step & 1);
}

static uint32_t rgb_of(uint32_t rgba)
{
    return (uint32_t)RGBA_R(rgba) << 16 | (uint32_t)RGBA_G(rgba) << 8 | RGBA_B(rgba);
}

/* The tone of a ground step in a band of a body with the documents' three. */
static struct oklab tone(int body, int step, unsigned band)
{
    struct planet_desc d = {.body = body,
                            .shade_steps = 3,
                            .shading = SHADING_RAMP,
                            .outline = COLOR_NONE,
                            .atmosphere = COLOR_AUTO,
                            .background = COLOR_NONE};
    return oklab_of(rgb_of(palette_color(&d, CODE_PLANET | (uint32_t)step | band << CODE_BAND_SHIFT)));
}

static void each_band_is_lighter_than_the_one_before_and_the_dark_is_not_black(void **state)
{
    (void)state;
    for (int body = 0; body < BODY_COUNT; body++)
        for (int step = 0; step < bodies[body].steps; step++) {
            if (!lit_from_outside(body, step))
                continue;
            assert_true(tone(body, step, 0).l > 0.16);
            for (unsigned band = 1; band <= 3; band++)
                assert_true(tone(body, step, band).l > tone(body, step, band - 1).l + 0.02);
        }
}

/* Bluer or more violet: along the direction of violet-blue, beyond what darkening alone would leave. */
static void shadows_turn_to_violet_blue_and_keep_colour(void **state)
{
    (void)state;
    struct hue violet = hue_of_degrees(285);
    for (int body = 0; body < BODY_COUNT; body++)
        for (int step = 0; step < bodies[body].steps; step++) {
            if (!lit_from_outside(body, step))
                continue;
            struct oklab dark = tone(body, step, 0), full = tone(body, step, 3);
            struct hue a = hue_of(dark), b = hue_of(full);
            assert_true(a.a * violet.a + a.b * violet.b > b.a * violet.a + b.b * violet.b - 0.05);
            assert_true(oklab_chroma(dark) > 0.03);
        }
}

static void full_light_is_warmer_than_the_materials_own_colour(void **state)
{
    (void)state;
    static const uint32_t greys[] = {0x404040, 0x808080, 0xa0a0a0};
    for (int i = 0; i < 3; i++) {
        struct oklab lit = oklab_of(ramp_tone(greys[i], 'r', 1));
        assert_true(lit.b > 0.005);
        assert_true(lit.l > oklab_of(greys[i]).l);
    }
}

static void clouds_have_two_tones_in_the_light_and_two_in_the_shade(void **state)
{
    (void)state;
    for (int body = 0; body < BODY_COUNT; body++) {
        struct planet_desc d = desc_of("shading=ramp&shade_steps=8");
        uint32_t tones[64];
        int count = 0;
        d.body = body;
        if (!(bodies[body].traits & BODY_HAS_CLOUDS))
            continue;
        for (uint32_t cover = COVER_EDGE; cover <= COVER_CORE; cover++)
            for (uint32_t band = 0; band <= 8; band++)
                for (uint32_t step = 0; step < 3; step++) {
                    uint32_t c = palette_color(&d, CODE_PLANET | step | cover << CODE_COVER_SHIFT |
                                                       band << CODE_BAND_SHIFT);
                    int k = 0;
                    while (k < count && tones[k] != c)
                        k++;
                    tones[k] = c;
                    count += k == count;
                }
        assert_int_equal(count, 4);
    }
}

/* Shadows of clouds, hollows and rims are tones that the material has anyway. */
static void a_material_has_three_to_five_tones(void **state)
{
    (void)state;
    struct planet_desc d = desc_of("type=terrestrial&shading=ramp");
    uint32_t tones[16];
    int count = 0;
    for (uint32_t cover = COVER_NONE; cover <= COVER_SHADOW; cover++)
        for (uint32_t band = 0; band <= 3; band++) {
            uint32_t c =
                palette_color(&d, CODE_PLANET | 3u | cover << CODE_COVER_SHIFT | band << CODE_BAND_SHIFT);
            int k = 0;
            while (k < count && tones[k] != c)
                k++;
            tones[k] = c;
            count += k == count;
        }
    assert_in_range(count, 3, 5);
}

/* Light from the left: the last lit pixel of each row. It stands still down the disc, unless the ground bends
 * it. */
static int wandering(const char *query)
{
    int side, sum = 0, before = -1;
    uint32_t *codes = codes_of_query(query, &side);
    for (int y = side / 5; y < side * 4 / 5; y++) {
        int last = 0;
        for (int x = 0; x < side; x++)
            if (KIND_OF(codes[y * side + x]) == KIND_PLANET && BAND_OF(codes[y * side + x]))
                last = x;
        sum += before < 0 ? 0 : abs(last - before);
        before = last;
    }
    free(codes);
    return sum;
}

static void the_terminator_is_bent_by_the_ground(void **state)
{
    (void)state;
#define SIDE_LIT "pixels=100&light_azimuth=180&light_elevation=0&terminator=exact&dither=none&rings=off&type="
    assert_int_equal(wandering(SIDE_LIT "moon&shading=steps"), 0);
    assert_true(wandering(SIDE_LIT "moon&shading=ramp") > 10);
    assert_true(wandering(SIDE_LIT "gas&shading=ramp") > 10);
    assert_true(wandering(SIDE_LIT "ocean&shading=ramp") > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_band_is_lighter_than_the_one_before_and_the_dark_is_not_black),
        cmocka_unit_test(shadows_turn_to_violet_blue_and_keep_colour),
        cmocka_unit_test(full_light_is_warmer_than_the_materials_own_colour),
        cmocka_unit_test(clouds_have_two_tones_in_the_light_and_two_in_the_shade),
        cmocka_unit_test(a_material_has_three_to_five_tones),
        cmocka_unit_test(the_terminator_is_bent_by_the_ground),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
