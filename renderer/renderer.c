/* renderer.c -- chooses a backend, makes it prove itself, and draws: description -> scene -> codes -> frame
 * set.
 *
 * Frames are drawn in batches so that memory is bounded by the frame set, not by the wider codes. When a
 * backend loses its device in mid-draw it is opened once more; if that fails, or it is lost again before it
 * has finished a batch, the work moves to the cpu backend for good. The client never sees any of this, since
 * every backend gives the same codes.
 *
 * Threads: draws run under a read lock and share the backend; replacing it takes the write lock. The status
 * has a lock of its own, so that a probe is answered while a backend is rebuilt, which can take seconds. */
#include "renderer/renderer.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "renderer/palette.h"
#include "renderer/palette_reduce.h"
#include "renderer/renderer_impl.h"
#include "renderer/self_test.h"
#include "renderer/sky.h"
#include "renderer/touch_up.h"

const struct renderer_desc renderer_desc_default = {.backend = "auto", .cpu_mask = ""};

struct renderer {
    struct renderer_desc desc;
    char wanted[32], cpu_mask[16]; /* copies of the description's texts */
    pthread_rwlock_t lock;         /* guards backend and generation */
    struct backend *backend;
    unsigned generation;       /* grows when the backend is replaced */
    atomic_uint losses_in_row; /* since a batch was last finished */
    pthread_mutex_t status_lock;
    struct renderer_status status;
};

static void note(const struct renderer *r, const char *sentence)
{
    if (r->desc.note)
        r->desc.note(r->desc.note_ctx, sentence);
}

static void set_status(struct renderer *r, const struct renderer_status *status)
{
    pthread_mutex_lock(&r->status_lock);
    r->status = *status;
    pthread_mutex_unlock(&r->status_lock);
}

/* The backends by name. Order is the order of "auto". */
static enum err open_gl(const struct renderer *r, struct backend **ret, char *reason)
{
    (void)r;
    return gl_backend_open(&(struct gl_backend_desc){.software = false}, ret, reason);
}

static enum err open_cpu(const struct renderer *r, struct backend **ret, char *reason)
{
    return cpu_backend_open(r->cpu_mask, r->desc.pool, ret, reason);
}

static enum err open_gl_software(const struct renderer *r, struct backend **ret, char *reason)
{
    (void)r;
    return gl_backend_open(&(struct gl_backend_desc){.software = true}, ret, reason);
}

static enum err open_null(const struct renderer *r, struct backend **ret, char *reason)
{
    (void)r;
    (void)reason;
    return null_backend_open(ret);
}

static enum err open_fault(const struct renderer *r, struct backend **ret, char *reason)
{
    return fault_backend_open(r->desc.pool, ret, reason);
}

static const struct backend_choice {
    const char *name;
    enum err (*open)(const struct renderer *r, struct backend **ret, char *reason);
    bool in_auto;
    bool draws_planets; /* must pass the self-test */
} choices[] = {
    {"gl", open_gl, true, true},
    {"cpu", open_cpu, true, true},
    {"gl-software", open_gl_software, false, true},
    {"null", open_null, false, false},
    {"fault", open_fault, false, true},
};

/* Opens and proves one backend; `reason` (256 bytes) says why not. */
static enum err open_proven(struct renderer *r, const struct backend_choice *choice,
                            struct renderer_status *status, struct backend **ret, char *reason)
{
    struct backend *b = NULL;
    uint64_t hash = 0;
    reason[0] = '\0';
    enum err err = choice->open(r, &b, reason);
    if (err) {
        if (!reason[0])
            snprintf(reason, 256, "%s", err_words(err));
        return err;
    }
    if (choice->draws_planets) {
        err = self_test_hash(b, &hash);
        if (err) {
            snprintf(reason, 256, "self-test of %s could not run: %s", b->device, err_words(err));
        } else if (hash != SELF_TEST_HASH) {
            snprintf(reason, 256, "%s draws other pixels: self-test gave %016" PRIx64 ", not %016" PRIx64,
                     b->device, hash, (uint64_t)SELF_TEST_HASH);
            err = ERR_SELF_TEST;
        }
    }
    if (err) {
        b->impl->destroy(b);
        return err;
    }
    status->self_test_ok = true;
    status->self_test_hash = hash;
    snprintf(status->backend, sizeof status->backend, "%s", choice->name);
    snprintf(status->device, sizeof status->device, "%s", b->device);
    *ret = b;
    return ERR_NONE;
}

/* Tries one choice and notes what came of it. */
static enum err try_choice(struct renderer *r, const struct backend_choice *choice)
{
    char reason[256], sentence[512];
    struct renderer_status status;
    renderer_status(r, &status);
    enum err err = open_proven(r, choice, &status, &r->backend, reason);
    if (err) {
        snprintf(sentence, sizeof sentence, "backend %s is not used: %s", choice->name, reason);
        snprintf(status.reason, sizeof status.reason, "%.40s: %.200s", choice->name, reason);
    } else {
        snprintf(sentence, sizeof sentence, "backend %s draws: %s", choice->name, status.device);
    }
    set_status(r, &status);
    note(r, sentence);
    return err;
}

static const struct backend_choice *find_choice(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(choices); i++)
        if (!strcmp(choices[i].name, name))
            return &choices[i];
    return NULL;
}

static enum err choose(struct renderer *r)
{
    enum err err = ERR_BACKEND_UNKNOWN;
    if (!strcmp(r->wanted, "auto")) {
        for (size_t i = 0; i < ARRAY_LEN(choices); i++)
            if (choices[i].in_auto && !(err = try_choice(r, &choices[i])))
                return ERR_NONE;
        return err;
    }
    const struct backend_choice *choice = find_choice(r->wanted);
    return choice ? try_choice(r, choice) : ERR_BACKEND_UNKNOWN;
}

enum err renderer_open(const struct renderer_desc *desc, struct renderer **ret_renderer)
{
    struct renderer *r = calloc(1, sizeof *r);
    if (!r)
        return ERR_OOM;
    r->desc = *desc;
    snprintf(r->wanted, sizeof r->wanted, "%s", desc->backend);
    snprintf(r->cpu_mask, sizeof r->cpu_mask, "%s", desc->cpu_mask ? desc->cpu_mask : "");
    pthread_rwlock_init(&r->lock, NULL);
    pthread_mutex_init(&r->status_lock, NULL);
    enum err err = choose(r);
    if (err) {
        renderer_close(r);
        return err;
    }
    *ret_renderer = r;
    return ERR_NONE;
}

void renderer_close(struct renderer *r)
{
    if (!r)
        return;
    if (r->backend)
        r->backend->impl->destroy(r->backend);
    pthread_rwlock_destroy(&r->lock);
    pthread_mutex_destroy(&r->status_lock);
    free(r);
}

/* After a loss seen by a draw that used backend `generation`: the same kind once more, then cpu. */
static enum err replace_backend(struct renderer *r, unsigned generation)
{
    enum err err = ERR_NONE;
    struct renderer_status status;
    pthread_rwlock_wrlock(&r->lock);
    if (r->generation == generation) { /* else another draw has done it already */
        renderer_status(r, &status);
        const struct backend_choice *same = find_choice(status.backend);
        bool again = atomic_fetch_add(&r->losses_in_row, 1) == 0;
        status.device_losses++;
        status.self_test_ok = false; /* not ready until one has proved itself */
        if (!again)
            snprintf(status.reason, sizeof status.reason, "the graphics context was lost twice in a row");
        set_status(r, &status);
        r->generation++;
        r->backend->impl->destroy(r->backend);
        r->backend = NULL;
        note(r, again ? "graphics context lost: rebuilding it"
                      : "graphics context lost again: moving to the cpu");
        err = again ? try_choice(r, same) : ERR_DEVICE_LOST;
        if (err)
            err = try_choice(r, find_choice("cpu"));
    } else if (!r->backend) {
        err = ERR_DEVICE_LOST;
    }
    pthread_rwlock_unlock(&r->lock);
    return err;
}

/* One batch of codes, whatever becomes of the device meanwhile. */
static enum err draw_codes(struct renderer *r, const struct scene *scene, const struct scene_turn *turns,
                           int count, const atomic_bool *cancel, uint32_t *codes)
{
    for (;;) {
        pthread_rwlock_rdlock(&r->lock);
        unsigned generation = r->generation;
        struct backend *b = r->backend;
        enum err err = b ? b->impl->draw(b, scene, turns, count, cancel, codes) : ERR_DEVICE_LOST;
        if (!err && atomic_load_explicit(&r->losses_in_row, memory_order_relaxed))
            atomic_store(&r->losses_in_row, 0);
        pthread_rwlock_unlock(&r->lock);
        if (err != ERR_DEVICE_LOST)
            return err;
        err = replace_backend(r, generation);
        if (err)
            return err;
    }
}

/* Codes of some frames to indices; after the first one its codes are counted. */
static enum err resolve(struct palette *palette, const uint32_t *codes, int first, int count,
                        struct frame_set *set)
{
    size_t frame_pixels = (size_t)set->side * (size_t)set->side;
    uint16_t *index = set->index + (size_t)first * frame_pixels;
    size_t done = first == 0 ? frame_pixels : 0;
    enum err err = ERR_NONE;
    if (first == 0) {
        err = palette_resolve(palette, codes, frame_pixels, index);
        if (!err)
            err = palette_counts(palette, &set->codes, &set->code_count);
    }
    if (err)
        return err;
    for (size_t at = done; at < (size_t)count * frame_pixels && !err; at += frame_pixels) {
        palette_at_frame(palette, first + (int)(at / frame_pixels));
        err = palette_resolve(palette, codes + at, frame_pixels, index + at);
    }
    return err;
}

static enum err draw_batches(struct renderer *r, const struct planet_desc *desc, const atomic_bool *cancel,
                             struct palette *palette, uint32_t *codes, int batch, struct frame_set *set)
{
    struct scene scene;
    struct scene_turn turns[FRAMES_MAX];
    size_t frame_pixels = (size_t)set->side * (size_t)set->side;
    uint32_t *sky;
    enum err err = sky_make(desc, &sky);
    scene_make(desc, &scene);
    for (int i = 0; i < desc->frames; i++)
        turns[i] = scene_turn_make(desc, i);
    for (int frame = 0; frame < desc->frames && !err; frame += batch) {
        int count = desc->frames - frame < batch ? desc->frames - frame : batch;
        err = draw_codes(r, &scene, turns + frame, count, cancel, codes);
        for (int i = 0; i < count && !err; i++) {
            touch_up(desc, codes + (size_t)i * frame_pixels);
            if (sky)
                sky_apply(desc, sky, codes + (size_t)i * frame_pixels);
        }
        if (!err)
            err = resolve(palette, codes, frame, count, set);
    }
    free(sky);
    return err;
}

/* Frames that are drawn before their codes become indices. */
static int batch_frames(struct renderer *r, size_t frame_pixels, int frames)
{
    pthread_rwlock_rdlock(&r->lock);
    size_t pixels = r->backend ? r->backend->impl->batch_pixels : 0;
    pthread_rwlock_unlock(&r->lock);
    size_t batch = pixels / frame_pixels;
    return batch < 1 ? 1 : batch > (size_t)frames ? frames : (int)batch;
}

enum err renderer_draw(struct renderer *r, const struct planet_desc *desc, const atomic_bool *cancel,
                       struct frame_set *ret_frames)
{
    size_t frame_pixels = (size_t)desc->pixels * (size_t)desc->pixels; /* at most 2^20, see PIXELS_MAX */
    int batch = batch_frames(r, frame_pixels, desc->frames);
    struct palette *palette = NULL;
    uint32_t *codes = malloc((size_t)batch * frame_pixels * sizeof *codes);
    struct frame_set set = {
        .index = malloc((size_t)desc->frames * frame_pixels * sizeof *set.index),
        .side = desc->pixels,
        .frames = desc->frames,
    };
    enum err err = codes && set.index ? palette_create(desc, &palette) : ERR_OOM;
    if (!err)
        err = draw_batches(r, desc, cancel, palette, codes, batch, &set);
    if (!err)
        set.colors = palette_take_colors(palette, &set.color_count);
    if (!err && desc->colors)
        err = palette_reduce(set.colors, &set.color_count, desc->colors, set.index,
                             (size_t)desc->frames * frame_pixels);
    palette_destroy(palette);
    free(codes);
    if (err)
        frame_set_finish(&set);
    else
        *ret_frames = set;
    return err;
}

void renderer_status(struct renderer *r, struct renderer_status *ret_status)
{
    pthread_mutex_lock(&r->status_lock);
    *ret_status = r->status;
    pthread_mutex_unlock(&r->status_lock);
}
