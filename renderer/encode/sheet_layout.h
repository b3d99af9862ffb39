/* Where the frames of a sprite sheet stand. */
#pragma once

#include <stdint.h>

/* All in pixels of the file. */
struct sheet_layout {
    int columns, rows;
    int groups, frames; /* each group has so many frames, and begins a row */
    int cell_px, margin_px, spacing_px;
    int64_t width_px, height_px;
};

struct sheet_place {
    int x, y;
};

/* Columns that make a sheet of `groups` (1 or more) times so many square frames about square; never more than
 * frames. */
int sheet_columns(int frames, int groups);

/* `columns` is 1..frames, or 0 for sheet_columns(). Threads: any. */
struct sheet_layout sheet_layout_make(int frames, int groups, int cell_px, int columns, int margin_px,
                                      int spacing_px);

/* The top left corner of frame `i` of all groups, one after the other: they go by rows. */
struct sheet_place sheet_layout_place(const struct sheet_layout *l, int i);
