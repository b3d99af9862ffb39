/* terrain.glsl -- what the bodies with a ground share: the walk up a ramp, and the channels of rivers. */

/* How many of the thresholds, which rise, t has reached. */
fn_word steps_of_3(real t, float a, float b, float c)
{
    word step = choose(t < b, all_word(1u), all_word(2u));
    step = choose(t < a, all_word(0u), step);
    return choose(t < c, step, all_word(3u));
}

fn_word steps_of_5(real t, float a, float b, float c, float d, float e)
{
    word step = choose(t < e, all_word(4u), all_word(5u));
    step = choose(t < d, all_word(3u), step);
    return choose(t < c, steps_of_3(t, a, b, 9.0f), step);
}

/* Smooth noise for lines and lakes, about 0 in the middle: three octaves, since a finer one would tear a line apart. */
fn_real wide_noise(scene S, point p, float frequency, uint seed)
{
    real x = p.x * S.scale * frequency;
    real y = p.y * S.scale * frequency;
    real z = p.z * S.scale * frequency;
    return fbm_of(3, x + S.ground_y, y + S.ground_z, z + S.ground_x, seed) - 0.44f;
}

/* How near the line where that noise is 0 runs: 1 on it, 0 at a distance of 1 / sharpness. */
fn_real channel(scene S, point p, float frequency, uint seed, real sharpness)
{
    real v = wide_noise(S, p, frequency, seed);
    real far = max(v, -v) * sharpness;
    return max(1.0f - far, all_real(0.0f));
}

/* The height t over the sea after rivers have been cut into it: where the land is lower than S.river_depth, two sets of
 * lines, which meet each other and widen towards the sea, and lakes. Their water is that of a shore. */
fn_real carve_rivers(scene S, point p, real t)
{
    if (S.river_depth > 0.0f)
        if (any_lane(both(t >= 0.0f, t < S.river_depth))) {
            real narrow = t * S.river_narrowing + 1.0f;
            real sharpness = narrow * S.river_sharpness;
            real line = max(channel(S, p, 0.9f, S.seed_river, sharpness),
                            channel(S, p, 1.5f, S.seed_river ^ 0x9e3779b9u, sharpness));
            real lake = wide_noise(S, p, 1.2f, S.seed_river ^ 0x85ebca6bu) - 0.18f;
            flag water = both(both(t >= 0.0f, t < S.river_depth), either(line > 0.0f, lake > 0.0f));
            t = choose(water, all_real(-0.01f), t);
        }
    return t;
}
