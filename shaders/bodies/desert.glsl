/* desert.glsl -- no water: rust canyons below, light dunes above; cream caps. */

fn_word ground_desert(scene S, point p)
{
    real t = ground_height(S, p) - S.sea_level;
    word ground = all_word(4u);
    ground = choose(t < 0.22f, all_word(3u), ground);
    ground = choose(t < 0.10f, all_word(2u), ground);
    ground = choose(t < 0.0f, all_word(1u), ground);
    ground = choose(t < -0.12f, all_word(0u), ground);
    if (S.has_caps > 0u)
        ground = polar_caps(S, p, ground, 5u);
    return ground;
}

PLANET(draw_desert, ground_desert)
