/* main.glsl -- the compute shader around a kernel: one invocation a pixel, one z a frame. DRAW names the kernel. */
layout(local_size_x = 8, local_size_y = 8) in;
layout(std140, binding = 0) uniform SceneBlock
{
    scene shared_scene;
};
/* For each frame of this dispatch the four vectors of turn.glsl. */
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
    if (g.x < shared_scene.side && g.y < shared_scene.side) {
        uint t = g.z * 4u;
        scene S = at_turn(shared_scene, turns[t], turns[t + 1u], turns[t + 2u], turns[t + 3u]);
        codes[(g.z * S.side + g.y) * S.side + g.x] = DRAW(S, float(g.x), float(g.y));
    }
}
