/* planet.glsl -- what all bodies share: one pixel from the disc to its code (codes.glsl). */

/* Where the pixel lies. d is the squared distance from the disc's centre; n faces the viewer. */
fn_point disc_point(scene S, real px, real py)
{
    real x = frame_at(S, px) * S.inverse_radius;
    real y = frame_at(S, py) * S.inverse_radius;
    return make_point(x, -y, dot2(x, y, x, y));
}

/* Outside the disc: one pixel of air on the lit side. */
fn_word halo_code(scene S, point q)
{
    real side = dot2(q.x, q.y, all_real(S.light_x), all_real(S.light_y));
    side = side * inverse_sqrt(max(q.z, all_real(1e-12f)));
    side = side + 0.3f;
    flag air = both(q.z <= S.halo_squared, side > 0.4f);
    return choose(air, all_word(CODE_HALO * S.has_air), all_word(0u));
}

/* The picture at a pixel whose ground is known. `ground` holds ground step and crater bits. */
fn_word planet_code(scene S, real px, real py, point q, point n, word ground)
{
    word band = shadowed(S, n, light_band(S, n, px, py));
    word code = (ground | CODE_PLANET) | (band << CODE_BAND_SHIFT);
    if (S.has_clouds > 0u)
        code = code | (cloud_cover(S, n) << CODE_COVER_SHIFT);
    flag limb = both(n.z < 0.18f, band > 0u);
    code = code | choose(limb, all_word(CODE_LIMB * S.has_air), all_word(0u));

    flag outside = q.z > 1.0f;
    code = choose(outside, halo_code(S, q), code);
    real depth = choose(outside, all_real(FAR_AWAY), n.z);
    if (S.has_rings > 0u) {
        word ring = shaded_ring(S, px, py);
        word front = choose((ring & RING_FRONT) > 0u, ring, code);
        word over_air = choose(ring > 0u, ring, code);
        word shown = choose(outside, over_air, front);
        depth = choose(both(ring > 0u, shown == ring), ring_depth(S, px, py), depth);
        code = shown;
    }
    if (S.moons > 0u)
        code = with_moons(S, px, py, depth, code);
    return code;
}

/* A pixel that the disc and its halo do not reach. */
fn_word sky_code(scene S, real px, real py)
{
    word code = all_word(0u);
    if (S.has_rings > 0u)
        code = shaded_ring(S, px, py);
    if (S.moons > 0u) {
        real depth = choose(code > 0u, ring_depth(S, px, py), all_real(FAR_AWAY));
        code = with_moons(S, px, py, depth, code);
    }
    return code;
}

/* Terrain height, the same for all bodies that have any. */
fn_real ground_height(scene S, point p)
{
    real x = p.x * S.scale;
    real y = p.y * S.scale;
    real z = p.z * S.scale;
    return fbm(x + S.ground_x, y + S.ground_y, z + S.ground_z, S.seed_ground);
}

/* Defines a body's draw function from its ground function: a pixel in, a code out. */
#define PLANET(draw, ground)                                                                                          \
    fn_word draw(scene S, real px, real py)                                                                           \
    {                                                                                                                 \
        point q = disc_point(S, px, py);                                                                              \
        point n = sphere_point(q.x, q.y, q.z);                                                                        \
        return planet_code(S, px, py, q, n, ground(S, ground_point(S, n)));                                           \
    }
