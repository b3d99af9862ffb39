/* dump_frames.c -- writes files as the encoders make them, and beside each the pixels that must be in it, for
 * decoders that are not ours. usage: dump_frames DIRECTORY NAME.png, .gif, .apng or .webp is the file;
 * NAME.rgba has frames * side * side pixels of R G B A, straight alpha, as they were before zoom and before
 * the format took something away. One line each on stdout: NAME FORMAT SIDE ZOOM FRAMES FPS LOOPS KEY.
 * Pictures are made up (encode_samples.h) and real (drawn by the cpu backend). Threads: one. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/key.h"
#include "api/request.h"
#include "renderer/bodies.h"
#include "renderer/encode/encoder.h"
#include "renderer/renderer.h"
#include "tests/unit/encode_samples.h"

static const char *folder;

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "dump_frames: %s: %s\n", what, why);
    exit(1);
}

static FILE *create(const char *name, const char *extension)
{
    char path[1024];
    int len = snprintf(path, sizeof(path), "%s/%s.%s", folder, name, extension);
    FILE *file = len > 0 && (size_t)len < sizeof(path) ? fopen(path, "wb") : NULL;
    if (!file)
        fail(name, "can't create the file");
    return file;
}

static void dump(const char *name, enum format format, const struct frame_set *set,
                 const struct encode_desc *desc)
{
    struct blob out = {0};
    enum err err = encoders[format].encode(set, desc, NULL, &out);
    if (err)
        fail(name, err_words(err));
    FILE *file = create(name, encoders[format].extension);
    bool ok = fwrite(out.data, 1, out.len, file) == out.len;
    ok &= fclose(file) == 0;
    blob_free(&out);

    file = create(name, "rgba");
    size_t pixels = (size_t)set->side * (size_t)set->side * (size_t)set->frames;
    for (size_t i = 0; i < pixels; i++) {
        uint32_t c = sample_at(set, i);
        const uint8_t rgba[4] = {RGBA_R(c), RGBA_G(c), RGBA_B(c), RGBA_A(c)};
        ok &= fwrite(rgba, 1, sizeof(rgba), file) == sizeof(rgba);
    }
    ok &= fclose(file) == 0;
    if (!ok)
        fail(name, "can't write the file");
    printf("%s %s %d %d %d %d %d %s\n", name, encoders[format].extension, set->side, desc->zoom, set->frames,
           desc->fps, desc->loops, desc->key);
}

/* Consumes the set. */
static void dump_sample(const char *name, enum format format, struct frame_set set, int zoom, int fps,
                        int loops)
{
    dump(name, format, &set, &(struct encode_desc){.zoom = zoom, .fps = fps, .loops = loops, .key = name});
    frame_set_finish(&set);
}

static void dump_samples(void)
{
    char key[1024];
    memset(key, 'k', sizeof(key) - 1);
    key[sizeof(key) - 1] = 0;
    struct frame_set walker = sample_walker(24, 5);
    dump("long-key", FORMAT_GIF, &walker, &(struct encode_desc){.zoom = 1, .fps = 7, .loops = 3, .key = key});
    frame_set_finish(&walker);

    dump_sample("png-1-bit", FORMAT_PNG, sample_random(33, 1, 2, 0, 0, 1), 1, 15, 0);
    dump_sample("png-2-bits", FORMAT_PNG, sample_random(33, 1, 3, 0, 0, 2), 3, 15, 0);
    dump_sample("png-4-bits", FORMAT_PNG, sample_random(33, 1, 12, 0, 0, 3), 1, 15, 0);
    dump_sample("png-4-bits-alpha", FORMAT_PNG, sample_random(33, 1, 6, 20, 0, 4), 5, 15, 0);
    dump_sample("png-8-bits", FORMAT_PNG, sample_random(33, 1, 256, 0, 0, 5), 1, 15, 0);
    dump_sample("png-8-bits-alpha", FORMAT_PNG, sample_planet(96, 1, 3, 6), 2, 15, 0);
    dump_sample("png-rgb", FORMAT_PNG, sample_random(60, 1, 2000, 0, 0, 7), 1, 15, 0);
    dump_sample("png-rgba", FORMAT_PNG, sample_random(60, 1, 2000, 20, 0, 8), 3, 15, 0);
    dump_sample("gif-still", FORMAT_GIF, sample_planet(64, 1, 3, 1), 1, 15, 0);
    dump_sample("gif-still-clear", FORMAT_GIF, sample_from_rgba((const uint32_t[64]){0}, 8, 1), 1, 15, 0);
    dump_sample("gif-clear", FORMAT_GIF, sample_from_rgba((const uint32_t[3 * 64]){0}, 8, 3), 1, 15, 0);
    dump_sample("gif-planet", FORMAT_GIF, sample_planet(96, 120, 3, 1), 1, 15, 0);
    dump_sample("gif-zoom", FORMAT_GIF, sample_planet(24, 12, 3, 2), 5, 50, 0);
    dump_sample("gif-walker", FORMAT_GIF, sample_walker(32, 10), 1, 24, 0);
    dump_sample("gif-walker-once", FORMAT_GIF, sample_walker(32, 3), 3, 1, 1);
    dump_sample("gif-frozen", FORMAT_GIF, sample_frozen(48, 20, 3), 1, 30, 2);
    dump_sample("gif-256-opaque", FORMAT_GIF, sample_random(48, 6, 256, 0, 50, 4), 1, 15, 0);
    dump_sample("gif-noise", FORMAT_GIF, sample_random(48, 8, 100, 15, 70, 5), 1, 15, 65535);
    dump_sample("gif-mist", FORMAT_GIF, sample_random(20, 6, 60, 45, 30, 6), 1, 15, 0);
    dump_sample("apng-still", FORMAT_APNG, sample_planet(64, 1, 3, 1), 1, 15, 0);
    dump_sample("apng-clear", FORMAT_APNG, sample_from_rgba((const uint32_t[3 * 64]){0}, 8, 3), 1, 15, 0);
    dump_sample("apng-planet", FORMAT_APNG, sample_planet(96, 120, 3, 1), 1, 15, 0);
    dump_sample("apng-zoom", FORMAT_APNG, sample_planet(24, 12, 3, 2), 5, 50, 0);
    dump_sample("apng-walker", FORMAT_APNG, sample_walker(32, 10), 1, 24, 0);
    dump_sample("apng-walker-once", FORMAT_APNG, sample_walker(32, 3), 3, 1, 1);
    dump_sample("apng-frozen", FORMAT_APNG, sample_frozen(48, 20, 3), 1, 30, 2);
    dump_sample("apng-16-opaque", FORMAT_APNG, sample_random(24, 6, 16, 0, 50, 4), 1, 15, 0);
    dump_sample("apng-256-opaque", FORMAT_APNG, sample_random(48, 6, 256, 0, 50, 4), 1, 15, 0);
    dump_sample("apng-noise", FORMAT_APNG, sample_random(48, 8, 100, 15, 70, 5), 1, 15, 65535);
    dump_sample("apng-mist", FORMAT_APNG, sample_random(20, 6, 60, 45, 30, 6), 1, 15, 0);
    dump_sample("apng-rgb", FORMAT_APNG, sample_random(60, 4, 2000, 0, 60, 7), 2, 15, 0);
    dump_sample("apng-rgba", FORMAT_APNG, sample_random(60, 4, 2000, 20, 60, 8), 3, 15, 0);
#ifdef WITH_libwebp
    dump_sample("webp-still", FORMAT_WEBP, sample_planet(64, 1, 3, 1), 1, 15, 0);
    dump_sample("webp-clear", FORMAT_WEBP, sample_from_rgba((const uint32_t[3 * 64]){0}, 8, 3), 1, 15, 0);
    dump_sample("webp-planet", FORMAT_WEBP, sample_planet(96, 24, 3, 1), 1, 15, 0);
    dump_sample("webp-zoom", FORMAT_WEBP, sample_planet(24, 12, 3, 2), 5, 50, 0);
    dump_sample("webp-walker", FORMAT_WEBP, sample_walker(32, 10), 1, 24, 0);
    dump_sample("webp-walker-odd", FORMAT_WEBP, sample_walker(33, 17), 3, 7, 1);
    dump_sample("webp-frozen", FORMAT_WEBP, sample_frozen(48, 20, 3), 1, 30, 2);
    dump_sample("webp-noise", FORMAT_WEBP, sample_random(48, 8, 100, 15, 70, 5), 1, 15, 65535);
    dump_sample("webp-mist", FORMAT_WEBP, sample_random(20, 6, 60, 45, 30, 6), 1, 15, 0);
    dump_sample("webp-rgb", FORMAT_WEBP, sample_random(60, 4, 2000, 0, 60, 7), 2, 15, 0);
    dump_sample("webp-rgba", FORMAT_WEBP, sample_random(60, 4, 2000, 20, 60, 8), 3, 15, 0);
#endif
    dump_sample("gif-large", FORMAT_GIF, sample_random(320, 3, 50, 10, 50, 7), 1, 15, 0);
}

static void dump_request(struct renderer *renderer, const char *name, const char *query)
{
    struct request r;
    struct request_fault fault = {0};
    struct key key;
    struct frame_set set = {0};
    request_init(&r);
    enum err err = request_set_query(&r, query, strlen(query), &fault);
    if (!err)
        err = request_finish(&r, &fault);
    if (err)
        fail(query, fault.detail);
    key_make(&r, &key);
    err = renderer_draw(renderer, &r.planet, NULL, &set);
    if (err)
        fail(query, err_words(err));
    struct encode_desc desc = request_encode_desc(&r, key.text);
    dump(name, (enum format)r.format, &set, &desc);
    frame_set_finish(&set);
}

static void dump_pictures(void)
{
    static const char *const looks[] = {
        "format=png&pixels=96",
        "format=png&rings=on&pixels=64&zoom=3&seed=2",
        "format=png&shade_steps=16&pixels=200&ice_caps=0.6&tilt=40",
        "format=png&background=102030",
        "format=gif&pixels=48&frames=24&seed=3",
        "format=gif&pixels=64&frames=12&rings=on&tilt=20&fps=24",
        "format=gif&pixels=32&frames=7&fps=3&zoom=2&background=102030&loops=2",
        "format=gif&pixels=48&frames=6&turns=-2&shade_steps=9&atmosphere=ff0000&loops=1",
        "format=gif&pixels=40&frames=4&layer=emission",
        "format=apng&pixels=48&frames=24&seed=3",
        "format=apng&pixels=32&frames=7&fps=3&zoom=2&background=102030&loops=2",
        "format=apng&pixels=48&frames=6&rings=on&tilt=20&shade_steps=16&atmosphere=ff0000&loops=1",
#ifdef WITH_libwebp
        "format=webp&pixels=48&frames=1&seed=3",
        "format=webp&pixels=33&frames=7&fps=3&zoom=3&rings=on&loops=2",
        "format=webp&pixels=48&frames=12&moons=2&background=102030",
#endif
    };
    struct renderer_desc desc = renderer_desc_default;
    struct renderer *renderer = NULL;
    desc.backend = "cpu";
    enum err err = renderer_open(&desc, &renderer);
    if (err)
        fail("cpu backend", err_words(err));
    for (size_t t = 0; t < (size_t)BODY_COUNT; t++) {
        for (size_t l = 0; l < sizeof(looks) / sizeof(looks[0]); l++) {
            char name[64], query[256];
            snprintf(name, sizeof(name), "%s-%zu", bodies[t].name, l);
            snprintf(query, sizeof(query), "type=%s&%s", bodies[t].name, looks[l]);
            dump_request(renderer, name, query);
        }
    }
    dump_request(renderer, "documented-gif", "type=terrestrial&seed=7&rings=on&format=gif");
    dump_request(renderer, "documented-apng", "type=terrestrial&seed=7&rings=on&format=apng");
    dump_request(renderer, "layer-light-gif", "layer=light&pixels=40&frames=4&format=gif");
    dump_request(renderer, "layer-grid", "layer=grid&pixels=256&format=png");
    dump_request(renderer, "layer-grid-gif", "layer=grid&pixels=8&frames=2&format=gif");
    dump_request(renderer, "layer-grid-apng", "layer=grid&pixels=40&frames=2&format=apng");
    renderer_close(renderer);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: dump_frames DIRECTORY\n");
        return 2;
    }
    folder = argv[1];
    dump_samples();
    dump_pictures();
    return fflush(stdout) == 0 ? 0 : 1;
}
