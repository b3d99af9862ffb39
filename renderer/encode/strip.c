/* strip.c -- see strip.h. Threads: any. */
#include "renderer/encode/strip.h"

#include <stdlib.h>

#include "renderer/encode/formats.h"
#include "renderer/encode/png_file.h"
#include "renderer/encode/png_pack.h"

static enum err strip_pack(const struct png_plan *plan, const uint16_t *row, int count, int zoom,
                           struct png_chunk *idat)
{
    struct png_packer packer = {0};
    uint8_t *packed = malloc(png_packed_bytes(plan, count * zoom, zoom));
    enum err err = packed ? png_packer_init(&packer, plan, count * zoom, packed) : ERR_OOM;
    if (!err) {
        png_packer_put(&packer, row, count, zoom, zoom);
        err = png_compress(packed, (size_t)(packer.dst - packed), 0, &idat->bytes, &idat->len);
    }
    png_packer_finish(&packer);
    free(packed);
    return err;
}

enum err strip_encode(const uint32_t *colors, int count, int zoom, const char *key, struct blob *out)
{
    if (count < 1 || count > FRAME_SET_COLORS_MAX || zoom < 1 || zoom > ENCODE_ZOOM_MAX)
        return ERR_ENCODE;
    uint16_t *row = malloc((size_t)count * sizeof *row);
    uint32_t *copy = malloc((size_t)count * sizeof *copy);
    struct frame_set set = {.index = row, .colors = copy, .color_count = count, .side = 1, .frames = 1};
    struct png_plan plan = {0};
    struct png_chunk idat = {.name = "IDAT"};
    enum err err = row && copy ? ERR_NONE : ERR_OOM;
    for (int i = 0; i < count && !err; i++) {
        row[i] = (uint16_t)i;
        copy[i] = colors[i];
    }
    if (!err)
        err = png_plan_make(&set, PNG_CLEAR_UNASKED, &plan);
    if (!err)
        err = strip_pack(&plan, row, count, zoom, &idat);
    if (!err)
        err = png_file_write(&(struct png_file){&plan, count * zoom, zoom, key, &idat, 1}, out);
    free(idat.bytes);
    png_plan_finish(&plan);
    frame_set_finish(&set);
    return err;
}
