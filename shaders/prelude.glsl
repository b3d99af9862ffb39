/* prelude.glsl -- the kernel language for GLSL ES; renderer/cpu/lanes.h is the same for C.
 * real, word, flag: one lane of float, unsigned, bool. `precise` keeps a GPU from fusing a multiply and an add. */
precision highp float;
precision highp int;
#define real precise float
#define word uint
#define flag bool
#define fn_real float
#define fn_word uint
#define fn_point point
#define all_real(x) (x)
#define all_word(x) (x)
#define as_real uintBitsToFloat
#define as_word floatBitsToUint
#define to_float(x) float(x)
#define to_uint(x) uint(x)
#define both(a, b) ((a) && (b))
#define either(a, b) ((a) || (b))
#define any_lane(c) (c)
#define make_point point
struct point {
    float x;
    float y;
    float z;
};
uint to_word(float x)
{
    return uint(int(x));
}
float to_real(uint x)
{
    return float(int(x));
}
uint choose(bool c, uint a, uint b)
{
    return c ? a : b;
}
float choose(bool c, float a, float b)
{
    return c ? a : b;
}
