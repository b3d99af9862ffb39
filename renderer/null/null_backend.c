/* null_backend.c -- flat discs: one ground step from the seed, no noise. For tests of everything above the
 * kernels, which then need no GPU and no time. Threads: any number of draws at once. */
#include <stdlib.h>
#include <string.h>

#include "renderer/renderer_impl.h"
#include "shaders/codes.glsl"

static enum err null_draw(struct backend *b, const struct scene *scene, const struct scene_turn *turns,
                          int count, const atomic_bool *cancel, uint32_t *codes)
{
    (void)b;
    (void)turns;
    size_t side = scene->side;
    uint32_t code = scene_by_body(scene) ? CODE_PLANET | scene->seed_ground % 3u : 1u;
    for (int frame = 0; frame < count; frame++) {
        if (cancel && atomic_load(cancel))
            return ERR_CANCELLED;
        uint32_t *out = codes + (size_t)frame * side * side;
        memset(out, 0, side * side * sizeof *out);
        for (size_t y = side / 4; y < side - side / 4; y++)
            for (size_t x = side / 4; x < side - side / 4; x++)
                out[y * side + x] = code;
    }
    return ERR_NONE;
}

static void null_destroy(struct backend *b)
{
    free(b);
}

static const struct backend_impl null_impl = {
    .name = "null", .batch_pixels = 1u << 19, .draw = null_draw, .destroy = null_destroy};

enum err null_backend_open(struct backend **ret_backend)
{
    struct backend *b = calloc(1, sizeof *b);
    if (!b)
        return ERR_OOM;
    b->impl = &null_impl;
    strcpy(b->device, "flat squares");
    *ret_backend = b;
    return ERR_NONE;
}
