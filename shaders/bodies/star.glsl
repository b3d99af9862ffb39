/* star.glsl -- granules that boil on a hot disc, darker to its limb; beyond it a corona, tongues and arcs of fire.
 * Steps 0, 1 corona; 2 edge of the fire, 3..7 disc. */

#define STAR_RADIUS 0.68f
#define STAR_ARCS 4

/* -1..1 */
fn_real star_offset(word bits)
{
    real t = crater_offset(bits) * 2.0f;
    return t - 1.0f;
}

/* A number that goes round with the loop, -1..1, another course for each h. */
fn_real star_swing(scene S, word h)
{
    real a = star_offset(h);
    real b = star_offset(h >> 10);
    return turn(a, b, S.cos_spin, S.sin_spin) * 0.7f;
}

/* Granules: how far a point is from the border of its cell (x: 0 on the border), and the cell's own number (y). The
 * cells' centres circle with the loop. */
fn_point star_granules(scene S, point p)
{
    real f = all_real(S.scale) * 1.2f;
    real x = p.x * f + S.ground_x;
    real y = p.y * f + S.ground_y;
    real z = p.z * f + S.ground_z;
    real cx = floor(x);
    real cy = floor(y);
    real cz = floor(z);
    point c = make_point(x - cx, y - cy, z - cz);
    word wx = to_word(cx) * CELL_X;
    word wy = to_word(cy) * CELL_Y;
    word wz = to_word(cz) * CELL_Z;
    real first = all_real(9.0f);
    real second = all_real(9.0f);
    real own = all_real(0.0f);
    for (int k = -1; k <= 1; k++)
        for (int j = -1; j <= 1; j++)
            for (int i = -1; i <= 1; i++) {
                word h = crater_hash((wx + to_uint(i) * CELL_X) ^ (wy + to_uint(j) * CELL_Y) ^ (wz + to_uint(k) * CELL_Z) ^
                                     S.seed_ground);
                word g = h * 0x9e3779b1u;
                real dx = crater_offset(h) * 0.7f - c.x;
                real dy = crater_offset(h >> 10) * 0.7f - c.y;
                real dz = crater_offset(h >> 20) * 0.7f - c.z;
                dx = dx + star_swing(S, g >> 4) * 0.24f;
                dy = dy + star_swing(S, g >> 8) * 0.24f;
                dz = dz + star_swing(S, g >> 12) * 0.24f;
                dx = dx + to_float(i) + 0.15f;
                dy = dy + to_float(j) + 0.15f;
                dz = dz + to_float(k) + 0.15f;
                real d = dot3(dx, dy, dz, dx, dy, dz);
                real farther = max(first, d);
                second = min(second, farther);
                own = choose(d < first, crater_offset(g >> 20), own);
                first = min(first, d);
            }
    return make_point(second - first, own, first);
}

fn_word star_disc(scene S, point n)
{
    point p = ground_point(S, n);
    point granule = star_granules(S, p);
    real v = n.z * 2.9f + 3.05f;
    real bright = granule.y * 1.5f + 0.1f;
    real dim = granule.z * 2.4f;
    v = v + bright;
    v = v - dim;

    /* Spots: more on some stars, in the belts on both sides of the equator. */
    real belt = p.y * p.y;
    belt = belt - 0.14f;
    belt = max(belt, -belt);
    real sx = p.x * 2.1f + S.cloud_x;
    real sy = p.y * 2.6f + S.cloud_y;
    real sz = p.z * 2.1f + S.cloud_z;
    real spot = unit_noise(sx, sy, sz, S.seed_cloud) - belt * 0.5f;
    real lane = spot * 0.18f - 0.02f;
    v = choose(granule.x < lane, v - 0.8f, v);
    spot = spot + S.vary_a * 0.16f;
    v = choose(spot > 0.78f, v - 1.5f, v);
    v = choose(spot > 0.86f, v - 1.2f, v);
    return to_word(floor(held(v, 3.0f, 7.0f)));
}

/* Beyond the limb: x, y in star radii, d = x^2 + y^2 > 1. */
fn_word star_fire(scene S, real x, real y, real d)
{
    real inverse = inverse_sqrt(d);
    real r = d * inverse;
    real up = r - 1.0f;
    real ux = x * inverse;
    real uy = y * inverse;

    /* The corona: broad rays. */
    real kx = ux * 1.9f + S.cloud_x;
    real ky = uy * 1.9f + S.cloud_y;
    kx = kx + S.cos_spin * 0.35f;
    ky = ky + S.sin_spin * 0.35f;
    real kz = r * 0.8f + S.cloud_z;
    real ray = unit_noise(kx, ky, kz, S.seed_cap);
    real reach = ray * ray;
    reach = reach * 0.34f + 0.04f;
    real inner = reach * 0.45f;
    word code = choose(up < reach, all_word(CODE_PLANET | CODE_SHINE), all_word(0u));
    code = choose(up < inner, all_word(CODE_PLANET | CODE_SHINE | 1u), code);

    /* Tongues lean with their height. */
    real lean = up * 1.2f;
    real vx = ux - uy * lean;
    real vy = uy + ux * lean;
    vx = vx * 4.6f + S.ground_x;
    vy = vy * 4.6f + S.ground_y;
    vx = vx + S.sin_cloud * 0.45f;
    vy = vy + S.cos_cloud * 0.45f;
    real vz = up * 2.0f + S.ground_z;
    real tongue = unit_noise(vx, vy, vz, S.seed_cloud) - 0.56f;
    real height = tongue * (all_real(S.vary_b * 0.5f) + 0.45f);
    real hot = height * 0.5f;
    code = choose(up < height, all_word(CODE_PLANET | CODE_SHINE | 2u), code);
    code = choose(up < hot, all_word(CODE_PLANET | CODE_SHINE | 4u), code);

    /* Arcs stand on the limb, rise and sink. */
    real thin = all_real(S.two_over_side) * (1.1f / STAR_RADIUS);
    for (int i = 0; i < STAR_ARCS; i++) {
        word h = crater_hash(all_word(S.seed_band + to_uint(i) * CELL_Z));
        real where = crater_offset(h);
        real cx = cosine_of(where);
        real cy = sine_of(where);
        real size = crater_offset(h >> 10) * 0.13f;
        size = size + 0.10f;
        real swing = star_swing(S, h * 0x9e3779b1u >> 3);
        real tall = swing * 0.35f + 1.25f;
        real along = dot2(x, y, cx, cy) - 0.97f;
        real aside = dot2(x, y, -cy, cx);
        along = along * reciprocal(tall);
        real e = max(dot2(along, aside, along, aside), all_real(1e-9f));
        real dist = e * inverse_sqrt(e);
        real off = dist - size;
        off = max(off, -off);
        flag there = both(off < max(thin * 0.75f, all_real(0.018f)), (h & 0x80000000u) > 0u);
        code = choose(there, all_word(CODE_PLANET | CODE_SHINE | 3u), code);
        flag core = both(there, both(off < thin * 0.4f, along < size * 0.6f));
        code = choose(core, all_word(CODE_PLANET | CODE_SHINE | 5u), code);
    }
    return code;
}

fn_word draw_star(scene S, real px, real py)
{
    real x = frame_at(S, px) * (1.0f / STAR_RADIUS);
    real y = frame_at(S, py) * (-1.0f / STAR_RADIUS);
    real d = dot2(x, y, x, y);
    flag outside = d > 1.0f;
    word fire = star_fire(S, x, y, max(d, all_real(1e-6f)));
    word disc = star_disc(S, sphere_point(x, y, d)) | CODE_PLANET | CODE_SHINE;
    return choose(outside, fire, disc);
}
