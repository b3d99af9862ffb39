/* boulder.glsl -- an irregular rock: a sphere whose radius noise bends, with flat cuts and bowls. Each direction from its
 * middle has one radius, so it hangs together whatever the seed. It stays within the unit sphere. */

#define BOULDER_BOWLS 8
#define BOULDER_CUTS 5
#define BOWL_NUMBERS 5 /* of a bowl: direction x, y, z, size, 1 / size^2 */
#define CUT_NUMBERS 4  /* of a cut: direction x, y, z, height */
#define BOWL_ARRAY 40
#define CUT_ARRAY 20

/* A random direction, nearly even over the sphere, from the bits of h. */
fn_point boulder_direction(word h)
{
    real x = crater_offset(h) - 0.5f;
    real y = crater_offset(h >> 10) - 0.5f;
    real z = crater_offset(h >> 20) - 0.5f;
    real r = inverse_sqrt(max(dot3(x, y, z, x, y, z), all_real(1e-6f)));
    return make_point(x * r, y * r, z * r);
}

/* Stretched, so that the long axis of the rock is x. */
fn_point boulder_stretched(scene S, point p)
{
    real y = all_real(S.vary_a * 0.42f) + 1.02f;
    real z = all_real(S.vary_b * 0.30f) + 1.02f;
    return make_point(p.x, p.y * y, p.z * z);
}

/* Depth below the bent sphere (x), and how deep in the nearest bowl: 0 on its rim .. 1 in its middle (y), for a direction
 * from the rock's middle. */
fn_point boulder_bowls(real x, real y, real z, real bowls[BOWL_ARRAY])
{
    real depth = all_real(0.0f);
    real deepest = all_real(-1.0f);
    for (int i = 0; i < BOWL_ARRAY; i += BOWL_NUMBERS) {
        real cosine = dot3(x, y, z, bowls[i], bowls[i + 1], bowls[i + 2]);
        real chord = 2.0f - cosine * 2.0f;
        real share = chord * bowls[i + 4];
        real within = 1.0f - share;
        /* Flat at the rim: a steep one would hide from the steps of a ray. */
        real deep = max(within, all_real(0.0f));
        deep = deep * deep;
        depth = max(depth, deep * bowls[i + 3]);
        deepest = max(deepest, within);
    }
    return make_point(depth * 0.5f, deepest, depth);
}

/* Negative within the rock; outside about the distance to it. */
fn_real boulder_distance(scene S, point p, real bowls[BOWL_ARRAY], real cuts[CUT_ARRAY])
{
    point s = boulder_stretched(S, p);
    real d = max(dot3(s.x, s.y, s.z, s.x, s.y, s.z), all_real(1e-6f));
    real inverse = inverse_sqrt(d);
    real x = s.x * inverse;
    real y = s.y * inverse;
    real z = s.z * inverse;
    real f = all_real(S.scale) * 0.75f;
    real nx = x * f + S.ground_x;
    real ny = y * f + S.ground_y;
    real nz = z * f + S.ground_z;
    real bend = unit_noise(nx, ny, nz, S.seed_ground);
    nx = nx * 2.1f + 5.3f;
    ny = ny * 2.1f + 5.3f;
    nz = nz * 2.1f + 5.3f;
    real rough = unit_noise(nx, ny, nz, S.seed_ground);
    bend = bend * 0.52f + rough * 0.13f;
    real radius = bend + 0.50f;
    radius = radius - boulder_bowls(x, y, z, bowls).x;
    radius = min(radius, all_real(0.98f));
    real out_of = d * inverse;
    out_of = out_of - radius;
    for (int i = 0; i < CUT_ARRAY; i += CUT_NUMBERS) {
        real above = dot3(s.x, s.y, s.z, cuts[i], cuts[i + 1], cuts[i + 2]) - cuts[i + 3];
        out_of = max(out_of, above);
    }
    return out_of;
}

/* The distance at a point that the screen shows. */
fn_real boulder_at(scene S, real x, real y, real z, real bowls[BOWL_ARRAY], real cuts[CUT_ARRAY])
{
    return boulder_distance(S, ground_point(S, make_point(x, y, z)), bowls, cuts);
}

#define BOULDER_MARCH 18
#define BOULDER_HALVE 5
#define BOULDER_NEAR 0.07f

/* Code of the rock in pixel px, py at x, y of the screen (y up; the rock fills the unit disc), or 0. Its steps are, from
 * dark to light, bowls, ground and bright ground. The ray goes in from the viewer as far as the distance allows, then the place where it
 * enters is halved down. */
fn_word boulder_code(scene S, real x, real y, real px, real py)
{
    real d = dot2(x, y, x, y);
    word code = all_word(0u);
    if (any_lane(d < 1.0f)) {
        real bowls[BOWL_ARRAY];
        real cuts[CUT_ARRAY];
        for (int i = 0; i < BOULDER_BOWLS; i++) {
            word h = crater_hash(all_word(S.seed_crater + to_uint(i) * CELL_X));
            point c = boulder_direction(h);
            real size = crater_offset((h * 0x9e3779b1u) >> 22);
            size = size * size;
            size = size * 0.32f + 0.20f;
            bowls[i * BOWL_NUMBERS] = c.x;
            bowls[i * BOWL_NUMBERS + 1] = c.y;
            bowls[i * BOWL_NUMBERS + 2] = c.z;
            bowls[i * BOWL_NUMBERS + 3] = size;
            bowls[i * BOWL_NUMBERS + 4] = reciprocal(size * size);
        }
        for (int i = 0; i < BOULDER_CUTS; i++) {
            word h = crater_hash(all_word(S.seed_band + to_uint(i) * CELL_Y));
            point c = boulder_direction(h);
            real height = crater_offset((h * 0x9e3779b1u) >> 22) * 0.26f;
            cuts[i * CUT_NUMBERS] = c.x;
            cuts[i * CUT_NUMBERS + 1] = c.y;
            cuts[i * CUT_NUMBERS + 2] = c.z;
            cuts[i * CUT_NUMBERS + 3] = height + 0.56f;
        }

        real room = max(1.0f - d, all_real(1e-6f));
        real z = room * inverse_sqrt(room);
        real end = choose(d < 1.0f, -z, all_real(9.0f));
        real last = z;
        real gap = all_real(1.0f);
        for (int i = 0; i < BOULDER_MARCH; i++) {
            flag goes_on = both(gap > 0.0f, z > end);
            if (any_lane(goes_on)) {
                real here = boulder_at(S, x, y, z, bowls, cuts);
                real next = z - max(here * 0.6f, all_real(BOULDER_NEAR));
                gap = choose(goes_on, here, gap);
                goes_on = both(goes_on, here > 0.0f);
                last = choose(goes_on, z, last);
                z = choose(goes_on, next, z);
            }
        }
        flag hit = both(gap <= 0.0f, d < 1.0f);
        if (any_lane(hit)) {
            for (int i = 0; i < BOULDER_HALVE; i++) {
                real middle = (z + last) * 0.5f;
                flag within = boulder_at(S, x, y, middle, bowls, cuts) <= 0.0f;
                z = choose(within, middle, z);
                last = choose(within, last, middle);
            }
            /* The normal: central differences, a few pixels wide. */
            const float h = 0.05f;
            real nx = boulder_at(S, x + h, y, z, bowls, cuts) - boulder_at(S, x - h, y, z, bowls, cuts);
            real ny = boulder_at(S, x, y + h, z, bowls, cuts) - boulder_at(S, x, y - h, z, bowls, cuts);
            real nz = boulder_at(S, x, y, z + h, bowls, cuts) - boulder_at(S, x, y, z - h, bowls, cuts);
            real r = inverse_sqrt(max(dot3(nx, ny, nz, nx, ny, nz), all_real(1e-12f)));
            point n = make_point(nx * r, ny * r, nz * r);
            word band = light_band(S, n, px, py);

            point p = ground_point(S, make_point(x, y, z));
            point s = boulder_stretched(S, p);
            real inverse = inverse_sqrt(max(dot3(s.x, s.y, s.z, s.x, s.y, s.z), all_real(1e-6f)));
            real deep = boulder_bowls(s.x * inverse, s.y * inverse, s.z * inverse, bowls).y;
            real f = all_real(S.scale) * 0.6f;
            real ax = p.x * f + S.cloud_x;
            real ay = p.y * f + S.cloud_y;
            real az = p.z * f + S.cloud_z;
            real pale = unit_noise(ax, ay, az, S.seed_cloud);
            word ground = choose(pale > 0.62f, all_word(2u), all_word(1u));
            ground = choose(deep > 0.22f, all_word(0u), ground);
            word found = ground | CODE_PLANET | (band << CODE_BAND_SHIFT);
            if (S.layer == LAYER_IS_NORMAL)
                found = normal_code(n);
            code = choose(hit, found, code);
        }
    }
    return code;
}
