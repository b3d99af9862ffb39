/* engine.c -- the part of the page that is not a kernel: what the server does from a query to a scene, and
 * from codes to colours, compiled to WebAssembly. So the page refuses, names and colours a planet exactly as
 * the server does, and no formula is written a second time in another language. server/viewer/engine.js calls
 * it and draws the codes in between with the kernels of shaders/.
 *
 * Text goes in and out through one buffer. One request at a time: the last that was asked. Threads: one, as a
 * page has.
 */
#include "api/wasm/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/code.h"
#include "api/key.h"
#include "api/params.h"
#include "api/request.h"
#include "renderer/bodies.h"
#include "renderer/frame_set.h"
#include "renderer/palette.h"
#include "renderer/palette_reduce.h"
#include "renderer/palettes.h"
#include "renderer/scene.h"
#include "renderer/sky.h"
#include "renderer/touch_up.h"

static char text[TEXT_BYTES];
static size_t text_len;

#define WHOLE_LOOP 1000000 /* in the unit of a phase */

static struct request request;
static struct scene scene;
static struct planet_desc desc; /* of the frame that was last turned to */
static int desc_frame;
static struct scene_turn turn;
static uint32_t *codes, *sky; /* of one frame; the sky is NULL where there is none */

/* With colors=N: the indices of all frames and the colours that are left, made by engine_collect(). */
static uint16_t *all_index;
static struct palette *all_palette;
static uint32_t *all_colors;

static void add(const char *s)
{
    size_t len = strlen(s);
    if (len >= TEXT_BYTES - text_len)
        len = TEXT_BYTES - 1 - text_len;
    memcpy(text + text_len, s, len);
    text_len += len;
    text[text_len] = '\0';
}

static void add_line(const char *s)
{
    add(s);
    add("\n");
}

/* name=text&... of every parameter that is one number. The others stand in the key, or are as by default. */
static void add_values(void)
{
    for (int i = 0; i < param_count; i++)
        if (param_has_number(i)) {
            char value[PARAM_TEXT_BYTES];
            param_text(i, param_get(i, &request), value);
            add(params[i].name);
            add("=");
            add(value);
            add("&");
        }
    add("\n");
}

static void add_what_matters(void)
{
    for (int i = 0; i < param_count; i++)
        if (param_matters(i, &request)) {
            add(params[i].name);
            add(",");
        }
    add("\n");
}

static void add_ramp(void)
{
    struct scheme scheme;
    int source = request.planet.palette_source;
    palettes_scheme(&request.planet, &scheme);
    for (int i = 0; i < bodies[request.planet.body].steps; i++) {
        char color[16];
        uint32_t rgb = palettes_fixed(source) ? palettes_nearest(source, scheme.ramp[i]) : scheme.ramp[i];
        snprintf(color, sizeof color, "%06x,", (unsigned)rgb & 0xffffff);
        add(color);
    }
    add("\n");
}

static void forget_frames(void)
{
    free(codes);
    free(sky);
    free(all_index);
    free(all_colors);
    palette_destroy(all_palette);
    codes = sky = all_colors = NULL;
    all_index = NULL;
    all_palette = NULL;
}

static size_t frame_pixels(void)
{
    return (size_t)request.planet.pixels * (size_t)request.planet.pixels;
}

char *engine_text(void)
{
    return text;
}

size_t engine_ask(size_t len)
{
    static struct request asked;
    struct request_fault fault = {0};
    struct key key;
    char code[CODE_MAX_BYTES];
    request_init(&asked);
    enum err err = len < TEXT_BYTES ? request_set_query(&asked, text, len, &fault) : ERR_URL_SIZE;
    if (!err)
        err = request_finish(&asked, &fault);
    text_len = 0;
    if (err) {
        add_line("problem");
        add_line(fault.param);
        add_line(*fault.detail ? fault.detail : err_words(err));
        return text_len;
    }
    forget_frames();
    request = asked;
    scene_make(&request.planet, &scene);
    key_make(&request, &key);
    code_make(&request, code);
    add_line("ok");
    add_line(key.text);
    add_line(code);
    add_values();
    add_what_matters();
    add_ramp();
    return text_len;
}

size_t engine_program(int body)
{
    text_len = 0;
    add("draw_");
    add_line(body == BODY_COUNT ? "layer" : bodies[body].name);
#define PART(name) add_line(#name);
#include "renderer/shader_parts.def"
#undef PART
    for (int i = 0; i < BODY_COUNT; i++)
        if (body == BODY_COUNT || body == i) {
            add("bodies/");
            add_line(bodies[i].name);
        }
    if (body == BODY_COUNT)
        add_line("layers");
    add_line("webgl");
    return text_len;
}

int engine_kernel(void)
{
    return scene_by_body(&scene) ? request.planet.body : BODY_COUNT;
}

const struct scene *engine_scene(void)
{
    return &scene;
}

size_t engine_scene_bytes(void)
{
    return sizeof scene;
}

const struct scene_turn *engine_turn(int frame, int micro)
{
    desc = request.planet;
    desc.phase_micro = (desc.phase_micro + micro) % WHOLE_LOOP;
    if (!micro)
        desc.phase_micro = request.planet.phase_micro;
    desc_frame = frame;
    turn = scene_turn_make(&desc, frame);
    return &turn;
}

uint32_t *engine_codes(void)
{
    if (!codes)
        codes = malloc(frame_pixels() * sizeof *codes);
    return codes;
}

/* What renderer.c does to the codes of a frame before they get colours. */
static enum err finish_codes(void)
{
    enum err err = sky ? ERR_NONE : sky_make(&request.planet, &sky);
    if (err)
        return err;
    touch_up(&desc, codes);
    if (sky)
        sky_apply(&desc, sky, codes);
    return ERR_NONE;
}

int engine_color(void)
{
    size_t pixels = frame_pixels();
    struct palette *palette = NULL;
    uint16_t *index = malloc(pixels * sizeof *index);
    uint32_t *colors = NULL;
    int count;
    enum err err = index ? finish_codes() : ERR_OOM;
    if (!err)
        err = palette_create(&desc, &palette);
    if (!err) {
        palette_at_frame(palette, desc_frame);
        err = palette_resolve(palette, codes, pixels, index);
    }
    if (!err) {
        colors = palette_take_colors(palette, &count);
        if (desc.colors)
            err = palette_reduce(colors, &count, desc.colors, index, pixels);
    }
    for (size_t i = 0; !err && i < pixels; i++)
        codes[i] = colors[index[i]];
    free(colors);
    free(index);
    palette_destroy(palette);
    return !err;
}

int engine_collect(void)
{
    size_t pixels = frame_pixels();
    enum err err = finish_codes();
    if (!all_index)
        all_index = malloc((size_t)request.planet.frames * pixels * sizeof *all_index);
    if (!err && !all_palette)
        err = palette_create(&request.planet, &all_palette);
    if (err || !all_index)
        return 0;
    palette_at_frame(all_palette, desc_frame);
    err = palette_resolve(all_palette, codes, pixels, all_index + (size_t)desc_frame * pixels);
    if (!err && desc_frame == request.planet.frames - 1) {
        int count;
        all_colors = palette_take_colors(all_palette, &count);
        err = palette_reduce(all_colors, &count, request.planet.colors, all_index,
                             (size_t)request.planet.frames * pixels);
    }
    return !err;
}

int engine_color_of(int frame)
{
    size_t pixels = frame_pixels();
    if (!all_colors || !codes)
        return 0;
    for (size_t i = 0; i < pixels; i++)
        codes[i] = all_colors[all_index[(size_t)frame * pixels + i]];
    return 1;
}
