/* test_seeds.c -- faults of other generators, kept out of every body: few distinct seeds, a seed that changes
 * nothing, a seed that shows nothing, a loop that closes at one speed only. Codes are compared, before
 * colours, with rings off: the body's own kernel must make the difference. One size, the widest instruction
 * set of this processor. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <xxhash.h>

#include "renderer/base/attr.h"
#include "renderer/bodies.h"
#include "tests/unit/codes.h"

#define SIDE  16
#define SEEDS 10000

static struct backend *cpu;

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Frame 0 of a body at its defaults, SIDE * SIDE codes. */
static void draw(int body, uint64_t seed, uint32_t *codes)
{
    char query[80];
    snprintf(query, sizeof query, "type=%s&rings=off&pixels=%d", bodies[body].name, SIDE);
    static struct planet_desc desc;
    if (desc.pixels == 0 || desc.body != body)
        desc = desc_of(query);
    desc.seed = seed;
    struct scene scene;
    struct scene_turn turn = scene_turn_make(&desc, 0);
    scene_make(&desc, &scene);
    assert_int_equal(cpu->impl->draw(cpu, &scene, &turn, 1, NULL, codes), ERR_NONE);
}

static void ten_thousand_seeds_are_ten_thousand_pictures_of_every_body(void **state)
{
    (void)state;
    static uint64_t hashes[SEEDS];
    for (int body = 0; body < BODY_COUNT; body++) {
        uint32_t codes[SIDE * SIDE];
        for (int seed = 0; seed < SEEDS; seed++) {
            draw(body, (uint64_t)seed, codes);
            hashes[seed] = XXH3_64bits(codes, sizeof codes);
        }
        qsort(hashes, SEEDS, sizeof *hashes, compare);
        int same = 0;
        for (int i = 1; i < SEEDS; i++)
            same += hashes[i] == hashes[i - 1];
        if (same > 0)
            print_error("%s: %d of %d seeds show what another shows\n", bodies[body].name, same, SEEDS);
        assert_int_equal(same, 0);
    }
}

/* Of the frame, in per cent: the least that a small rock with a tail shows, and a disc with its halo. */
static void no_seed_of_any_body_is_blank(void **state)
{
    (void)state;
    static const uint64_t odd[] = {0, 1, UINT32_MAX, 1ull << 32, 1ull << 63, UINT64_MAX - 1, UINT64_MAX};
    for (int body = 0; body < BODY_COUNT; body++) {
        int least = SIDE * SIDE, most = 0;
        for (int i = 0; i < 1000 + (int)ARRAY_LEN(odd); i++) {
            uint32_t codes[SIDE * SIDE];
            draw(body, i < 1000 ? (uint64_t)i : odd[i - 1000], codes);
            int shown = 0;
            for (int j = 0; j < SIDE * SIDE; j++)
                shown += codes[j] != 0;
            least = shown < least ? shown : least;
            most = shown > most ? shown : most;
        }
        print_message("%-12s %2d..%2d %% of the frame\n", bodies[body].name, least * 100 / (SIDE * SIDE),
                      most * 100 / (SIDE * SIDE));
        assert_true(least * 100 >= 8 * SIDE * SIDE);
        assert_true(most * 100 <= 95 * SIDE * SIDE);
    }
}

/* The frame after the last is the first, bit for bit: at any speed, and wherever the loop begins. */
static void loops_of_every_body_close_at_every_speed(void **state)
{
    (void)state;
    for (int body = 0; body < BODY_COUNT; body++)
        for (int turns = -4; turns <= 4; turns++)
            for (int ratio = 0; ratio <= 4; ratio++) {
                char query[160];
                snprintf(query, sizeof query, "type=%s&seed=%d&pixels=%d&format=gif&frames=7",
                         bodies[body].name, turns * 5 + ratio + 20, SIDE);
                struct planet_desc desc = desc_of(query);
                desc.turns = turns;
                desc.cloud_ratio = ratio;
                desc.phase_micro = 123457;
                struct scene scene;
                struct scene_turn both[] = {scene_turn_make(&desc, 0), scene_turn_make(&desc, desc.frames)};
                uint32_t codes[2][SIDE * SIDE];
                scene_make(&desc, &scene);
                assert_int_equal(cpu->impl->draw(cpu, &scene, both, 2, NULL, codes[0]), ERR_NONE);
                assert_memory_equal(codes[0], codes[1], sizeof codes[0]);
            }
}

/* Islands in wide seas: neither water alone nor one continent. */
static void land_of_every_ocean_is_five_to_thirty_five_per_cent(void **state)
{
    (void)state;
    for (int seed = 0; seed < 200; seed++) {
        char query[80];
        int side, disc = 0, land = 0;
        snprintf(query, sizeof query, "type=ocean&rings=off&pixels=64&seed=%d", seed);
        uint32_t *codes = codes_of_query(query, &side);
        for (int i = 0; i < side * side; i++)
            if (KIND_OF(codes[i]) == KIND_PLANET) {
                disc++;
                land += STEP_OF(codes[i]) >= 4 && STEP_OF(codes[i]) <= 6; /* beach, green, forest */
            }
        free(codes);
        assert_in_range(land * 100, 5 * disc, 35 * disc);
    }
}

static int open_cpu(void **state)
{
    (void)state;
    char reason[256];
    return cpu_backend_open("", NULL, &cpu, reason) ? -1 : 0;
}

static int close_cpu(void **state)
{
    (void)state;
    cpu->impl->destroy(cpu);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_thousand_seeds_are_ten_thousand_pictures_of_every_body),
        cmocka_unit_test(no_seed_of_any_body_is_blank),
        cmocka_unit_test(loops_of_every_body_close_at_every_speed),
        cmocka_unit_test(land_of_every_ocean_is_five_to_thirty_five_per_cent),
    };
    return cmocka_run_group_tests(tests, open_cpu, close_cpu);
}
