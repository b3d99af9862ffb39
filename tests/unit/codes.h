/* For tests that look at codes: one frame of a description, drawn by the cpu backend. Layout: shaders/planet.glsl. */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/request.h"
#include "renderer/renderer_impl.h"

#define CODE_STEP(c) ((c) & 15)
#define CODE_CRATER(c) ((c) >> 4 & 3)
#define CODE_BAND(c) ((c) >> 6 & 31)
#define CODE_COVER(c) ((c) >> 11 & 3)
#define CODE_LIMB(c) ((c) >> 13 & 1)
#define CODE_KIND(c) ((c) >> 14 & 3)
enum { KIND_NOTHING, KIND_PLANET, KIND_HALO, KIND_RING };
enum { COVER_NONE, COVER_SHADOW, COVER_EDGE, COVER_CORE };
#define RING_DARK(c) ((c) >> 4 & 1)
#define RING_FRONT(c) ((c) >> 5 & 1)

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
    if (!codes || cpu_backend_open("", NULL, &cpu, reason) || cpu->impl->draw(cpu, &scene, &turn, 1, NULL, codes))
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
