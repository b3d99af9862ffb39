/* asteroid.glsl -- one rock that tumbles. */

fn_word draw_asteroid(scene S, real px, real py)
{
    point q = disc_point(S, px, py);
    return boulder_code(S, q.x, q.y, px, py);
}
