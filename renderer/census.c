/* census.c -- reads codes back: what is a sea, a cap, a cloud, a night, and how much of it there is.
 * A code says what is at a pixel before anything has a colour (shaders/codes.glsl), so nothing has to be
 * guessed from colours. Which ground steps are seas stands in the body's row. Threads: pure. */
#include "renderer/census.h"

#include "renderer/bodies.h"
#include "renderer/scene.h"
#include "shaders/codes.glsl"

#define RING_INNER_PART 0.68 /* of half the frame: RING_INNER and RING_OUTER of shaders/rings.glsl */
#define RING_OUTER_PART 0.98

static void count_body(const struct body_info *body, uint32_t code, uint32_t pixels, struct census *c)
{
    uint32_t step = code & CODE_STEP_MASK, cover = code >> CODE_COVER_SHIFT & CODE_COVER_MASK;
    c->body += pixels;
    if ((body->traits & BODY_HAS_CAPS) && step == (uint32_t)body->steps)
        c->cap += pixels;
    else if (body->sea_mask >> step & 1)
        c->sea += pixels;
    else
        c->land += pixels;
    if (cover == COVER_EDGE || cover == COVER_CORE)
        c->cloud += pixels;
    if ((code >> CODE_BAND_SHIFT & CODE_BAND_MASK) == 0)
        c->night += pixels;
}

void census_count(const struct planet_desc *desc, const struct frame_set *frames, struct census *ret_census)
{
    struct census c = {.frame = (uint32_t)frames->side * (uint32_t)frames->side};
    for (int i = 0; i < frames->code_count && desc->layer == LAYER_COLOR; i++) {
        uint32_t code = frames->codes[i].code, pixels = frames->codes[i].count;
        uint32_t kind = code >> CODE_KIND_SHIFT & CODE_KIND_MASK;
        if (code & CODE_MOON)
            c.moon += pixels;
        else if (kind == KIND_PLANET)
            count_body(&bodies[desc->body], code, pixels, &c);
        else if (kind == KIND_RING)
            c.ring += pixels;
        else if (kind == KIND_HALO)
            c.air += pixels;
    }
    *ret_census = c;
}

struct census_has census_has(const struct planet_desc *desc)
{
    const struct body_info *body = &bodies[desc->body];
    struct census_has has = {0};
    bool sphere = desc->layer == LAYER_COLOR && !(body->traits & BODY_FILLS_FRAME);
    has.ground = sphere && !(body->traits & BODY_HAS_BANDS);
    has.sea = sphere && body->sea_mask;
    has.cap = sphere && (body->traits & BODY_HAS_CAPS);
    has.cloud = sphere && (body->traits & BODY_HAS_CLOUDS);
    has.night = sphere && !(body->traits & BODY_SHINES);
    return has;
}

void census_place(const struct planet_desc *desc, struct census_place *ret_place)
{
    const struct body_info *body = &bodies[desc->body];
    double half = desc->pixels / 2.0;
    struct census_place place = {.x = half, .y = half};
    struct scene scene;
    scene_make(desc, &scene);
    if (!(body->traits & BODY_FILLS_FRAME))
        place.radius = half / scene.inverse_radius;
    if (desc->rings) {
        place.ring_inner = half * RING_INNER_PART;
        place.ring_outer = half * RING_OUTER_PART;
        place.ring_open = desc->ring_open_milli / 1000.0;
        place.ring_angle_deg = desc->ring_angle_decideg / 10.0;
    }
    if (!(body->traits & BODY_SHINES)) {
        place.light_x = scene.light_x;
        place.light_y = scene.light_y;
        place.light_z = scene.light_z;
    }
    *ret_place = place;
}
