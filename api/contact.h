/* Contact sheets: what their cells are, and where they stand. */
#pragma once

#include <stdint.h>

#include "api/request.h"
#include "renderer/base/attr.h"
#include "renderer/base/err.h"

#define CONTACT_CELLS_MAX     64
#define CONTACT_SHORT_ADDRESS "/contact"
#define CONTACT_LINES_MAX     24 /* of the title */
#define CONTACT_LINE_BYTES    512

/* One thing that the cells differ in, and its values as they stand in a query. */
struct contact_axis {
    int row; /* of params.def; count 0: there is no such axis */
    int count;
    char value[CONTACT_CELLS_MAX][SEED_MAX_BYTES + 1];
};

/* Cells left to right, row by row. With one axis that has more than one value the cells flow, each with its
 * value under it; with two it is a table with `across` over it and `down` at its left. Lengths are in pixels
 * before zoom, of which each cell has its own inside of a square of `cell_px`. Not to be copied: it points
 * into itself. */
struct contact {
    struct contact_axis axes[3];
    const struct contact_axis *across, *down; /* down NULL: the cells flow */
    int count, columns, rows;
    int cell_px, pitch_x, pitch_y, left, top, width, height;
    int64_t drawn_pixels;
    char title[CONTACT_LINES_MAX][CONTACT_LINE_BYTES];
    int title_lines;
};

/* Takes the value of row `i`, a SWEEP, into the request, in its one spelling. ERR_PARAM_SYNTAX,
 * ERR_PARAM_RANGE. */
MUST_USE enum err contact_set(struct request *r, int i, const char *value, size_t len,
                              struct request_fault *ret_fault);

/* Of a settled request. ERR_PARAM_COMBINATION: axes that don't go together, too many cells. Else what refuses
 * a cell; the fault says which. */
MUST_USE enum err contact_make(const struct request *r, struct contact *ret_contact,
                               struct request_fault *ret_fault);

/* The request of cell `k`, a finished still. */
MUST_USE enum err contact_cell(const struct request *r, const struct contact *c, int k,
                               struct request *ret_cell, struct request_fault *ret_fault);

/* What stands beside cell `k` on this axis. */
const char *contact_value(const struct contact *c, const struct contact_axis *axis, int k);

/* For request_finish.c: whether the whole can be made, and what it costs. */
MUST_USE enum err contact_check(const struct request *r, struct request_fault *ret_fault);
struct request_size contact_size(const struct request *r);
/* Threads: any, all pure. */
