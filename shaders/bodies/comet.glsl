/* comet.glsl -- a small rock in a coma, with a broad bent tail of dust and a thin straight one of ions, both away from the
 * light. Steps 0..2 rock (lit), 3 ions, 4..6 dust, 7 heart of the coma. */

#define COMET_ROCK 0.125f
#define COMET_LOOP 4u /* the tails' noise repeats after so many cells, and moves so far in one turn */

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
    real edge = max(max(x, -x), max(y, -y));
    /* The head stands toward the light, so that the tails have room. */
    real away = min(all_real(S.light_reach), all_real(0.68f));
    away = -away;
    x = x + away * S.light_flat_x;
    y = y + away * S.light_flat_y;
    real t = dot2(x, y, all_real(-S.light_flat_x), all_real(-S.light_flat_y));
    real s = dot2(x, y, all_real(S.light_flat_y), all_real(-S.light_flat_x));
    real moved = angle_of(all_real(S.cos_spin), all_real(S.sin_spin)) * 4.0f;
    word code = all_word(0u);

    /* Dust: it bends to one side, and spreads. */
    real reach = all_real(S.vary_a * 0.42f) + 1.80f;
    reach = min(all_real(S.light_reach), all_real(0.72f)) * reach;
    real far = t * reciprocal(reach);
    real side = all_real(S.vary_b) - 0.5f;
    side = choose(side < 0.0f, all_real(-1.0f), all_real(1.0f));
    real bend = (all_real(S.vary_c * 0.16f) + 0.11f) * side;
    real middle = bend * t;
    middle = middle * t;
    real wide = all_real(S.vary_d * 0.12f) + 0.26f;
    wide = wide * t + 0.15f;
    real f = all_real(S.scale) * 0.5f;
    real across = (s - middle) * reciprocal(wide);
    real sx = t * 1.7f - moved;
    real sy = across * f;
    sy = sy * 3.0f + 40.0f;
    real streak = comet_flow(sx, sy, S.seed_ground) - 0.5f;
    real aside = across * across;
    real torn = min(t * 1.6f, all_real(1.0f)) * 1.7f;
    real v = 4.1f - aside * 2.6f;
    v = v - far * 2.5f;
    real end = far * far;
    v = v - end * 1.7f;
    real over = max(edge - 0.52f, all_real(0.0f)) * 5.0f;
    v = v - over; /* within the frame */
    v = v + streak * torn;
    v = choose(t <= 0.0f, all_real(-1.0f), v); /* from the viewer there is no side, t is 0, and no tail is seen */
    v = choose(far > 1.0f, all_real(-1.0f), v);
    word dust = to_word(floor(held(v, 0.0f, 3.0f))) + 4u;
    code = choose(v > 0.25f, dust | CODE_PLANET | CODE_SHINE, code);

    /* Ions: straight, on the other side of the bend. */
    real ion_s = s + side * t * 0.10f;
    real along = t * 3.1f - moved;
    real sway = comet_flow(along, all_real(7.5f), S.seed_cloud) - 0.5f;
    ion_s = ion_s + sway * 0.05f;
    ion_s = max(ion_s, -ion_s);
    real thin = 0.05f - t * 0.018f;
    thin = max(thin, all_real(S.two_over_side * 0.8f));
    along = t * 4.0f - moved;
    real knots = comet_flow(along, all_real(3.5f), S.seed_cap);
    real extent = knots * 0.25f + 1.05f;
    extent = reach * extent;
    flag ion = both(both(ion_s < thin, t > 0.0f), t < extent);
    code = choose(both(ion, code < (CODE_PLANET | CODE_SHINE | 5u)), all_word(CODE_PLANET | CODE_SHINE | 3u), code);

    /* The coma is drawn out away from the light. */
    real hx = all_real(S.light_flat_x * 0.07f) + x;
    real hy = all_real(S.light_flat_y * 0.07f) + y;
    real e = max(dot2(hx, hy, hx, hy), all_real(1e-6f));
    real pulled = t * 0.45f;
    real cx = e * inverse_sqrt(e);
    cx = cx - max(pulled, all_real(0.0f));
    real coma = all_real(S.vary_e * 0.05f) + 0.21f;
    real middle_coma = coma * 0.84f;
    real heart = coma * 0.56f;
    flag dim = both(cx < coma, code < (CODE_PLANET | CODE_SHINE | 5u));
    code = choose(dim, all_word(CODE_PLANET | CODE_SHINE | 5u), code);
    flag bright = both(cx < middle_coma, code < (CODE_PLANET | CODE_SHINE | 6u));
    code = choose(bright, all_word(CODE_PLANET | CODE_SHINE | 6u), code);

    flag hot = both(cx < heart, code < (CODE_PLANET | CODE_SHINE | 7u));
    code = choose(hot, all_word(CODE_PLANET | CODE_SHINE | 7u), code);

    word rock = boulder_code(S, x * (1.0f / COMET_ROCK), y * (1.0f / COMET_ROCK), px, py);
    return choose(rock > 0u, rock, code);
}
