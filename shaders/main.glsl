/* main.glsl -- the compute shader around a kernel: one invocation a pixel, one z a frame. DRAW names the kernel. */
layout(local_size_x = 8, local_size_y = 8) in;
layout(std140, binding = 0) uniform SceneBlock
{
    scene shared_scene;
};
/* For each frame of this dispatch: sin and cos of the ground's spin, then of the clouds'; then the middle of each moon. */
layout(std140, binding = 1) uniform TurnBlock
{
    vec4 turns[TURNS_MAX * 4];
};
layout(std430, binding = 0) writeonly buffer CodeBlock
{
    uint codes[];
};
void main()
{
    uvec3 g = gl_GlobalInvocationID;
    scene S = shared_scene;
    if (g.x < S.side && g.y < S.side) {
        vec4 t = turns[g.z * 4u];
        vec4 a = turns[g.z * 4u + 1u];
        vec4 b = turns[g.z * 4u + 2u];
        vec4 c = turns[g.z * 4u + 3u];
        S.sin_spin = t.x;
        S.cos_spin = t.y;
        S.sin_cloud = t.z;
        S.cos_cloud = t.w;
        S.moon_ax = a.x;
        S.moon_ay = a.y;
        S.moon_az = a.z;
        S.moon_bx = b.x;
        S.moon_by = b.y;
        S.moon_bz = b.z;
        S.moon_cx = c.x;
        S.moon_cy = c.y;
        S.moon_cz = c.z;
        codes[(g.z * S.side + g.y) * S.side + g.x] = DRAW(S, float(g.x), float(g.y));
    }
}
