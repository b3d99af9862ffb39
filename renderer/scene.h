/* The numbers a kernel reads, derived once from a description, the same for every backend. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "renderer/desc.h"

/* The fields are in shaders/scene.glsl, which is C and GLSL at once: 4-byte scalars only, so that std140 and
 * C agree. */
typedef uint32_t uint;
#include "shaders/scene.glsl"

/* What differs from frame to frame (std140: four vec4). */
struct scene_turn {
    float sin_spin, cos_spin;   /* ground */
    float sin_cloud, cos_cloud; /* clouds */
    struct scene_place {
        float x, y, z, unused;
    } moons[MOONS_MAX]; /* their middles, in planet radii: x right, y up, z to the viewer; 0 for those that
                           are not */
};

/* Fills *ret_scene. `desc` must be within its documented ranges. Threads: any. */
void scene_make(const struct planet_desc *desc, struct scene *ret_scene);

/* Whether the kernel of the body draws this scene, and not that of the layers. Threads: any. */
bool scene_by_body(const struct scene *scene);

/* The angles of frame `frame` (0 <= frame <= desc->frames; the last is equal to frame 0, bit for bit).
 * Threads: any. */
struct scene_turn scene_turn_make(const struct planet_desc *desc, int frame);

/* Which of the moons' materials moon `number` of this seed has, 0..count - 1. Threads: any. */
int scene_moon_material(uint64_t seed, int number, int count);

/* Which of `count` ramps this seed's body has. Threads: any. */
int scene_ramp(uint64_t seed, int count);

/* 0..count - 1, another choice of this seed for each `what` (0..31). Threads: any. */
int scene_pick(uint64_t seed, int what, int count);

/* Tone of a ring stripe (0..8) or group of stripes (9..12, see shaders/rings.glsl), 0..1: dark to light, a
 * gap where it is too low. Threads: any. */
double scene_ring_tone(uint64_t seed, int code);
