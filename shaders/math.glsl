/* math.glsl -- the little arithmetic that the other parts share. Each sum has products that are rounded before it. */

/* 1 / sqrt(d) for d > 0: an integer guess and three Newton steps, so that it is the same everywhere. */
fn_real inverse_sqrt(real d)
{
    real h = d * 0.5f;
    real y = as_real(0x5f3759dfu - (as_word(d) >> 1));
    for (int i = 0; i < 3; i++) {
        real t = h * y;
        t = t * y;
        t = 1.5f - t;
        y = y * t;
    }
    return y;
}

/* a * c + b * s, each product rounded before the sum. */
fn_real turn(real a, real b, float c, float s)
{
    real p = a * c;
    real q = b * s;
    return p + q;
}

fn_real dot2(real ax, real ay, real bx, real by)
{
    real p = ax * bx;
    real q = ay * by;
    return p + q;
}

fn_real dot3(real ax, real ay, real az, real bx, real by, real bz)
{
    real p = dot2(ax, ay, bx, by);
    real q = az * bz;
    return p + q;
}
