/* test_split.c -- layers=split: every frame of every layer is in the joined set, in order. */
#include "tests/unit/ask.h"

#include <stdlib.h>

#include "api/split.h"
#include "renderer/renderer.h"

static struct renderer *renderer;
static int draws, failing_draw;

static enum err draw(struct file_artist *self, const struct planet_desc *desc, struct frame_set *ret_frames)
{
    if (++draws == failing_draw)
        return ERR_OOM;
    return renderer_draw(renderer, desc, self->cancel, ret_frames);
}

static struct file_artist artist = {draw, NULL};

static void each_layer_is_there_frame_by_frame(void **state)
{
    (void)state;
    static const char *const names[SPLIT_LAYERS] = {"color", "normal", "emission", "mask"};
    static const char *const looks[] = {"type=city&frames=3&rings=on",
                                        "type=comet&frames=1&background=203040",
                                        "type=moon&frames=2&colors=5"};
    for (size_t q = 0; q < ARRAY_LEN(looks); q++) {
        char query[128];
        struct frame_set all;
        snprintf(query, sizeof query, "format=sheet&layers=split&pixels=40&%s", looks[q]);
        struct asked a = ask(query);
        assert_int_equal(a.err, ERR_NONE);
        assert_int_equal(split_draw(&a.request, &artist, &all), ERR_NONE);
        size_t pixels = (size_t)1600 * (size_t)a.request.planet.frames;
        assert_int_equal(all.frames, SPLIT_LAYERS * a.request.planet.frames);
        for (int l = 0; l < SPLIT_LAYERS; l++) {
            snprintf(query, sizeof query, "format=sheet&pixels=40&layer=%s&%s", names[l], looks[q]);
            struct asked one = ask(query);
            struct frame_set set;
            assert_int_equal(renderer_draw(renderer, &one.request.planet, NULL, &set), ERR_NONE);
            for (size_t i = 0; i < pixels; i++)
                assert_int_equal(all.colors[all.index[(size_t)l * pixels + i]], set.colors[set.index[i]]);
            frame_set_finish(&set);
        }
        for (int c = 1; c < all.color_count; c++)
            assert_true(all.colors[c] != all.colors[c - 1]);
        frame_set_finish(&all);
    }
}

static void a_drawing_that_fails_is_the_end(void **state)
{
    (void)state;
    struct asked a = ask("format=sheet&layers=split&pixels=16&frames=2");
    for (failing_draw = 1; failing_draw <= SPLIT_LAYERS; failing_draw++) {
        struct frame_set all;
        draws = 0;
        assert_int_equal(split_draw(&a.request, &artist, &all), ERR_OOM);
        assert_int_equal(draws, failing_draw);
    }
    failing_draw = 0;
}

static void it_counts_as_what_it_is(void **state)
{
    (void)state;
    struct asked one = ask("format=sheet&frames=9&pixels=32"),
                 split = ask("format=sheet&frames=9&pixels=32&layers=split&columns=9");
    assert_int_equal(request_size(&split.request).drawn_pixels, 4 * request_size(&one.request).drawn_pixels);
    assert_int_equal(request_size(&split.request).file_pixels, 4 * request_size(&one.request).file_pixels);
    assert_int_equal(ask("format=sheet&frames=120&pixels=400").err, ERR_NONE);
    assert_int_equal(ask("format=sheet&frames=120&pixels=400&layers=split").err, ERR_PICTURE_SIZE);
    assert_int_equal(ask("format=atlas&frames=120&pixels=400&layers=split").err, ERR_PICTURE_SIZE);
    assert_int_equal(ask("format=sheet&layer=depth&layers=split").err, ERR_PARAM_COMBINATION);
    struct asked idle = ask("format=gif&layers=split"), gif = ask("format=gif");
    assert_string_equal(idle.key.text, gif.key.text);
}

static void layers_begin_rows_and_no_frame_stands_on_another(void **state)
{
    (void)state;
    for (int frames = 1; frames <= 12; frames++)
        for (int columns = 0; columns <= frames; columns++) {
            struct sheet_layout l = sheet_layout_make(frames, SPLIT_LAYERS, 8, columns, 1, 2);
            static bool taken[64][64];
            memset(taken, 0, sizeof taken);
            for (int i = 0; i < frames * SPLIT_LAYERS; i++) {
                struct sheet_place at = sheet_layout_place(&l, i);
                assert_true(at.x + 8 + 1 <= l.width_px && at.y + 8 + 1 <= l.height_px);
                assert_true(i % frames || at.x == 1);
                bool *cell = &taken[(at.y - 1) / 10][(at.x - 1) / 10];
                assert_false(*cell);
                *cell = true;
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_layer_is_there_frame_by_frame),
        cmocka_unit_test(a_drawing_that_fails_is_the_end),
        cmocka_unit_test(it_counts_as_what_it_is),
        cmocka_unit_test(layers_begin_rows_and_no_frame_stands_on_another),
    };
    struct renderer_desc desc = renderer_desc_default;
    desc.backend = "cpu";
    if (renderer_open(&desc, &renderer))
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    renderer_close(renderer);
    return failed;
}
