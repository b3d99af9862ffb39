/* test_worlds.c -- the spheres that came after the documents' six: ocean, dry, rock, storm, eyeball, city;
 * and rivers. */
#include "tests/unit/ask.h"

#include "renderer/bodies.h"
#include "renderer/palette.h"
#include "renderer/renderer.h"
#include "tests/unit/codes.h"

static const int worlds[] = {BODY_OCEAN, BODY_DRY, BODY_ROCK, BODY_STORM, BODY_EYEBALL, BODY_CITY};
#define WORLD_COUNT ((int)(sizeof worlds / sizeof *worlds))

static size_t bytes_of(const struct planet_desc *d)
{
    return (size_t)d->pixels * (size_t)d->pixels * sizeof(uint32_t);
}

/* Pixels of the planet, by ground step. */
struct count {
    int disc, step[16], craters, lamps;
};

static struct count count_of(const char *query)
{
    int side;
    struct count n = {0};
    uint32_t *codes = codes_of_query(query, &side);
    for (int i = 0; i < side * side; i++) {
        if (KIND_OF(codes[i]) != KIND_PLANET)
            continue;
        n.disc++;
        n.step[STEP_OF(codes[i])]++;
        n.craters += (codes[i] & CODE_BOWL) != 0;
        n.lamps += (codes[i] & CODE_SHINE) != 0;
    }
    free(codes);
    return n;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* What each body is known by, in every seed, from where it is first seen. */
static void no_seed_is_blank(void **state)
{
    (void)state;
    enum { SEEDS = 300 };
    int islands = 9999, sea = 9999, tones = 9999, bowls = 9999, ovals = 9999, eye = 9999, night = 9999,
        lamps = 9999;
    for (int seed = 0; seed < SEEDS; seed++) {
        char query[100];
        struct count n;
        snprintf(query, sizeof query, "type=ocean&seed=%d&ice_caps=0", seed);
        n = count_of(query);
        islands = least(islands, 1000 * (n.step[5] + n.step[6]) / n.disc);
        sea = least(sea, 1000 * (n.step[0] + n.step[1] + n.step[2] + n.step[3]) / n.disc);
        snprintf(query, sizeof query, "type=dry&seed=%d", seed);
        n = count_of(query);
        int seen = 0;
        for (int step = 1; step <= 5; step++)
            seen += n.step[step] > n.disc / 100;
        tones = least(tones, seen);
        snprintf(query, sizeof query, "type=rock&seed=%d", seed);
        n = count_of(query);
        bowls = least(bowls, 1000 * n.craters / n.disc);
        snprintf(query, sizeof query, "type=storm&seed=%d", seed);
        n = count_of(query);
        ovals = least(ovals, 1000 * (n.step[6] + n.step[7]) / n.disc);
        snprintf(query, sizeof query, "type=eyeball&seed=%d", seed);
        n = count_of(query);
        eye = least(eye, 1000 * (n.step[6] + n.step[7]) / n.disc);
        night = least(night, 1000 * (n.step[0] + n.step[1]) / n.disc);
        snprintf(query, sizeof query, "type=city&seed=%d&light_elevation=0", seed);
        n = count_of(query);
        lamps = least(lamps, 1000 * n.lamps / n.disc);
    }
    print_message(
        "least of %d seeds, per mille: islands %d, sea %d, crater walls %d, ovals %d, eye %d, night %d, "
        "lamps %d; tones of dry %d\n",
        SEEDS, islands, sea, bowls, ovals, eye, night, lamps, tones);
    assert_true(islands >= 5);
    assert_true(sea >= 300);
    assert_true(tones >= 3);
    assert_true(bowls >= 3);
    assert_true(ovals >= 15);
    assert_true(eye >= 50);
    assert_true(night >= 100);
    assert_true(lamps >= 3);
}

static void loops_close(void **state)
{
    (void)state;
    for (int w = 0; w < WORLD_COUNT; w++) {
        char query[100];
        snprintf(query, sizeof query, "type=%s&format=gif&frames=7&turns=-2&phase=0.3&pixels=48",
                 bodies[worlds[w]].name);
        struct planet_desc desc = desc_of(query);
        uint32_t *first = codes_of(&desc, 0), *last = codes_of(&desc, desc.frames);
        uint32_t *middle = codes_of(&desc, 3);
        assert_memory_equal(first, last, bytes_of(&desc));
        assert_int_not_equal(memcmp(first, middle, bytes_of(&desc)), 0);
        free(first);
        free(last);
        free(middle);
    }
}

/* Colours of the first frame, bytes_of() of them; free() them. */
static uint32_t *pixels_of(struct renderer *renderer, struct planet_desc desc)
{
    struct frame_set set;
    desc.frames = 1;
    assert_int_equal(renderer_draw(renderer, &desc, NULL, &set), ERR_NONE);
    uint32_t *pixels = malloc(bytes_of(&desc));
    assert_non_null(pixels);
    for (size_t i = 0; i < bytes_of(&desc) / sizeof *pixels; i++)
        pixels[i] = set.colors[set.index[i]];
    frame_set_finish(&set);
    return pixels;
}

/* What a key keeps can be seen, at one end of its range or at the other. (`colors` need not: a picture may
 * have fewer.)
 */
static void each_parameter_in_the_key_changes_the_picture(void **state)
{
    (void)state;
    static const char *const others[] = {"type",    "seed",  "format", "pixels",     "zoom",
                                         "frames",  "fps",   "loops",  "atmosphere", "background",
                                         "palette", "layer", "rev",    "rings",      "colors"};
    struct renderer *renderer;
    assert_int_equal(renderer_open(&(struct renderer_desc){.backend = "cpu", .cpu_mask = ""}, &renderer),
                     ERR_NONE);
    for (int w = 0; w < WORLD_COUNT; w++)
        for (int i = 0; i < param_count; i++) {
            bool skip = params[i].kind == PARAM_SWEEP || param_searches(i); /* of many pictures */
            for (size_t k = 0; k < sizeof others / sizeof *others; k++)
                skip |= !strcmp(params[i].name, others[k]);
            if (skip)
                continue;
            char base[100];
            snprintf(base, sizeof base, "type=%s&seed=5&rings=on%s", bodies[worlds[w]].name,
                     strcmp(params[i].name, "phase") != 0 ? "&phase=0.3" : "");
            struct asked plain = ask(base);
            struct planet_desc desc = desc_of(base);
            uint32_t *pixels = pixels_of(renderer, desc);
            bool kept = false, seen = false;
            for (int end = 0; end < 3; end++) {
                char query[200], text[PARAM_TEXT_BYTES];
                int32_t low = params[i].minimum, high = params[i].maximum;
                param_text(i, end == 0 ? low : end == 1 ? high : low + (high - low) / 3, text);
                snprintf(query, sizeof query, "%s&%s=%s", base, params[i].name, text);
                struct asked changed = ask(query);
                assert_int_equal(changed.err, ERR_NONE);
                uint32_t *now = pixels_of(renderer, changed.request.planet);
                kept |= strcmp(changed.key.text, plain.key.text) != 0;
                seen |= memcmp(pixels, now, bytes_of(&desc)) != 0;
                free(now);
            }
            free(pixels);
            if (kept != seen)
                print_message("type=%s %s\n", bodies[worlds[w]].name, params[i].name);
            assert_int_equal(kept, seen);
        }
    renderer_close(renderer);
}

static void the_ground_of_an_eyeball_stands_still_to_the_light(void **state)
{
    (void)state;
    struct planet_desc bare = desc_of("type=eyeball&seed=3&cloud_cover=0&format=gif&frames=7");
    struct planet_desc clouded = desc_of("type=eyeball&seed=3&cloud_cover=0.8&format=gif&frames=7");
    uint32_t *first = codes_of(&bare, 0), *cloud = codes_of(&clouded, 0);
    for (int frame = 1; frame < bare.frames; frame++) {
        uint32_t *codes = codes_of(&bare, frame), *moved = codes_of(&clouded, frame);
        assert_memory_equal(codes, first, bytes_of(&bare));
        assert_int_not_equal(memcmp(moved, cloud, bytes_of(&clouded)), 0);
        free(codes);
        free(moved);
    }
    free(first);
    free(cloud);
    assert_same_key("type=eyeball&cloud_cover=0&phase=0.5&turns=2", "type=eyeball&cloud_cover=0");
    assert_same_key("type=eyeball&cloud_ratio=0&phase=0.5", "type=eyeball&cloud_ratio=0&turns=3");
    assert_other_key("type=eyeball&phase=0.5", "type=eyeball");
}

static void the_eye_looks_at_the_light_wherever_it_stands(void **state)
{
    (void)state;
    for (int azimuth = -180; azimuth < 180; azimuth += 45) {
        char query[100];
        int side, eye = 0, on_its_side = 0;
        snprintf(query, sizeof query, "type=eyeball&seed=4&light_azimuth=%d&phase=0.4", azimuth);
        struct planet_desc desc = desc_of(query);
        struct scene scene;
        scene_make(&desc, &scene);
        uint32_t *codes = codes_of_query(query, &side);
        for (int i = 0; i < side * side; i++) {
            int row = i / side;
            float x = (float)(i % side) - (float)side / 2, y = (float)side / 2 - (float)row;
            if (KIND_OF(codes[i]) == KIND_PLANET && STEP_OF(codes[i]) >= 6) {
                eye++;
                on_its_side += x * scene.light_x + y * scene.light_y > 0;
            }
        }
        free(codes);
        assert_true(eye > 100);
        assert_true(on_its_side > eye * 9 / 10);
    }
}

static void lamps_shine_only_in_the_dark_and_in_their_own_colour(void **state)
{
    (void)state;
    const struct body_info *city = &bodies[BODY_CITY];
    for (int seed = 0; seed < 20; seed++) {
        char query[100];
        int side, lamps = 0;
        snprintf(query, sizeof query, "type=city&seed=%d&light_elevation=10&rings=%s", seed,
                 seed % 2 ? "on" : "off");
        struct planet_desc desc = desc_of(query);
        uint32_t *codes = codes_of_query(query, &side);
        for (int i = 0; i < side * side; i++) {
            uint32_t c = codes[i], step = STEP_OF(c);
            if (!(c & CODE_SHINE)) {
                assert_true(KIND_OF(c) != KIND_PLANET || (step != 6 && step != 7));
                continue;
            }
            lamps++;
            assert_int_equal(KIND_OF(c), KIND_PLANET);
            assert_int_equal(BAND_OF(c), 0);
            assert_int_equal(COVER_OF(c), COVER_NONE);
            assert_true(step == 6 || step == 7);
            uint32_t color = palette_color(&desc, c);
            assert_int_equal(RGBA_R(color) << 16 | RGBA_G(color) << 8 | RGBA_B(color), city->ramp[step]);
        }
        free(codes);
        assert_true(lamps > 0);
    }
}

static void rivers_turn_land_into_water_and_more_of_them_more_of_it(void **state)
{
    (void)state;
    for (int seed = 0; seed < 10; seed++) {
        int water[3], disc = 0;
        for (int i = 0; i < 3; i++) {
            char query[100];
            snprintf(query, sizeof query, "seed=%d&ice_caps=0&cloud_cover=0&rivers=%g", seed, i * 0.5);
            struct count n = count_of(query);
            water[i] = n.step[0] + n.step[1];
            disc = n.disc;
        }
        assert_true(water[1] > water[0]);
        assert_true(water[2] > water[1]);
        assert_true(2 * (disc - water[2]) > disc - water[0]); /* half of the land remains, at least */
    }
}

/* Only land becomes water: everything else of the code is as it was. */
static void rivers_change_nothing_but_the_land(void **state)
{
    (void)state;
    int side;
    uint32_t *without = codes_of_query("seed=6&pixels=128", &side);
    uint32_t *with = codes_of_query("seed=6&pixels=128&rivers=0.6", &side);
    int carved = 0;
    for (int i = 0; i < side * side; i++) {
        assert_int_equal(without[i] & ~CODE_STEP_MASK, with[i] & ~CODE_STEP_MASK);
        if (without[i] == with[i])
            continue;
        carved++;
        assert_int_equal(STEP_OF(with[i]), 1);
        assert_in_range(STEP_OF(without[i]), 2, 5);
    }
    assert_in_range(carved, 100, 3000);
    free(without);
    free(with);
}

static void rivers_are_in_the_key_of_bodies_that_have_them(void **state)
{
    (void)state;
    assert_same_key("rivers=0", "");
    assert_other_key("rivers=0.5", "");
    assert_other_key("type=ocean&rivers=0.5", "type=ocean");
    assert_other_key("type=dry&rivers=0", "type=dry");
    assert_same_key("type=moon&rivers=0.5", "type=moon");
    assert_same_key("type=gas&rivers=0.5", "type=gas");
    assert_same_key("type=eyeball&rivers=0.5", "type=eyeball");
}

static void ramps_have_a_colour_for_each_step(void **state)
{
    (void)state;
    for (int w = 0; w < WORLD_COUNT; w++) {
        const struct body_info *body = &bodies[worlds[w]];
        for (int step = 0; step < BODY_STEPS_MAX; step++)
            assert_int_equal(body->ramp[step] != 0, step < body->steps);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_seed_is_blank),
        cmocka_unit_test(loops_close),
        cmocka_unit_test(each_parameter_in_the_key_changes_the_picture),
        cmocka_unit_test(the_ground_of_an_eyeball_stands_still_to_the_light),
        cmocka_unit_test(the_eye_looks_at_the_light_wherever_it_stands),
        cmocka_unit_test(lamps_shine_only_in_the_dark_and_in_their_own_colour),
        cmocka_unit_test(rivers_turn_land_into_water_and_more_of_them_more_of_it),
        cmocka_unit_test(rivers_change_nothing_but_the_land),
        cmocka_unit_test(rivers_are_in_the_key_of_bodies_that_have_them),
        cmocka_unit_test(ramps_have_a_colour_for_each_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
