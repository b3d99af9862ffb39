/* star.glsl -- granules that boil on a hot disc, which cools to its limb and has spots; beyond it a corona of pointed rays,
 * flares and arcs of fire. Steps 0, 1 corona; 2 its foot and the heart of spots, 3..7 disc. */

#define STAR_RADIUS 0.68f
#define STAR_SPOTS 5
#define STAR_ARCS 5

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

/* Pixels on the star's radius. */
fn_real star_pixels(scene S)
{
    return reciprocal(all_real(S.two_over_side)) * STAR_RADIUS;
}

/* Granules: soft bumps, one in each cell of a lattice, that melt into each other, so that there are no walls between them;
 * about 0 in the mean. Each wanders and grows and fades with the loop. There are fewer on a small picture, where they would
 * be smaller than four pixels. */
fn_real star_granules(scene S, point p)
{
    real f = star_pixels(S) * 0.043f + 0.45f;
    f = held(f, 0.0f, 3.2f) * S.scale;
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
    real sum = all_real(0.0f);
    for (int k = -1; k <= 1; k++)
        for (int j = -1; j <= 1; j++)
            for (int i = -1; i <= 1; i++) {
                word h = crater_hash((wx + to_uint(i) * CELL_X) ^ (wy + to_uint(j) * CELL_Y) ^ (wz + to_uint(k) * CELL_Z) ^
                                     S.seed_ground);
                word g = h * 0x9e3779b1u;
                real first = star_swing(S, g >> 4);
                real second = star_swing(S, g >> 10);
                real dx = crater_offset(h) * 0.7f - c.x;
                real dy = crater_offset(h >> 10) * 0.7f - c.y;
                real dz = crater_offset(h >> 20) * 0.7f - c.z;
                dx = dx + first * 0.24f;
                dy = dy + second * 0.24f;
                dz = dz - first * 0.24f;
                dx = dx + to_float(i) + 0.15f;
                dy = dy + to_float(j) + 0.15f;
                dz = dz + to_float(k) + 0.15f;
                real d = dot3(dx, dy, dz, dx, dy, dz) * 1.8f;
                real near = max(1.0f - d, all_real(0.0f));
                real bright = second * 0.45f + 1.0f;
                near = near * near;
                sum = sum + near * bright;
            }
    return sum - 0.42f;
}

/* Spots: pairs of them, in belts on both sides of the equator. The nearest one's squared distance over its squared radius;
 * noise bends their edges. */
fn_real star_spots(scene S, point p)
{
    real bx = p.x * 5.0f + S.cloud_x;
    real by = p.y * 5.0f + S.cloud_y;
    real bz = p.z * 5.0f + S.cloud_z;
    real bend = unit_noise(bx, by, bz, S.seed_cloud) * 0.9f + 0.55f;
    real many = all_real(S.vary_a * 0.9f) + 0.1f;
    real nearest = all_real(99.0f);
    for (int i = 0; i < STAR_SPOTS; i++) {
        word h = spot_hash(S.seed_band, i);
        real y = spot_part(h) * 0.42f + 0.10f;
        y = choose((h & 0x40000000u) > 0u, y, -y);
        real x = spot_part(h >> 10) - 0.5f;
        real z = spot_part(h >> 20) - 0.5f;
        /* The first one is great, and to be seen at the start. */
        if (i == 0)
            z = max(z, -z) + 0.25f;
        point c = spot_at(x, y, z);
        real size = spot_part(h * 0x9e3779b1u) * 0.09f;
        size = size + (i == 0 ? 0.15f : 0.10f);
        real inverse = reciprocal(size * size);
        real dx = p.x - c.x;
        real dy = p.y - c.y;
        real dz = p.z - c.z;
        real d = dot3(dx, dy, dz, dx, dy, dz) * inverse;
        /* Its fellow, smaller, beside it. */
        real side = size * 1.5f;
        dx = dx - c.z * side;
        dz = dz + c.x * side;
        dy = dy + size * 0.4f;
        real fellow = dot3(dx, dy, dz, dx, dy, dz) * inverse * 2.6f;
        d = min(d, choose((h & 0x20000000u) > 0u, fellow, d));
        if (i > 0)
            d = choose(crater_offset((h * 0x85ebca6bu) >> 22) < many, d, all_real(99.0f));
        nearest = min(nearest, d);
    }
    return nearest * bend;
}

fn_word star_disc(scene S, point n)
{
    point p = ground_point(S, n);
    real v = n.z * 3.0f + 3.5f;
    /* They are calmer at the limb, where they are seen from the side, and on a small picture. */
    real calm = n.z * 1.5f + 0.5f;
    calm = calm * min(star_pixels(S) * 0.046f, all_real(1.0f));
    v = v + star_granules(S, p) * calm;
    real shown = held(v, 3.0f, 7.0f);
    real spot = star_spots(S, p);
    /* Bright around, then the penumbra, which is darker than the limb's own tones allow, then the heart. */
    real dimmed = min(shown - 1.4f, all_real(4.6f));
    shown = choose(spot < 1.0f, max(dimmed, all_real(3.0f)), shown);
    shown = choose(spot < 0.40f, all_real(2.0f), shown);
    return to_word(floor(shown));
}

/* A wreath of pointed tongues on the limb: how high the one of the direction `turns` stands, 0..1 (x), and its own bits (y, a
 * number 0..1). Each swings with the loop. */
fn_point star_wreath(scene S, real turns, real count, real lean, uint seed)
{
    real a = turns * count + lean;
    a = a + count;
    real sector = floor(a);
    real t = a - sector;
    word number = to_word(sector);
    word most = to_word(count);
    number = choose(number >= most, number - most, number);
    number = choose(number >= most, number - most, number);
    word h = crater_hash((number * CELL_X) ^ seed);
    real tall = crater_offset(h);
    real narrow = crater_offset(h >> 10) * 0.9f + 2.0f;
    real off = t - 0.5f;
    off = max(off, -off) * narrow;
    real tip = max(1.0f - off, all_real(0.0f));
    real swing = star_swing(S, h * 0x9e3779b1u) * 0.28f;
    real height = tall * 0.75f + 0.25f;
    height = height + swing * height;
    real sharp = tip * 0.5f + 0.5f;
    height = height * tip;
    return make_point(height * sharp, crater_offset(h >> 20), tall);
}

/* Beyond the limb: x, y in star radii, d = x^2 + y^2 > 1. */
fn_word star_fire(scene S, real x, real y, real d)
{
    real r = d * inverse_sqrt(d);
    real up = r - 1.0f;
    real turns = angle_of(x, y);

    /* The corona: long rays and short ones between them. */
    real lean = up * (all_real(S.vary_c * 5.0f) - 2.5f);
    real rays = floor(all_real(S.vary_b * 5.0f)) + 9.0f;
    point great = star_wreath(S, turns, rays, lean, S.seed_cap);
    real more = choose(star_pixels(S) < 16.0f, rays, rays * 2.0f) + 1.0f;
    point small = star_wreath(S, turns, more, lean * 1.5f, S.seed_cloud);
    real reach = great.x * 0.26f + 0.075f;
    real inner = small.x * 0.12f + 0.05f;
    inner = max(inner, great.x * 0.13f + 0.03f);
    real foot = small.x * 0.05f + 0.03f;
    foot = choose(star_pixels(S) < 16.0f, all_real(0.0f), foot); /* it would be less than a pixel */
    word code = choose(up < reach, all_word(CODE_PLANET | CODE_SHINE), all_word(0u));
    code = choose(up < inner, all_word(CODE_PLANET | CODE_SHINE | 1u), code);
    code = choose(up < foot, all_word(CODE_PLANET | CODE_SHINE | 2u), code);

    /* Flares: some of the short tongues burn. */
    real burning = all_real(S.vary_d * 0.18f) + 0.12f;
    flag burns = small.y < burning;
    real flare = choose(burns, small.x * 0.24f, all_real(0.0f));
    real heart = flare * 0.55f;
    code = choose(up < flare, all_word(CODE_PLANET | CODE_SHINE | 3u), code);
    code = choose(up < heart, all_word(CODE_PLANET | CODE_SHINE | 5u), code);

    /* Arcs stand on the limb, rise and sink; thick at their feet, hot within. */
    real pixel = all_real(S.two_over_side) * (1.0f / STAR_RADIUS);
    for (int i = 0; i < STAR_ARCS; i++) {
        word h = crater_hash(all_word(S.seed_band + to_uint(i) * CELL_Z));
        real where = crater_offset(h);
        real cx = cosine_of(where);
        real cy = sine_of(where);
        real size = crater_offset(h >> 10) * 0.12f;
        size = size + 0.12f;
        real swing = star_swing(S, h * 0x9e3779b1u >> 3);
        real tall = swing * 0.35f + 1.15f;
        real along = dot2(x, y, cx, cy) - 0.95f;
        real aside = dot2(x, y, -cy, cx);
        along = along * reciprocal(tall);
        real e = max(dot2(along, aside, along, aside), all_real(1e-9f));
        real dist = e * inverse_sqrt(e);
        real off = dist - size;
        off = max(off, -off);
        real low = max(size - along, all_real(0.0f));
        real thick = low * 0.20f + 0.014f;
        thick = max(thick, pixel * 0.62f);
        flag there = both(off < thick, (h & 0x80000000u) > 0u);
        code = choose(there, all_word(CODE_PLANET | CODE_SHINE | 4u), code);
        flag core = both(there, both(off < thick * 0.45f, thick > pixel * 1.2f));
        code = choose(core, all_word(CODE_PLANET | CODE_SHINE | 6u), code);
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
