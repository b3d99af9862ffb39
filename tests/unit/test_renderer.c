/* test_renderer.c -- choosing a backend, and what a frame set promises. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "renderer/base/pool.h"
#include "renderer/bodies.h"
#include "renderer/palette.h"
#include "tests/unit/codes.h"

static struct renderer *open_with(const char *backend, const char *mask, struct pool *pool)
{
    struct renderer_desc desc = renderer_desc_default;
    struct renderer *r = NULL;
    desc.backend = backend;
    desc.cpu_mask = mask;
    desc.pool = pool;
    assert_int_equal(renderer_open(&desc, &r), ERR_NONE);
    return r;
}

static void an_unknown_backend_or_mask_is_refused(void **state)
{
    (void)state;
    struct renderer_desc desc = renderer_desc_default;
    struct renderer *r = NULL;
    desc.backend = "vulkan";
    assert_int_equal(renderer_open(&desc, &r), ERR_BACKEND_UNKNOWN);
    desc.backend = "cpu";
    desc.cpu_mask = "mmx";
    assert_int_equal(renderer_open(&desc, &r), ERR_CONFIG);
#if defined(__x86_64__)
    desc.cpu_mask = "neon";
    assert_int_equal(renderer_open(&desc, &r), ERR_CONFIG);
#endif
    assert_null(r);
}

static void a_named_backend_never_falls_back(void **state)
{
    (void)state;
    struct renderer_desc desc = renderer_desc_default;
    struct renderer *r = NULL;
    struct renderer_status status;
    desc.backend = "gl"; /* a hardware GPU: there may be one */
    enum err err = renderer_open(&desc, &r);
    if (!err) {
        renderer_status(r, &status);
        assert_string_equal(status.backend, "gl");
        renderer_close(r);
    } else {
        assert_true(err == ERR_NO_DEVICE || err == ERR_SELF_TEST);
    }
}

static void auto_draws_and_says_with_what(void **state)
{
    (void)state;
    struct renderer *r = open_with("auto", "", NULL);
    struct renderer_status status;
    renderer_status(r, &status);
    assert_true(status.self_test_ok);
    assert_true(!strcmp(status.backend, "cpu") || !strcmp(status.backend, "gl"));
    if (!strcmp(status.backend, "cpu"))
        assert_true(strlen(status.reason) > 5); /* why it is not the GPU */
    assert_true(strlen(status.device) > 3);
    renderer_close(r);
}

static void check_invariants(const struct frame_set *f)
{
    size_t count = (size_t)f->side * (size_t)f->side * (size_t)f->frames;
    char *used = calloc((size_t)f->color_count, 1);
    for (size_t i = 0; i < count; i++) {
        assert_true(f->index[i] < f->color_count);
        used[f->index[i]] = 1;
    }
    for (int i = 0; i < f->color_count; i++) {
        assert_true(used[i]);
        assert_true(RGBA_A(f->colors[i]) > 0 || f->colors[i] == 0);
        for (int j = 0; j < i && f->color_count < 3000; j++)
            assert_true(f->colors[i] != f->colors[j]);
    }
    free(used);
}

static void each_color_is_used_and_listed_once(void **state)
{
    (void)state;
    static const char *const queries[] = {"",
                                          "type=gas&rings=on",
                                          "layer=grid&pixels=256",
                                          "layer=height",
                                          "shade_steps=16",
                                          "background=000000",
                                          "palette=ffffff,ffffff,ffffff",
                                          "type=moon&format=gif&frames=9"};
    struct renderer *r = open_with("cpu", "", NULL);
    for (size_t i = 0; i < ARRAY_LEN(queries); i++) {
        struct planet_desc desc = desc_of(queries[i]);
        struct frame_set f;
        assert_int_equal(renderer_draw(r, &desc, NULL, &f), ERR_NONE);
        check_invariants(&f);
        frame_set_finish(&f);
    }
    renderer_close(r);
}

static void an_idle_pool_changes_no_pixel(void **state)
{
    (void)state;
    struct pool *pool = NULL;
    assert_int_equal(pool_create(3, &pool), ERR_NONE);
    struct renderer *alone = open_with("cpu", "", NULL), *helped = open_with("cpu", "", pool);
    struct planet_desc desc = desc_of("format=gif&frames=7&pixels=301&seed=pool&rings=on");
    struct frame_set a, b;
    assert_int_equal(renderer_draw(alone, &desc, NULL, &a), ERR_NONE);
    assert_int_equal(renderer_draw(helped, &desc, NULL, &b), ERR_NONE);
    assert_int_equal(a.color_count, b.color_count);
    assert_memory_equal(a.colors, b.colors, (size_t)a.color_count * sizeof *a.colors);
    assert_memory_equal(a.index, b.index, sizeof *a.index * 7 * 301 * 301);
    frame_set_finish(&a);
    frame_set_finish(&b);
    renderer_close(alone);
    renderer_close(helped);
    pool_destroy(pool);
}

static void a_cancelled_draw_gives_nothing(void **state)
{
    (void)state;
    struct renderer *r = open_with("cpu", "", NULL);
    struct planet_desc desc = desc_of("");
    atomic_bool cancel = true;
    struct frame_set untouched = {.side = 77}, f = untouched;
    assert_int_equal(renderer_draw(r, &desc, &cancel, &f), ERR_CANCELLED);
    assert_memory_equal(&f, &untouched, sizeof f);
    renderer_close(r);
}

struct many {
    struct renderer *r;
    uint64_t sum;
};

static void *draw_some(void *ctx)
{
    struct many *m = ctx;
    for (int i = 0; i < 20; i++) {
        char query[80];
        struct frame_set f;
        snprintf(query, sizeof query, "type=random&seed=%d&pixels=48", i);
        struct planet_desc desc = desc_of(query);
        if (renderer_draw(m->r, &desc, NULL, &f))
            return NULL;
        for (int p = 0; p < 48 * 48; p++)
            m->sum = (m->sum ^ f.colors[f.index[p]]) * 0x100000001b3u;
        frame_set_finish(&f);
    }
    return NULL;
}

static void any_number_of_threads_may_draw(void **state)
{
    (void)state;
    struct renderer *r = open_with("cpu", "", NULL);
    struct many many[6];
    pthread_t threads[6];
    for (int i = 0; i < 6; i++) {
        many[i] = (struct many){r, 1};
        pthread_create(&threads[i], NULL, draw_some, &many[i]);
    }
    for (int i = 0; i < 6; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 6; i++)
        assert_true(many[i].sum == many[0].sum && many[i].sum != 1);
    renderer_close(r);
}

static void a_palette_is_spread_over_the_ramp(void **state)
{
    (void)state;
    struct planet_desc d = desc_of("palette=000000,ffffff&shade_steps=1");
    uint32_t full = 1u << 6;
    for (uint32_t step = 0; step < 6; step++) {
        uint32_t c = palette_color(&d, 0x4000u | full | step);
        assert_int_equal(RGBA_R(c), step < 3 ? 0 : 255);
    }
    d = desc_of("palette=010000,020000,030000,040000,050000,060000&shade_steps=1");
    for (uint32_t step = 0; step < 6; step++) /* 1.08 in full light */
        assert_int_equal(RGBA_R(palette_color(&d, 0x4000u | full | step)), (int)((step + 1) * 1.08 + 0.5));
}

static void the_formulas_of_light_are_the_documents(void **state)
{
    (void)state;
    struct planet_desc d = desc_of("type=desert"); /* ramp[0] = 733324 */
    uint32_t dark = palette_color(&d, 0x4000u);
    assert_int_equal(RGBA_R(dark), (int)(0x73 * 0.48 * 0.7 + 0.5));
    assert_int_equal(RGBA_G(dark), (int)(0x33 * 0.48 * 0.8 + 0.5));
    assert_int_equal(RGBA_B(dark), (int)(0x24 * 0.48 * 1.2 + 0.5));
    uint32_t full = palette_color(&d, 0x4000u | 3u << 6);
    assert_int_equal(RGBA_R(full), (int)(0x73 * 1.08 + 0.5));
    uint32_t shadowed = palette_color(&d, 0x4000u | 3u << 6 | 1u << 11);
    assert_int_equal(RGBA_R(shadowed), (int)(0x73 * 1.08 * 0.72 + 0.5));
    d = desc_of("type=moon");
    uint32_t bowl = palette_color(&d, 0x4000u | 3u << 6 | 1u << 4),
             rim = palette_color(&d, 0x4000u | 3u << 6 | 2u << 4);
    assert_int_equal(RGBA_R(bowl), (int)((bodies[BODY_MOON].ramp[0] >> 16) * 0.60 * 1.08 + 0.5));
    assert_int_equal(RGBA_R(rim), (int)((bodies[BODY_MOON].ramp[0] >> 16) * 1.28 * 1.08 + 0.5));
    d = desc_of("");
    assert_int_equal(RGBA_A(palette_color(&d, 0x8000u)), (int)(0.55 * 255 + 0.5));
}

static void the_null_backend_is_flat(void **state)
{
    (void)state;
    struct renderer *r = open_with("null", "", NULL);
    struct planet_desc desc = desc_of("pixels=16");
    struct frame_set f;
    assert_int_equal(renderer_draw(r, &desc, NULL, &f), ERR_NONE);
    assert_int_equal(f.color_count, 2);
    frame_set_finish(&f);
    renderer_close(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_unknown_backend_or_mask_is_refused),
        cmocka_unit_test(a_named_backend_never_falls_back),
        cmocka_unit_test(auto_draws_and_says_with_what),
        cmocka_unit_test(each_color_is_used_and_listed_once),
        cmocka_unit_test(an_idle_pool_changes_no_pixel),
        cmocka_unit_test(a_cancelled_draw_gives_nothing),
        cmocka_unit_test(any_number_of_threads_may_draw),
        cmocka_unit_test(a_palette_is_spread_over_the_ramp),
        cmocka_unit_test(the_formulas_of_light_are_the_documents),
        cmocka_unit_test(the_null_backend_is_flat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
