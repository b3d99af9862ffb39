/* city.glsl -- land and sea as terrestrial's, built over: grey by day, nets of lamps by night. */

#define CITY_STEP 5u
#define CITY_LAMP 6u
#define CITY_BRIGHT 7u
#define CITY_LIT_SHIFT 17 /* within this file: 1 a lamp, 2 a bright one */
#define CITY_LIT (1u << CITY_LIT_SHIFT)

/* Ground step, and CITY_LIT times the lamp that may shine there. */
fn_word ground_city(scene S, point p)
{
    real t = carve_rivers(S, p, ground_height(S, p) - S.sea_level);
    word ground = choose(t < 0.16f, all_word(3u), all_word(4u));
    ground = choose(t < 0.02f, all_word(2u), ground);
    ground = choose(t < 0.0f, all_word(1u), ground);
    ground = choose(t < -0.12f, all_word(0u), ground);

    /* Towns: a noise of their own, more of them near a coast. */
    real town = wide_noise(S, p, 1.6f, S.seed_band);
    real inland = max(t, -t);
    town = town + 0.06f - inland * 0.7f;
    real road = max(channel(S, p, 1.5f, S.seed_crater, all_real(S.lamp_sharpness)),
                    channel(S, p, 2.6f, S.seed_crater ^ 0x9e3779b9u, all_real(S.lamp_sharpness)));
    flag land = t >= 0.0f;
    flag built = both(land, town > 0.05f);
    ground = choose(built, all_word(CITY_STEP), ground);

    /* Lamps along the streets of a town, which are a grid, and along the roads between towns. */
    real u = p.y * S.lamp_streets;
    real v = (p.x + p.z * 0.7f) * S.lamp_streets;
    u = u - floor(u);
    v = v - floor(v);
    flag street = min(u, v) < 0.34f;
    real glow = road * 0.10f + town;
    word lamp = choose(both(road > 0.1f, town > -0.08f), all_word(CITY_LIT), all_word(0u));
    lamp = choose(both(street, glow > 0.05f), all_word(CITY_LIT), lamp);
    lamp = choose(both(street, glow > 0.12f), all_word(CITY_LIT * 2u), lamp);
    lamp = choose(glow > 0.22f, all_word(CITY_LIT * 2u), lamp);
    lamp = choose(land, lamp, all_word(0u));
    if (S.has_caps > 0u) {
        word capped = polar_caps(S, p, ground, 8u);
        lamp = choose(capped > CITY_BRIGHT, all_word(0u), lamp);
        ground = capped;
    }
    return ground | lamp;
}

fn_word draw_city(scene S, real px, real py)
{
    point q = disc_point(S, px, py);
    point n = sphere_point(q.x, q.y, q.z);
    word ground = ground_city(S, ground_point(S, n));
    word lamp = (ground >> CITY_LIT_SHIFT) + (CITY_LAMP - 1u);
    word code = planet_code(S, px, py, q, n, ground & CODE_STEP_MASK);
    /* In the dark, under a clear sky, with no ring before it. */
    flag dark = (code >> CODE_BAND_SHIFT) == (CODE_PLANET >> CODE_BAND_SHIFT);
    flag on = both(lamp >= CITY_LAMP, dark);
    return choose(on, lamp | (CODE_PLANET | CODE_SHINE), code);
}
