/* city.glsl -- land and sea as terrestrial's, with towns: grey by day, lamps by night. */

#define CITY_STEP 5u
#define CITY_LAMP 6u
#define CITY_BRIGHT 7u
#define CITY_LIT_SHIFT 17 /* within this file: 1 a lamp, 2 a bright one */
#define CITY_LIT (1u << CITY_LIT_SHIFT)

/* How near a point of the ground is to towns. A lattice cell through which the surface runs has one town or none; lengths
 * are of cells, and along the surface. Returns the squared distance over the squared radius, least over all towns (x) and
 * over the large ones alone (y), and 1 on a road between the two nearest, else 0 (z). There are more towns on a large
 * picture; the smallest is some pixels wide. */
fn_point city_towns(scene S, point p)
{
    real pixel = all_real(S.two_over_side) * S.inverse_radius;
    real f = reciprocal(pixel) * 0.016f + 0.85f;
    f = held(f, 0.0f, 2.2f) * S.scale;
    pixel = pixel * f;
    real most = reciprocal(pixel * pixel) * 0.62f; /* 1 / radius^2 of the smallest */
    real large = most * 0.36f;
    real x = p.x * f;
    real y = p.y * f;
    real z = p.z * f;
    /* The lattice is turned away from the planet's axes, as that of the noise. */
    real gx = x + S.ground_z;
    real gy = y + S.ground_x;
    real gz = z + S.ground_y;
    real cx = floor(gx);
    real cy = floor(gy);
    real cz = floor(gz);
    gx = gx - cx;
    gy = gy - cy;
    gz = gz - cz;
    word wx = to_word(cx) * CELL_X;
    word wy = to_word(cy) * CELL_Y;
    word wz = to_word(cz) * CELL_Z;
    real low = f - 0.5f;
    real high = f + 0.5f;
    low = low * low;
    high = high * high;
    real town = all_real(99.0f);
    real great = all_real(99.0f);
    real first = all_real(98.0f);
    real second = all_real(99.0f);
    point a = make_point(all_real(9.0f), all_real(9.0f), all_real(9.0f));
    point b = a;
    word bits = all_word(0u);
    word bits_b = all_word(0u);
    for (int k = -1; k <= 1; k++)
        for (int j = -1; j <= 1; j++)
            for (int i = -1; i <= 1; i++) {
                word h = crater_hash((wx + to_uint(i) * CELL_X) ^ (wy + to_uint(j) * CELL_Y) ^ (wz + to_uint(k) * CELL_Z) ^
                                     S.seed_band);
                real dx = crater_offset(h) * 0.8f - gx;
                real dy = crater_offset(h >> 10) * 0.8f - gy;
                real dz = crater_offset(h >> 20) * 0.8f - gz;
                dx = dx + to_float(i) + 0.1f;
                dy = dy + to_float(j) + 0.1f;
                dz = dz + to_float(k) + 0.1f;
                real tx = x + dx;
                real ty = y + dy;
                real tz = z + dz;
                real far = dot3(tx, ty, tz, tx, ty, tz);
                real part = crater_offset((h * 0x9e3779b1u) >> 22);
                flag there = both(both(far > low, far < high), part < 0.8f);
                real up = dot3(dx, dy, dz, p.x, p.y, p.z);
                dx = dx - p.x * up;
                dy = dy - p.y * up;
                dz = dz - p.z * up;
                real d = dot3(dx, dy, dz, dx, dy, dz);
                d = choose(there, d, all_real(99.0f));
                real sharp = part * part;
                sharp = min(sharp * 110.0f + 9.0f, most);
                real share = d * sharp;
                town = min(town, share);
                great = min(great, choose(sharp < large, share, all_real(99.0f)));
                flag nearest = d < first;
                flag next = both(d < second, d >= first);
                second = choose(nearest, first, choose(next, d, second));
                b = make_point(choose(nearest, a.x, choose(next, dx, b.x)), choose(nearest, a.y, choose(next, dy, b.y)),
                               choose(nearest, a.z, choose(next, dz, b.z)));
                bits_b = choose(nearest, bits, choose(next, h, bits_b));
                a = make_point(choose(nearest, dx, a.x), choose(nearest, dy, a.y), choose(nearest, dz, a.z));
                bits = choose(nearest, h, bits);
                first = min(first, d);
            }
    /* A point is on the line from a to b where the triangle that it makes with them is flat. */
    real between = dot3(a.x, a.y, a.z, b.x, b.y, b.z);
    real area = first * second;
    area = area - between * between;
    real ex = a.x - b.x;
    real ey = a.y - b.y;
    real ez = a.z - b.z;
    real apart = dot3(ex, ey, ez, ex, ey, ez);
    real wide = pixel * 0.6f;
    wide = wide * wide;
    flag line = both(both(area < apart * wide, between < 0.0f), apart < 1.2f);
    flag road = both(line, ((bits ^ bits_b) & 0x300u) > 0u);
    return make_point(town, great, choose(road, all_real(1.0f), all_real(0.0f)));
}

/* Ground step, and CITY_LIT times the lamp that may shine there. */
fn_word ground_city(scene S, point p)
{
    real t = carve_rivers(S, p, ground_height(S, p) - S.sea_level);
    word ground = choose(t < 0.16f, all_word(3u), all_word(4u));
    ground = choose(t < 0.02f, all_word(2u), ground);
    ground = choose(t < 0.0f, all_word(1u), ground);
    ground = choose(t < -0.12f, all_word(0u), ground);

    flag land = t >= 0.0f;
    if (any_lane(land)) {
        point town = city_towns(S, p);
        /* Noise bends their edges. */
        real f = all_real(S.scale) * 2.6f;
        real nx = p.x * f + S.ground_x;
        real ny = p.y * f + S.ground_y;
        real nz = p.z * f + S.ground_z;
        real bend = unit_noise(nx, ny, nz, S.seed_crater) + 0.5f;
        real share = town.x * bend;
        flag built = both(land, share < 1.6f);
        ground = choose(built, all_word(CITY_STEP), ground);

        /* Lamps: roads and the shore near a town, the town, its heart. On a small picture lines would run together. */
        real reach = all_real(S.two_over_side) * S.inverse_radius;
        reach = choose(reach > 0.045f, all_real(0.0f), all_real(1.0f));
        flag road = both(town.z > 0.0f, share < reach * 14.0f);
        flag shore = both(t < 0.022f, share < reach * 5.0f);
        word lamp = choose(either(road, shore), all_word(CITY_LIT), all_word(0u));
        lamp = choose(share < 1.0f, all_word(CITY_LIT), lamp);
        lamp = choose(town.y * bend < 0.36f, all_word(CITY_LIT * 2u), lamp);
        ground = ground | choose(land, lamp, all_word(0u));
    }
    if (S.has_caps > 0u)
        ground = polar_caps(S, p, ground, 8u);
    return ground;
}

fn_word draw_city(scene S, real px, real py)
{
    point q = disc_point(S, px, py);
    point n = sphere_point(q.x, q.y, q.z);
    word ground = ground_city(S, ground_point(S, n));
    word lamp = (ground >> CITY_LIT_SHIFT) + (CITY_LAMP - 1u);
    word code = planet_code(S, px, py, q, n, ground & CODE_STEP_MASK);
    /* In the dark, under a clear sky, with no ring before it. */
    flag dark = (code >> CODE_BAND_SHIFT) == (CODE_PLANET >> CODE_BAND_SHIFT);
    flag on = both(lamp >= CITY_LAMP, dark);
    /* At the limb, seen from the side, only the brightest are more than dots. */
    on = both(on, either(n.z > 0.24f, lamp >= CITY_BRIGHT));
    return choose(on, lamp | (CODE_PLANET | CODE_SHINE), code);
}
