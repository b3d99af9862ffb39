/* light.glsl -- light in steps. */

#define LAYER_IS_NORMAL 11u /* as in enum layer */

/* The unit vector to the light as the turning ground sees it: the same at every pixel. */
fn_point ground_light(scene S)
{
    return ground_point(S, make_point(all_real(S.light_x), all_real(S.light_y), all_real(S.light_z)));
}

/* What a pixel adds to its light, in bands, before it is cut into bands. */
fn_real light_dither(scene S, real px, real py)
{
    word y = to_word(py);
    word d = to_word(px) ^ y;
    word level = BAYER_LEVEL(d, y);
    real v = to_real(level >> S.dither_shift) + 0.5f;
    v = v * S.dither_step;
    return v - S.dither;
}

/* Number of the light band of a point that the screen shows at n, in pixel px, py: 0 in the dark .. shade_steps in full
 * light. n is not turned: the light stands still and the planet turns under it. Where the scene says so the ground, which
 * turns, bends the edges. */
fn_word light_band(scene S, point n, real px, real py)
{
    real lit = dot3(n.x, n.y, n.z, all_real(S.light_x), all_real(S.light_y), all_real(S.light_z));
    if (S.rough > 0.0f) {
        point p = ground_point(S, n);
        real x = p.x * S.rough_scale + S.cloud_y;
        real y = p.y * S.rough_scale + S.cloud_z;
        real z = p.z * S.rough_scale + S.cloud_x;
        real bend = fbm_of(3, x, y, z, S.seed_river) - 0.44f;
        bend = bend * S.rough;
        lit = lit + bend;
    }
    real steps = min(max(lit, all_real(-1.0f)), all_real(1.0f)) * S.shade_steps;
    if (S.dither > 0.0f)
        steps = steps + light_dither(S, px, py);
    steps = max(steps + S.light_bias, all_real(0.0f));
    return to_word(min(floor(steps), all_real(S.shade_steps)));
}

/* The code of a unit vector in layer=normal. */
fn_word normal_code(point n)
{
    real x = n.x * 127.0f;
    real y = n.y * 127.0f;
    word red = to_word(floor(x + 128.5f));
    word green = to_word(floor(y + 128.5f));
    return (red | (green << 8)) | CODE_NORMAL;
}
