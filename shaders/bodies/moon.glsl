/* moon.glsl -- no air, no water: dark maria and light highlands in three greys, and craters. */

fn_word ground_moon(scene S, point p)
{
    real t = ground_height(S, p) - S.sea_level;
    word ground = choose(t < 0.08f, all_word(1u), all_word(2u));
    ground = choose(t < -0.04f, all_word(0u), ground);
    return ground | crater_code(S, p);
}

PLANET(draw_moon, ground_moon)
