/* comet.glsl -- a small rock in a coma, with a broad bent tail of dust and a thin straight one of ions, both away from the
 * light. Steps 0..2 rock (lit), 3 ions, 4..6 dust, 7 heart of the coma. */

#define COMET_ROCK 0.15f
#define COMET_LOOP 8u /* the tails' noise repeats after so many cells, and moves so far in one turn */

/* Noise that repeats along x after COMET_LOOP cells, 0..1. */
fn_real comet_flow(real x, real y, uint seed)
{
    real cx = floor(x);
    real cy = floor(y);
    real fx = fade(x - cx);
    real fy = fade(y - cy);
    word x0 = (to_word(cx) & (COMET_LOOP - 1u)) * CELL_X;
    word x1 = ((to_word(cx) + 1u) & (COMET_LOOP - 1u)) * CELL_X;
    word y0 = (to_word(cy) * CELL_Y) ^ seed;
    word y1 = (to_word(cy) * CELL_Y + CELL_Y) ^ seed;
    real a = lerp(lattice(x0 ^ y0), lattice(x1 ^ y0), fx);
    real b = lerp(lattice(x0 ^ y1), lattice(x1 ^ y1), fx);
    return lerp(a, b, fy) * (1.0f / 16777216.0f);
}

fn_word draw_comet(scene S, real px, real py)
{
    real x = frame_at(S, px);
    real y = frame_at(S, py) * -1.0f;
    /* The head stands toward the light, so that the tails have room. */
    real away = all_real(S.light_reach) * -0.62f;
    x = x + away * S.light_flat_x;
    y = y + away * S.light_flat_y;
    real t = dot2(x, y, all_real(-S.light_flat_x), all_real(-S.light_flat_y));
    real s = dot2(x, y, all_real(S.light_flat_y), all_real(-S.light_flat_x));
    real d = max(dot2(x, y, x, y), all_real(1e-6f));
    real r = d * inverse_sqrt(d);
    real moved = angle_of(all_real(S.cos_spin), all_real(S.sin_spin)) * 8.0f;
    word code = all_word(0u);

    /* Dust: it bends to one side, and spreads. */
    real reach = all_real(S.light_reach) * (all_real(S.vary_a * 0.5f) + 1.75f);
    real far = t * reciprocal(reach);
    real side = all_real(S.vary_b) - 0.5f;
    side = choose(side < 0.0f, all_real(-1.0f), all_real(1.0f));
    real bend = (all_real(S.vary_c * 0.18f) + 0.14f) * side;
    real middle = bend * t;
    middle = middle * t;
    real wide = all_real(S.vary_d * 0.12f) + 0.20f;
    wide = wide * t + 0.13f;
    real f = all_real(S.scale) * 0.5f;
    real across = (s - middle) * reciprocal(wide);
    real sx = t * 2.2f - moved;
    real sy = across * 2.4f * f + 40.0f;
    real streak = comet_flow(sx, sy, S.seed_ground) - 0.5f;
    real aside = across * across;
    real v = 3.1f - aside * 2.4f;
    v = v - far * 2.6f;
    v = v + streak * 1.9f;
    v = choose(t < 0.0f, all_real(-1.0f), v);
    v = choose(far > 1.0f, all_real(-1.0f), v);
    word dust = to_word(floor(held(v, 0.0f, 2.0f))) + 4u;
    code = choose(v > 0.25f, dust | CODE_PLANET | CODE_SHINE, code);

    /* Ions: straight, on the other side of the bend. */
    real ion_s = s + side * t * 0.10f;
    real sway = comet_flow(t * 3.1f - moved, all_real(7.5f), S.seed_cloud) - 0.5f;
    ion_s = ion_s + sway * 0.05f;
    ion_s = max(ion_s, -ion_s);
    real thin = max(all_real(0.045f), all_real(S.two_over_side * 0.8f));
    real knots = comet_flow(t * 4.0f - moved, all_real(3.5f), S.seed_cap);
    real length = reach * (knots * 0.35f + 0.85f);
    flag ion = both(both(ion_s < thin, t > 0.0f), t < length);
    code = choose(both(ion, code < (CODE_PLANET | CODE_SHINE | 5u)), all_word(CODE_PLANET | CODE_SHINE | 3u), code);

    /* The coma is drawn out away from the light. */
    real pulled = t * 0.45f;
    real cx = r - max(pulled, all_real(0.0f));
    real ruffle = comet_flow(angle_of(x, y) * 8.0f, moved + 3.0f, S.seed_crater) - 0.5f;
    cx = cx + ruffle * 0.0f;
    real coma = all_real(S.vary_e * 0.05f) + 0.25f;
    code = choose(cx < coma * 1.22f, all_word(CODE_PLANET | CODE_SHINE | 5u), code);
    code = choose(cx < coma, all_word(CODE_PLANET | CODE_SHINE | 6u), code);
    code = choose(cx < coma * 0.78f, all_word(CODE_PLANET | CODE_SHINE | 7u), code);

    word rock = rock_code(S, x * (1.0f / COMET_ROCK), y * (1.0f / COMET_ROCK), 0u);
    return choose(rock > 0u, rock, code);
}
