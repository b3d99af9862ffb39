/* sheet_layout.c -- the grid of a sprite sheet: for the encoder, the atlas and the limit on its size, so that
 * they can't disagree. Threads: any. */
#include "renderer/encode/sheet_layout.h"

int sheet_columns(int frames, int groups)
{
    int columns = 1;
    while (columns * columns < frames * groups && columns < frames)
        columns++;
    return columns;
}

static int64_t across(int cells, const struct sheet_layout *l)
{
    return 2 * (int64_t)l->margin_px + (int64_t)cells * l->cell_px + (int64_t)(cells - 1) * l->spacing_px;
}

struct sheet_layout sheet_layout_make(int frames, int groups, int cell_px, int columns, int margin_px,
                                      int spacing_px)
{
    struct sheet_layout l = {.cell_px = cell_px, .margin_px = margin_px, .spacing_px = spacing_px};
    l.columns = columns ? columns : sheet_columns(frames, groups);
    l.rows = groups * ((frames + l.columns - 1) / l.columns);
    l.groups = groups;
    l.frames = frames;
    l.width_px = across(l.columns, &l);
    l.height_px = across(l.rows, &l);
    return l;
}

struct sheet_place sheet_layout_place(const struct sheet_layout *l, int i)
{
    int step = l->cell_px + l->spacing_px;
    int row = i / l->frames * (l->rows / l->groups), within = i % l->frames;
    return (struct sheet_place){l->margin_px + within % l->columns * step,
                                l->margin_px + (row + within / l->columns) * step};
}
