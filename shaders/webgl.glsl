/* webgl.glsl -- the fragment shader around a kernel, for the page (WebGL2): one fragment a pixel, top row first in
 * what is read back. A code leaves as its four bytes, lowest first; DRAW names the kernel. */
layout(std140) uniform SceneBlock
{
    scene shared_scene;
};
uniform vec4 moment[4]; /* the vectors of turn.glsl */
out vec4 bytes;
void main()
{
    scene S = at_turn(shared_scene, moment[0], moment[1], moment[2], moment[3]);
    uint code = DRAW(S, floor(gl_FragCoord.x), floor(gl_FragCoord.y));
    bytes = vec4(code & 255u, code >> 8 & 255u, code >> 16 & 255u, code >> 24) / 255.0;
}
