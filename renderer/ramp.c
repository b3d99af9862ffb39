/* ramp.c -- how each material takes light and shadow.
 * Shadows do not only grow dark: they turn to blue and violet and keep their colour, or get some when they
 * have none (snow, cloud); lights turn a little to yellow. The numbers were chosen by eye. Threads: pure. */
#include "renderer/ramp.h"

#include <stddef.h>

#include "renderer/base/attr.h"
#include "renderer/oklab.h"

static const struct material {
    char role;
    double dark;   /* lightness in the dark, of the lightness in full light */
    double chroma; /* that the dark has at least */
    double turn;   /* share of the way to violet-blue that hues go */
} materials[] = {
    {'w', 0.50, 0.075, 0.30},        {'s', 0.47, 0.060, 0.45}, {'l', 0.46, 0.055, 0.45},
    {'r', 0.45, 0.050, 0.45},        {'i', 0.60, 0.075, 0.60}, {'g', 0.45, 0.050, 0.42},
    {RAMP_CLOUD, 0.60, 0.070, 0.70},
};
static const struct material any = {'h', 0.50, 0.080, 0.30};

uint32_t ramp_tone(uint32_t rgb, char role, double light)
{
    const struct material *m = &any;
    for (size_t i = 0; i < ARRAY_LEN(materials); i++)
        if (materials[i].role == role)
            m = &materials[i];
    struct oklab c = oklab_of(rgb);
    double shadow = 1 - light, chroma = oklab_chroma(c);
    double l = c.l * (1.03 - (1.03 - m->dark) * shadow);
    struct hue hue = hue_of(c);
    if (shadow > 0)
        hue = hue_toward(hue, hue_of_degrees(285), m->turn * shadow);
    else
        hue = hue_toward(hue, hue_of_degrees(90), 0.12);
    double least = m->chroma * shadow;
    chroma = chroma * (1 - 0.15 * shadow);
    return oklab_rgb(oklab_make(l, chroma > least ? chroma : least, hue));
}
