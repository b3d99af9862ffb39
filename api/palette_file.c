/* palette_file.c -- colours sorted by what they are the colour of, and written as three kinds of file.
 * Threads: any. */
#include "api/palette_file.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "renderer/bodies.h"
#include "renderer/encode/strip.h"
#include "renderer/oklab.h"
#include "renderer/palette.h"
#include "shaders/codes.glsl"

#define LINE_BYTES  (KEY_MAX_BYTES + 64)
#define GPL_COLUMNS 8

enum role { ROLE_VOID, ROLE_SEA, ROLE_GROUND, ROLE_CAP, ROLE_CLOUD, ROLE_RING, ROLE_AIR, ROLE_LIGHT };

static const char *const role_words[] = {
    [ROLE_VOID] = "void",   [ROLE_SEA] = "sea",   [ROLE_GROUND] = "ground", [ROLE_CAP] = "cap",
    [ROLE_CLOUD] = "cloud", [ROLE_RING] = "ring", [ROLE_AIR] = "air",       [ROLE_LIGHT] = "light",
};

struct swatch {
    struct oklab lab;
    uint32_t rgb; /* 0xRRGGBB */
    enum role role;
};

static uint32_t rgb_of(uint32_t color)
{
    return (uint32_t)RGBA_R(color) << 16 | (uint32_t)RGBA_G(color) << 8 | RGBA_B(color);
}

static enum role body_role(const struct body_info *body, uint32_t code)
{
    uint32_t cover = code >> CODE_COVER_SHIFT & CODE_COVER_MASK;
    int step = (int)(code & CODE_STEP_MASK);
    if (code & CODE_SHINE)
        return ROLE_LIGHT;
    if (code & CODE_LIMB) /* more air than ground */
        return ROLE_AIR;
    if (cover == COVER_EDGE || cover == COVER_CORE)
        return ROLE_CLOUD;
    if (step >= body->steps)
        return ROLE_CAP;
    if (body->glow_mask >> step & 1)
        return ROLE_LIGHT;
    return body->sea_mask >> step & 1 ? ROLE_SEA : ROLE_GROUND;
}

static enum role code_role(const struct body_info *body, uint32_t code)
{
    switch (code >> CODE_KIND_SHIFT & CODE_KIND_MASK) {
    case KIND_PLANET:
        return body_role(body, code);
    case KIND_RING:
        return ROLE_RING;
    case KIND_HALO:
        return ROLE_AIR;
    default:
        return ROLE_VOID;
    }
}

static struct swatch swatch_make(uint32_t rgb, enum role role)
{
    return (struct swatch){oklab_of(rgb), rgb, role};
}

/* What the first frame shows, a swatch for each of its codes. The caller frees *ret_known with free(). */
static enum err known_make(const struct planet_desc *desc, const struct frame_set *frames,
                           struct swatch **ret_known, int *ret_count)
{
    struct swatch *known = malloc(((size_t)frames->code_count + 1) * sizeof *known); /* never 0 bytes */
    int n = 0;
    if (!known)
        return ERR_OOM;
    for (int i = 0; i < frames->code_count; i++) {
        uint32_t code = frames->codes[i].code, color = palette_color(desc, code);
        if (RGBA_A(color))
            known[n++] = swatch_make(rgb_of(color), code_role(&bodies[desc->body], code));
    }
    *ret_known = known;
    *ret_count = n;
    return ERR_NONE;
}

/* The role of what is nearest; of equals the first role, so that the order of codes means nothing. */
static enum role nearest_role(const struct swatch *known, int count, struct oklab lab)
{
    enum role role = ROLE_VOID;
    double least = 1e9;
    for (int i = 0; i < count; i++) {
        double d = oklab_distance_squared(known[i].lab, lab);
        if (d < least || (d == least && known[i].role < role)) {
            least = d;
            role = known[i].role;
        }
    }
    return role;
}

static int compare_swatches(const void *a, const void *b)
{
    const struct swatch *x = a, *y = b;
    if (x->role != y->role)
        return x->role < y->role ? -1 : 1;
    if (x->lab.l != y->lab.l)
        return x->lab.l < y->lab.l ? -1 : 1;
    return (x->rgb > y->rgb) - (x->rgb < y->rgb);
}

/* All colours in their order, each once: two that differ in alpha alone have one role and stand side by side
 * after sorting. The caller frees *ret_all with free(). */
static enum err swatches_make(const struct planet_desc *desc, const struct frame_set *frames,
                              struct swatch **ret_all, int *ret_count)
{
    struct swatch *known = NULL, *all = malloc((size_t)frames->color_count * sizeof *all);
    int known_count = 0, n = 0, distinct = 0;
    enum err err = all ? known_make(desc, frames, &known, &known_count) : ERR_OOM;
    if (err) {
        free(all);
        return err;
    }
    for (int i = 0; i < frames->color_count; i++) {
        if (!RGBA_A(frames->colors[i]))
            continue;
        all[n] = swatch_make(rgb_of(frames->colors[i]), ROLE_VOID);
        all[n].role = nearest_role(known, known_count, all[n].lab);
        n++;
    }
    free(known);
    qsort(all, (size_t)n, sizeof *all, compare_swatches);
    for (int i = 0; i < n; i++)
        if (i == 0 || all[i].rgb != all[i - 1].rgb)
            all[distinct++] = all[i];
    *ret_all = all;
    *ret_count = distinct;
    return ERR_NONE;
}

__attribute__((format(printf, 2, 3))) static enum err add(struct blob *out, const char *format, ...)
{
    char line[LINE_BYTES];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    return len < 0 || (size_t)len >= sizeof line ? ERR_ENCODE : blob_append(out, line, (size_t)len);
}

static enum err write_hex(const struct swatch *all, int count, struct blob *out)
{
    enum err err = ERR_NONE;
    for (int i = 0; i < count && !err; i++)
        err = add(out, "%06x\n", (unsigned)all[i].rgb);
    return err;
}

static enum err write_gpl(const struct request *r, const struct key *key, const struct swatch *all, int count,
                          struct blob *out)
{
    enum err err = add(out, "GIMP Palette\nName: %s\nColumns: %d\n# planetd:key %s\n", bodies[r->type].name,
                       GPL_COLUMNS, key->text);
    for (int i = 0, number = 1; i < count && !err; i++, number++) {
        if (i && all[i].role != all[i - 1].role)
            number = 1;
        unsigned rgb = (unsigned)all[i].rgb;
        err = add(out, "%3u %3u %3u\t%s %d\n", rgb >> 16, rgb >> 8 & 255, rgb & 255, role_words[all[i].role],
                  number);
    }
    return err;
}

static enum err write_strip(const struct request *r, const struct key *key, const struct swatch *all,
                            int count, struct blob *out)
{
    uint32_t *colors = malloc((size_t)count * sizeof *colors + 1); /* never 0 bytes */
    if (!colors)
        return ERR_OOM;
    for (int i = 0; i < count; i++)
        colors[i] = RGBA(all[i].rgb >> 16, all[i].rgb >> 8 & 255, all[i].rgb & 255, 255);
    enum err err = strip_encode(colors, count, r->zoom, key->text, out);
    free(colors);
    return err;
}

enum err palette_file_write(const struct request *r, const struct key *key, const struct frame_set *frames,
                            struct blob *out)
{
    struct swatch *all = NULL;
    int count = 0;
    enum err err = swatches_make(&r->planet, frames, &all, &count);
    if (err)
        return err;
    if (r->format == FORMAT_HEX)
        err = write_hex(all, count, out);
    else if (r->format == FORMAT_GPL)
        err = write_gpl(r, key, all, count, out);
    else
        err = write_strip(r, key, all, count, out);
    free(all);
    return err;
}
