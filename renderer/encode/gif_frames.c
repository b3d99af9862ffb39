/* gif_frames.c -- plans GIF frames by keeping the canvas that a viewer would have.
 *
 * A viewer only ever draws over what it shows, so a pixel that turns transparent must be cleared by the
 * frame before it (disposal 2), or it would stay behind as a ghost. Clearing costs: everything in the
 * rectangle has to be drawn anew. So a frame is cleared only when the next one needs it, and the rectangle
 * is the smallest that does both jobs.
 *
 * Threads: any; nothing is kept between calls. */
#include "renderer/encode/gif_frames.h"

#include <stddef.h>
#include <string.h>

/* A bounding box that grows; empty while right < left. */
struct box {
    int left, top, right, bottom;
};

static void box_row(struct box *box, int y, int left, int right)
{
    if (left < box->left)
        box->left = left;
    if (right > box->right)
        box->right = right;
    if (y < box->top)
        box->top = y;
    if (y > box->bottom)
        box->bottom = y;
}

/* Grows the box by the pixels of one row where a viewer must draw: those that differ from what it shows. */
static void box_changed(struct box *box, const uint8_t *shown, const uint8_t *row, int y, int side,
                        int transparent)
{
    int left = 0, right = side - 1;
    if (shown) {
        if (memcmp(shown, row, (size_t)side) == 0)
            return;
        while (shown[left] == row[left])
            left++;
        while (shown[right] == row[right])
            right--;
    } else {
        while (left < side && row[left] == transparent)
            left++;
        if (left == side)
            return;
        while (row[right] == transparent)
            right--;
    }
    box_row(box, y, left, right);
}

/* Grows the box by the pixels of one row that are opaque now and transparent in the next frame. */
static void box_vanishing(struct box *box, const uint8_t *row, const uint8_t *next, int y, int side,
                          int transparent)
{
    if (memcmp(row, next, (size_t)side) == 0)
        return;
    int left = side, right = -1;
    for (int x = 0; x < side; x++) {
        if (next[x] == transparent && row[x] != transparent) {
            if (left > x)
                left = x;
            right = x;
        }
    }
    if (right >= 0)
        box_row(box, y, left, right);
}

void gif_frames_plan(const uint8_t *canvas, const uint8_t *frame, const uint8_t *next, int side,
                     int transparent, struct gif_step *ret_step)
{
    struct box draw = {.left = side, .top = side, .right = -1, .bottom = -1};
    struct box vanish = draw;
    for (int y = 0; y < side; y++) {
        size_t at = (size_t)y * (size_t)side;
        box_changed(&draw, canvas ? canvas + at : NULL, frame + at, y, side, transparent);
        if (next && transparent != GIF_OPAQUE)
            box_vanishing(&vanish, frame + at, next + at, y, side, transparent);
    }
    bool clear = vanish.right >= 0;
    if (clear) {
        box_row(&draw, vanish.top, vanish.left, vanish.right);
        box_row(&draw, vanish.bottom, vanish.left, vanish.right);
    }
    if (draw.right < 0)
        draw = (struct box){0};
    ret_step->clear = clear;
    ret_step->rect = (struct gif_rect){.left = draw.left,
                                       .top = draw.top,
                                       .width = draw.right - draw.left + 1,
                                       .height = draw.bottom - draw.top + 1};
}

void gif_frames_advance(uint8_t *canvas, const uint8_t *frame, int side, int transparent,
                        const struct gif_step *step)
{
    memcpy(canvas, frame, (size_t)side * (size_t)side);
    if (!step->clear)
        return;
    const struct gif_rect *r = &step->rect;
    for (int y = r->top; y < r->top + r->height; y++)
        memset(canvas + (size_t)y * (size_t)side + r->left, transparent, (size_t)r->width);
}

/* Both spellings of one row, before zoom. */
static void spell_row(const uint8_t *shown, const uint8_t *row, int width, int transparent, uint8_t *plain,
                      uint8_t *other)
{
    memcpy(plain, row, (size_t)width);
    memcpy(other, row, (size_t)width);
    if (!shown || transparent == GIF_OPAQUE)
        return;
    for (int x = 0; x < width; x++)
        other[x] = shown[x] == row[x] ? (uint8_t)transparent : row[x];
}

/* Repeats each of the first `width` pixels of a row `zoom` times, in place, and the row `zoom` times below.
 */
static void zoom_row(uint8_t *row, size_t width, size_t zoom)
{
    for (size_t x = width; x-- > 0;)
        memset(row + x * zoom, row[x], zoom);
    for (size_t i = 1; i < zoom; i++)
        memcpy(row + i * width * zoom, row, width * zoom);
}

void gif_frames_cut(const uint8_t *canvas, const uint8_t *frame, int side, int transparent,
                    const struct gif_step *step, int zoom, uint8_t *ret_plain, uint8_t *ret_other)
{
    const struct gif_rect *r = &step->rect;
    size_t stride = (size_t)r->width * (size_t)zoom * (size_t)zoom;
    for (int y = 0; y < r->height; y++) {
        size_t from = (size_t)(r->top + y) * (size_t)side + (size_t)r->left, to = (size_t)y * stride;
        spell_row(canvas ? canvas + from : NULL, frame + from, r->width, transparent, ret_plain + to,
                  ret_other + to);
        if (zoom > 1) {
            zoom_row(ret_plain + to, (size_t)r->width, (size_t)zoom);
            zoom_row(ret_other + to, (size_t)r->width, (size_t)zoom);
        }
    }
}

int gif_frames_delay_cs(int i, int fps)
{
    int until = (200 * (i + 1) + fps) / (2 * fps);
    int since = (200 * i + fps) / (2 * fps);
    return until - since;
}
