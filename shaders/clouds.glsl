/* clouds.glsl -- a layer of noise that turns at its own speed, and its shadow on the ground. */

/* Noise varies faster along the axis than across it, so clouds form streaks along the latitudes. */
fn_real cloud_noise(scene S, point n)
{
    point p = unspin(upright(S, n), S.cos_cloud, S.sin_cloud);
    real x = p.x * S.cloud_scale;
    real y = p.y * S.cloud_scale_y;
    real z = p.z * S.cloud_scale;
    return fbm(x + S.cloud_x, y + S.cloud_y, z + S.cloud_z, S.seed_cloud);
}

/* What covers the ground: COVER_*. A point is in shadow when a cloud hangs between it and the light. */
fn_word cloud_cover(scene S, point n)
{
    real cloud = cloud_noise(S, n);
    real x = n.x + S.light_x * 0.07f;
    real y = n.y + S.light_y * 0.07f;
    real z = n.z + S.light_z * 0.07f;
    real r = inverse_sqrt(dot3(x, y, z, x, y, z));
    real above = cloud_noise(S, make_point(x * r, y * r, z * r));
    word cover = choose(above > S.cloud_line, all_word(COVER_SHADOW), all_word(COVER_NONE));
    cover = choose(cloud > S.cloud_line, all_word(COVER_EDGE), cover);
    return choose(cloud > S.cloud_line + 0.07f, all_word(COVER_CORE), cover);
}
