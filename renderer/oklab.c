/* oklab.c -- sRGB to Oklab and back.
 * The constants are the published ones. Roots are Newton's, begun above the root and always stepped as often:
 * libm's pow() differs from version to version. Threads: pure. */
#include "renderer/oklab.h"

#include "renderer/base/angle.h"

#define ROOT_STEPS 64 /* enough for the 12th root of 1e-6 begun at 1 */

static double power(double x, int n)
{
    double p = 1;
    for (int i = 0; i < n; i++)
        p *= x;
    return p;
}

/* The n-th root of 0 <= x <= 4, n 2..12. */
static double root(double x, int n)
{
    double y = x > 1 ? x : 1;
    if (x <= 0)
        return 0;
    for (int i = 0; i < ROOT_STEPS; i++)
        y = y - (y - x / power(y, n - 1)) / n;
    return y;
}

/* v^2.4 and v^(1/2.4) of the sRGB curve. */
static double linear_of(uint32_t byte)
{
    double v = byte / 255.0;
    if (v <= 0.04045)
        return v / 12.92;
    v = (v + 0.055) / 1.055;
    double fifth = root(v, 5);
    return v * v * fifth * fifth;
}

static double byte_of_linear(double x)
{
    double v = x <= 0.0031308 ? x * 12.92 : power(root(x, 12), 5) * 1.055 - 0.055;
    return v * 255.0;
}

struct oklab oklab_of(uint32_t rgb)
{
    double r = linear_of(rgb >> 16 & 255), g = linear_of(rgb >> 8 & 255), b = linear_of(rgb & 255);
    double l = root(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b, 3);
    double m = root(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b, 3);
    double s = root(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b, 3);
    return (struct oklab){
        0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
        1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
        0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s,
    };
}

/* Linear light, which may be out of 0..1. */
static void linear_rgb(struct oklab c, double ret[3])
{
    double l = power(c.l + 0.3963377774 * c.a + 0.2158037573 * c.b, 3);
    double m = power(c.l - 0.1055613458 * c.a - 0.0638541728 * c.b, 3);
    double s = power(c.l - 0.0894841775 * c.a - 1.2914855480 * c.b, 3);
    ret[0] = 4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s;
    ret[1] = -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s;
    ret[2] = -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s;
}

uint32_t oklab_rgb(struct oklab c)
{
    double rgb[3];
    uint32_t packed = 0;
    c.l = c.l < 0 ? 0 : c.l > 1 ? 1 : c.l;
    for (int i = 0; i < 40; i++) {
        linear_rgb(c, rgb);
        double low = rgb[0], high = rgb[0];
        for (int k = 1; k < 3; k++) {
            low = rgb[k] < low ? rgb[k] : low;
            high = rgb[k] > high ? rgb[k] : high;
        }
        if (low >= -0.0005 && high <= 1.0005)
            break;
        c.a *= 0.94;
        c.b *= 0.94;
    }
    for (int k = 0; k < 3; k++) {
        double x = rgb[k] < 0 ? 0 : rgb[k] > 1 ? 1 : rgb[k];
        packed = packed << 8 | (uint32_t)(byte_of_linear(x) + 0.5);
    }
    return packed;
}

double oklab_distance_squared(struct oklab a, struct oklab b)
{
    double l = a.l - b.l, x = a.a - b.a, y = a.b - b.b;
    return l * l + x * x + y * y;
}

double oklab_chroma(struct oklab c)
{
    return root(c.a * c.a + c.b * c.b, 2);
}

struct hue hue_of_degrees(int degrees)
{
    struct hue h;
    angle_sincos(degrees, 360, &h.b, &h.a);
    return h;
}

struct hue hue_of(struct oklab c)
{
    double chroma = oklab_chroma(c);
    if (chroma < 1e-4)
        return hue_of_degrees(260);
    return (struct hue){c.a / chroma, c.b / chroma};
}

struct hue hue_toward(struct hue from, struct hue to, double share)
{
    /* Halving the angle keeps an even pace; a straight line between the ends would hurry through the middle.
     */
    struct hue low = from, high = to, middle = from;
    double at = 0, step = 1;
    for (int i = 0; i < 12; i++) {
        double a = low.a + high.a, b = low.b + high.b, length = root(a * a + b * b, 2);
        middle = length < 1e-3 ? hue_of_degrees(310) : (struct hue){a / length, b / length};
        step *= 0.5;
        if (at + step <= share) {
            at += step;
            low = middle;
        } else {
            high = middle;
        }
    }
    return share <= 0 ? from : share >= 1 ? to : middle;
}

struct oklab oklab_make(double lightness, double chroma, struct hue hue)
{
    return (struct oklab){lightness, chroma * hue.a, chroma * hue.b};
}
