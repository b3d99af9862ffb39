/* rock.glsl -- an irregular rock: a sphere whose radius noise bends, with flat cuts and bowls. Each direction from its
 * middle has one radius, so it hangs together whatever the seed. It stays within the unit sphere. */

#define ROCK_BOWLS 8
#define ROCK_CUTS 5

/* A random direction, nearly even over the sphere, from the bits of h. */
fn_point rock_direction(word h)
{
    real x = crater_offset(h) - 0.5f;
    real y = crater_offset(h >> 10) - 0.5f;
    real z = crater_offset(h >> 20) - 0.5f;
    real r = inverse_sqrt(max(dot3(x, y, z, x, y, z), all_real(1e-6f)));
    return make_point(x * r, y * r, z * r);
}

/* Depth below the bent sphere (x), and how deep in the nearest bowl: 0 on its rim .. 1 in its middle (y), for a direction
 * from the rock's middle. */
fn_point rock_bowls(scene S, real x, real y, real z)
{
    real depth = all_real(0.0f);
    real deepest = all_real(-1.0f);
    for (int i = 0; i < ROCK_BOWLS; i++) {
        word h = crater_hash(all_word(S.seed_crater + to_uint(i) * CELL_X));
        point c = rock_direction(h);
        real size = crater_offset(h * 0x9e3779b1u >> 22);
        size = size * size;
        size = size * 0.32f + 0.20f;
        real cosine = dot3(x, y, z, c.x, c.y, c.z);
        real chord = 2.0f - cosine * 2.0f;
        real share = chord * reciprocal(size * size);
        real within = 1.0f - share;
        /* Flat at the rim: a steep one would hide from the steps of a ray. */
        real deep = max(within, all_real(0.0f));
        deep = deep * deep;
        depth = max(depth, deep * size * 0.5f);
        deepest = max(deepest, within);
    }
    return make_point(depth, deepest, depth);
}

/* Negative within the rock; outside about the distance to it. */
fn_real rock_distance(scene S, point p)
{
    real sx = p.x;
    real stretch_y = all_real(S.vary_a * 0.42f) + 1.02f;
    real stretch_z = all_real(S.vary_b * 0.30f) + 1.02f;
    real sy = p.y * stretch_y;
    real sz = p.z * stretch_z;
    real d = max(dot3(sx, sy, sz, sx, sy, sz), all_real(1e-6f));
    real inverse = inverse_sqrt(d);
    real x = sx * inverse;
    real y = sy * inverse;
    real z = sz * inverse;
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
    radius = radius - rock_bowls(S, x, y, z).x;
    radius = min(radius, all_real(0.98f));
    real out_of = d * inverse;
    out_of = out_of - radius;
    for (int i = 0; i < ROCK_CUTS; i++) {
        word h = crater_hash(all_word(S.seed_band + to_uint(i) * CELL_Y));
        point c = rock_direction(h);
        real height = crater_offset(h * 0x9e3779b1u >> 22) * 0.26f;
        real above = dot3(sx, sy, sz, c.x, c.y, c.z) - height;
        above = above - 0.56f;
        out_of = max(out_of, above);
    }
    return out_of;
}

/* The rock's own place of a point that the screen shows. */
fn_real rock_at(scene S, real x, real y, real z)
{
    return rock_distance(S, ground_point(S, make_point(x, y, z)));
}

#define ROCK_MARCH 18
#define ROCK_HALVE 5
#define ROCK_NEAR 0.07f

/* Code of the rock at x, y of the screen (y up; the rock fills the unit disc), or 0. Steps first.. are, from dark to
 * light, bowls, ground and bright ground. The ray goes in from the viewer as far as the distance allows, then the place
 * where it enters is halved down. */
fn_word rock_code(scene S, real x, real y, uint first)
{
    real d = dot2(x, y, x, y);
    word code = all_word(0u);
    if (any_lane(d < 1.0f)) {
        real room = max(1.0f - d, all_real(1e-6f));
        real z = room * inverse_sqrt(room);
        real last = z;
        real gap = all_real(1.0f);
        for (int i = 0; i < ROCK_MARCH; i++) {
            gap = rock_at(S, x, y, z);
            real step = max(gap * 0.6f, all_real(ROCK_NEAR));
            real next = z - step;
            last = choose(gap > 0.0f, z, last);
            z = choose(gap > 0.0f, next, z);
        }
        gap = rock_at(S, x, y, z);
        flag hit = both(gap <= 0.0f, d < 1.0f);
        if (any_lane(hit)) {
            for (int i = 0; i < ROCK_HALVE; i++) {
                real middle = (z + last) * 0.5f;
                flag within = rock_at(S, x, y, middle) <= 0.0f;
                z = choose(within, middle, z);
                last = choose(within, last, middle);
            }
            const float h = 0.05f;
            real nx = rock_at(S, x + h, y, z) - rock_at(S, x - h, y, z);
            real ny = rock_at(S, x, y + h, z) - rock_at(S, x, y - h, z);
            real nz = rock_at(S, x, y, z + h) - rock_at(S, x, y, z - h);
            real r = inverse_sqrt(max(dot3(nx, ny, nz, nx, ny, nz), all_real(1e-12f)));
            word band = light_band(S, make_point(nx * r, ny * r, nz * r));

            point p = ground_point(S, make_point(x, y, z));
            real px = p.x;
            real py = p.y * (all_real(S.vary_a * 0.42f) + 1.02f);
            real pz = p.z * (all_real(S.vary_b * 0.30f) + 1.02f);
            real inverse = inverse_sqrt(max(dot3(px, py, pz, px, py, pz), all_real(1e-6f)));
            real deep = rock_bowls(S, px * inverse, py * inverse, pz * inverse).y;
            real f = all_real(S.scale) * 0.6f;
            real ax = p.x * f + S.cloud_x;
            real ay = p.y * f + S.cloud_y;
            real az = p.z * f + S.cloud_z;
            real pale = unit_noise(ax, ay, az, S.seed_cloud);
            word ground = choose(pale > 0.62f, all_word(2u), all_word(1u));
            ground = choose(deep > 0.22f, all_word(0u), ground);
            word found = (ground + first) | CODE_PLANET | (band << CODE_BAND_SHIFT);
            code = choose(hit, found, code);
        }
    }
    return code;
}
