/* main.glsl -- the compute shader around a kernel: one invocation a pixel, one z a frame. DRAW names the kernel. */
layout(local_size_x = 8, local_size_y = 8) in;
layout(std140, binding = 0) uniform SceneBlock
{
    scene shared_scene;
};
/* sin and cos of the ground's spin, then of the clouds', for each frame of this dispatch. */
layout(std140, binding = 1) uniform TurnBlock
{
    vec4 turns[TURNS_MAX];
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
        vec4 t = turns[g.z];
        S.sin_spin = t.x;
        S.cos_spin = t.y;
        S.sin_cloud = t.z;
        S.cos_cloud = t.w;
        codes[(g.z * S.side + g.y) * S.side + g.x] = DRAW(S, float(g.x), float(g.y));
    }
}
