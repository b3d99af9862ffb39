/* test_gl.c -- the GL backend: the same codes as the cpu backend, from any thread, whatever becomes of its
 * context, and nothing left behind. Runs on a software GL, or on a GPU where there is none; is skipped where
 * there is neither.
 *
 * renderer.c is included, not linked: a context has to be lost behind a renderer's back. */
#include <dirent.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "renderer/bodies.h"
#include "renderer/renderer.c"

#define SKIPPED 77

static bool software = true; /* which kind of GL this machine is tested with */
static uint64_t dice = 0x2545f4914f6cdd1du;

/* ---- Helpers ------------------------------------------------------------------------------------------- */

static uint64_t roll(void)
{
    dice ^= dice << 13;
    dice ^= dice >> 7;
    dice ^= dice << 17;
    return dice * 0x9e3779b97f4a7c15u >> 11;
}

static int32_t between(int32_t low, int32_t high)
{
    return low + (int32_t)(roll() % (uint64_t)(high - low + 1));
}

/* Anything within the documented ranges, no larger than a test can wait for. */
static struct planet_desc random_desc(int body, int layer)
{
    struct planet_desc d = {
        .seed = roll(),
        .body = body,
        .layer = layer,
        .pixels = between(0, 3) ? between(8, 64) : between(65, 200),
        .frames = between(0, 2) ? between(1, 3) : between(4, 12),
        .turns = between(-4, 4),
        .phase_micro = between(0, 1000000),
        .light_azimuth_decideg = between(-1800, 1800),
        .light_elevation_decideg = between(-900, 900),
        .shade_steps = between(1, 16),
        .scale_centi = between(25, 1600),
        .sea_level_milli = between(0, 1000),
        .rivers_milli = between(0, 1000),
        .cloud_cover_milli = between(0, 1000),
        .cloud_stretch_centi = between(100, 400),
        .cloud_ratio = between(0, 4),
        .ice_caps_milli = between(0, 1000),
        .tilt_decideg = between(-900, 900),
        .rings = between(0, 1),
        .ring_angle_decideg = between(-1800, 1800),
        .ring_open_milli = between(20, 1000),
        .atmosphere = between(0, 2) ? COLOR_AUTO : COLOR_NONE,
        .background = COLOR_NONE,
        .outline = COLOR_NONE,
    };
    return d;
}

static struct backend *open_gl_backend(void)
{
    struct backend *b = NULL;
    char reason[256] = "";
    enum err err = gl_backend_open(&(struct gl_backend_desc){.software = software}, &b, reason);
    if (err)
        print_message("%s\n", reason);
    assert_int_equal(err, ERR_NONE);
    return b;
}

static struct backend *open_cpu_backend(void)
{
    struct backend *b = NULL;
    char reason[256];
    assert_int_equal(cpu_backend_open("", NULL, &b, reason), ERR_NONE);
    return b;
}

/* Frees with free(). */
static uint32_t *draw_all(struct backend *b, const struct planet_desc *desc)
{
    struct scene scene;
    struct scene_turn turns[FRAMES_MAX];
    scene_make(desc, &scene);
    for (int i = 0; i < desc->frames; i++)
        turns[i] = scene_turn_make(desc, i);
    size_t pixels = (size_t)desc->frames * (size_t)desc->pixels * (size_t)desc->pixels;
    uint32_t *codes = malloc(pixels * sizeof *codes);
    if (!codes || b->impl->draw(b, &scene, turns, desc->frames, NULL, codes) != ERR_NONE) {
        free(codes);
        return NULL;
    }
    return codes;
}

static void tell_difference(const struct planet_desc *d, size_t at, uint32_t want, uint32_t got)
{
    size_t side = (size_t)d->pixels;
    print_message("%s, layer %d, seed %016llx, frame %zu of %d, row %zu, column %zu of %zu: %08x, not %08x\n",
                  bodies[d->body].name, d->layer, (unsigned long long)d->seed, at / (side * side), d->frames,
                  at / side % side, at % side, side, got, want);
}

/* True if both draw the same; tells the first pixel that differs. */
static bool same_codes(struct backend *gl, struct backend *cpu, const struct planet_desc *desc)
{
    size_t pixels = (size_t)desc->frames * (size_t)desc->pixels * (size_t)desc->pixels;
    uint32_t *got = draw_all(gl, desc), *want = draw_all(cpu, desc);
    bool same = got && want && memcmp(got, want, pixels * sizeof *got) == 0;
    for (size_t i = 0; got && want && !same && i < pixels; i++)
        if (got[i] != want[i]) {
            tell_difference(desc, i, want[i], got[i]);
            break;
        }
    free(got);
    free(want);
    return same;
}

/* ---- The same picture ---------------------------------------------------------------------------------- */

#define ROUNDS_A_BODY  40
#define ROUNDS_A_LAYER 3

static void every_body_is_drawn_as_by_the_cpu(void **state)
{
    (void)state;
    struct backend *gl = open_gl_backend(), *cpu = open_cpu_backend();
    int differing = 0;
    for (int body = 0; body < BODY_COUNT; body++)
        for (int i = 0; i < ROUNDS_A_BODY; i++) {
            struct planet_desc desc = random_desc(body, LAYER_COLOR);
            differing += !same_codes(gl, cpu, &desc);
        }
    assert_int_equal(differing, 0);
    gl->impl->destroy(gl);
    cpu->impl->destroy(cpu);
}

static void every_layer_of_every_body_is_drawn_as_by_the_cpu(void **state)
{
    (void)state;
    struct backend *gl = open_gl_backend(), *cpu = open_cpu_backend();
    int differing = 0;
    for (int layer = LAYER_COLOR + 1; layer < LAYER_COUNT; layer++)
        for (int body = 0; body < BODY_COUNT; body++)
            for (int i = 0; i < ROUNDS_A_LAYER; i++) {
                struct planet_desc desc = random_desc(body, layer);
                differing += !same_codes(gl, cpu, &desc);
            }
    assert_int_equal(differing, 0);
    gl->impl->destroy(gl);
    cpu->impl->destroy(cpu);
}

/* From small to large and back, so that the readback buffer grows; the last has as many frames as a dispatch
 * can hold. */
static void the_smallest_the_largest_and_the_longest_are_drawn_as_by_the_cpu(void **state)
{
    (void)state;
    struct backend *gl = open_gl_backend(), *cpu = open_cpu_backend();
    static const struct {
        int pixels, frames;
    } sizes[] = {{8, 1}, {9, 2}, {512, 8}, {8, 1}, {PIXELS_MAX, 1}, {17, FRAMES_MAX}, {8, FRAMES_MAX}};
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        struct planet_desc desc = random_desc(BODY_GAS, LAYER_COLOR);
        desc.pixels = sizes[i].pixels;
        desc.frames = sizes[i].frames;
        assert_true(same_codes(gl, cpu, &desc));
    }
    gl->impl->destroy(gl);
    cpu->impl->destroy(cpu);
}

/* More than the turn block of shaders/main.glsl holds: the draw is split, and each part has its own turns. */
static void more_frames_than_a_dispatch_holds_are_drawn_all_the_same(void **state)
{
    (void)state;
    enum { SIDE = 11, COUNT = FRAMES_MAX + 61 };
    static struct scene_turn turns[COUNT];
    static uint32_t got[COUNT * SIDE * SIDE], want[COUNT * SIDE * SIDE];
    struct backend *gl = open_gl_backend(), *cpu = open_cpu_backend();
    struct planet_desc desc = random_desc(BODY_TERRESTRIAL, LAYER_HEIGHT);
    desc.pixels = SIDE;
    desc.frames = FRAMES_MAX;
    desc.turns = 1;
    struct scene scene;
    scene_make(&desc, &scene);
    for (int i = 0; i < COUNT; i++)
        turns[i] = scene_turn_make(&desc, i * 7 % (FRAMES_MAX - 1));
    assert_int_equal(gl->impl->draw(gl, &scene, turns, COUNT, NULL, got), ERR_NONE);
    assert_int_equal(cpu->impl->draw(cpu, &scene, turns, COUNT, NULL, want), ERR_NONE);
    assert_memory_equal(got, want, sizeof got);
    gl->impl->destroy(gl);
    cpu->impl->destroy(cpu);
}

/* ---- Threads ------------------------------------------------------------------------------------------- */

#define DRAWERS        8
#define DRAWS_A_THREAD 12

struct drawer {
    pthread_t thread;
    struct backend *gl, *cpu;
    struct planet_desc desc[DRAWS_A_THREAD];
    int differing;
};

static void *draw_some(void *arg)
{
    struct drawer *d = arg;
    for (int i = 0; i < DRAWS_A_THREAD; i++)
        d->differing += !same_codes(d->gl, d->cpu, &d->desc[i]);
    return NULL;
}

static void many_threads_may_draw_at_once(void **state)
{
    (void)state;
    struct backend *gl = open_gl_backend(), *cpu = open_cpu_backend();
    static struct drawer drawers[DRAWERS];
    for (int i = 0; i < DRAWERS; i++) {
        drawers[i] = (struct drawer){.gl = gl, .cpu = cpu};
        for (int k = 0; k < DRAWS_A_THREAD; k++)
            drawers[i].desc[k] = random_desc(between(0, BODY_COUNT - 1), between(0, LAYER_COUNT - 1));
        assert_int_equal(pthread_create(&drawers[i].thread, NULL, draw_some, &drawers[i]), 0);
    }
    for (int i = 0; i < DRAWERS; i++)
        pthread_join(drawers[i].thread, NULL);
    for (int i = 0; i < DRAWERS; i++)
        assert_int_equal(drawers[i].differing, 0);
    gl->impl->destroy(gl);
    cpu->impl->destroy(cpu);
}

/* The two share a display of EGL, which must outlive the first. */
static void closing_one_backend_leaves_another_alone(void **state)
{
    (void)state;
    struct backend *cpu = open_cpu_backend(), *first = open_gl_backend(), *second = open_gl_backend();
    struct planet_desc desc = random_desc(BODY_ICE, LAYER_COLOR);
    assert_true(same_codes(first, cpu, &desc));
    first->impl->destroy(first);
    assert_true(same_codes(second, cpu, &desc));
    second->impl->destroy(second);
    cpu->impl->destroy(cpu);
}

static void a_cancelled_draw_touches_no_codes(void **state)
{
    (void)state;
    struct backend *gl = open_gl_backend();
    struct planet_desc desc = random_desc(BODY_LAVA, LAYER_COLOR);
    desc.pixels = 8;
    struct scene scene;
    scene_make(&desc, &scene);
    struct scene_turn turn = scene_turn_make(&desc, 0);
    uint32_t codes[64];
    memset(codes, 0x5a, sizeof codes);
    atomic_bool cancel = true;
    assert_int_equal(gl->impl->draw(gl, &scene, &turn, 1, &cancel, codes), ERR_CANCELLED);
    for (size_t i = 0; i < ARRAY_LEN(codes); i++)
        assert_int_equal(codes[i], 0x5a5a5a5a);
    atomic_store(&cancel, false);
    assert_int_equal(gl->impl->draw(gl, &scene, &turn, 1, &cancel, codes), ERR_NONE);
    assert_int_not_equal(codes[0], 0x5a5a5a5a);
    gl->impl->destroy(gl);
}

/* ---- Which device -------------------------------------------------------------------------------------- */

static void the_device_is_named_and_is_of_the_wanted_kind(void **state)
{
    (void)state;
    struct backend *gl = open_gl_backend();
    assert_string_equal(gl->impl->name, "gl");
    assert_int_equal(gl->hardware, !software);
    assert_non_null(strstr(gl->device, "OpenGL ES 3"));
    print_message("%s\n", gl->device);
    gl->impl->destroy(gl);
}

/* The other kind is opened if this machine has it; if not, the reason names what there was instead. */
static void the_other_kind_of_device_is_never_taken_instead(void **state)
{
    (void)state;
    struct backend *b = NULL;
    char reason[256] = "";
    enum err err = gl_backend_open(&(struct gl_backend_desc){.software = !software}, &b, reason);
    if (!err) {
        assert_int_equal(b->hardware, software);
        b->impl->destroy(b);
        return;
    }
    assert_int_equal(err, ERR_NO_DEVICE);
    assert_null(b);
    assert_non_null(strstr(reason, software ? "software" : "hardware"));
    assert_true(strlen(reason) < sizeof reason);
    print_message("%s\n", reason);
}

/* ---- Loss ---------------------------------------------------------------------------------------------- */

#define NOTES_BYTES 4096

static void keep_note(void *ctx, const char *sentence)
{
    char *notes = ctx;
    size_t len = strlen(notes);
    snprintf(notes + len, NOTES_BYTES - len, "%s\n", sentence);
}

static struct renderer *open_renderer(const char *backend, char *notes)
{
    struct renderer *r = NULL;
    struct renderer_desc desc = renderer_desc_default;
    desc.backend = backend;
    desc.note = notes ? keep_note : NULL;
    desc.note_ctx = notes;
    enum err err = renderer_open(&desc, &r);
    if (err && notes)
        print_message("%s", notes);
    assert_int_equal(err, ERR_NONE);
    return r;
}

static bool same_frames(const struct frame_set *a, const struct frame_set *b)
{
    size_t pixels = (size_t)a->frames * (size_t)a->side * (size_t)a->side;
    return a->frames == b->frames && a->side == b->side && a->color_count == b->color_count &&
           memcmp(a->colors, b->colors, (size_t)a->color_count * sizeof *a->colors) == 0 &&
           memcmp(a->index, b->index, pixels * sizeof *a->index) == 0;
}

static bool same_picture(struct renderer *a, struct renderer *b, const struct planet_desc *desc)
{
    struct frame_set of_a = {0}, of_b = {0};
    enum err err = renderer_draw(a, desc, NULL, &of_a);
    if (!err)
        err = renderer_draw(b, desc, NULL, &of_b);
    bool same = !err && same_frames(&of_a, &of_b);
    frame_set_finish(&of_a);
    frame_set_finish(&of_b);
    return same;
}

static void a_played_loss_is_reported_once_for_each_draw(void **state)
{
    (void)state;
    struct backend *gl = open_gl_backend(), *cpu = open_cpu_backend();
    struct planet_desc desc = random_desc(BODY_DESERT, LAYER_COLOR);
    struct scene scene;
    scene_make(&desc, &scene);
    struct scene_turn turn = scene_turn_make(&desc, 0);
    uint32_t *codes = malloc((size_t)desc.pixels * (size_t)desc.pixels * sizeof *codes);
    assert_non_null(codes);
    gl_backend_lose(gl, 2);
    assert_int_equal(gl->impl->draw(gl, &scene, &turn, 1, NULL, codes), ERR_DEVICE_LOST);
    assert_int_equal(gl->impl->draw(gl, &scene, &turn, 1, NULL, codes), ERR_DEVICE_LOST);
    assert_true(same_codes(gl, cpu, &desc));
    free(codes);
    gl->impl->destroy(gl);
    cpu->impl->destroy(cpu);
}

/* Loses the rebuilt context too, before it has drawn anything. */
static struct renderer *to_lose_again;
static void lose_again(void *ctx, const char *sentence)
{
    if (to_lose_again && strstr(sentence, "gl") && strstr(sentence, " draws: ") && to_lose_again->backend)
        gl_backend_lose(to_lose_again->backend, 1);
    keep_note(ctx, sentence);
}

static void a_loss_is_rebuilt_and_two_in_a_row_move_to_the_cpu(void **state)
{
    (void)state;
    static char notes[NOTES_BYTES];
    const char *name = software ? "gl-software" : "gl";
    struct renderer *cpu = open_renderer("cpu", NULL), *r = open_renderer(name, notes);
    struct renderer_status status;
    struct planet_desc desc = random_desc(BODY_TERRESTRIAL, LAYER_COLOR);
    desc.pixels = 64;
    desc.frames = 12;

    assert_true(same_picture(r, cpu, &desc));
    renderer_status(r, &status);
    assert_string_equal(status.backend, name);
    assert_int_equal(status.device_losses, 0);

    gl_backend_lose(r->backend, 1);
    assert_true(same_picture(r, cpu, &desc));
    renderer_status(r, &status);
    assert_string_equal(status.backend, name);
    assert_int_equal(status.device_losses, 1);
    assert_true(status.self_test_ok);
    assert_non_null(strstr(notes, "rebuilding"));

    gl_backend_lose(r->backend, 1); /* days later */
    assert_true(same_picture(r, cpu, &desc));
    renderer_status(r, &status);
    assert_string_equal(status.backend, name);
    assert_int_equal(status.device_losses, 2);

    r->desc.note = lose_again;
    to_lose_again = r;
    gl_backend_lose(r->backend, 1);
    assert_true(same_picture(r, cpu, &desc));
    to_lose_again = NULL;
    renderer_status(r, &status);
    assert_string_equal(status.backend, "cpu");
    assert_int_equal(status.device_losses, 4);
    assert_true(status.self_test_ok);
    assert_non_null(strstr(status.reason, "lost"));
    assert_non_null(strstr(notes, "moving to the cpu"));
    renderer_close(r);
    renderer_close(cpu);
}

struct viewer {
    pthread_t thread;
    struct renderer *r, *cpu;
    struct planet_desc desc;
    bool same;
};

static void *view(void *arg)
{
    struct viewer *v = arg;
    v->same = same_picture(v->r, v->cpu, &v->desc);
    return NULL;
}

static void everyone_who_draws_during_a_loss_gets_the_right_picture(void **state)
{
    (void)state;
    struct renderer *cpu = open_renderer("cpu", NULL);
    struct renderer *r = open_renderer(software ? "gl-software" : "gl", NULL);
    static struct viewer viewers[DRAWERS];
    gl_backend_lose(r->backend, DRAWERS);
    for (int i = 0; i < DRAWERS; i++) {
        viewers[i] = (struct viewer){.r = r, .cpu = cpu, .desc = random_desc(BODY_ICE, LAYER_COLOR)};
        assert_int_equal(pthread_create(&viewers[i].thread, NULL, view, &viewers[i]), 0);
    }
    for (int i = 0; i < DRAWERS; i++)
        pthread_join(viewers[i].thread, NULL);
    for (int i = 0; i < DRAWERS; i++)
        assert_true(viewers[i].same);
    struct renderer_status status;
    renderer_status(r, &status);
    assert_int_equal(status.device_losses, 1);
    renderer_close(r);
    renderer_close(cpu);
}

/* ---- Leaks --------------------------------------------------------------------------------------------- */

#define OPENINGS  20
#define SETTLE_MS 5000 /* a joined thread stays in /proc for a moment */

static int entries(const char *path)
{
    int count = 0;
    DIR *dir = opendir(path);
    assert_non_null(dir);
    while (readdir(dir))
        count++;
    closedir(dir);
    return count;
}

static int entries_settled(const char *path, int at_most)
{
    int count = entries(path);
    for (int ms = 0; ms < SETTLE_MS && count > at_most; ms++) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        count = entries(path);
    }
    return count;
}

static void open_draw_and_close(void)
{
    struct backend *gl = open_gl_backend();
    struct planet_desc desc = random_desc(BODY_MOON, LAYER_COLOR);
    desc.pixels = 16;
    uint32_t *codes = draw_all(gl, &desc);
    assert_non_null(codes);
    free(codes);
    gl->impl->destroy(gl);
}

static void opening_and_closing_leaks_neither_threads_nor_files(void **state)
{
    (void)state;
    open_draw_and_close(); /* what the driver keeps for the process */
    int threads = entries("/proc/self/task"), files = entries("/proc/self/fd");
    for (int i = 0; i < OPENINGS; i++)
        open_draw_and_close();
    assert_int_equal(entries_settled("/proc/self/task", threads), threads);
    assert_int_equal(entries_settled("/proc/self/fd", files), files);
}

static void refusals_leak_neither_threads_nor_files(void **state)
{
    (void)state;
    int threads = 0, files = 0;
    for (int i = 0; i <= OPENINGS; i++) {
        struct backend *b = NULL;
        char reason[256];
        if (!gl_backend_open(&(struct gl_backend_desc){.software = !software}, &b, reason))
            b->impl->destroy(b);
        if (i == 0) {
            threads = entries("/proc/self/task");
            files = entries("/proc/self/fd");
        }
    }
    assert_int_equal(entries_settled("/proc/self/task", threads), threads);
    assert_int_equal(entries_settled("/proc/self/fd", files), files);
}

/* Skips only where EGL knows no device; a device that can't be used is a failure. */
static bool find_device(void)
{
    struct backend *b = NULL;
    char reason[256] = "";
    if (gl_backend_open(&(struct gl_backend_desc){.software = true}, &b, reason)) {
        software = false;
        if (gl_backend_open(&(struct gl_backend_desc){.software = false}, &b, reason)) {
            software = true;
            printf("%s\n", reason);
            return !strstr(reason, "no EGL device");
        }
    }
    b->impl->destroy(b);
    return true;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_device_is_named_and_is_of_the_wanted_kind),
        cmocka_unit_test(the_other_kind_of_device_is_never_taken_instead),
        cmocka_unit_test(every_body_is_drawn_as_by_the_cpu),
        cmocka_unit_test(every_layer_of_every_body_is_drawn_as_by_the_cpu),
        cmocka_unit_test(the_smallest_the_largest_and_the_longest_are_drawn_as_by_the_cpu),
        cmocka_unit_test(more_frames_than_a_dispatch_holds_are_drawn_all_the_same),
        cmocka_unit_test(many_threads_may_draw_at_once),
        cmocka_unit_test(closing_one_backend_leaves_another_alone),
        cmocka_unit_test(a_cancelled_draw_touches_no_codes),
        cmocka_unit_test(a_played_loss_is_reported_once_for_each_draw),
        cmocka_unit_test(a_loss_is_rebuilt_and_two_in_a_row_move_to_the_cpu),
        cmocka_unit_test(everyone_who_draws_during_a_loss_gets_the_right_picture),
        cmocka_unit_test(opening_and_closing_leaks_neither_threads_nor_files),
        cmocka_unit_test(refusals_leak_neither_threads_nor_files),
    };
    return find_device() ? cmocka_run_group_tests(tests, NULL, NULL) : SKIPPED;
}
