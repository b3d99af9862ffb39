/* test_work.c -- estimates of processor time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "server/work.h"

static struct request asked(int pixels, int zoom, int frames, enum format format)
{
    struct request r;
    memset(&r, 0, sizeof(r));
    r.planet.pixels = pixels;
    r.planet.frames = frames;
    r.zoom = zoom;
    r.format = format;
    return r;
}

static void a_larger_picture_is_more_work(void **state)
{
    (void)state;
    struct work w;
    work_init(&w);
    uint64_t least = 0;
    for (int pixels = 8; pixels <= 1024; pixels++) {
        struct request r = asked(pixels, 1, 1, FORMAT_PNG);
        assert_true(work_estimate_ns(&w, &r) > least);
        least = work_estimate_ns(&w, &r);
    }
    least = 0;
    for (int frames = 1; frames <= 240; frames++) {
        struct request r = asked(96, 1, frames, FORMAT_GIF);
        assert_true(work_estimate_ns(&w, &r) > least);
        least = work_estimate_ns(&w, &r);
    }
    least = 0;
    for (int zoom = 1; zoom <= 32; zoom++) {
        struct request r = asked(64, zoom, 1, FORMAT_PNG);
        assert_true(work_estimate_ns(&w, &r) > least);
        least = work_estimate_ns(&w, &r);
    }
}

static void no_picture_is_free(void **state)
{
    (void)state;
    struct work w;
    work_init(&w);
    struct request small = asked(8, 1, 1, FORMAT_PNG), teaches = asked(1024, 1, 1, FORMAT_PNG);
    for (int i = 0; i < 1000; i++)
        work_learn(&w, &teaches, 0, 0);
    assert_true(work_estimate_ns(&w, &small) >= WORK_LEAST_NS);
    assert_true(work_estimate_ns(&w, &teaches) > WORK_LEAST_NS);
}

/* Learns from pictures that take so long a pixel, until the estimate is within a tenth. */
static int pictures_to_learn(struct work *w, const struct request *r, uint64_t render_ns, uint64_t encode_ns)
{
    uint64_t sum = render_ns + encode_ns;
    for (int n = 0; n < 10000; n++) {
        uint64_t estimate = work_estimate_ns(w, r) - WORK_LEAST_NS;
        if (estimate < sum + sum / 10 && estimate > sum - sum / 10)
            return n;
        work_learn(w, r, render_ns, encode_ns);
    }
    fail_msg("never learnt");
    return 0;
}

static void what_renders_take_is_learnt(void **state)
{
    (void)state;
    struct request r = asked(256, 1, 10, FORMAT_GIF);
    const uint64_t render_ms[] = {1, 10, 60, 600};
    for (size_t i = 0; i < ARRAY_LEN(render_ms); i++) {
        struct work w;
        work_init(&w);
        assert_in_range(pictures_to_learn(&w, &r, render_ms[i] * 1000000, 12000000), 0, 60);
    }
}

static void one_picture_that_was_held_up_changes_little(void **state)
{
    (void)state;
    struct work w;
    work_init(&w);
    struct request r = asked(64, 1, 1, FORMAT_PNG);
    pictures_to_learn(&w, &r, 300000, 50000);
    uint64_t before = work_estimate_ns(&w, &r);
    work_learn(&w, &r, 3600000000000u, 3600000000000u);
    assert_in_range(work_estimate_ns(&w, &r), before, 2 * before);
}

static void small_pictures_teach_nothing(void **state)
{
    (void)state;
    struct work w, before;
    work_init(&w);
    before = w;
    struct request small = asked(8, 1, 1, FORMAT_PNG);
    for (int i = 0; i < 100; i++)
        work_learn(&w, &small, 5000000, 5000000);
    assert_memory_equal(&w, &before, sizeof(w));
}

static void bodies_formats_and_layers_are_learnt_apart(void **state)
{
    (void)state;
    struct work w;
    work_init(&w);
    struct request r = asked(256, 1, 1, FORMAT_PNG), other = r, layer = r, gif = r;
    other.planet.body = BODY_GAS;
    layer.planet.layer = LAYER_CLOUDS;
    gif.format = FORMAT_GIF;
    uint64_t other_ns = work_estimate_ns(&w, &other), layer_ns = work_estimate_ns(&w, &layer);
    uint64_t encode_ns = 256 * 256 * w.encode_ps[FORMAT_PNG] / 1000; /* as expected */
    for (int i = 0; i < 100; i++)
        work_learn(&w, &r, 100000000, encode_ns);
    assert_true(work_estimate_ns(&w, &r) > 90000000);
    assert_int_equal(work_estimate_ns(&w, &other), other_ns);
    assert_int_equal(work_estimate_ns(&w, &layer), layer_ns);
    uint64_t png_ns = work_estimate_ns(&w, &r), gif_ns = work_estimate_ns(&w, &gif);
    for (int i = 0; i < 100; i++)
        work_learn(&w, &gif, 100000000, 500000000);
    assert_true(work_estimate_ns(&w, &gif) > gif_ns + 100000000);
    assert_in_range(work_estimate_ns(&w, &r), png_ns, png_ns + png_ns / 8);
}

static void estimates_stay_bounded_whatever_is_learnt(void **state)
{
    (void)state;
    struct work w;
    struct request largest = asked(1024, 1, 32, FORMAT_GIF), zoomed = asked(1024, 5, 1, FORMAT_PNG);
    work_init(&w);
    for (int i = 0; i < 2000; i++) {
        work_learn(&w, &largest, UINT64_MAX, UINT64_MAX);
        work_learn(&w, &zoomed, UINT64_MAX, UINT64_MAX);
    }
    assert_in_range(work_estimate_ns(&w, &largest), WORK_LEAST_NS, 3600000000000u);
    for (int i = 0; i < 2000; i++)
        work_learn(&w, &largest, 0, 0);
    assert_in_range(work_estimate_ns(&w, &largest), WORK_LEAST_NS + 1, 10000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_larger_picture_is_more_work),
        cmocka_unit_test(no_picture_is_free),
        cmocka_unit_test(what_renders_take_is_learnt),
        cmocka_unit_test(one_picture_that_was_held_up_changes_little),
        cmocka_unit_test(small_pictures_teach_nothing),
        cmocka_unit_test(bodies_formats_and_layers_are_learnt_apart),
        cmocka_unit_test(estimates_stay_bounded_whatever_is_learnt),
    };
    return cmocka_run_group_tests_name("work", tests, NULL, NULL);
}
