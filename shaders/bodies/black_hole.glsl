/* black_hole.glsl -- a thin disc of hot gas around a black hole, each ray of sight bent as by gravity: the far half of the
 * disc stands over the shadow, its underside below, and the photon ring around it. Lengths are radii of the horizon.
 * Steps 0 shadow, 1..6 disc, 7 photon ring. */

#define HOLE_VIEW 6.9f     /* half the frame */
#define HOLE_SHADOW 2.598f /* rays that pass nearer than this are caught */
#define HOLE_STEPS 40
#define HOLE_FAR 11.0f

/* Code of the disc where a ray meets it; c is that point, turned so that the disc lies in y = 0. 0 in gaps. */
fn_word hole_disc(scene S, real x, real z, real d, real inner, real outer)
{
    real inverse = inverse_sqrt(d);
    real r = d * inverse;
    real t = (r - inner) * reciprocal(outer - inner);
    real ux = x * inverse;
    real uz = z * inverse;
    /* The inner half turns twice while the outer turns once. */
    flag fast = t < 0.42f;
    real ax = turn(ux, uz, S.cos_spin, -S.sin_spin);
    real az = turn(uz, ux, S.cos_spin, S.sin_spin);
    real bx = turn(ux, uz, S.cos_cloud, -S.sin_cloud);
    real bz = turn(uz, ux, S.cos_cloud, S.sin_cloud);
    ax = choose(fast, bx, ax);
    az = choose(fast, bz, az);
    real along = all_real(S.scale) * (all_real(S.vary_c * 0.6f) + 0.5f);
    real across = all_real(S.scale) * (all_real(S.vary_d * 0.5f) + 0.6f);
    real nx = ax * along + S.ground_x;
    real nz = az * along + S.ground_z;
    real ny = r * across + S.ground_y;
    real streak = unit_noise(nx, ny, nz, S.seed_ground) - 0.5f;
    nx = nx * 2.0f + 3.7f;
    nz = nz * 2.0f + 3.7f;
    ny = ny * 2.0f + 3.7f;
    real fine = unit_noise(nx, ny, nz, S.seed_ground) - 0.5f;
    real v = 5.6f - t * 4.3f;
    v = v + streak * 3.2f;
    v = v + fine * 1.3f;
    real doppler = ux * S.cos_tilt;
    v = v - doppler * 1.35f;
    word step = to_word(floor(held(v, 1.0f, 6.0f)));
    /* The rim is ragged. */
    real ragged = streak * 0.5f + fine * 0.3f;
    real edge = t - ragged;
    return choose(edge < 0.93f, step | CODE_PLANET | CODE_SHINE, all_word(0u));
}

fn_word draw_black_hole(scene S, real px, real py)
{
    real x = frame_at(S, px) * HOLE_VIEW;
    real y = frame_at(S, py) * -HOLE_VIEW;
    real b = dot2(x, y, x, y);
    point p = upright(S, make_point(x, y, all_real(HOLE_FAR)));
    point v = upright(S, make_point(all_real(0.0f), all_real(0.0f), all_real(-1.0f)));
    real outer = all_real(S.vary_a * 1.5f) + 5.2f;
    real inner = all_real(S.vary_b * 0.9f) + 2.3f;
    real inner_squared = inner * inner;
    real outer_squared = outer * outer;
    real vx = v.x;
    real vy = v.y;
    real vz = v.z;
    real qx = p.x;
    real qy = p.y;
    real qz = p.z;
    real pull = b * -1.5f;
    real caught = all_real(0.0f); /* 1: within the horizon */
    real passed = all_real(0.0f); /* 1: already going away from the hole */
    word code = all_word(0u);
    real before = all_real(0.0f); /* 1: met the disc before it passed the hole */
    for (int i = 0; i < HOLE_STEPS; i++) {
        real d = dot3(qx, qy, qz, qx, qy, qz);
        caught = choose(d < 1.02f, all_real(1.0f), caught);
        real inverse = inverse_sqrt(max(d, all_real(0.5f)));
        real step = d * inverse;
        step = step * 0.15f;
        step = choose(caught > 0.0f, all_real(0.0f), step);
        real third = inverse * inverse * inverse;
        real a = pull * third;
        a = a * inverse * inverse;
        a = a * step;
        vx = vx + qx * a;
        vy = vy + qy * a;
        vz = vz + qz * a;
        real nx = qx + vx * step;
        real ny = qy + vy * step;
        real nz = qz + vz * step;
        passed = choose(dot3(nx, ny, nz, vx, vy, vz) > 0.0f, all_real(1.0f), passed);
        flag crosses = both(qy * ny <= 0.0f, code < 1u);
        if (any_lane(crosses)) {
            real fall = qy - ny;
            real size = max(fall, -fall);
            real share = max(qy, -qy) * reciprocal(size);
            real hx = qx + (nx - qx) * share;
            real hz = qz + (nz - qz) * share;
            real h = dot2(hx, hz, hx, hz);
            flag meets = both(both(crosses, caught < 0.5f), both(h > inner_squared, h < outer_squared));
            word found = hole_disc(S, hx, hz, max(h, all_real(0.25f)), inner, outer);
            code = choose(meets, found, code);
            before = choose(both(both(meets, passed < 0.5f), found > 0u), all_real(1.0f), before);
        }
        qx = nx;
        qy = ny;
        qz = nz;
    }
    real away = b * inverse_sqrt(max(b, all_real(1e-6f)));
    real width = all_real(S.two_over_side * (HOLE_VIEW * 1.15f));
    width = max(width, all_real(0.16f));
    real ring = away - HOLE_SHADOW;
    flag shines = both(both(ring >= 0.0f, ring < width), before < 0.5f);
    code = choose(shines, all_word(CODE_PLANET | CODE_SHINE | 7u), code);
    flag dark = both(ring < 0.0f, before < 0.5f);
    return choose(dark, all_word(CODE_PLANET | CODE_SHINE), code);
}
