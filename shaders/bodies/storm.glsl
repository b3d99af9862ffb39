/* storm.glsl -- a gas giant in turmoil: belts and zones bent twice by noise, and one to three great ovals that wind up
 * what is around them, each within a pale collar. */

#define STORMS 3

/* Squared distance from the centre c of an oval in its half heights; it is 1.7 times as wide as high. */
fn_real oval_distance(point p, point c, real inverse_height)
{
    real flat_squared = max(dot2(c.x, c.z, c.x, c.z), all_real(1e-6f));
    real inverse = inverse_sqrt(flat_squared);
    real dx = p.x - c.x;
    real dy = p.y - c.y;
    real dz = p.z - c.z;
    real east_x = c.z * inverse;
    real east_z = c.x * inverse;
    real along = dot2(dx, dz, east_x, -east_z);
    real along_squared = along * along;
    real squared = dot3(dx, dy, dz, dx, dy, dz) - along_squared;
    squared = squared + along_squared * 0.346f;
    return squared * inverse_height * inverse_height;
}

/* p turned about the axis c by twice the angle whose tangent is k. */
fn_point wind_up(point p, point c, real k)
{
    real d = k * k + 1.0f;
    real r = inverse_sqrt(d);
    real sine = k * r;
    real sine2 = sine * r * 2.0f;
    real cosine2 = 1.0f - 2.0f * sine * sine;
    real hub = dot3(p.x, p.y, p.z, c.x, c.y, c.z) * (1.0f - cosine2);
    real x = dot2(p.z, p.y, c.y, -c.z);
    real y = dot2(p.x, p.z, c.z, -c.x);
    real z = dot2(p.y, p.x, c.x, -c.y);
    return make_point(dot3(p.x, x, c.x, cosine2, sine2, hub), dot3(p.y, y, c.y, cosine2, sine2, hub),
                      dot3(p.z, z, c.z, cosine2, sine2, hub));
}

fn_real storm_noise(scene S, point p, real bend, uint seed)
{
    real x = p.x * S.scale;
    real y = p.y * S.scale;
    real z = p.z * S.scale;
    x = x * 0.9f + bend;
    y = y * 2.2f + bend;
    z = z * 0.9f - bend;
    return fbm_of(3, x + S.ground_x, y + S.ground_y, z + S.ground_z, seed) - 0.44f;
}

fn_word ground_storm(scene S, point p)
{
    real oval = all_real(99.0f);
    point q = p;
    word count = spot_hash(S.seed_band, 7);
    real side = choose((count & 4u) > 0u, all_real(1.0f), all_real(-1.0f));
    count = count & 3u;
    for (int i = 0; i < STORMS; i++) {
        word h = spot_hash(S.seed_band, i);
        /* Each has latitudes of its own, so that no two run into each other. */
        real y = spot_part(h) * (i == 2 ? 0.14f : 0.30f);
        y = y + (i == 0 ? 0.02f : i == 1 ? -0.52f : 0.66f);
        y = y * side;
        real x = spot_part(h >> 10) - 0.5f;
        real z = spot_part(h >> 20) - 0.5f;
        /* The first one is greatest, and where it can be seen at the start. */
        if (i == 0)
            z = max(z, -z) + 0.35f;
        point c = spot_at(x, y, z);
        real size = spot_part(h * 0x9e3779b1u) * 0.08f;
        real height = size + (i == 0 ? 0.15f : 0.08f);
        real d = oval_distance(p, c, inverse_sqrt(height * height));
        d = choose(count >= to_uint(i), d, all_real(99.0f));
        real near = max(1.0f - d * 0.16f, all_real(0.0f));
        near = near * near * 1.6f;
        q = wind_up(q, c, choose(c.y > 0.0f, near, -near));
        oval = min(oval, d);
    }

    real swirl = storm_noise(S, q, all_real(0.0f), S.seed_ground);
    real bend = swirl * 3.0f;
    real detail = storm_noise(S, q, bend, S.seed_ground ^ 0x68e31da4u);
    real v = q.y * 5.0f + 40.0f;
    v = v + swirl * 2.0f;
    real band = floor(v);
    word number = to_word(band);
    real low = lattice((number * CELL_X ^ S.seed_band) * 0x27d4eb2du) * (0.55f / 16777216.0f);
    real high = lattice(((number + 1u) * CELL_X ^ S.seed_band) * 0x27d4eb2du) * (0.55f / 16777216.0f);
    low = low + to_real(number & 1u) * 0.45f;
    high = high + to_real((number + 1u) & 1u) * 0.45f;
    real tone = lerp(low, high, fade(v - band));
    tone = tone + detail * 1.3f;

    word ground = steps_of_5(tone, 0.18f, 0.34f, 0.52f, 0.68f, 0.84f);
    ground = choose(oval < 1.45f, all_word(5u), ground);
    real core = oval + detail * 1.2f;
    ground = choose(oval < 1.0f, all_word(6u), ground);
    return choose(core < 0.42f, all_word(7u), ground);
}

PLANET(draw_storm, ground_storm)
