/* sheet.c -- all frames side by side in one PNG: a sprite sheet. Rows are put together one at a time, so the
 * sheet is never in memory as pixels. What no frame covers shows nothing. Threads: any number at once. */
#include <stdlib.h>

#include "renderer/encode/formats.h"
#include "renderer/encode/png_file.h"
#include "renderer/encode/png_pack.h"
#include "renderer/encode/sheet_layout.h"

#define SHEET_SIDE_MAX_PX 1000000 /* libpng's own limit */
#define SHEET_GAP_MAX_PX  64      /* the range of encode_desc.margin_px and spacing_px */

struct sheet_writer {
    const struct frame_set *set;
    int zoom;
    struct sheet_layout layout;
    struct png_packer packer;
    uint16_t *line; /* one row of the sheet */
    uint16_t gap;   /* what is where no frame is */
};

static void put_gap(struct sheet_writer *w, int rows)
{
    if (rows == 0)
        return;
    for (int64_t x = 0; x < w->layout.width_px; x++)
        w->line[x] = w->gap;
    png_packer_put(&w->packer, w->line, (int)w->layout.width_px, 1, rows);
}

/* Pixel row `y` of the frames in grid row `row`. */
static void put_line(struct sheet_writer *w, int row, int y)
{
    const size_t side = (size_t)w->set->side;
    for (int64_t x = 0; x < w->layout.width_px; x++)
        w->line[x] = w->gap;
    const int rows = w->layout.rows / w->layout.groups, group = row / rows;
    for (int column = 0; column < w->layout.columns; column++) {
        int frame = row % rows * w->layout.columns + column;
        if (frame >= w->layout.frames)
            break;
        frame += group * w->layout.frames;
        const uint16_t *from = w->set->index + ((size_t)frame * side + (size_t)y) * side;
        uint16_t *to = w->line + sheet_layout_place(&w->layout, frame).x;
        for (size_t x = 0; x < side; x++)
            for (int i = 0; i < w->zoom; i++)
                *to++ = from[x];
    }
    png_packer_put(&w->packer, w->line, (int)w->layout.width_px, 1, w->zoom);
}

static enum err put_rows(struct sheet_writer *w, const atomic_bool *cancel)
{
    put_gap(w, w->layout.margin_px);
    for (int row = 0; row < w->layout.rows; row++) {
        if (encode_cancelled(cancel))
            return ERR_CANCELLED;
        put_gap(w, row ? w->layout.spacing_px : 0);
        for (int y = 0; y < w->set->side; y++)
            put_line(w, row, y);
    }
    put_gap(w, w->layout.margin_px);
    return ERR_NONE;
}

static bool has_gaps(const struct sheet_layout *l, int frames)
{
    return l->margin_px || (l->spacing_px && frames > 1) || l->columns * l->rows > frames;
}

static enum err pack(struct sheet_writer *w, const struct png_plan *plan, uint8_t *packed,
                     const atomic_bool *cancel)
{
    /* 65,536 opaque colours leave none for the gaps, which then have the first of them. */
    w->gap = plan->clear == PNG_NO_CLEAR ? 0 : (uint16_t)plan->clear;
    w->line = malloc((size_t)w->layout.width_px * sizeof(*w->line));
    enum err err = w->line ? png_packer_init(&w->packer, plan, (int)w->layout.width_px, packed) : ERR_OOM;
    if (!err)
        err = put_rows(w, cancel);
    png_packer_finish(&w->packer);
    free(w->line);
    return err;
}

static enum err layout_make(const struct frame_set *frames, const struct encode_desc *desc,
                            struct sheet_layout *ret_layout)
{
    int groups = encode_groups(desc), in_group = frames->frames / groups;
    if (frames->frames % groups || desc->columns < 0 || desc->columns > in_group || desc->margin_px < 0 ||
        desc->margin_px > SHEET_GAP_MAX_PX || desc->spacing_px < 0 || desc->spacing_px > SHEET_GAP_MAX_PX)
        return ERR_ENCODE;
    *ret_layout = sheet_layout_make(in_group, groups, frames->side * desc->zoom, desc->columns,
                                    desc->margin_px, desc->spacing_px);
    bool fits = ret_layout->width_px <= SHEET_SIDE_MAX_PX && ret_layout->height_px <= SHEET_SIDE_MAX_PX;
    return fits ? ERR_NONE : ERR_ENCODE;
}

enum err sheet_encode(const struct frame_set *frames, const struct encode_desc *desc,
                      const atomic_bool *cancel, struct blob *out)
{
    struct sheet_writer w = {.set = frames, .zoom = desc->zoom};
    struct png_plan plan = {0};
    struct png_chunk idat = {.name = "IDAT"};
    uint8_t *packed = NULL;
    enum err err = encode_check(frames, desc);
    if (!err)
        err = layout_make(frames, desc, &w.layout);
    if (!err)
        err = png_plan_make(
            frames, has_gaps(&w.layout, frames->frames) ? PNG_CLEAR_NEEDED : PNG_CLEAR_UNASKED, &plan);
    if (err)
        return err;
    const int width_px = (int)w.layout.width_px, height_px = (int)w.layout.height_px;
    size_t len = png_packed_bytes(&plan, width_px, height_px);
    packed = len <= PNG_PACKED_MAX_BYTES ? malloc(len) : NULL;
    err = packed ? pack(&w, &plan, packed, cancel) : len <= PNG_PACKED_MAX_BYTES ? ERR_OOM : ERR_ENCODE;
    if (!err)
        err = png_compress(packed, len, 0, &idat.bytes, &idat.len);
    if (!err && encode_cancelled(cancel))
        err = ERR_CANCELLED;
    if (!err)
        err = png_file_write(&(struct png_file){&plan, width_px, height_px, desc->key, &idat, 1}, out);
    free(packed);
    free(idat.bytes);
    png_plan_finish(&plan);
    return err;
}
