/* What gif_frames.c plans, checked on planes small enough to be read here, and by a viewer that knows nothing
 * of it. Threads: one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "renderer/encode/gif_frames.h"
#include "renderer/encode/gif_spell.h"

/* In these planes '.' is the transparent index. */
#define HOLE '.'

static void check_plan(const char *canvas, const char *frame, const char *next, int side,
                       struct gif_rect rect, bool clear)
{
    struct gif_step step;
    gif_frames_plan((const uint8_t *)canvas, (const uint8_t *)frame, (const uint8_t *)next, side, HOLE,
                    &step);
    assert_int_equal(step.rect.left, rect.left);
    assert_int_equal(step.rect.top, rect.top);
    assert_int_equal(step.rect.width, rect.width);
    assert_int_equal(step.rect.height, rect.height);
    assert_int_equal(step.clear, clear);
}

static void first_frame_is_cropped_to_what_is_opaque(void **state)
{
    (void)state;
    check_plan(NULL, "....", NULL, 2, (struct gif_rect){0, 0, 1, 1}, false);
    check_plan(NULL,
               "...."
               ".ab."
               "..c."
               "....",
               NULL, 4, (struct gif_rect){1, 1, 2, 2}, false);
    check_plan(NULL, "abcd", NULL, 2, (struct gif_rect){0, 0, 2, 2}, false);
}

static void later_frame_is_cropped_to_what_changed(void **state)
{
    (void)state;
    check_plan("aaaaaaaaa", "aaabaaaca", NULL, 3, (struct gif_rect){0, 1, 2, 2}, false);
    check_plan("a.......b", "a...x...b", NULL, 3, (struct gif_rect){1, 1, 1, 1}, false);
}

static void equal_frame_is_one_pixel(void **state)
{
    (void)state;
    check_plan("abcabcabc", "abcabcabc", "abcabcabx", 3, (struct gif_rect){0, 0, 1, 1}, false);
}

static void vanishing_pixels_are_cleared_by_the_frame_before(void **state)
{
    (void)state;
    /* Nothing changes in this frame, but the b will be gone in the next. */
    check_plan("a.......b", "a.......b", "a........", 3, (struct gif_rect){2, 2, 1, 1}, true);
    /* The rectangle covers the change (top left) and the loss (bottom right). */
    check_plan("a.......b", "c.......b", "c........", 3, (struct gif_rect){0, 0, 3, 3}, true);
}

static void pixels_that_only_change_colour_are_not_cleared(void **state)
{
    (void)state;
    check_plan("a.......b", "a.......b", "a.......c", 3, (struct gif_rect){0, 0, 1, 1}, false);
}

static void cleared_rectangle_is_empty_on_the_canvas(void **state)
{
    (void)state;
    uint8_t canvas[9];
    struct gif_step step = {.rect = {1, 1, 2, 2}, .clear = true};
    gif_frames_advance(canvas, (const uint8_t *)"abcdefghi", 3, HOLE, &step);
    assert_memory_equal(canvas, "abcd..g..", 9);
    step.clear = false;
    gif_frames_advance(canvas, (const uint8_t *)"abcdefghi", 3, HOLE, &step);
    assert_memory_equal(canvas, "abcdefghi", 9);
}

static void cut_offers_a_hole_only_where_the_canvas_shows_the_same(void **state)
{
    (void)state;
    uint8_t plain[16], other[16];
    struct gif_step step = {.rect = {1, 0, 2, 2}};
    gif_frames_cut((const uint8_t *)"abcd.fghi", (const uint8_t *)"axcd.fghi", 3, HOLE, &step, 1, plain,
                   other);
    assert_memory_equal(plain, "xc.f", 4);
    assert_memory_equal(other, "x...", 4);
    gif_frames_cut(NULL, (const uint8_t *)"axcd.fghi", 3, HOLE, &step, 1, plain, other);
    assert_memory_equal(other, "xc.f", 4);
    gif_frames_cut((const uint8_t *)"abcd.fghi", (const uint8_t *)"axcd.fghi", 3, GIF_OPAQUE, &step, 1, plain,
                   other);
    assert_memory_equal(other, "xc.f", 4);
}

static void cut_repeats_each_pixel_by_the_zoom(void **state)
{
    (void)state;
    uint8_t plain[36], other[36];
    struct gif_step step = {.rect = {1, 1, 2, 2}};
    gif_frames_cut((const uint8_t *)"abcdefghz", (const uint8_t *)"abcdefghi", 3, HOLE, &step, 3, plain,
                   other);
    assert_memory_equal(plain,
                        "eeefff"
                        "eeefff"
                        "eeefff"
                        "hhhiii"
                        "hhhiii"
                        "hhhiii",
                        36);
    assert_memory_equal(other,
                        "......"
                        "......"
                        "......"
                        "...iii"
                        "...iii"
                        "...iii",
                        36);
}

static void delays_add_up_to_the_exact_length(void **state)
{
    (void)state;
    for (int fps = 1; fps <= 50; fps++) {
        int total = 0;
        for (int i = 0; i < 240; i++) {
            int delay = gif_frames_delay_cs(i, fps);
            assert_in_range(delay, 2, 100);
            total += delay;
            /* |total - 100 n / fps| <= 1/2, in whole numbers */
            assert_in_range(2 * total * fps - 200 * (i + 1) + fps, 0, 2 * fps);
        }
    }
}

static void delays_of_120_frames_at_15_make_eight_seconds(void **state)
{
    (void)state;
    int total = 0, sevens = 0;
    for (int i = 0; i < 120; i++) {
        total += gif_frames_delay_cs(i, 15);
        sevens += gif_frames_delay_cs(i, 15) == 7;
    }
    assert_int_equal(total, 800);
    assert_int_equal(sevens, 80);
}

/* A plain viewer: draws what the step says, pixel by pixel, then disposes; loops twice without starting anew.
 */
static void show_all(uint8_t planes[][36], int frames, int side, bool spell)
{
    uint8_t canvas[36], screen[36], plain[36], other[36];
    struct gif_speller *speller = gif_speller_create(2);
    assert_non_null(speller);
    memset(screen, 0, sizeof(screen));
    for (int turn = 0; turn < 2; turn++) {
        for (int f = 0; f < frames; f++) {
            struct gif_step step;
            gif_frames_plan(f ? canvas : NULL, planes[f], planes[(f + 1) % frames], side, 0, &step);
            gif_frames_cut(f ? canvas : NULL, planes[f], side, 0, &step, 1, plain, other);
            const struct gif_rect *r = &step.rect;
            if (spell)
                gif_spell(speller, plain, other, (size_t)r->width * (size_t)r->height);
            for (int y = 0; y < r->height; y++)
                for (int x = 0; x < r->width; x++)
                    if (plain[y * r->width + x])
                        screen[(r->top + y) * side + r->left + x] = plain[y * r->width + x];
            assert_memory_equal(screen, planes[f], (size_t)(side * side));
            for (int y = 0; step.clear && y < r->height; y++)
                memset(screen + (r->top + y) * side + r->left, 0, (size_t)r->width);
            gif_frames_advance(canvas, planes[f], side, 0, &step);
            assert_memory_equal(screen, canvas, (size_t)(side * side));
        }
    }
    free(speller);
}

static void every_random_animation_shows_exactly_and_loops(void **state)
{
    (void)state;
    uint32_t random = 1;
    for (int round = 0; round < 4000; round++) {
        uint8_t planes[5][36];
        int side = 1 + round % 6, frames = 1 + round / 6 % 5;
        for (int f = 0; f < frames; f++) {
            for (int i = 0; i < side * side; i++) {
                random = random * 1664525u + 1013904223u;
                bool stays = f && random >> 28 < 8;
                planes[f][i] = stays ? planes[f - 1][i] : (uint8_t)(random >> 20 & 3);
            }
        }
        show_all(planes, frames, side, round % 2);
    }
}

static void spelling_chooses_one_of_the_two_for_each_pixel(void **state)
{
    (void)state;
    enum { COUNT = 60000 }; /* enough for the dictionary to fill and start anew many times */
    uint8_t *plain = malloc(COUNT), *other = malloc(COUNT), *before = malloc(COUNT);
    assert_true(plain && other && before);
    uint32_t random = 7;
    for (int bits = 2; bits <= 8; bits++) {
        struct gif_speller *speller = gif_speller_create(bits);
        assert_non_null(speller);
        for (int i = 0; i < COUNT; i++) {
            random = random * 1664525u + 1013904223u;
            plain[i] = before[i] = (uint8_t)(random >> 24 & ((1u << bits) - 1));
            other[i] = random >> 22 & 1 ? 0 : plain[i];
        }
        gif_spell(speller, plain, other, COUNT);
        for (int i = 0; i < COUNT; i++)
            assert_true(plain[i] == before[i] || plain[i] == other[i]);
        free(speller);
    }
    free(plain);
    free(other);
    free(before);
}

static void spelling_makes_long_runs_of_what_may_be_skipped(void **state)
{
    (void)state;
    uint8_t plain[4096], other[4096];
    uint32_t random = 3;
    for (int i = 0; i < 4096; i++) {
        random = random * 1664525u + 1013904223u;
        plain[i] = (uint8_t)(1 + (random >> 16) % 63);
        other[i] = 0;
    }
    struct gif_speller *speller = gif_speller_create(6);
    assert_non_null(speller);
    gif_spell(speller, plain, other, 4096);
    int skipped = 0;
    for (int i = 0; i < 4096; i++)
        skipped += plain[i] == 0;
    free(speller);
    assert_in_range(skipped, 3900, 4096);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_frame_is_cropped_to_what_is_opaque),
        cmocka_unit_test(later_frame_is_cropped_to_what_changed),
        cmocka_unit_test(equal_frame_is_one_pixel),
        cmocka_unit_test(vanishing_pixels_are_cleared_by_the_frame_before),
        cmocka_unit_test(pixels_that_only_change_colour_are_not_cleared),
        cmocka_unit_test(cleared_rectangle_is_empty_on_the_canvas),
        cmocka_unit_test(cut_offers_a_hole_only_where_the_canvas_shows_the_same),
        cmocka_unit_test(cut_repeats_each_pixel_by_the_zoom),
        cmocka_unit_test(delays_add_up_to_the_exact_length),
        cmocka_unit_test(delays_of_120_frames_at_15_make_eight_seconds),
        cmocka_unit_test(every_random_animation_shows_exactly_and_loops),
        cmocka_unit_test(spelling_chooses_one_of_the_two_for_each_pixel),
        cmocka_unit_test(spelling_makes_long_runs_of_what_may_be_skipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
