/* light.glsl -- light in steps. */

#define LAYER_IS_NORMAL 11u /* as in enum layer */

/* The unit vector to the light as the turning ground sees it: the same at every pixel. */
fn_point ground_light(scene S)
{
    return ground_point(S, make_point(all_real(S.light_x), all_real(S.light_y), all_real(S.light_z)));
}

/* Number of the light band of a point that the screen shows at n: 0 in the dark .. shade_steps in full light.
 * n is not turned: the light stands still and the planet turns under it. */
fn_word light_band(scene S, point n)
{
    real lit = dot3(n.x, n.y, n.z, all_real(S.light_x), all_real(S.light_y), all_real(S.light_z));
    lit = min(max(lit, all_real(0.0f)), all_real(1.0f));
    real steps = lit * S.shade_steps;
    return to_word(floor(steps + 0.35f));
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
