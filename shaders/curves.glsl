/* curves.glsl -- the few curves that kernels need, as polynomials: the same bits everywhere, errors below 0.001. */

/* log2 of x > 0: the exponent's bits, and a polynomial for the rest. */
fn_real log2_of(real x)
{
    word bits = as_word(x);
    real e = to_real(bits >> 23) - 127.0f;
    real m = as_real((bits & 0x7fffffu) | 0x3f800000u);
    real v = 0.44717955f - m * 0.056570851f;
    v = v * m - 1.4699568f;
    v = v * m + 2.8212026f;
    v = v * m - 1.7417939f;
    return e + v;
}

/* Sine of t whole turns. */
fn_real sine_of(real t)
{
    real a = t - floor(t + 0.5f);
    real over = 0.5f - a;
    real under = -0.5f - a;
    a = choose(a > 0.25f, over, a);
    a = choose(a < -0.25f, under, a);
    real s = a * a;
    real v = 81.605249f - s * 76.70586f;
    v = 41.341702f - s * v;
    v = 6.2831853f - s * v;
    return a * v;
}

fn_real cosine_of(real t)
{
    real a = t + 0.25f;
    return sine_of(a);
}

/* The direction of x, y in turns, counter-clockwise from x: 0 <= angle < 1. */
fn_real angle_of(real x, real y)
{
    real ax = max(x, -x);
    real ay = max(y, -y);
    real s = min(ax, ay) * inverse_sqrt(max(dot2(x, y, x, y), all_real(1e-12f)));
    real q = s * s;
    real v = q * 0.049f + 0.0446f;
    v = q * v + 0.075f;
    v = q * v + 0.16666667f;
    v = q * v + 1.0f;
    real a = s * 0.15915494f;
    a = a * v;
    real steep = 0.25f - a;
    a = choose(ay > ax, steep, a);
    real left = 0.5f - a;
    a = choose(x < 0.0f, left, a);
    real below = 1.0f - a;
    return choose(y < 0.0f, below, a);
}

/* 1 / x for x > 0. */
fn_real reciprocal(real x)
{
    real r = inverse_sqrt(max(x, all_real(1e-12f)));
    return r * r;
}

/* x held between two numbers. */
fn_real held(real x, float low, float high)
{
    return min(max(x, all_real(low)), all_real(high));
}

/* Noise on 0..1. */
fn_real unit_noise(real x, real y, real z, uint seed)
{
    return noise(x, y, z, seed) * (1.0f / 16777216.0f);
}
