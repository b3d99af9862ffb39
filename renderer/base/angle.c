/* angle.c -- sine and cosine by the project's own polynomials in double. The turn is reduced to an eighth in
 * integers, so a whole number of turns gives exactly the sine and cosine of none. Compiled without fused
 * multiply-add. */
#include "renderer/base/angle.h"

/* Taylor series to x^15 and x^16; for |x| <= pi / 4 the remainder is below 1e-16. */
static double sine(double x)
{
    double s = x * x;
    double r = -1.0 / 1307674368000.0;
    r = r * s + 1.0 / 6227020800.0;
    r = r * s - 1.0 / 39916800.0;
    r = r * s + 1.0 / 362880.0;
    r = r * s - 1.0 / 5040.0;
    r = r * s + 1.0 / 120.0;
    r = r * s - 1.0 / 6.0;
    return x + x * (s * r);
}

static double cosine(double x)
{
    double s = x * x;
    double r = 1.0 / 20922789888000.0;
    r = r * s - 1.0 / 87178291200.0;
    r = r * s + 1.0 / 479001600.0;
    r = r * s - 1.0 / 3628800.0;
    r = r * s + 1.0 / 40320.0;
    r = r * s - 1.0 / 720.0;
    r = r * s + 1.0 / 24.0;
    r = r * s - 0.5;
    return 1.0 + s * r;
}

void angle_sincos(int64_t num, int64_t den, double *ret_sin, double *ret_cos)
{
    const double eighth = 0.78539816339744830962; /* pi / 4 */
    num %= den;
    if (num < 0)
        num += den;
    int octant = (int)(num * 8 / den);
    int64_t rest = num * 8 - octant * den;
    /* In odd octants the angle is measured back from the next multiple of a quarter turn. */
    double x = octant & 1 ? (double)(den - rest) / (double)den * eighth : (double)rest / (double)den * eighth;
    double s = sine(x);
    double c = cosine(x);
    switch (octant) {
    case 0:
        *ret_sin = s, *ret_cos = c;
        break;
    case 1:
        *ret_sin = c, *ret_cos = s;
        break;
    case 2:
        *ret_sin = c, *ret_cos = -s;
        break;
    case 3:
        *ret_sin = s, *ret_cos = -c;
        break;
    case 4:
        *ret_sin = -s, *ret_cos = -c;
        break;
    case 5:
        *ret_sin = -c, *ret_cos = -s;
        break;
    case 6:
        *ret_sin = -c, *ret_cos = s;
        break;
    default:
        *ret_sin = -s, *ret_cos = c;
        break;
    }
}
