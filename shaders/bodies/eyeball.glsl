/* eyeball.glsl -- tidally locked: the ground stands still to the light (scene.c), so that the heat of a place is its light.
 * From the night: frozen seas, ice, a thawed sea and green land, steppe, desert, and a scorched eye under the sun. */

fn_word ground_eyeball(scene S, point p)
{
    point light = ground_light(S);
    real height = ground_height(S, p);
    real t = height - S.sea_level;
    real rough = (height - 0.47f) * 0.55f;
    real heat = dot3(p.x, p.y, p.z, light.x, light.y, light.z) + rough;
    flag sea = t < 0.0f;
    word ground = choose(sea, all_word(2u), all_word(3u));
    ground = choose(heat < 0.34f, all_word(1u), ground);
    ground = choose(both(sea, heat < 0.14f), all_word(0u), ground);
    ground = choose(heat < 0.60f, ground, all_word(4u));
    ground = choose(heat < 0.71f, ground, all_word(5u));
    ground = choose(heat < 0.83f, ground, all_word(6u));
    return choose(heat < 0.94f, ground, all_word(7u));
}

PLANET(draw_eyeball, ground_eyeball)
