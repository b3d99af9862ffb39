/* light.glsl -- light in steps. */

/* The unit vector to the light as the turning ground sees it: the same at every pixel. */
fn_point ground_light(scene S)
{
    return ground_point(S, make_point(all_real(S.light_x), all_real(S.light_y), all_real(S.light_z)));
}

/* What a pixel adds to its light, in bands, before it is cut into bands: the matrix of Bayer (1973), whose highest bit
 * alone is a checkerboard. */
fn_real light_dither(scene S, real px, real py)
{
    word x = to_word(px);
    word y = to_word(py);
    word d = x ^ y;
    word level = ((d & 1u) << 5) | ((y & 1u) << 4) | ((d & 2u) << 2) | ((y & 2u) << 1) | ((d & 4u) >> 1) | ((y & 4u) >> 2);
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
    lit = min(max(lit, all_real(0.0f)), all_real(1.0f));
    real steps = lit * S.shade_steps;
    if (S.dither > 0.0f)
        steps = min(max(steps + light_dither(S, px, py), all_real(0.0f)), all_real(S.shade_steps));
    return to_word(floor(steps + 0.35f));
}
