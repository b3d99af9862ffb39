/* spots.glsl -- a few great places on a globe, seeded: storms, craters. Spot i is made from a hash of its number. */

fn_word spot_hash(uint seed, int i)
{
    word h = all_word(seed + to_uint(i) * 0x9e3779b9u);
    h = h ^ (h >> 16);
    h = h * 0x7feb352du;
    h = h ^ (h >> 15);
    h = h * 0x846ca68bu;
    return h ^ (h >> 16);
}

/* 0..1 from ten bits. */
fn_real spot_part(word bits)
{
    return to_real(bits & 1023u) * (1.0f / 1024.0f);
}

/* A unit vector at the height y (the sine of the latitude) and in the direction x, z, which need not be of unit length. */
fn_point spot_at(real x, real y, real z)
{
    real w = max(1.0f - y * y, all_real(1e-6f));
    real d = max(dot2(x, z, x, z), all_real(1e-6f));
    real r = w * inverse_sqrt(w);
    r = r * inverse_sqrt(d);
    return make_point(x * r, y, z * r);
}
