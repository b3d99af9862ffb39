/* gl_backend.c -- the backend that draws on a GPU, or on a software GL: compute shaders over all frames of a
 * batch.
 *
 * A context is current on one thread, so one thread owns it: it is started by gl_backend_open(), makes the
 * context, compiles, draws, and takes everything down at the end. draw() queues a request and sleeps until it
 * is answered. That costs two wake-ups for a draw, and saves making the context current, which costs more and
 * which drivers get wrong.
 *
 * An error or a reset makes the backend lost for good: what is in the buffer may be anything, so nothing of
 * it is used, and every later draw is answered with ERR_DEVICE_LOST until the renderer has opened another
 * one.
 *
 * Threads: draw from any; `lock` guards the queue; the second half of struct gl_backend is the owner's. */
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "renderer/gl/egl.h"
#include "renderer/gl/program.h"
#include "renderer/gl/readback.h"
#include "renderer/renderer_impl.h"

#define FRAME_BYTES_MAX ((size_t)PIXELS_MAX * PIXELS_MAX * sizeof(uint32_t))
#define GROUPS_MAX      (PIXELS_MAX / PROGRAM_GROUP_PX)

/* std140: the scene's scalars lie one after the other, the block is a multiple of 16 bytes; a turn is
 * four vec4. */
#define SCENE_BLOCK_BYTES ((sizeof(struct scene) + 15) / 16 * 16)
_Static_assert(sizeof(uint) == 4 && sizeof(float) == 4, "scalars of std140");
_Static_assert(offsetof(struct scene, body) == 0 &&
                   offsetof(struct scene, relief_step) == sizeof(struct scene) - 4,
               "the order of shaders/scene.glsl");
_Static_assert(sizeof(struct scene_turn) == 64 && offsetof(struct scene_turn, cos_cloud) == 12 &&
                   offsetof(struct scene_turn, moons) == 16,
               "a turn is four vec4");
_Static_assert(FRAMES_MAX * sizeof(struct scene_turn) <= 16384, "what every GL has for a uniform block");

typedef GLenum(GL_APIENTRYP reset_status_fn)(void);

/* One draw(), on its caller's stack until it is answered. */
struct request {
    const struct scene *scene;
    const struct scene_turn *turns;
    int count;
    const atomic_bool *cancel;
    uint32_t *codes;
    enum err err;
    bool answered;
    pthread_cond_t answer;
    struct request *next;
};

struct gl_backend {
    struct backend base;
    pthread_t owner;
    pthread_mutex_t lock;
    pthread_cond_t wake; /* the queue has a request, or the end has come */
    struct request *first, **last;
    bool ending;
    atomic_int losses_to_play; /* gl_backend_lose() */

    /* The owner's. */
    struct egl egl;
    struct program_set programs;
    struct readback readback;
    GLuint blocks[2];             /* uniform blocks of shaders/main.glsl: scene, turns */
    reset_status_fn reset_status; /* NULL: this GL tells of no resets */
    int frames_a_dispatch_max;
    size_t storage_bytes_max;
    bool lost;
};

/* What gl_backend_open() and the new owner tell each other. */
struct opening {
    struct gl_backend *gl;
    bool software;
    char *reason;
    enum err err;
    bool done;
    pthread_cond_t opened;
};

/* ---- The owner's side ---------------------------------------------------------------------------------- */

static reset_status_fn find_reset_status(const struct egl *egl)
{
    if (egl->version >= (egl->es ? 32 : 45))
        return (reset_status_fn)eglGetProcAddress("glGetGraphicsResetStatus");
    if (egl_has_gl_extension("GL_KHR_robustness"))
        return (reset_status_fn)eglGetProcAddress(egl->es ? "glGetGraphicsResetStatusKHR"
                                                          : "glGetGraphicsResetStatus");
    if (egl_has_gl_extension("GL_EXT_robustness"))
        return (reset_status_fn)eglGetProcAddress("glGetGraphicsResetStatusEXT");
    return NULL;
}

/* Limits that a driver may set lower than the largest picture needs. */
static bool limits_suffice(struct gl_backend *gl)
{
    GLint groups[3] = {0}, uniform_bytes = 0;
    GLint64 storage_bytes = 0;
    for (GLuint i = 0; i < 3; i++)
        glGetIntegeri_v(GL_MAX_COMPUTE_WORK_GROUP_COUNT, i, &groups[i]);
    glGetIntegerv(GL_MAX_UNIFORM_BLOCK_SIZE, &uniform_bytes);
    glGetInteger64v(GL_MAX_SHADER_STORAGE_BLOCK_SIZE, &storage_bytes);
    gl->frames_a_dispatch_max = groups[2] < FRAMES_MAX ? groups[2] : FRAMES_MAX;
    gl->storage_bytes_max = storage_bytes > 0 ? (size_t)storage_bytes : 0;
    return groups[0] >= GROUPS_MAX && groups[1] >= GROUPS_MAX && groups[2] >= 1 &&
           uniform_bytes >= (GLint)(FRAMES_MAX * sizeof(struct scene_turn)) &&
           gl->storage_bytes_max >= FRAME_BYTES_MAX;
}

static void take_down(struct gl_backend *gl)
{
    if (gl->egl.context) {
        program_set_finish(&gl->programs);
        readback_finish(&gl->readback);
        glDeleteBuffers(2, gl->blocks);
    }
    egl_close(&gl->egl);
    eglReleaseThread();
}

static enum err set_up(struct gl_backend *gl, bool software, char *ret_reason)
{
    enum err err = egl_open(software, &gl->egl, ret_reason);
    if (!err && !limits_suffice(gl)) {
        snprintf(ret_reason, EGL_REASON_BYTES, "%s: its limits are too low", gl->egl.device);
        err = ERR_NO_DEVICE;
    }
    if (!err)
        err = program_set_build(&gl->egl, &gl->programs, ret_reason);
    if (!err) {
        static const size_t block_bytes[2] = {SCENE_BLOCK_BYTES, FRAMES_MAX * sizeof(struct scene_turn)};
        glGenBuffers(2, gl->blocks);
        for (GLuint i = 0; i < 2; i++) {
            glBindBufferBase(GL_UNIFORM_BUFFER, i, gl->blocks[i]);
            glBufferData(GL_UNIFORM_BUFFER, (GLsizeiptr)block_bytes[i], NULL, GL_DYNAMIC_DRAW);
        }
        readback_init(&gl->readback, &gl->egl);
        gl->reset_status = find_reset_status(&gl->egl);
        if (glGetError() != GL_NO_ERROR) {
            snprintf(ret_reason, EGL_REASON_BYTES, "%s: it makes no buffers", gl->egl.device);
            err = ERR_NO_DEVICE;
        }
    }
    if (err)
        take_down(gl);
    return err;
}

static void write_block(GLuint buffer, const void *bytes, size_t len)
{
    glBindBuffer(GL_UNIFORM_BUFFER, buffer);
    glBufferSubData(GL_UNIFORM_BUFFER, 0, (GLsizeiptr)len, bytes);
}

/* False after a reset or any error: after one, nothing that GL says is worth anything. */
static bool healthy(const struct gl_backend *gl)
{
    return !(gl->reset_status && gl->reset_status() != GL_NO_ERROR) && glGetError() == GL_NO_ERROR;
}

/* Draws frames that fit one dispatch. */
static bool dispatch(struct gl_backend *gl, const struct scene *scene, const struct scene_turn *turns,
                     int count, uint32_t *codes)
{
    size_t bytes = (size_t)count * scene->side * scene->side * sizeof *codes;
    GLuint groups = (scene->side + PROGRAM_GROUP_PX - 1) / PROGRAM_GROUP_PX;
    if (!readback_reserve(&gl->readback, bytes))
        return false;
    write_block(gl->blocks[0], scene, sizeof *scene);
    write_block(gl->blocks[1], turns, (size_t)count * sizeof *turns);
    glUseProgram(scene_by_body(scene) ? gl->programs.body[scene->body] : gl->programs.layer);
    glDispatchCompute(groups, groups, (GLuint)count);
    bool drawn = readback_wait(&gl->readback) && healthy(gl);
    return drawn && readback_copy(&gl->readback, codes, bytes) && healthy(gl);
}

/* Takes one from the losses that gl_backend_lose() ordered. */
static bool plays_loss(struct gl_backend *gl)
{
    int left = atomic_load(&gl->losses_to_play);
    while (left > 0 && !atomic_compare_exchange_weak(&gl->losses_to_play, &left, left - 1))
        ;
    return left > 0;
}

static enum err answer(struct gl_backend *gl, const struct request *q)
{
    size_t frame_pixels = (size_t)q->scene->side * q->scene->side;
    size_t frame_bytes = frame_pixels * sizeof *q->codes;
    size_t fit = gl->storage_bytes_max / frame_bytes; /* at least 1, see limits_suffice() */
    int step = fit < (size_t)gl->frames_a_dispatch_max ? (int)fit : gl->frames_a_dispatch_max;
    for (int frame = 0; frame < q->count; frame += step) {
        int count = q->count - frame < step ? q->count - frame : step;
        if (q->cancel && atomic_load(q->cancel))
            return ERR_CANCELLED;
        if (gl->lost ||
            !dispatch(gl, q->scene, q->turns + frame, count, q->codes + (size_t)frame * frame_pixels)) {
            gl->lost = true;
            return ERR_DEVICE_LOST;
        }
        if (plays_loss(gl)) {
            memset(q->codes, 0xff, (size_t)count * frame_bytes); /* as a lost device may leave them */
            return ERR_DEVICE_LOST;
        }
    }
    return ERR_NONE;
}

static void *owner(void *arg)
{
    struct opening *opening = arg;
    struct gl_backend *gl = opening->gl;
    enum err err = set_up(gl, opening->software, opening->reason);
    pthread_mutex_lock(&gl->lock);
    opening->err = err;
    opening->done = true;
    pthread_cond_signal(&opening->opened); /* under the lock: it dies with its owner's frame */
    while (!err) {
        struct request *q = gl->first;
        if (q) {
            gl->first = q->next;
            if (!gl->first)
                gl->last = &gl->first;
            pthread_mutex_unlock(&gl->lock);
            enum err result = answer(gl, q);
            pthread_mutex_lock(&gl->lock);
            q->err = result;
            q->answered = true;
            pthread_cond_signal(&q->answer); /* as above */
        } else if (gl->ending) {
            break;
        } else {
            pthread_cond_wait(&gl->wake, &gl->lock);
        }
    }
    pthread_mutex_unlock(&gl->lock);
    if (!err)
        take_down(gl);
    return NULL;
}

/* ---- Everybody's side ---------------------------------------------------------------------------------- */

static enum err gl_draw(struct backend *b, const struct scene *scene, const struct scene_turn *turns,
                        int count, const atomic_bool *cancel, uint32_t *codes)
{
    struct gl_backend *gl = (struct gl_backend *)b;
    struct request q = {.scene = scene, .turns = turns, .count = count, .cancel = cancel, .codes = codes};
    pthread_cond_init(&q.answer, NULL);
    pthread_mutex_lock(&gl->lock);
    *gl->last = &q;
    gl->last = &q.next;
    pthread_cond_signal(&gl->wake);
    while (!q.answered)
        pthread_cond_wait(&q.answer, &gl->lock);
    pthread_mutex_unlock(&gl->lock);
    pthread_cond_destroy(&q.answer);
    return q.err;
}

static void gl_free(struct gl_backend *gl)
{
    pthread_cond_destroy(&gl->wake);
    pthread_mutex_destroy(&gl->lock);
    free(gl);
}

static void gl_destroy(struct backend *b)
{
    struct gl_backend *gl = (struct gl_backend *)b;
    pthread_mutex_lock(&gl->lock);
    gl->ending = true;
    pthread_cond_signal(&gl->wake);
    pthread_mutex_unlock(&gl->lock);
    pthread_join(gl->owner, NULL);
    gl_free(gl);
}

void gl_backend_lose(struct backend *b, int draws)
{
    atomic_store(&((struct gl_backend *)b)->losses_to_play, draws);
}

/* 32 MiB of codes: a GIF of 256 pixels and 120 frames is one dispatch; what is larger can be cancelled
 * between. */
static const struct backend_impl gl_impl = {
    .name = "gl", .batch_pixels = 1u << 23, .draw = gl_draw, .destroy = gl_destroy};

/* Starts the owner and waits for what it finds. */
static enum err start_owner(struct gl_backend *gl, bool software, char *ret_reason)
{
    struct opening opening = {.gl = gl, .software = software, .reason = ret_reason};
    /* Signals are the main thread's business; a driver's own threads inherit this. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_cond_init(&opening.opened, NULL);
    enum err err = pthread_create(&gl->owner, NULL, owner, &opening) == 0 ? ERR_NONE : ERR_OOM;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!err) {
        pthread_mutex_lock(&gl->lock);
        while (!opening.done)
            pthread_cond_wait(&opening.opened, &gl->lock);
        pthread_mutex_unlock(&gl->lock);
        err = opening.err;
        if (err)
            pthread_join(gl->owner, NULL);
    }
    pthread_cond_destroy(&opening.opened);
    return err;
}

enum err gl_backend_open(const struct gl_backend_desc *desc, struct backend **ret_backend, char *ret_reason)
{
    struct gl_backend *gl = calloc(1, sizeof *gl);
    if (!gl)
        return ERR_OOM;
    gl->base.impl = &gl_impl;
    gl->last = &gl->first;
    pthread_mutex_init(&gl->lock, NULL); /* with default attributes these two can't fail on Linux */
    pthread_cond_init(&gl->wake, NULL);
    enum err err = start_owner(gl, desc->software, ret_reason);
    if (err) {
        gl_free(gl);
        return err;
    }
    gl->base.hardware = gl->egl.hardware;
    memcpy(gl->base.device, gl->egl.device, sizeof gl->base.device);
    *ret_backend = &gl->base;
    return ERR_NONE;
}
