/* rock.glsl -- no air: strata, folded and cut, around dark basins, and a few great craters whose walls the light finds. */

#define ROCK_CRATERS 12
#define ROCK_GREAT 5 /* of them */

/* The nearest great crater at a point of the ground: squared distance to its centre over its radius squared (x), and how
 * far the point lies from the centre towards the light, in radii (y). */
fn_point rock_crater(scene S, point p)
{
    point light = ground_light(S);
    real nearest = all_real(81.0f);
    real toward = all_real(0.0f);
    for (int i = 0; i < ROCK_CRATERS; i++) {
        word h = spot_hash(S.seed_crater, i);
        real y = spot_part(h) * 1.8f;
        real x = spot_part(h >> 10) - 0.5f;
        real z = spot_part(h >> 20) - 0.5f;
        /* Two of the great ones can be seen at the start. */
        if (i < 2) {
            y = y * 0.6f + 0.36f;
            z = max(z, -z) + 0.2f;
        }
        point c = spot_at(x, y - 0.9f, z);
        real size = spot_part(h * 0x9e3779b1u);
        real r = size * (i < ROCK_GREAT ? 0.14f : 0.06f);
        r = r + (i < ROCK_GREAT ? 0.21f : 0.12f);
        real inverse = inverse_sqrt(r * r);
        x = (p.x - c.x) * inverse;
        y = (p.y - c.y) * inverse;
        z = (p.z - c.z) * inverse;
        real d = dot3(x, y, z, x, y, z);
        real l = dot3(x, y, z, light.x, light.y, light.z);
        toward = choose(d < nearest, l, toward);
        nearest = min(d, nearest);
    }
    return make_point(nearest, toward, nearest);
}

fn_word ground_rock(scene S, point p)
{
    real height = ground_height(S, p);
    real t = height - S.sea_level;

    /* Strata: layers across a seeded axis, folded by the height. */
    word h = spot_hash(S.seed_band, 0);
    real x = spot_part(h) - 0.5f;
    real y = spot_part(h >> 10) * 0.8f;
    real z = spot_part(h >> 20) - 0.5f;
    point axis = spot_at(x, y, z);
    real v = dot3(p.x, p.y, p.z, axis.x, axis.y, axis.z) * 3.0f;
    real fold = t * 7.0f;
    v = v + fold;
    word layer = to_word(floor(v + 64.0f));
    real tone = lattice((layer * CELL_X ^ S.seed_band) * 0x27d4eb2du);
    word ground = choose(tone < 0.5f * 16777216.0f, all_word(1u), all_word(2u)) + (layer & 1u) * 2u;
    ground = choose(t < -0.13f, all_word(0u), ground);

    /* A bowl's floor is smooth; its wall towards the light lies in shadow, the wall across catches it. */
    point crater = rock_crater(S, p);
    flag bowl = crater.x < 0.60f;
    flag rim = both(crater.x < 1.0f, crater.y < 0.35f);
    real shade = crater.y * 0.8f;
    shade = shade + crater.x;
    ground = choose(bowl, all_word(1u), ground);
    ground = choose(both(rim, crater.x >= 0.60f), all_word(4u), ground);
    return ground | choose(both(bowl, shade > 0.45f), all_word(CODE_BOWL), all_word(0u));
}

/* For the layer "craters": distance to the nearest great crater's centre in radii. */
fn_real rock_crater_distance(scene S, point p)
{
    real squared = max(rock_crater(S, p).x, all_real(1e-12f));
    return squared * inverse_sqrt(squared);
}

PLANET(draw_rock, ground_rock)
