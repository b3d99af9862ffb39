/* layers.glsl -- the steps on the way to the picture, each as a picture of its own (parameter `layer`).
 * A layer's code is 0 where there is nothing, else 1 + a value: a grey of 0..255, a small number that
 * renderer/palette.c colours, or for the grid u | v << 8. */

/* Numbers as in enum layer. */
#define LAYER_IS_GRID 1u
#define LAYER_IS_DEPTH 2u
#define LAYER_IS_HEIGHT 3u
#define LAYER_IS_SEA 4u
#define LAYER_IS_LIGHT 5u
#define LAYER_IS_CLOUDS 6u
#define LAYER_IS_SHADOW 7u
#define LAYER_IS_CRATERS 8u
#define LAYER_IS_BANDS 9u

/* Numbers as in enum body: these have the layers bands and craters in their own way. */
#define BODY_IS_ROCK 8u
#define BODY_IS_STORM 9u

/* 0..1 to 0..255, rounded. */
fn_word grey(real v)
{
    real x = min(max(v, all_real(0.0f)), all_real(1.0f)) * 255.0f;
    return to_word(floor(x + 0.5f));
}

fn_word grid_value(scene S, real px, real py)
{
    real u = frame_at(S, px) * 0.5f;
    real v = frame_at(S, py) * 0.5f;
    return grey(u + 0.5f) | (grey(v + 0.5f) << 8);
}

/* Nothing 0, disc 1, front half of the rings 2, back half 3. */
fn_word rings_layer(scene S, real px, real py, flag outside)
{
    word ring = ring_code(S, frame_at(S, px), frame_at(S, py));
    word code = choose(outside, all_word(0u), all_word(1u));
    code = choose(both(ring > 0u, outside), all_word(3u), code);
    return choose((ring & RING_FRONT) > 0u, all_word(2u), code);
}

fn_word disc_value(scene S, point n, real px, real py)
{
    point p = ground_point(S, n);
    if (S.layer == LAYER_IS_DEPTH)
        return grey(n.z);
    if (S.layer == LAYER_IS_HEIGHT)
        return grey(ground_height(S, p));
    if (S.layer == LAYER_IS_SEA)
        return choose(ground_height(S, p) < S.sea_level, all_word(0u), all_word(1u));
    if (S.layer == LAYER_IS_LIGHT)
        return light_band(S, n, px, py);
    if (S.layer == LAYER_IS_CRATERS)
        return grey((S.body == BODY_IS_ROCK ? rock_crater_distance(S, p) : crater_distance(S, p)) * 0.5f);
    if (S.layer == LAYER_IS_BANDS)
        return S.body == BODY_IS_STORM ? ground_storm(S, p) : ground_gas(S, p);
    return cloud_cover(S, n);
}

fn_word draw_layer(scene S, real px, real py)
{
    if (S.layer == LAYER_IS_GRID)
        return grid_value(S, px, py) + 1u;
    point q = disc_point(S, px, py);
    flag outside = q.z > 1.0f;
    if (S.layer > LAYER_IS_BANDS)
        return rings_layer(S, px, py, outside);
    word value = disc_value(S, sphere_point(q.x, q.y, q.z), px, py) + 1u;
    return choose(outside, all_word(0u), value);
}
