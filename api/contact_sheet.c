/* contact_sheet.c -- draws a contact sheet: cells, labels, title. Colours of all cells are gathered in one
 * list as they come. Threads: any. */
#include "api/contact_sheet.h"

#include <stdlib.h>
#include <string.h>

#include "api/contact.h"
#include "api/glyphs.h"
#include "api/params.h"
#include "renderer/encode/canvas.h"

#define MARGIN_PX  8
#define GAP_PX     8
#define LINE_PX    11
#define SLOTS      (2 * FRAME_SET_COLORS_MAX)
#define NIGHT_RGB  0x101018
#define MIDDLE_RGB 0x8888a0 /* reads on white and on black, where we don't know what is behind */

struct board {
    struct canvas canvas;
    uint32_t *slots; /* number of a colour + 1, by its hash */
    enum err err;
};

static uint16_t color_index(struct board *b, uint32_t color)
{
    uint32_t at = color * 2654435761u >> 15;
    while (b->slots[at] && b->canvas.colors[b->slots[at] - 1] != color)
        at = (at + 1) % SLOTS;
    if (!b->slots[at]) {
        if (b->canvas.color_count == FRAME_SET_COLORS_MAX) {
            b->err = ERR_PICTURE_SIZE;
            return 0;
        }
        b->canvas.colors[b->canvas.color_count++] = color;
        b->slots[at] = (uint32_t)b->canvas.color_count;
    }
    return (uint16_t)(b->slots[at] - 1);
}

/* `part` of 256 of the way from one colour to the other. */
static uint32_t mix(int32_t from, int32_t to, int part)
{
    uint32_t out = 0;
    for (int shift = 0; shift < 24; shift += 8) {
        int a = from >> shift & 255, z = to >> shift & 255;
        out |= (uint32_t)(a + (z - a) * part / 256) << (16 - shift);
    }
    return out | 0xff000000u;
}

struct inks {
    uint16_t paper, title, label, name, rule;
};

static struct inks inks_make(struct board *b, int32_t background)
{
    if (background < COLOR_NONE) /* a sky is in the cells alone */
        background = NIGHT_RGB;
    if (background < 0) {
        uint16_t ink = color_index(b, mix(MIDDLE_RGB, MIDDLE_RGB, 0));
        return (struct inks){color_index(b, 0), ink, ink, ink, ink};
    }
    int light = (background >> 16 & 255) * 2 + (background >> 8 & 255) * 5 + (background & 255);
    int32_t ink = light < 8 * 140 ? 0xf4f4ff : 0x080814;
    return (struct inks){color_index(b, mix(background, background, 0)),
                         color_index(b, mix(background, ink, 236)), color_index(b, mix(background, ink, 176)),
                         color_index(b, mix(background, ink, 112)), color_index(b, mix(background, ink, 56))};
}

static void put_text(struct board *b, const char *text, size_t len, int x, int y, uint16_t ink)
{
    for (size_t i = 0; i < len; i++) {
        int width = glyph_width(text[i]);
        for (int v = 0; v < GLYPH_HIGH_PX; v++)
            for (int u = 0; u < width; u++)
                if (glyph_ink(text[i], u, v))
                    b->canvas.index[(size_t)(y + v) * (size_t)b->canvas.width + (size_t)(x + u)] = ink;
        x += width + 1;
    }
}

/* In a line `room` wide: in its middle, or at its right end. What is too long ends in two points. */
static void put_label(struct board *b, const char *text, int x, int y, int room, bool middle, uint16_t ink)
{
    char cut[SEED_MAX_BYTES + 3];
    size_t len = strlen(text);
    if (glyph_text_width(text, len) > room) {
        size_t kept = glyph_text_fit(text, len, room - 4);
        memcpy(cut, text, kept);
        cut[kept] = cut[kept + 1] = '.';
        text = cut;
        len = kept + 2;
    }
    int left = room - glyph_text_width(text, len);
    put_text(b, text, len, x + (middle ? left / 2 : left), y, ink);
}

static void put_cell(struct board *b, const struct contact *c, int k, const struct frame_set *set)
{
    int x = c->left + k % c->columns * c->pitch_x + (c->pitch_x - GAP_PX - set->side) / 2;
    int y = c->top + k / c->columns * c->pitch_y + (c->cell_px - set->side) / 2;
    for (int v = 0; v < set->side && !b->err; v++)
        for (int u = 0; u < set->side; u++)
            b->canvas.index[(size_t)(y + v) * (size_t)b->canvas.width + (size_t)(x + u)] =
                color_index(b, set->colors[set->index[v * set->side + u]]);
}

static void put_labels(struct board *b, const struct contact *c, const struct inks *inks)
{
    int room = c->pitch_x - GAP_PX;
    for (int l = 0; l < c->title_lines; l++)
        put_text(b, c->title[l], strlen(c->title[l]), MARGIN_PX, MARGIN_PX + l * LINE_PX, inks->title);
    int rule = MARGIN_PX + c->title_lines * LINE_PX + 1;
    for (int x = MARGIN_PX; x < c->width - MARGIN_PX; x++)
        b->canvas.index[(size_t)rule * (size_t)b->canvas.width + (size_t)x] = inks->rule;
    if (!c->down) {
        for (int k = 0; k < c->count; k++)
            put_label(b, contact_value(c, c->across, k), c->left + k % c->columns * c->pitch_x,
                      c->top + k / c->columns * c->pitch_y + c->cell_px + 3, room, true, inks->label);
        return;
    }
    const char *across = params[c->across->row].name, *down = params[c->down->row].name;
    put_label(b, across, c->left, c->top - 2 * LINE_PX, c->columns * c->pitch_x - GAP_PX, true, inks->name);
    put_label(b, down, 0, c->top - LINE_PX, c->left - GAP_PX, false, inks->name);
    for (int i = 0; i < c->columns; i++)
        put_label(b, c->across->value[i], c->left + i * c->pitch_x, c->top - LINE_PX, room, true,
                  inks->label);
    for (int j = 0; j < c->rows; j++)
        put_label(b, c->down->value[j], 0, c->top + j * c->pitch_y + (c->cell_px - GLYPH_BASE_PX) / 2,
                  c->left - GAP_PX, false, inks->label);
}

static enum err draw_cells(struct board *b, const struct request *r, const struct contact *c,
                           struct file_artist *artist)
{
    for (int k = 0; k < c->count && !b->err; k++) {
        struct request cell;
        struct request_fault unused;
        struct frame_set set;
        b->err = contact_cell(r, c, k, &cell, &unused);
        if (!b->err)
            b->err = artist->draw(artist, &cell.planet, &set);
        if (b->err)
            break;
        put_cell(b, c, k, &set);
        frame_set_finish(&set);
    }
    return b->err;
}

enum err contact_sheet_make(const struct request *r, const struct key *key, struct file_artist *artist,
                            struct blob *out)
{
    struct contact c;
    struct request_fault unused;
    struct board b = {.err = contact_make(r, &c, &unused)};
    if (b.err)
        return b.err;
    size_t pixels = (size_t)c.width * (size_t)c.height;
    b.canvas = (struct canvas){.width = c.width,
                               .height = c.height,
                               .index = malloc(pixels * sizeof *b.canvas.index),
                               .colors = malloc(FRAME_SET_COLORS_MAX * sizeof *b.canvas.colors)};
    b.slots = calloc(SLOTS, sizeof *b.slots);
    if (!b.canvas.index || !b.canvas.colors || !b.slots)
        b.err = ERR_OOM;
    if (!b.err) {
        struct inks inks = inks_make(&b, r->planet.background);
        for (size_t i = 0; i < pixels; i++)
            b.canvas.index[i] = inks.paper;
        put_labels(&b, &c, &inks);
        b.err = draw_cells(&b, r, &c, artist);
    }
    if (!b.err)
        b.err = canvas_encode(&b.canvas, r->zoom, key->text, artist->cancel, out);
    free(b.canvas.index);
    free(b.canvas.colors);
    free(b.slots);
    return b.err;
}
