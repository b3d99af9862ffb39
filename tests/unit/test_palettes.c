/* test_palettes.c -- colours: Oklab, fixed palettes, palettes made from the seed, and fewer colours. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "renderer/bodies.h"
#include "renderer/oklab.h"
#include "renderer/palettes.h"
#include "renderer/renderer.h"
#include "tests/unit/codes.h"

static void oklab_goes_there_and_back(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 3000; i++) {
        uint32_t rgb = i * 0x9e3779b1u >> 8;
        uint32_t back = oklab_rgb(oklab_of(rgb));
        for (int k = 0; k < 24; k += 8)
            assert_in_range((rgb >> k & 255) + 1 - (back >> k & 255), 0, 2);
    }
    assert_true(oklab_of(0xffffff).l > 0.9999 && oklab_of(0xffffff).l < 1.0001);
}

static void draw(const char *query, struct frame_set *ret)
{
    struct planet_desc desc = desc_of(query);
    struct renderer_desc how = renderer_desc_default;
    struct renderer *r = NULL;
    how.backend = "cpu";
    assert_int_equal(renderer_open(&how, &r), ERR_NONE);
    assert_int_equal(renderer_draw(r, &desc, NULL, ret), ERR_NONE);
    renderer_close(r);
}

static void a_fixed_palette_is_all_that_the_picture_has(void **state)
{
    (void)state;
    for (int body = 0; body < BODY_COUNT; body++)
        for (int source = PALETTE_GENERATE + 1; source < PALETTE_SOURCE_COUNT; source++) {
            char query[96];
            struct frame_set f;
            snprintf(query, sizeof query, "type=%s&palette=%s&pixels=32", bodies[body].name,
                     palettes_name(source));
            draw(query, &f);
            for (int i = 0; i < f.color_count; i++) {
                uint32_t c = f.colors[i];
                uint32_t rgb = (uint32_t)RGBA_R(c) << 16 | (uint32_t)RGBA_G(c) << 8 | RGBA_B(c);
                if (c)
                    assert_int_equal(palettes_nearest(source, rgb), rgb);
                assert_true(c == 0 || RGBA_A(c) == 255);
            }
            frame_set_finish(&f);
        }
}

static void a_generated_palette_keeps_the_roles_readable(void **state)
{
    (void)state;
    for (int seed = 1; seed <= 300; seed++) {
        char query[80];
        struct scheme s;
        snprintf(query, sizeof query, "type=terrestrial&palette=generate&seed=%d", seed);
        struct planet_desc d = desc_of(query);
        palettes_scheme(&d, &s);
        assert_true(oklab_of(s.ramp[1]).l < oklab_of(s.ramp[3]).l); /* shallow sea, grass */
        assert_true(oklab_distance_squared(oklab_of(s.ramp[1]), oklab_of(s.ramp[3])) > 0.015);
        for (int i = 0; i < bodies[BODY_TERRESTRIAL].steps; i++)
            assert_true(oklab_of(s.ramp[i]).l < oklab_of(s.cloud).l);
        d.body = BODY_LAVA;
        palettes_scheme(&d, &s);
        for (int i = 2; i < bodies[BODY_LAVA].steps; i++)
            assert_true(oklab_of(s.ramp[1]).l > oklab_of(s.ramp[i]).l + 0.05);
        assert_true(oklab_chroma(oklab_of(s.ramp[1])) > 0.09);
    }
}

static void another_seed_is_another_palette(void **state)
{
    (void)state;
    uint32_t seen[100];
    for (int seed = 0; seed < 100; seed++) {
        char query[80];
        struct scheme s;
        snprintf(query, sizeof query, "type=gas&palette=generate&seed=%d", seed);
        struct planet_desc d = desc_of(query);
        palettes_scheme(&d, &s);
        seen[seed] = s.ramp[2];
        int same = 0;
        for (int other = 0; other < seed; other++)
            same += seen[other] == seen[seed];
        assert_in_range(same, 0, 2);
    }
}

static void colors_caps_what_is_drawn_and_moves_no_more_than_it_must(void **state)
{
    (void)state;
    static const char *const bases[] = {"type=terrestrial&rings=on", "type=star", "layer=grid&pixels=256",
                                        "layer=height", "background=204060"};
    for (size_t b = 0; b < sizeof bases / sizeof *bases; b++)
        for (int most = 1; most <= 256; most *= 4) {
            char query[96];
            struct frame_set full, f;
            snprintf(query, sizeof query, "%s&colors=%d", bases[b], most);
            draw(bases[b], &full);
            draw(query, &f);
            int shown = 0, all = 0;
            for (int i = 0; i < f.color_count; i++)
                shown += f.colors[i] != 0;
            for (int i = 0; i < full.color_count; i++)
                all += full.colors[i] != 0;
            assert_int_equal(shown, all < most ? all : most);
            for (int i = 0; i < f.side * f.side; i++) {
                assert_true(f.index[i] < f.color_count);
                assert_int_equal(f.colors[f.index[i]] == 0, full.colors[full.index[i]] == 0);
            }
            frame_set_finish(&full);
            frame_set_finish(&f);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(oklab_goes_there_and_back),
        cmocka_unit_test(a_fixed_palette_is_all_that_the_picture_has),
        cmocka_unit_test(a_generated_palette_keeps_the_roles_readable),
        cmocka_unit_test(another_seed_is_another_palette),
        cmocka_unit_test(colors_caps_what_is_drawn_and_moves_no_more_than_it_must),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
