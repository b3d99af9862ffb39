/* layers.glsl -- the steps on the way to the picture, each as a picture of its own (parameter `layer`).
 * A layer's code is 0 where there is nothing, else 1 + a value: a grey of 0..255, a small number that
 * renderer/palette.c colours, or for the grid u | v << 8. Normals have codes of their own (codes.glsl). Emission and mask
 * are the picture's codes in other colours, so no kernel knows of them. */

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

/* Height of what the light of an engine shall see: level seas, bowls where there are craters. */
fn_real relief_height(scene S, point n)
{
    point p = ground_point(S, n);
    real h = max(ground_height(S, p), all_real(S.relief_floor));
    if (S.relief_craters > 0.0f) {
        real far = min(S.body == BODY_IS_ROCK ? rock_crater_distance(S, p) : crater_distance(S, p), all_real(1.0f));
        real bowl = 1.0f - far * far;
        h = h - bowl * S.relief_craters;
    }
    return h;
}

/* The normal of the ball at n, bent by the slope of the ground. */
fn_point relief_normal(scene S, point n)
{
    real here = relief_height(S, n);
    real x = relief_height(S, make_point(n.x + S.relief_step, n.y, n.z)) - here;
    real y = relief_height(S, make_point(n.x, n.y + S.relief_step, n.z)) - here;
    real z = relief_height(S, make_point(n.x, n.y, n.z + S.relief_step)) - here;
    real up = dot3(x, y, z, n.x, n.y, n.z);
    real k = all_real(S.relief);
    x = x - n.x * up;
    y = y - n.y * up;
    z = z - n.z * up;
    x = n.x - x * k;
    y = n.y - y * k;
    z = max(n.z - z * k, all_real(0.0f)); /* what turns away from the viewer could not be seen */
    real r = inverse_sqrt(max(dot3(x, y, z, x, y, z), all_real(1e-6f)));
    return make_point(x * r, y * r, z * r);
}

/* Codes of rings stay as they are: renderer/palette.c knows which way their plane looks. */
fn_word normal_layer(scene S, real px, real py, point q)
{
    flag outside = q.z > 1.0f;
    point n = sphere_point(q.x, q.y, q.z);
    word code = normal_code(n);
    if (S.relief > 0.0f) {
        word bent = normal_code(relief_normal(S, n));
        if (S.has_clouds > 0u)
            code = choose(cloud_cover(S, n) > COVER_SHADOW, code, bent); /* clouds are smooth */
        else
            code = bent;
    }
    code = choose(outside, all_word(0u), code);
    if (S.has_rings > 0u) {
        word ring = ring_code(S, frame_at(S, px), frame_at(S, py));
        word front = choose((ring & RING_FRONT) > 0u, ring, code);
        code = choose(outside, ring, front);
    }
    return code;
}

fn_word draw_layer(scene S, real px, real py)
{
    if (S.layer == LAYER_IS_GRID)
        return grid_value(S, px, py) + 1u;
    point q = disc_point(S, px, py);
    flag outside = q.z > 1.0f;
    if (S.layer == LAYER_IS_NORMAL)
        return normal_layer(S, px, py, q);
    if (S.layer > LAYER_IS_BANDS)
        return rings_layer(S, px, py, outside);
    word value = disc_value(S, sphere_point(q.x, q.y, q.z), px, py) + 1u;
    return choose(outside, all_word(0u), value);
}
