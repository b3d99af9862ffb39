/* orbits.glsl -- what goes around a planet, in space: moons, and the shadows that they and the rings cast. Lengths are of
 * the planet (radius 1, its middle at 0), axes are the screen's: x right, y up, z to the viewer. */

/* The three tones of a moon are found by noise of so many cells on its radius. */
#define MOON_CELLS 1.4f

/* 1 where the ball of radius r around b keeps the light from the point p, else 0. */
fn_word ball_shadow(scene S, point p, float bx, float by, float bz, float r)
{
    real x = bx - p.x;
    real y = by - p.y;
    real z = bz - p.z;
    real along = dot3(x, y, z, all_real(S.light_x), all_real(S.light_y), all_real(S.light_z));
    real lx = along * S.light_x;
    real ly = along * S.light_y;
    real lz = along * S.light_z;
    x = x - lx;
    y = y - ly;
    z = z - lz;
    flag behind = both(along > 0.0f, dot3(x, y, z, x, y, z) < r * r);
    return choose(behind, all_word(1u), all_word(0u));
}

/* 1 where the rings keep light from the point n of the ground: the way to the light meets their plane at a stripe. Groups
 * of stripes, since single ones are thinner than a pixel. */
fn_word rings_shadow(scene S, point n)
{
    real t = dot3(n.x, n.y, n.z, all_real(S.ring_x), all_real(S.ring_y), all_real(S.ring_z)) * S.ring_light;
    t = -t;
    real x = t * S.light_x;
    real y = t * S.light_y;
    real z = t * S.light_z;
    x = x + n.x;
    y = y + n.y;
    z = z + n.z;
    real d = max(dot3(x, y, z, x, y, z), all_real(1e-12f));
    real r = d * inverse_sqrt(d);
    r = r * S.radius;
    real from_inner = min(max(r - RING_INNER, all_real(0.0f)), all_real(0.2999f));
    word group = to_word(floor(from_inner * (RING_STRIPES_A_UNIT / 3.0f))) + RING_GROUPS;
    word there = (all_word(S.ring_stripes) >> group) & 1u;
    flag meets = both(both(r > RING_INNER, r < RING_OUTER), t > 0.0f);
    return choose(meets, there, all_word(0u));
}

/* The light band of a point of the ground after its shadows: none under a moon, one less under the rings. */
fn_word shadowed(scene S, point n, word band)
{
    if (S.ring_casts > 0u) {
        word less = choose(band > 0u, rings_shadow(S, n), all_word(0u));
        band = band - less;
    }
    if (S.moons > 0u) {
        word dark = ball_shadow(S, n, S.moon_ax, S.moon_ay, S.moon_az, S.moon_ar);
        if (S.moons > 1u)
            dark = dark | ball_shadow(S, n, S.moon_bx, S.moon_by, S.moon_bz, S.moon_br);
        if (S.moons > 2u)
            dark = dark | ball_shadow(S, n, S.moon_cx, S.moon_cy, S.moon_cz, S.moon_cr);
        band = choose(dark > 0u, all_word(0u), band);
    }
    return band;
}

/* What a pixel shows, and how near the viewer it is. */
#define FAR_AWAY (-1000.0f)

/* The code of a moon where it is before what `depth` says is there and before the moon whose middle is at `above`, else
 * `code`. Moons go by their middles, so that two that meet do not cut into each other. x, y: the pixel. */
fn_word moon_code(scene S, real x, real y, real px, real py, real depth, real above, word code, point moon, float r,
                  float inverse, uint number)
{
    real u = (x - moon.x) * inverse;
    real v = (y - moon.y) * inverse;
    real d = dot2(u, v, u, v);
    point n = sphere_point(u, v, d);
    real z = n.z * r;
    z = z + moon.z;
    flag seen = both(both(d <= 1.0f, z > depth), moon.z > above);
    if (!any_lane(seen))
        return code;

    word band = light_band(S, n, px, py);
    word dark = ball_shadow(S, make_point(x, y, z), 0.0f, 0.0f, 0.0f, 1.0f);
    band = choose(dark > 0u, all_word(0u), band);
    real cx = n.x * MOON_CELLS;
    real cy = n.y * MOON_CELLS;
    real cz = n.z * MOON_CELLS;
    real place = to_real(all_word(number)) * 17.0f;
    real tone = fbm_of(2, cx + place, cy + S.ground_y, cz + S.ground_z, S.seed_crater);
    word step = choose(tone > 0.30f, all_word(1u), all_word(0u));
    step = choose(tone > 0.42f, all_word(2u), step);
    word own = (step + number * 3u) | (band << CODE_BAND_SHIFT);
    return choose(seen, own | (CODE_PLANET | CODE_MOON), code);
}

/* `above` after moon_code() has drawn a moon. */
fn_real moon_above(word code, real above, point moon, uint number)
{
    word own = (code & CODE_STEP_MASK) - number * 3u;
    flag drawn = both((code & CODE_MOON) > 0u, own < 3u);
    return choose(drawn, moon.z, above);
}

/* The moons over what is in a pixel already; `depth` is that of the planet or the rings there, or FAR_AWAY. */
fn_word with_moons(scene S, real px, real py, real depth, word code)
{
    real x = frame_at(S, px) * S.inverse_radius;
    real y = frame_at(S, py) * S.inverse_radius;
    y = -y;
    real above = all_real(FAR_AWAY);
    point a = make_point(all_real(S.moon_ax), all_real(S.moon_ay), all_real(S.moon_az));
    code = moon_code(S, x, y, px, py, depth, above, code, a, S.moon_ar, S.moon_a_inverse, 0u);
    if (S.moons > 1u) {
        point b = make_point(all_real(S.moon_bx), all_real(S.moon_by), all_real(S.moon_bz));
        above = moon_above(code, above, a, 0u);
        code = moon_code(S, x, y, px, py, depth, above, code, b, S.moon_br, S.moon_b_inverse, 1u);
        if (S.moons > 2u) {
            point c = make_point(all_real(S.moon_cx), all_real(S.moon_cy), all_real(S.moon_cz));
            above = moon_above(code, above, b, 1u);
            code = moon_code(S, x, y, px, py, depth, above, code, c, S.moon_cr, S.moon_c_inverse, 2u);
        }
    }
    return code;
}

/* How near the rings are in a pixel: their plane goes through the planet's middle. */
fn_real ring_depth(scene S, real px, real py)
{
    real x = frame_at(S, px) * S.ring_x;
    real y = frame_at(S, py) * S.ring_y;
    real z = y - x;
    z = z * S.inverse_open;
    return z * S.inverse_radius;
}

/* The ring code of a pixel, dark where the planet keeps the light from it. */
fn_word shaded_ring(scene S, real px, real py)
{
    real x = frame_at(S, px);
    real y = frame_at(S, py);
    word ring = ring_code(S, x, y);
    point p = make_point(x * S.inverse_radius, -y * S.inverse_radius, ring_depth(S, px, py));
    word dark = ball_shadow(S, p, 0.0f, 0.0f, 0.0f, 1.0f) * RING_DARK;
    return choose(ring > 0u, ring | dark, ring);
}
