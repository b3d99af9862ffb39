/* lava.glsl -- rivers of lava between dark crust. Its thresholds lie lower than the other worlds': half a planet of sea
 * is a sea, half a planet of lava looks like paint. */

fn_word ground_lava(scene S, point p)
{
    real t = ground_height(S, p) - S.sea_level;
    word ground = all_word(5u);
    ground = choose(t < 0.20f, all_word(4u), ground);
    ground = choose(t < 0.12f, all_word(3u), ground);
    ground = choose(t < 0.03f, all_word(2u), ground);
    ground = choose(t < -0.08f, all_word(1u), ground);
    ground = choose(t < -0.18f, all_word(0u), ground);
    return ground;
}

PLANET(draw_lava, ground_lava)
