/* span.c -- which columns of a row are worth drawing. The square root here decides only what is skipped, with
 * a pixel to spare, so its rounding can't change a picture. */
#include <math.h>

#include "renderer/bodies.h"
#include "renderer/cpu/kernels.h"

static void centred(double half_width, int side, int *begin, int *end)
{
    double centre = side / 2.0;
    double reach = half_width * side / 2.0 + 1.5;
    int b = (int)floor(centre - reach);
    int e = (int)ceil(centre + reach);
    *begin = b < 0 ? 0 : b;
    *end = e > side ? side : e;
}

struct kernel_span kernel_span_of_row(const struct scene *scene, int row)
{
    struct kernel_span span = {0};
    int side = (int)scene->side;
    double y = (row + 0.5) * 2.0 / side - 1.0;
    double radius = 1.0 / scene->inverse_radius;
    if (scene->layer == LAYER_GRID || scene->layer == LAYER_RINGS ||
        (scene->layer == LAYER_NORMAL && scene->has_rings) ||
        (bodies[scene->body].traits & BODY_FILLS_FRAME)) {
        span.planet_end = side;
        return span;
    }
    double reach = radius * radius * scene->halo_squared - y * y;
    if (reach > 0.0)
        centred(sqrt(reach), side, &span.planet_begin, &span.planet_end);
    if (scene->moons) { /* anywhere, as far as orbits reach */
        span.rings_end = side;
    } else if (scene->has_rings) {
        /* The ellipse's height: its long axis is 0.98, turned by the ring's angle. */
        double s = scene->sin_ring, c = scene->cos_ring, open = 1.0 / scene->inverse_open;
        double height = 0.98 * sqrt(s * s + open * open * c * c) + 2.0 / side;
        if (fabs(y) <= height)
            span.rings_end = side;
    }
    return span;
}
