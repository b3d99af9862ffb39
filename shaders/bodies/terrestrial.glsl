/* terrestrial.glsl -- seas, beaches, grass, forest, rock; caps at the poles. */

fn_word ground_terrestrial(scene S, point p)
{
    real t = carve_rivers(S, p, ground_height(S, p) - S.sea_level);
    word ground = all_word(5u);
    ground = choose(t < 0.24f, all_word(4u), ground);
    ground = choose(t < 0.14f, all_word(3u), ground);
    ground = choose(t < 0.03f, all_word(2u), ground);
    ground = choose(t < 0.0f, all_word(1u), ground);
    ground = choose(t < -0.12f, all_word(0u), ground);
    if (S.has_caps > 0u)
        ground = polar_caps(S, p, ground, 6u);
    return ground;
}

PLANET(draw_terrestrial, ground_terrestrial)
