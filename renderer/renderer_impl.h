/* What a backend is to renderer.c. Only backends and renderer.c include this. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "renderer/base/attr.h"
#include "renderer/base/err.h"
#include "renderer/renderer.h"
#include "renderer/scene.h"

struct backend;

/* Draws `count` frames of one scene: codes[(frame * scene->side + row) * scene->side + column]. The caller
 * has validated everything. ERR_DEVICE_LOST: nothing of `codes` may be used, and the backend must be
 * destroyed. ERR_CANCELLED may be returned early when *cancel reads true (cancel may be NULL). */
struct backend_impl {
    const char *name;
    size_t batch_pixels; /* how many it likes to be given at once; a frame is never cut */
    enum err (*draw)(struct backend *b, const struct scene *scene, const struct scene_turn *turns, int count,
                     const atomic_bool *cancel, uint32_t *codes);
    void (*destroy)(struct backend *b);
};

/* First member of each backend's own struct. Threads: draw may be called by any number of threads at once. */
struct backend {
    const struct backend_impl *impl;
    char device[128]; /* instruction set, or GL renderer and version */
    bool hardware;    /* a real GPU */
};

struct gl_backend_desc {
    bool software; /* take a software GL, and nothing else; otherwise refuse one */
};

/* ERR_NO_DEVICE with the reason in ret_reason[256] when no device fits. */
MUST_USE enum err gl_backend_open(const struct gl_backend_desc *desc, struct backend **ret_backend,
                                  char *ret_reason);

/* ERR_CONFIG when cpu_mask is unknown or wider than this processor. pool may be NULL. */
MUST_USE enum err cpu_backend_open(const char *cpu_mask, struct pool *pool, struct backend **ret_backend,
                                   char *ret_reason);

/* Flat codes from the seed, for tests of everything above the kernels. */
MUST_USE enum err null_backend_open(struct backend **ret_backend);

/* The cpu backend, losing its device every so often: for tests of what a lost context does to a service. */
MUST_USE enum err fault_backend_open(struct pool *pool, struct backend **ret_backend, char *ret_reason);

/* For tests: the next `draws` draws of a GL backend behave as if the context had been lost in their midst.
 * Threads: any. */
void gl_backend_lose(struct backend *b, int draws);
