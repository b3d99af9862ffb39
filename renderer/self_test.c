/* self_test.c -- a fixed set of scenes: every body and every layer, tilted, clouded, capped, with and without
 * rings, at a size that is no multiple of any lane count, in three frames. A backend whose codes hash
 * differently is not used. */
#include "renderer/self_test.h"

#include <stdlib.h>

#include <xxhash.h>

#include "renderer/bodies.h"

#define SIDE   50
#define FRAMES 3

static const struct planet_desc base = {
    .seed = 0x9d3f5c1a7be24680u,
    .pixels = SIDE,
    .frames = FRAMES,
    .turns = 1,
    .phase_micro = 123456,
    .light_azimuth_decideg = 1350,
    .light_elevation_decideg = 450,
    .shade_steps = 3,
    .scale_centi = 200,
    .sea_level_milli = 480,
    .rivers_milli = 500,
    .cloud_cover_milli = 600,
    .cloud_stretch_centi = 170,
    .cloud_ratio = 2,
    .ice_caps_milli = 500,
    .tilt_decideg = 230,
    .roll_decideg = -110,
    .ring_angle_decideg = 250,
    .ring_open_milli = 300,
    .atmosphere = COLOR_AUTO,
    .background = COLOR_NONE,
    .outline = COLOR_NONE,
};

static enum err add_scene(struct backend *b, const struct planet_desc *desc, uint32_t *codes,
                          XXH3_state_t *state)
{
    struct scene scene;
    struct scene_turn turns[FRAMES];
    scene_make(desc, &scene);
    for (int i = 0; i < FRAMES; i++)
        turns[i] = scene_turn_make(desc, i);
    enum err err = b->impl->draw(b, &scene, turns, FRAMES, NULL, codes);
    if (!err)
        XXH3_64bits_update(state, codes, sizeof(uint32_t) * FRAMES * SIDE * SIDE);
    return err;
}

enum err self_test_hash(struct backend *b, uint64_t *ret_hash)
{
    enum err err = ERR_NONE;
    uint32_t *codes = malloc(sizeof *codes * FRAMES * SIDE * SIDE);
    XXH3_state_t *state = XXH3_createState();
    if (!codes || !state) {
        err = ERR_OOM;
        goto out;
    }
    XXH3_64bits_reset(state);
    for (int body = 0; body < BODY_COUNT && !err; body++)
        for (int rings = 0; rings < 2 && !err; rings++) {
            struct planet_desc desc = base;
            desc.seed += (uint64_t)body;
            desc.body = body;
            desc.rings = rings;
            err = add_scene(b, &desc, codes, state);
        }
    /* Moons before, behind and in the shadow; a light along which they and the rings throw theirs. */
    for (int moons = 1; moons <= MOONS_MAX && !err; moons++) {
        struct planet_desc desc = base;
        desc.seed += (uint64_t)moons;
        desc.body = moons == 1 ? BODY_CITY : BODY_MOON;
        desc.moons = moons;
        desc.rings = moons > 1;
        desc.light_azimuth_decideg = -1300;
        desc.light_elevation_decideg = 200;
        err = add_scene(b, &desc, codes, state);
    }
    for (int layer = LAYER_COLOR + 1; layer < LAYER_COUNT && !err; layer++) {
        struct planet_desc desc = base;
        desc.body = layer == LAYER_BANDS ? BODY_GAS : layer == LAYER_CRATERS ? BODY_MOON : BODY_TERRESTRIAL;
        desc.layer = layer;
        desc.rings = layer == LAYER_RINGS;
        err = add_scene(b, &desc, codes, state);
    }
    /* Light as shading=ramp has it, on a sphere and on what is none: each of the matrices. */
    for (int dither = DITHER_NONE; dither < DITHER_COUNT && !err; dither++) {
        struct planet_desc desc = base;
        desc.body = dither & 1 ? BODY_TERRESTRIAL : BODY_ASTEROID;
        desc.shading = SHADING_RAMP;
        desc.dither = dither;
        desc.terminator = dither & 1 ? TERMINATOR_EXACT : TERMINATOR_EARLY;
        err = add_scene(b, &desc, codes, state);
    }
    if (!err)
        *ret_hash = XXH3_64bits_digest(state);
out:
    XXH3_freeState(state);
    free(codes);
    return err;
}
