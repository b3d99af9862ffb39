/* ramp.c -- how each material takes light and shadow.
 * Shadows do not only grow dark: they go toward one violet-blue, as the sky's own light would make them, and
 * keep some colour, or get some when they have none (snow, cloud, dust); lights turn a little to yellow. The
 * numbers were chosen by eye. Threads: pure. */
#include "renderer/ramp.h"

#include <stddef.h>

#include "renderer/base/attr.h"
#include "renderer/oklab.h"

#define SHADE_HUE    285 /* degrees of Oklab */
#define SHADE_CHROMA 0.10
#define SUN_HUE      85
#define SUN_CHROMA   0.012
#define SHADE_LEAST  0.06 /* lightness that even black keeps in the shade, so that it stays readable */
#define GREY         0.05 /* a colour of less chroma is grey: it takes the shade's hue alone */

static const struct material {
    char role;
    double dark;   /* lightness in the dark, of the lightness in full light */
    double chroma; /* that the dark has at least */
    double shade;  /* share of the shade's colour in the dark */
} materials[] = {
    {'w', 0.50, 0.070, 0.35},        {'s', 0.46, 0.045, 0.55}, {'l', 0.46, 0.050, 0.42},
    {'r', 0.45, 0.050, 0.55},        {'i', 0.56, 0.075, 0.75}, {'g', 0.44, 0.050, 0.55},
    {RAMP_CLOUD, 0.60, 0.060, 0.65},
};
static const struct material any = {'h', 0.50, 0.080, 0.30};

/* Lightness falls slowly in the light and fast near the dark, so that the lit side is one area. */
static double lightness(double dark, double shadow)
{
    double lost = shadow < 0 ? shadow : shadow * (0.75 + 0.25 * shadow);
    return 1.08 - (1.08 - dark) * lost;
}

uint32_t ramp_tone(uint32_t rgb, char role, double light)
{
    const struct material *m = &any;
    for (size_t i = 0; i < ARRAY_LEN(materials); i++)
        if (materials[i].role == role)
            m = &materials[i];
    struct oklab c = oklab_of(rgb);
    double shadow = 1 - light, chroma = oklab_chroma(c);
    double grey = chroma < GREY ? 1 - chroma / GREY : 0;
    struct oklab ret = {c.l * lightness(m->dark, shadow), c.a, c.b};
    if (shadow <= 0) {
        struct hue sun = hue_of_degrees(SUN_HUE);
        ret.a += sun.a * SUN_CHROMA;
        ret.b += sun.b * SUN_CHROMA;
        return oklab_rgb(ret);
    }
    struct hue shade = hue_of_degrees(SHADE_HUE);
    double share = (m->shade + (1 - m->shade) * grey * 0.8) * shadow;
    ret.l += SHADE_LEAST * shadow;
    ret.a += (shade.a * SHADE_CHROMA - ret.a) * share;
    ret.b += (shade.b * SHADE_CHROMA - ret.b) * share;
    double least = m->chroma * shadow;
    return oklab_rgb(oklab_chroma(ret) < least ? oklab_make(ret.l, least, hue_of(ret)) : ret);
}
