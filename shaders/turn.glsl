/* turn.glsl -- a scene at one moment of its loop. GLSL alone: renderer/cpu/kernels.inc does the same in C.
 * `spins`: sin and cos of the ground's spin, then of the clouds'; the others: the middle of each moon. */
scene at_turn(scene S, vec4 spins, vec4 moon_a, vec4 moon_b, vec4 moon_c)
{
    S.sin_spin = spins.x;
    S.cos_spin = spins.y;
    S.sin_cloud = spins.z;
    S.cos_cloud = spins.w;
    S.moon_ax = moon_a.x;
    S.moon_ay = moon_a.y;
    S.moon_az = moon_a.z;
    S.moon_bx = moon_b.x;
    S.moon_by = moon_b.y;
    S.moon_bz = moon_b.z;
    S.moon_cx = moon_c.x;
    S.moon_cy = moon_c.y;
    S.moon_cz = moon_c.z;
    return S;
}
