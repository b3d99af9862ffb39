/* For tests that look at codes: one frame of a description, drawn by the cpu backend. */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/request.h"
#include "renderer/renderer_impl.h"
#include "shaders/codes.glsl"

#define STEP_OF(c)  ((c)&CODE_STEP_MASK)
#define BAND_OF(c)  ((c) >> CODE_BAND_SHIFT & CODE_BAND_MASK)
#define COVER_OF(c) ((c) >> CODE_COVER_SHIFT & CODE_COVER_MASK)
#define KIND_OF(c)  ((c) >> CODE_KIND_SHIFT & CODE_KIND_MASK)

/* The description of a query that must be good. */
static inline struct planet_desc desc_of(const char *query)
{
    struct request r;
    struct request_fault fault;
    request_init(&r);
    if (request_set_query(&r, query, strlen(query), &fault) || request_finish(&r, &fault)) {
        fprintf(stderr, "%s: %s\n", query, fault.detail);
        abort();
    }
    return r.planet;
}

/* Codes of frame `frame`, side * side of them; free() them. */
static inline uint32_t *codes_of(const struct planet_desc *desc, int frame)
{
    struct backend *cpu;
    char reason[256];
    struct scene scene;
    struct scene_turn turn = scene_turn_make(desc, frame);
    uint32_t *codes = malloc((size_t)desc->pixels * (size_t)desc->pixels * sizeof *codes);
    scene_make(desc, &scene);
    if (!codes || cpu_backend_open("", NULL, &cpu, reason) ||
        cpu->impl->draw(cpu, &scene, &turn, 1, NULL, codes))
        abort();
    cpu->impl->destroy(cpu);
    return codes;
}

static inline uint32_t *codes_of_query(const char *query, int *ret_side)
{
    struct planet_desc desc = desc_of(query);
    *ret_side = desc.pixels;
    return codes_of(&desc, 0);
}
