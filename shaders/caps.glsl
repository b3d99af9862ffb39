/* caps.glsl -- polar caps: latitude with a rough edge. The south counts 0.85, so that its cap, which a tilted planet
 * shows only as a strip at the rim, does not become a flat block. */

/* `ground` with the step `cap` where ice lies; p is a point of the ground. */
fn_word polar_caps(scene S, point p, word ground, uint cap)
{
    real latitude = choose(p.y > 0.0f, p.y, p.y * -0.85f);
    /* The noise adds less than 0.15: most pixels need none of it. */
    if (any_lane(latitude > S.cap_line - 0.15f)) {
        real rough = fbm(p.x * 4.0f + S.ground_x, p.y * 4.0f + S.ground_y, p.z * 4.0f + S.ground_z, S.seed_cap);
        rough = rough - 0.5f;
        rough = rough * 0.3f;
        real polar = latitude + rough;
        ground = choose(polar > S.cap_line, all_word(cap), ground);
    }
    return ground;
}
