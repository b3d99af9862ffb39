/* craters.glsl -- cellular noise (Worley 1996): each cell of a grid holds the centre of one crater. No circle is drawn:
 * the circle is where the distance to a centre is constant. */

/* The crater of one cell: centre within the cell (three times ten bits of one hash) and radius 0.30..0.60 of a cell. */
fn_word crater_hash(word h)
{
    h = h ^ (h >> 15);
    h = h * 0x85ebca6bu;
    h = h ^ (h >> 13);
    return h * 0xc2b2ae35u;
}

fn_real crater_offset(word bits)
{
    return to_real(bits & 1023u) * (1.0f / 1024.0f);
}

fn_real crater_radius(word h)
{
    word r = (h * 0x9e3779b1u) >> 8;
    real scaled = to_real(r) * (0.30f / 16777216.0f);
    return scaled + 0.30f;
}

/* Position of a ground point among the crater cells. */
fn_point crater_point(scene S, point p)
{
    real x = p.x * S.scale * 1.5f;
    real y = p.y * S.scale * 1.5f;
    real z = p.z * S.scale * 1.5f;
    x = x + S.ground_x;
    y = y + S.ground_y;
    z = z + S.ground_z;
    return make_point(x, y, z);
}

/* Squared distance, in cells, from a place `f` within a cell to the crater centre of hash h in the neighbour i, j, k. */
fn_real crater_squared(word h, point f, int i, int j, int k)
{
    real x = crater_offset(h) - f.x;
    real y = crater_offset(h >> 10) - f.y;
    real z = crater_offset(h >> 20) - f.z;
    x = x + to_float(i);
    y = y + to_float(j);
    z = z + to_float(k);
    return dot3(x, y, z, x, y, z);
}

/* What the 27 cells around a point of the ground say: the least of d - r^2 (x) and of d - (0.8 r)^2 (y), negative within a
 * rim or a bowl, and the least d / r^2 (z); d is the squared distance to a crater's centre, r the crater's radius.
 * Radii are compared as squares: no root. Who does not look at z does not pay for it, since it is never computed. */
fn_point crater_nearest(scene S, point p)
{
    point c = crater_point(S, p);
    real cx = floor(c.x);
    real cy = floor(c.y);
    real cz = floor(c.z);
    real fx = c.x - cx;
    real fy = c.y - cy;
    real fz = c.z - cz;
    point f = make_point(fx, fy, fz);
    word x = to_word(cx) * CELL_X;
    word y = to_word(cy) * CELL_Y;
    word z = to_word(cz) * CELL_Z;
    real rim = all_real(9.0f);
    real bowl = all_real(9.0f);
    real share = all_real(81.0f);
    for (int k = -1; k <= 1; k++)
        for (int j = -1; j <= 1; j++)
            for (int i = -1; i <= 1; i++) {
                word h = crater_hash((x + to_uint(i) * CELL_X) ^ (y + to_uint(j) * CELL_Y) ^
                                     (z + to_uint(k) * CELL_Z) ^ S.seed_crater);
                real d = crater_squared(h, f, i, j, k);
                real r = crater_radius(h);
                r = r * r;
                real to_rim = d - r;
                real to_bowl = d - r * 0.64f;
                real inverse = inverse_sqrt(r);
                real of_radius = d * inverse;
                rim = min(rim, to_rim);
                bowl = min(bowl, to_bowl);
                share = min(share, of_radius * inverse);
            }
    return make_point(rim, bowl, share);
}

/* Crater bits at a point of the ground: bowl within 0.8 radii of a centre, rim from there to 1.0. */
fn_word crater_code(scene S, point p)
{
    point nearest = crater_nearest(S, p);
    word code = choose(nearest.x < 0.0f, all_word(CODE_RIM), all_word(0u));
    return choose(nearest.y < 0.0f, all_word(CODE_BOWL), code);
}

/* Distance to the nearest crater's centre in radii of that crater; for the layer "craters". */
fn_real crater_distance(scene S, point p)
{
    real share = max(crater_nearest(S, p).z, all_real(1e-12f));
    return share * inverse_sqrt(share);
}
