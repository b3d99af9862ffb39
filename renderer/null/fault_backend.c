/* fault_backend.c -- the cpu backend, but every so often its device is "lost" in the midst of a draw, as a
 * GPU's can be: so that a running service can be watched while it loses contexts, on a machine that has no
 * GPU. What it draws in between are true pictures. Threads: any number of draws at once. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "renderer/renderer_impl.h"
#include "renderer/self_test.h"

#define DRAWS_BETWEEN_LOSSES 40 /* those of the self-test are not counted: it must pass */

struct fault_backend {
    struct backend base;
    struct backend *cpu;
    atomic_int draws;
};

static enum err fault_draw(struct backend *b, const struct scene *scene, const struct scene_turn *turns,
                           int count, const atomic_bool *cancel, uint32_t *codes)
{
    struct fault_backend *f = (struct fault_backend *)b;
    if (atomic_fetch_add(&f->draws, 1) % DRAWS_BETWEEN_LOSSES == DRAWS_BETWEEN_LOSSES - 1) {
        codes[0] = 0xdeadbeef; /* whoever keeps any of it will be seen */
        return ERR_DEVICE_LOST;
    }
    return f->cpu->impl->draw(f->cpu, scene, turns, count, cancel, codes);
}

static void fault_destroy(struct backend *b)
{
    struct fault_backend *f = (struct fault_backend *)b;
    f->cpu->impl->destroy(f->cpu);
    free(f);
}

static const struct backend_impl fault_impl = {
    .name = "fault", .batch_pixels = 1u << 19, .draw = fault_draw, .destroy = fault_destroy};

enum err fault_backend_open(struct pool *pool, struct backend **ret_backend, char *ret_reason)
{
    struct fault_backend *f = calloc(1, sizeof *f);
    if (!f)
        return ERR_OOM;
    enum err err = cpu_backend_open("", pool, &f->cpu, ret_reason);
    if (err) {
        free(f);
        return err;
    }
    atomic_init(&f->draws, -SELF_TEST_DRAWS);
    f->base.impl = &fault_impl;
    snprintf(f->base.device, sizeof f->base.device, "cpu, lost every %dth draw", DRAWS_BETWEEN_LOSSES);
    *ret_backend = &f->base;
    return ERR_NONE;
}
