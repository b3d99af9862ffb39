/* rings.glsl -- a ring is a circle seen from the side: an ellipse of the screen. Stripes are numbered by the distance
 * from the centre; the lower half of the screen passes in front of the planet, the upper half behind it.
 *
 * Where the ellipse is narrow a pixel covers several stripes. Then they are drawn in groups of three, or all as one, so
 * that a pixel shows one group: single stripes and gaps would break up into dots. */

#define RING_MIDDLE 0.83f
#define RING_HALF_WIDTH 0.15f
#define RING_INNER 0.68f
#define RING_OUTER 0.98f
#define RING_STRIPES_A_UNIT 30.0f
#define RING_GROUPS 9u /* codes 9..11: three stripes each */
#define RING_WHOLE 12u /* all nine */

/* Code of the ring at frame position x, y (y down), or 0. */
fn_word ring_code(scene S, real x, real y)
{
    real u = turn(x, y, S.cos_ring, S.sin_ring);
    real v = turn(y, x, S.cos_ring, -S.sin_ring);
    real w = v * S.inverse_open;
    real d = max(dot2(u, w, u, w), all_real(1e-12f));
    real inverse = inverse_sqrt(d);
    real r = d * inverse;

    /* How far r goes across this pixel: its gradient is (u, w / open) / r. */
    real steep = w * S.inverse_open;
    real across_squared = max(dot2(u, steep, u, steep), all_real(1e-12f));
    real footprint = across_squared * inverse_sqrt(across_squared);
    footprint = footprint * inverse * S.two_over_side;

    /* A ring thinner than a pixel still covers one. */
    real from_middle = r - RING_MIDDLE;
    from_middle = max(from_middle, -from_middle);
    flag inside = both(from_middle < max(footprint * 0.5f, all_real(RING_HALF_WIDTH)), max(u, -u) < RING_OUTER);

    real from_inner = r - RING_INNER;
    from_inner = min(max(from_inner, all_real(0.0f)), all_real(0.2999f));
    word stripe = to_word(floor(from_inner * RING_STRIPES_A_UNIT));
    word group = to_word(floor(from_inner * (RING_STRIPES_A_UNIT / 3.0f))) + RING_GROUPS;
    stripe = choose(footprint > 1.0f / RING_STRIPES_A_UNIT, group, stripe);
    stripe = choose(footprint > 3.0f / RING_STRIPES_A_UNIT, all_word(RING_WHOLE), stripe);
    word there = (all_word(S.ring_stripes) >> stripe) & 1u;

    flag front = v > 0.0f;

    word code = stripe | CODE_RING;
    code = code | choose(front, all_word(RING_FRONT), all_word(0u));
    return choose(both(inside, there > 0u), code, all_word(0u));
}
