/* ocean.glsl -- islands in wide seas: abyss, deep, shelf and lagoon, beach, green, forest. */

fn_word ground_ocean(scene S, point p)
{
    /* An archipelago that can be seen at the start, so that no seed has sea alone. */
    word h = spot_hash(S.seed_band, 0);
    real x = spot_part(h) - 0.5f;
    real y = spot_part(h >> 10) - 0.4f;
    real z = spot_part(h >> 20) * 0.4f + 0.4f;
    point c = spot_at(x, y, z);
    x = p.x - c.x;
    y = p.y - c.y;
    z = p.z - c.z;
    real near = dot3(x, y, z, x, y, z) * 1.7f;
    real rise = max(1.0f - near, all_real(0.0f)) * 0.24f;
    /* Finer than the continents of other bodies, so that what rises from the sea are islands. */
    float fine = S.scale * 1.6f;
    real gx = p.x * fine;
    real gy = p.y * fine;
    real gz = p.z * fine;
    real height = fbm_of(3, gx + S.ground_x, gy + S.ground_y, gz + S.ground_z, S.seed_ground) + 0.031f;
    height = lerp(height, all_real(0.86f), rise);

    real t = carve_rivers(S, p, height - S.sea_level);
    word ground = steps_of_5(t, -0.20f, -0.10f, -0.045f, 0.0f, 0.022f);
    ground = choose(t < 0.075f, ground, all_word(6u));
    if (S.has_caps > 0u)
        ground = polar_caps(S, p, ground, 7u);
    return ground;
}

PLANET(draw_ocean, ground_ocean)
