/* test_cycle.c -- palette_offset: colours that move on through the ground while nothing else does. */
#include "tests/unit/ask.h"

#include <stdlib.h>

#include "renderer/bodies.h"
#include "renderer/renderer.h"

#define SIDE   40
#define PIXELS (SIDE * SIDE)

static struct renderer *renderer;

static struct frame_set drawn(const char *query)
{
    char whole[256];
    struct frame_set set;
    snprintf(whole, sizeof whole, "pixels=40&seed=7&turns=0&%s", query);
    struct asked a = ask(whole);
    assert_string_equal(a.err ? a.fault.detail : "", "");
    assert_int_equal(renderer_draw(renderer, &a.request.planet, NULL, &set), ERR_NONE);
    return set;
}

/* Pixels in which frame i of one set differs from frame k of another. */
static int differing(const struct frame_set *a, int i, const struct frame_set *b, int k)
{
    int n = 0;
    for (int at = 0; at < PIXELS; at++)
        n += a->colors[a->index[i * PIXELS + at]] != b->colors[b->index[k * PIXELS + at]];
    return n;
}

static void colours_move_for_every_body_whose_seed_stands_still(void **state)
{
    (void)state;
    for (int b = 0; b < BODY_COUNT; b++) {
        char query[128];
        snprintf(query, sizeof query, "type=%s&format=gif&frames=8&palette_offset=1", bodies[b].name);
        struct frame_set set = drawn(query);
        int most = 0;
        for (int f = 1; f < 8; f++) {
            int n = differing(&set, 0, &set, f);
            most = n > most ? n : most;
        }
        if (most < 20)
            fail_msg("%s: %d pixels change", bodies[b].name, most);
        frame_set_finish(&set);
    }
}

/* Water stays water: nothing but the tones of a step's own role is ever in its place. */
static void each_colour_stays_among_those_of_its_role(void **state)
{
    (void)state;
    struct frame_set set = drawn(
                         "type=lava&format=gif&frames=4&palette_offset=1&atmosphere=off&layer=emission"),
                     still = drawn("type=lava&atmosphere=off&layer=emission");
    assert_true(differing(&set, 0, &set, 2) > 20);
    for (int f = 0; f < 4; f++)
        for (int at = 0; at < PIXELS; at++) {
            uint32_t here = set.colors[set.index[f * PIXELS + at]], was = still.colors[still.index[at]];
            assert_int_equal((here & 0xffffff) != 0, (was & 0xffffff) != 0); /* what glows goes on glowing */
        }
    assert_int_equal(set.color_count, still.color_count);
    frame_set_finish(&set);
    frame_set_finish(&still);
}

static void the_loop_closes_and_a_phase_is_a_frame_of_it(void **state)
{
    (void)state;
    for (int offset = -8; offset <= 8; offset += 4) {
        char query[128];
        snprintf(query, sizeof query, "type=gas&format=gif&frames=8&palette_offset=%d", offset);
        struct frame_set set = drawn(query);
        for (int f = 0; f <= 8; f++) {
            snprintf(query, sizeof query, "type=gas&palette_offset=%d&phase=%g", offset, f / 8.0);
            struct frame_set still = drawn(query);
            assert_int_equal(differing(&set, f % 8, &still, 0), 0);
            frame_set_finish(&still);
        }
        frame_set_finish(&set);
    }
}

static void more_cycles_are_faster_and_negative_ones_go_back(void **state)
{
    (void)state;
    struct frame_set once = drawn("type=star&format=gif&frames=8&palette_offset=1"),
                     twice = drawn("type=star&format=gif&frames=8&palette_offset=2"),
                     back = drawn("type=star&format=gif&frames=8&palette_offset=-1");
    for (int f = 0; f < 8; f++) {
        assert_int_equal(differing(&twice, f, &once, 2 * f % 8), 0);
        assert_int_equal(differing(&back, f, &once, (8 - f) % 8), 0);
    }
    frame_set_finish(&once);
    frame_set_finish(&twice);
    frame_set_finish(&back);
}

/* Facts count codes, which are of the ground and not of its colours. */
static void codes_are_those_of_the_ground(void **state)
{
    (void)state;
    struct frame_set plain = drawn("type=terrestrial"),
                     moved = drawn("type=terrestrial&palette_offset=3&phase=0.5");
    assert_int_equal(plain.code_count, moved.code_count);
    uint64_t sums[2] = {0, 0};
    for (int i = 0; i < plain.code_count; i++) {
        sums[0] += (uint64_t)plain.codes[i].code * plain.codes[i].count;
        sums[1] += (uint64_t)moved.codes[i].code * moved.codes[i].count;
    }
    assert_true(sums[0] == sums[1]);
    frame_set_finish(&plain);
    frame_set_finish(&moved);
}

static void where_nothing_moves_it_is_not_in_the_key(void **state)
{
    (void)state;
    static const char *const idle[] = {"type=gas", "type=gas&layer=bands&format=gif"};
    for (size_t i = 0; i < ARRAY_LEN(idle); i++) {
        char query[128];
        snprintf(query, sizeof query, "%s&palette_offset=2", idle[i]);
        struct asked with = ask(query), without = ask(idle[i]);
        assert_string_equal(with.key.text, without.key.text);
    }
    struct asked with = ask("type=gas&format=gif&palette_offset=2");
    assert_non_null(strstr(with.key.text, "palette_offset=2"));
    with = ask("type=gas&turns=0&phase=0.5&palette_offset=2");
    assert_non_null(strstr(with.key.text, "phase=0.5"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(colours_move_for_every_body_whose_seed_stands_still),
        cmocka_unit_test(each_colour_stays_among_those_of_its_role),
        cmocka_unit_test(the_loop_closes_and_a_phase_is_a_frame_of_it),
        cmocka_unit_test(more_cycles_are_faster_and_negative_ones_go_back),
        cmocka_unit_test(codes_are_those_of_the_ground),
        cmocka_unit_test(where_nothing_moves_it_is_not_in_the_key),
    };
    struct renderer_desc desc = renderer_desc_default;
    desc.backend = "cpu";
    if (renderer_open(&desc, &renderer))
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    renderer_close(renderer);
    return failed;
}
