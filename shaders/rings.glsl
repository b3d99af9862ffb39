/* rings.glsl -- a ring is a circle seen from the side: an ellipse of the screen. Stripes are numbered by the distance
 * from the centre; the lower half of the screen passes in front of the planet, the upper half behind it. */

#define RING_INNER 0.68f
#define RING_OUTER 0.98f
#define RING_STRIPES_A_UNIT 30.0f

/* Code of the ring at frame position x, y (y down), or 0: bits 0-3 stripe, 4 in the planet's shadow, 5 front half. */
fn_word ring_code(scene S, real x, real y)
{
    real u = turn(x, y, S.cos_ring, S.sin_ring);
    real v = turn(y, x, S.cos_ring, -S.sin_ring);
    real w = v * S.inverse_open;
    real d = max(dot2(u, w, u, w), all_real(1e-12f));
    real r = d * inverse_sqrt(d);
    flag inside = both(r > RING_INNER, r < RING_OUTER);
    real from_inner = r - RING_INNER;
    word stripe = to_word(floor(max(from_inner * RING_STRIPES_A_UNIT, all_real(0.0f)))) & 15u;
    word there = (all_word(S.ring_stripes) >> stripe) & 1u;

    /* The planet's shadow: away from the light, within the planet's width of the line through its centre. The front
     * half has none: darkened, it only looks dirty. */
    real away = dot2(x, y, all_real(-S.light_flat_x), all_real(S.light_flat_y));
    real across = dot2(x, y, all_real(S.light_flat_y), all_real(S.light_flat_x));
    across = max(across, -across);
    flag front = v > 0.0f;
    flag dark = both(both(away > 0.0f, across < S.ring_shadow), v <= 0.0f);

    word code = (all_word(3u) << 14) | stripe;
    code = code | choose(dark, all_word(16u), all_word(0u));
    code = code | choose(front, all_word(32u), all_word(0u));
    return choose(both(inside, there > 0u), code, all_word(0u));
}
