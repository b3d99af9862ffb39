/* asteroid.glsl -- one rock that tumbles. */

fn_word draw_asteroid(scene S, real px, real py)
{
    point q = disc_point(S, px, py);
    return rock_code(S, q.x, q.y, 0u);
}
