/* sphere.glsl -- from a pixel to a point of the sphere, and from the screen to the turning planet. */

/* The centre of a pixel: x to the right, y down, -1..1 over the frame. */
fn_real frame_at(scene S, real pixel)
{
    real p = pixel + 0.5f;
    p = p * S.two_over_side;
    return p - 1.0f;
}

/* The point of the unit sphere that faces the viewer at disc position x, y (y up), where d = x^2 + y^2.
 * Outside the disc it is a point of the rim that nobody looks at. */
fn_point sphere_point(real x, real y, real d)
{
    real w = max(1.0f - d, all_real(1e-12f));
    return make_point(x, y, w * inverse_sqrt(w));
}

/* From the screen to the ground: the planet spins about its own axis, is tilted to the viewer and rolled on the screen,
 * so the way back takes the roll away, then the tilt, then the spin. The pole therefore keeps its place while the planet
 * turns. */
fn_point upright(scene S, point n)
{
    real x = turn(n.x, n.y, S.cos_roll, S.sin_roll);
    real y = turn(n.y, n.x, S.cos_roll, -S.sin_roll);
    return make_point(x, turn(y, n.z, S.cos_tilt, S.sin_tilt), turn(n.z, y, S.cos_tilt, -S.sin_tilt));
}

fn_point unspin(point n, float c, float s)
{
    return make_point(turn(n.x, n.z, c, s), n.y, turn(n.z, n.x, c, -s));
}

fn_point ground_point(scene S, point n)
{
    return unspin(upright(S, n), S.cos_spin, S.sin_spin);
}
