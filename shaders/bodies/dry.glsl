/* dry.glsl -- warm rock in five tones, and beds of rivers that have dried up. */

fn_word ground_dry(scene S, point p)
{
    real t = ground_height(S, p) - S.sea_level;
    word ground = steps_of_3(t, -0.07f, 0.0f, 0.07f) + 1u;
    ground = choose(t < 0.15f, ground, all_word(5u));
    if (S.river_depth > 0.0f) {
        /* Beds run through all the land, and narrow where it is high; the highest has none. */
        real narrow = max(t, all_real(-0.1f)) * 3.0f + 1.0f;
        real sharpness = narrow * S.river_sharpness * 1.3f;
        real bed = channel(S, p, 0.8f, S.seed_river, sharpness);
        ground = choose(both(bed > 0.0f, t < S.river_depth), all_word(0u), ground);
    }
    return ground;
}

PLANET(draw_dry, ground_dry)
