/* galaxy.glsl -- two to four arms along logarithmic spirals around a bright core, with dust along their inner sides and
 * knots of young stars. Steps 0 dust, 1..4 arms, 5 knots, 6, 7 core. */

#define GALAXY_CELLS 6.5f

/* Knots: a spot in some cells of a grid over the disc. */
fn_real galaxy_knot(scene S, real u, real w)
{
    real x = u * GALAXY_CELLS + 16.0f;
    real y = w * GALAXY_CELLS + 16.0f;
    real cx = floor(x);
    real cy = floor(y);
    word h = crater_hash((to_word(cx) * CELL_X) ^ (to_word(cy) * CELL_Y) ^ S.seed_crater);
    real ox = crater_offset(h) * 0.5f + 0.25f;
    real oy = crater_offset(h >> 10) * 0.5f + 0.25f;
    ox = ox - (x - cx);
    oy = oy - (y - cy);
    real size = crater_offset(h >> 20) - 0.6f;
    size = size * 0.28f;
    /* Two pixels wide and more, or none: a lone one is noise. */
    real pixel = all_real(S.two_over_side) * S.inverse_radius;
    pixel = pixel * GALAXY_CELLS;
    real least = pixel * pixel * 0.9f;
    size = choose(size > least, size, all_real(-1.0f));
    return size - dot2(ox, oy, ox, oy);
}

fn_word draw_galaxy(scene S, real px, real py)
{
    real sx = frame_at(S, px) * S.inverse_radius;
    real sy = frame_at(S, py) * -S.inverse_radius;
    real x = turn(sx, sy, S.cos_roll, S.sin_roll);
    real y = turn(sy, sx, S.cos_roll, -S.sin_roll);
    real flat_y = y * S.inverse_tilt;
    /* Turned with the loop. */
    real u = turn(x, flat_y, S.cos_spin, S.sin_spin);
    real w = turn(flat_y, x, S.cos_spin, -S.sin_spin);
    real d = max(dot2(u, w, u, w), all_real(1e-5f));
    real r = d * inverse_sqrt(d);

    real f = all_real(S.scale) * 1.5f;
    real nx = u * f + S.ground_x;
    real ny = w * f + S.ground_y;
    real cloud = unit_noise(nx, ny, all_real(S.ground_z), S.seed_ground) - 0.5f;
    nx = nx * 2.1f + 4.7f;
    ny = ny * 2.1f + 4.7f;
    real fine = unit_noise(nx, ny, all_real(S.ground_z), S.seed_ground) - 0.5f;
    cloud = cloud * 0.40f + fine * 0.10f;

    real arms = floor(all_real(S.vary_a * 3.0f)) + 2.0f;
    real wind = all_real(S.vary_b * 0.20f) + 0.22f;
    wind = wind * (5.0f - arms * 0.5f);
    real phase = angle_of(u, w) * arms;
    real curl = log2_of(d) * wind;
    phase = phase + curl * 0.5f;
    phase = phase + cloud * 0.7f;
    real crest = cosine_of(phase);
    real inner_side = phase + 0.27f;
    real lane = cosine_of(inner_side);

    real size = all_real(S.vary_c * 0.14f) + 0.84f;
    real rim = r * reciprocal(size);
    real v = 2.75f - rim * 2.6f;
    real strength = all_real(S.vary_d * 0.5f) + 1.15f;
    v = v + crest * strength;
    v = v + cloud * 2.4f;
    v = choose(rim > 1.0f, all_real(-1.0f), v);
    real shown = held(v, 0.0f, 3.0f);
    word step = to_word(floor(shown)) + 1u;
    step = choose(v < 0.0f, all_word(15u), step);
    flag dust = both(both(lane > 0.64f, cloud > -0.12f), both(r < size * 0.72f, v > -0.3f));
    step = choose(dust, all_word(0u), step);
    flag knot = both(both(galaxy_knot(S, u, w) > 0.0f, crest > 0.35f), both(v > 0.6f, r > 0.24f));
    step = choose(knot, all_word(5u), step);

    /* The core is a ball that a slant flattens less. */
    real slant = all_real(S.inverse_tilt) * 0.35f + 0.65f;
    real by = y * slant;
    real bulge = dot2(x, by, x, by);
    real core = all_real(S.vary_e * 0.07f) + 0.15f;
    real wide = core * core;
    real glow = wide + cloud * 0.18f;
    step = choose(bulge < glow * 2.6f, all_word(4u), step);
    step = choose(bulge < wide * 1.3f, all_word(6u), step);
    step = choose(bulge < wide * 0.36f, all_word(7u), step);
    return choose(step > 14u, all_word(0u), step | CODE_PLANET | CODE_SHINE);
}
