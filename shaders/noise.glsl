/* noise.glsl -- value noise in three dimensions, and sums of it.
 * Random numbers sit on the points of an integer lattice and are blended between them. They come from an integer hash,
 * because a hash made with sin() differs from card to card. */

#define CELL_X 0x8da6b343u
#define CELL_Y 0xd8163841u
#define CELL_Z 0xcb1ab31fu

/* A lattice point's number: 24 random bits, not yet divided by 2^24. */
fn_real lattice(word h)
{
    h = h ^ (h >> 15);
    h = h * 0x85ebca6bu;
    return to_real(h >> 8);
}

/* Smoothstep, 3 t^2 - 2 t^3. */
fn_real fade(real t)
{
    real a = 3.0f - 2.0f * t;
    return t * t * a;
}

fn_real lerp(real a, real b, real t)
{
    real d = (b - a) * t;
    return a + d;
}

/* Value noise, 0 <= noise < 2^24. Not divided here: the sum below scales once per octave. */
fn_real noise(real x, real y, real z, uint seed)
{
    real cx = floor(x);
    real cy = floor(y);
    real cz = floor(z);
    real fx = fade(x - cx);
    real fy = fade(y - cy);
    real fz = fade(z - cz);
    word x0 = to_word(cx) * CELL_X;
    word y0 = to_word(cy) * CELL_Y;
    word z0 = to_word(cz) * CELL_Z;
    word x1 = x0 + CELL_X;
    word y1 = y0 + CELL_Y;
    word z1 = (z0 + CELL_Z) ^ seed;
    z0 = z0 ^ seed;
    word y0z0 = y0 ^ z0;
    word y1z0 = y1 ^ z0;
    word y0z1 = y0 ^ z1;
    word y1z1 = y1 ^ z1;
    real a = lerp(lattice(x0 ^ y0z0), lattice(x1 ^ y0z0), fx);
    real b = lerp(lattice(x0 ^ y1z0), lattice(x1 ^ y1z0), fx);
    real c = lerp(lattice(x0 ^ y0z1), lattice(x1 ^ y0z1), fx);
    real d = lerp(lattice(x0 ^ y1z1), lattice(x1 ^ y1z1), fx);
    real e = lerp(a, b, fy);
    real f = lerp(c, d, fy);
    return lerp(e, f, fz);
}

/* Octaves, each about twice as fine and half as strong as the one before; of four: 0 <= fbm < 0.9375, a bell around 0.47.
 * The step 2.03, + 11.7 keeps the lattices of the octaves from lining up. The lattice is first turned away from the
 * planet's axes (a rotation, quaternion 5 1 2 3 normalised): value noise has edges along its lattice, and on a pixel grid
 * upright ones would show as rectangles. */
fn_real fbm_of(int octaves, real px, real py, real pz, uint seed)
{
    real x = dot3(px, py, pz, all_real(0.33333333f), all_real(-0.66666667f), all_real(0.66666667f));
    real y = dot3(px, py, pz, all_real(0.87179487f), all_real(0.48717949f), all_real(0.05128205f));
    real z = dot3(px, py, pz, all_real(-0.35897436f), all_real(0.56410256f), all_real(0.74358974f));
    real v = all_real(0.0f);
    float gain = 0.5f / 16777216.0f;
    for (int i = 0; i < octaves; i++) {
        real n = noise(x, y, z, seed) * gain;
        v = v + n;
        x = x * 2.03f + 11.7f;
        y = y * 2.03f + 11.7f;
        z = z * 2.03f + 11.7f;
        gain = gain * 0.5f;
    }
    return v;
}

fn_real fbm(real px, real py, real pz, uint seed)
{
    return fbm_of(4, px, py, pz, seed);
}
