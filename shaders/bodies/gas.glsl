/* gas.glsl -- no ground: bands along the latitudes, bent by turbulence. A band's colour comes from a hash of its number. */

fn_word ground_gas(scene S, point p)
{
    real x = p.x * 1.2f;
    real y = p.y * 3.0f;
    real z = p.z * 1.2f;
    x = x * S.scale;
    y = y * S.scale;
    z = z * S.scale;
    real swirl = fbm(x + S.ground_x, y + S.ground_y, z + S.ground_z, S.seed_ground) - 0.5f;
    swirl = swirl * 2.2f;
    real v = p.y * 7.0f;
    v = v + swirl;
    word band = to_word(floor(v)) * CELL_X;
    real r = lattice((band ^ S.seed_band) * 0x27d4eb2du);
    word ground = choose(r < 0.80f * 16777216.0f, all_word(2u), all_word(3u));
    ground = choose(r < 0.55f * 16777216.0f, all_word(1u), ground);
    return choose(r < 0.25f * 16777216.0f, all_word(0u), ground);
}

PLANET(draw_gas, ground_gas)
