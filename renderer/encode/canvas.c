/* canvas.c -- see canvas.h. Threads: any. */
#include "renderer/encode/canvas.h"

#include <stdlib.h>

#include "renderer/encode/formats.h"
#include "renderer/encode/png_file.h"
#include "renderer/encode/png_pack.h"

enum err canvas_encode(const struct canvas *canvas, int zoom, const char *key, const atomic_bool *cancel,
                       struct blob *out)
{
    /* Only colours and kind of a plan come from its set, so that may have any shape. */
    const struct frame_set set = {.index = canvas->index,
                                  .colors = canvas->colors,
                                  .color_count = canvas->color_count,
                                  .side = 1,
                                  .frames = 1};
    struct png_plan plan = {0};
    struct png_chunk idat = {.name = "IDAT"};
    if (zoom < 1 || zoom > ENCODE_ZOOM_MAX || canvas->color_count < 1)
        return ERR_ENCODE;
    enum err err = png_plan_make(&set, PNG_CLEAR_UNASKED, &plan);
    if (err)
        return err;
    const int width_px = canvas->width * zoom, height_px = canvas->height * zoom;
    size_t len = png_packed_bytes(&plan, width_px, height_px);
    uint8_t *packed = len <= PNG_PACKED_MAX_BYTES ? malloc(len) : NULL;
    const struct png_rect rect = {canvas->index, (size_t)canvas->width, canvas->width, canvas->height};
    err = packed ? png_pack(&plan, &rect, zoom, cancel, packed) : ERR_OOM;
    if (!err)
        err = png_compress(packed, len, 0, &idat.bytes, &idat.len);
    if (!err)
        err = png_file_write(&(struct png_file){&plan, width_px, height_px, key, &idat, 1}, out);
    free(packed);
    free(idat.bytes);
    png_plan_finish(&plan);
    return err;
}
