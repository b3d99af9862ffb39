/* sheet.c -- draws many requests side by side into one PNG, to be looked at.
 * usage: sheet -o FILE [-c COLUMNS] [-z ZOOM] [-b RRGGBB] [-m CPU_MASK] QUERY... ; "-" as a query leaves a cell empty */
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/request.h"
#include "renderer/renderer.h"

struct sheet {
    uint8_t *rgb;
    int width, height, cell, zoom, columns;
};

static void blend(uint8_t *out, uint32_t color)
{
    unsigned a = RGBA_A(color);
    const uint8_t in[3] = {RGBA_R(color), RGBA_G(color), RGBA_B(color)};
    for (int i = 0; i < 3; i++)
        out[i] = (uint8_t)((in[i] * a + out[i] * (255 - a) + 127) / 255);
}

static void paste(struct sheet *s, int at, const struct frame_set *f)
{
    int left = at % s->columns * s->cell + (s->cell - f->side * s->zoom) / 2;
    int top = at / s->columns * s->cell + (s->cell - f->side * s->zoom) / 2;
    for (int y = 0; y < f->side * s->zoom; y++)
        for (int x = 0; x < f->side * s->zoom; x++) {
            uint32_t color = f->colors[f->index[(y / s->zoom) * f->side + x / s->zoom]];
            blend(s->rgb + ((size_t)(top + y) * (size_t)s->width + (size_t)(left + x)) * 3, color);
        }
}

static struct frame_set draw(struct renderer *r, const char *query)
{
    struct request req;
    struct request_fault fault = {0};
    struct frame_set set;
    request_init(&req);
    enum err err = request_set_query(&req, query, strlen(query), &fault);
    if (!err)
        err = request_finish(&req, &fault);
    if (!err)
        err = renderer_draw(r, &req.planet, NULL, &set);
    if (err) {
        fprintf(stderr, "%s: %s %s\n", query, err_words(err), fault.detail);
        exit(1);
    }
    return set;
}

static void say(void *ctx, const char *sentence)
{
    (void)ctx;
    fprintf(stderr, "%s\n", sentence);
}

int main(int argc, char **argv)
{
    struct renderer_desc desc = renderer_desc_default;
    struct sheet s = {.zoom = 2, .columns = 6};
    const char *out = NULL;
    unsigned back = 0x101018;
    desc.backend = "cpu";
    desc.note = say;
    for (int c; (c = getopt(argc, argv, "o:c:z:b:m:")) != -1;) {
        switch (c) {
        case 'o': out = optarg; break;
        case 'c': s.columns = atoi(optarg); break;
        case 'z': s.zoom = atoi(optarg); break;
        case 'b': back = (unsigned)strtoul(optarg, NULL, 16); break;
        case 'm': desc.cpu_mask = optarg; break;
        default: return 2;
        }
    }
    int count = argc - optind;
    struct renderer *r = NULL;
    if (!out || count < 1 || s.columns < 1 || s.zoom < 1 || renderer_open(&desc, &r)) {
        fprintf(stderr, "usage: sheet -o FILE [-c COLUMNS] [-z ZOOM] [-b RRGGBB] QUERY...\n");
        return 2;
    }
    struct frame_set *sets = calloc((size_t)count, sizeof *sets);
    for (int i = 0; i < count; i++) {
        if (!strcmp(argv[optind + i], "-"))
            continue;
        sets[i] = draw(r, argv[optind + i]);
        int cell = sets[i].side * s.zoom + 4 * s.zoom;
        s.cell = cell > s.cell ? cell : s.cell;
    }
    s.width = s.cell * s.columns;
    s.height = s.cell * ((count + s.columns - 1) / s.columns);
    s.rgb = malloc((size_t)s.width * (size_t)s.height * 3);
    for (size_t i = 0; i < (size_t)s.width * (size_t)s.height; i++) {
        s.rgb[i * 3] = (uint8_t)(back >> 16);
        s.rgb[i * 3 + 1] = (uint8_t)(back >> 8);
        s.rgb[i * 3 + 2] = (uint8_t)back;
    }
    for (int i = 0; i < count; i++)
        if (sets[i].side)
            paste(&s, i, &sets[i]);
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (png_uint_32)s.width,
                       .height = (png_uint_32)s.height,
                       .format = PNG_FORMAT_RGB};
    int written = png_image_write_to_file(&image, out, 0, s.rgb, 0, NULL);
    for (int i = 0; i < count; i++)
        frame_set_finish(&sets[i]);
    free(sets);
    free(s.rgb);
    renderer_close(r);
    return written ? 0 : 1;
}
