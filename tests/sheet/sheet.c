/* sheet.c -- draws many requests side by side into one PNG, to be looked at.
 * usage: sheet -o FILE [-c COLUMNS] [-z ZOOM] [-b RRGGBB] [-m CPU_MASK] QUERY... ; "-" as a query leaves a
 * cell empty sheet -f FILE QUERY writes the file that the query asks for, as it is */
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/key.h"
#include "api/request.h"
#include "renderer/renderer.h"

struct sheet {
    uint8_t *rgb;
    int width, height, zoom, columns;
};

static void blend(uint8_t *out, uint32_t color)
{
    unsigned a = RGBA_A(color);
    const uint8_t in[3] = {RGBA_R(color), RGBA_G(color), RGBA_B(color)};
    for (int i = 0; i < 3; i++)
        out[i] = (uint8_t)((in[i] * a + out[i] * (255 - a) + 127) / 255);
}

/* Side of the cells of the row that begins with set `first`: the largest picture and a margin. */
static int cell_of_row(const struct sheet *s, const struct frame_set *sets, int first, int count)
{
    int side = 0;
    for (int i = first; i < count && i < first + s->columns; i++)
        side = sets[i].side > side ? sets[i].side : side;
    return (side + 4) * s->zoom;
}

/* Pastes a picture with its centre at x, y. */
static void paste(struct sheet *s, int centre_x, int centre_y, const struct frame_set *f)
{
    int size = f->side * s->zoom;
    for (int y = 0; y < size; y++)
        for (int x = 0; x < size; x++) {
            uint32_t color = f->colors[f->index[(y / s->zoom) * f->side + x / s->zoom]];
            size_t at =
                (size_t)(centre_y - size / 2 + y) * (size_t)s->width + (size_t)(centre_x - size / 2 + x);
            blend(s->rgb + at * 3, color);
        }
}

static void layout(struct sheet *s, const struct frame_set *sets, int count, unsigned back)
{
    for (int i = 0; i < count; i += s->columns) {
        int cell = cell_of_row(s, sets, i, count);
        s->height += cell;
        s->width = cell * s->columns > s->width ? cell * s->columns : s->width;
    }
    s->rgb = malloc((size_t)s->width * (size_t)s->height * 3);
    for (size_t i = 0; i < (size_t)s->width * (size_t)s->height; i++) {
        s->rgb[i * 3] = (uint8_t)(back >> 16);
        s->rgb[i * 3 + 1] = (uint8_t)(back >> 8);
        s->rgb[i * 3 + 2] = (uint8_t)back;
    }
    int top = 0;
    for (int i = 0; i < count; i += s->columns) {
        int cell = cell_of_row(s, sets, i, count);
        for (int j = i; j < count && j < i + s->columns; j++)
            if (sets[j].side)
                paste(s, (2 * (j - i) + 1) * s->width / s->columns / 2, top + cell / 2, &sets[j]);
        top += cell;
    }
}

static struct frame_set draw(struct renderer *r, const char *query, struct request *ret_request)
{
    struct request_fault fault = {0};
    struct frame_set set;
    request_init(ret_request);
    enum err err = request_set_query(ret_request, query, strlen(query), &fault);
    if (!err)
        err = request_finish(ret_request, &fault);
    if (!err)
        err = renderer_draw(r, &ret_request->planet, NULL, &set);
    if (err) {
        fprintf(stderr, "%s: %s %s\n", query, err_words(err), fault.detail);
        exit(1);
    }
    return set;
}

static int write_file(struct renderer *r, const char *path, const char *query)
{
    struct request req;
    struct frame_set set = draw(r, query, &req);
    struct blob file = {0};
    struct key key;
    key_make(&req, &key);
    struct encode_desc desc = request_encode_desc(&req, key.text);
    FILE *f = fopen(path, "wb");
    bool written = f && !encoders[req.format].encode(&set, &desc, NULL, &file) &&
                   fwrite(file.data, 1, file.len, f) == file.len && fclose(f) == 0;
    frame_set_finish(&set);
    blob_free(&file);
    return written ? 0 : 1;
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
    const char *out = NULL, *file = NULL;
    unsigned back = 0x101018;
    desc.backend = "cpu";
    desc.note = say;
    for (int c; (c = getopt(argc, argv, "o:f:c:z:b:m:")) != -1;) {
        switch (c) {
        case 'o':
            out = optarg;
            break;
        case 'f':
            file = optarg;
            break;
        case 'c':
            s.columns = atoi(optarg);
            break;
        case 'z':
            s.zoom = atoi(optarg);
            break;
        case 'b':
            back = (unsigned)strtoul(optarg, NULL, 16);
            break;
        case 'm':
            desc.cpu_mask = optarg;
            break;
        default:
            return 2;
        }
    }
    int count = argc - optind;
    struct renderer *r = NULL;
    if ((!out && !file) || count < 1 || s.columns < 1 || s.zoom < 1 || renderer_open(&desc, &r)) {
        fprintf(stderr, "usage: sheet -o FILE [-c COLUMNS] [-z ZOOM] [-b RRGGBB] QUERY...\n");
        return 2;
    }
    if (file) {
        int failed = write_file(r, file, argv[optind]);
        renderer_close(r);
        return failed;
    }
    struct frame_set *sets = calloc((size_t)count, sizeof *sets);
    for (int i = 0; i < count; i++) {
        struct request req;
        if (strcmp(argv[optind + i], "-") != 0)
            sets[i] = draw(r, argv[optind + i], &req);
    }
    layout(&s, sets, count, back);
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
