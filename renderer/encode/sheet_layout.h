/* Where the frames of a sprite sheet stand. */
#pragma once

#include <stdint.h>

/* All in pixels of the file. */
struct sheet_layout {
    int columns, rows;
    int cell_px, margin_px, spacing_px;
    int64_t width_px, height_px;
};

struct sheet_place {
    int x, y;
};

/* Columns that make a sheet of so many square frames nearest to square; never fewer than rows. */
int sheet_columns(int frames);

/* `columns` is 1..frames, or 0 for sheet_columns(). Threads: any. */
struct sheet_layout sheet_layout_make(int frames, int cell_px, int columns, int margin_px, int spacing_px);

/* The top left corner of frame `i`: they go by rows. */
struct sheet_place sheet_layout_place(const struct sheet_layout *l, int i);
