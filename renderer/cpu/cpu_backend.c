/* cpu_backend.c -- draws with the widest kernels that the processor has and the mask allows.
 * A draw is cut into parts of some rows; idle threads of the pool take parts too. Rows of a part lie side by
 * side in memory, so threads seldom share a cache line. Threads: any number of draws at once; there is no
 * state to share. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "renderer/base/pool.h"
#include "renderer/cpu/kernels.h"
#include "renderer/renderer_impl.h"

#define PART_PIXELS                                                                                          \
    16384 /* a fraction of a millisecond: small against a wait, large against the cost of sharing */

struct cpu_backend {
    struct backend base;
    const struct kernels *kernels;
    struct pool *pool;
};

static bool has_sse2(void)
{
#if defined(__x86_64__)
    return true;
#else
    return false;
#endif
}
static bool has_avx2(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2");
#else
    return false;
#endif
}
static bool has_avx512(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
#else
    return false;
#endif
}
static bool has_neon(void)
{
#if defined(__aarch64__)
    return true;
#else
    return false;
#endif
}

/* Narrow to wide. */
static const struct instruction_set {
    const char *name;
    bool (*present)(void);
    const struct kernels *kernels; /* NULL where not built */
} sets[] = {
#if defined(__x86_64__)
    {"sse2", has_sse2, &kernels_sse2},
    {"avx2", has_avx2, &kernels_avx2},
    {"avx512", has_avx512, &kernels_avx512},
    {"neon", has_neon, NULL},
#elif defined(__aarch64__)
    {"sse2", has_sse2, NULL},
    {"avx2", has_avx2, NULL},
    {"avx512", has_avx512, NULL},
    {"neon", has_neon, &kernels_neon},
#else
#error "no kernels for this processor: add renderer/cpu/kernels_<set>.c"
#endif
};

struct part_job {
    const struct cpu_backend *cpu;
    const struct scene *scene;
    const struct scene_turn *turns;
    const atomic_bool *cancel;
    uint32_t *codes;
    int rows_a_part, parts_a_frame;
};

static void draw_part(void *ctx, int i)
{
    const struct part_job *job = ctx;
    if (job->cancel && atomic_load_explicit(job->cancel, memory_order_relaxed))
        return;
    int frame = i / job->parts_a_frame;
    int begin = i % job->parts_a_frame * job->rows_a_part;
    int side = (int)job->scene->side;
    int end = begin + job->rows_a_part < side ? begin + job->rows_a_part : side;
    const struct kernels *k = job->cpu->kernels;
    kernel_rows *rows = scene_by_body(job->scene) ? k->body[job->scene->body] : k->layer;
    rows(job->scene, &job->turns[frame], begin, end,
         job->codes + (size_t)frame * (size_t)side * (size_t)side);
}

static enum err cpu_draw(struct backend *b, const struct scene *scene, const struct scene_turn *turns,
                         int count, const atomic_bool *cancel, uint32_t *codes)
{
    int side = (int)scene->side;
    int rows = PART_PIXELS / side > 0 ? PART_PIXELS / side : 1;
    if (rows > side)
        rows = side;
    struct part_job job = {
        .cpu = (const struct cpu_backend *)b,
        .scene = scene,
        .turns = turns,
        .cancel = cancel,
        .codes = codes,
        .rows_a_part = rows,
        .parts_a_frame = (side + rows - 1) / rows,
    };
    int parts = job.parts_a_frame * count;
    if (parts == 1)
        draw_part(&job, 0);
    else
        pool_for(job.cpu->pool, parts, draw_part, &job);
    return cancel && atomic_load(cancel) ? ERR_CANCELLED : ERR_NONE;
}

static void cpu_destroy(struct backend *b)
{
    free(b);
}

/* 2 MiB of codes, which are read while they are still in the cache; parts enough for any number of threads.
 */
static const struct backend_impl cpu_impl = {
    .name = "cpu", .batch_pixels = 1u << 19, .draw = cpu_draw, .destroy = cpu_destroy};

/* The widest set that is present and not wider than the mask. */
static const struct instruction_set *choose_set(const char *mask, char *ret_reason)
{
    const struct instruction_set *best = NULL;
    bool known = !*mask;
    for (size_t i = 0; i < ARRAY_LEN(sets); i++) {
        bool named = strcmp(mask, sets[i].name) == 0;
        known = known || named;
        if (sets[i].present())
            best = &sets[i];
        if (named) {
            if (sets[i].present())
                return best;
            snprintf(ret_reason, 256, "this processor has no %s", mask);
            return NULL;
        }
    }
    if (!known)
        snprintf(ret_reason, 256, "a CPU mask is sse2, avx2, avx512 or neon");
    return known ? best : NULL;
}

enum err cpu_backend_open(const char *cpu_mask, struct pool *pool, struct backend **ret_backend,
                          char *ret_reason)
{
    const struct instruction_set *set = choose_set(cpu_mask, ret_reason);
    if (!set)
        return ERR_CONFIG;
    struct cpu_backend *cpu = calloc(1, sizeof *cpu);
    if (!cpu)
        return ERR_OOM;
    cpu->base.impl = &cpu_impl;
    snprintf(cpu->base.device, sizeof cpu->base.device, "%s, %d lanes", set->name, set->kernels->lanes);
    cpu->kernels = set->kernels;
    cpu->pool = pool;
    *ret_backend = &cpu->base;
    return ERR_NONE;
}
