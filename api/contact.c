/* contact.c -- what the cells of a contact sheet are.
 *
 * A cell is asked for as if somebody had written its URL: it gets what the request has that is not default,
 * then the values of its place, through request_set(). So there are no rules but those of single pictures.
 * Threads: any. */
#include "api/contact.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/fault.h"
#include "api/glyphs.h"
#include "api/key.h"
#include "api/params.h"
#include "api/text.h"
#include "renderer/base/attr.h"

#define DEFAULT_SEEDS "1..12"
#define DIGITS_MAX    15 /* of a seed in a range */
#define MARGIN_PX     8
#define GAP_PX        8
#define LABEL_PX      (GLYPH_HIGH_PX + 2)
#define LABEL_WIDE_PX 96  /* longer ones are cut */
#define SHEET_WIDE_PX 144 /* at least, so that the title has room */
#define RULE_PX       6   /* the line under the title and what is around it */

/* ---- values ---- */

static bool can_sweep(int i)
{
    switch (i) {
    case PARAM_ROW_format:
    case PARAM_ROW_frames:
    case PARAM_ROW_zoom:
    case PARAM_ROW_fps:
    case PARAM_ROW_loops:
    case PARAM_ROW_columns:
    case PARAM_ROW_margin:
    case PARAM_ROW_spacing:
    case PARAM_ROW_atlas:
    case PARAM_ROW_layers:
    case PARAM_ROW_rev:
        return false;
    default:
        return (params[i].kind == PARAM_NUMBER || params[i].kind == PARAM_CHOICE) && !param_searches(i);
    }
}

/* A text that is put together, and the values that are read from it. */
struct reading {
    int text_row; /* of params.def: seeds, sweep_x or sweep_y */
    struct contact_axis *axis;
    char text[SWEEP_BYTES]; /* in its one spelling */
    size_t len;
    struct request_fault *fault;
};

static enum err refuse(struct reading *g, enum err err, const char *what)
{
    return fault_set(g->fault, err, params[g->text_row].name, "%s: %s", params[g->text_row].name, what);
}

static enum err write_text(struct reading *g, const char *text)
{
    size_t len = strlen(text);
    if (g->len + len >= SWEEP_BYTES)
        return refuse(g, ERR_PARAM_RANGE, "the values are too long, 159 bytes at most");
    memcpy(g->text + g->len, text, len + 1);
    g->len += len;
    return ERR_NONE;
}

static enum err add_value(struct reading *g, const char *value)
{
    if (g->axis->count == CONTACT_CELLS_MAX)
        return refuse(g, ERR_PARAM_RANGE, "there may be 64 values at most");
    size_t len = strnlen(value, SEED_MAX_BYTES); /* none is longer */
    memcpy(g->axis->value[g->axis->count], value, len);
    g->axis->value[g->axis->count++][len] = '\0';
    return ERR_NONE;
}

/* A whole number in its only spelling. */
static bool plain_number(const char *text, size_t len, int64_t *ret_number)
{
    if (!len || len > DIGITS_MAX || (text[0] == '0' && len > 1))
        return false;
    *ret_number = 0;
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        *ret_number = *ret_number * 10 + (text[i] - '0');
    }
    return true;
}

static enum err read_seed_range(struct reading *g, const char *low, size_t low_len, const char *high,
                                size_t high_len)
{
    int64_t first, last;
    char text[SEED_MAX_BYTES];
    if (!plain_number(low, low_len, &first) || !plain_number(high, high_len, &last) || first > last)
        return refuse(g, ERR_PARAM_SYNTAX, "a range is two whole numbers, the smaller first, such as 1..24");
    if (last - first >= CONTACT_CELLS_MAX)
        return refuse(g, ERR_PARAM_RANGE, "there may be 64 values at most");
    snprintf(text, sizeof text, "%lld..%lld", (long long)first, (long long)last);
    enum err err = write_text(g, text);
    for (int64_t n = first; n <= last && !err; n++) {
        snprintf(text, sizeof text, "%lld", (long long)n);
        err = add_value(g, text);
    }
    return err;
}

/* A number of the swept row, in steps. */
static bool read_steps(const struct reading *g, const char *text, size_t len, int32_t *ret_steps)
{
    const struct param *p = &params[g->axis->row];
    struct decimal d;
    if (!text_decimal(text, len, p->decimals, &d) || (p->decimals == 0 && !d.exact) || d.steps < p->minimum ||
        d.steps > p->maximum)
        return false;
    *ret_steps = (int32_t)d.steps;
    return true;
}

/* "-90..90:5": five values, evenly apart; without a count each whole number. */
static enum err read_number_range(struct reading *g, const char *low, size_t low_len, const char *high,
                                  size_t high_len)
{
    const char *colon = memchr(high, ':', high_len);
    int64_t count = 0;
    int32_t first, last;
    if (colon) {
        size_t at = (size_t)(colon + 1 - high);
        if (!plain_number(colon + 1, high_len - at, &count) || count < 2 || count > CONTACT_CELLS_MAX)
            return refuse(g, ERR_PARAM_RANGE, "behind a range and a colon stands how many values, 2 to 64");
        high_len = at - 1;
    }
    if (params[g->axis->row].kind != PARAM_NUMBER || !read_steps(g, low, low_len, &first) ||
        !read_steps(g, high, high_len, &last) || first == last)
        return refuse(g, ERR_PARAM_SYNTAX,
                      "a range is two numbers that the parameter allows, such as tilt:-90..90:5");
    if (!colon && params[g->axis->row].decimals)
        return refuse(g, ERR_PARAM_SYNTAX, "say how many values the range has: tilt:-90..90:5 has five");
    int64_t span = (int64_t)last - first;
    if (!colon && llabs(span) >= CONTACT_CELLS_MAX)
        return refuse(g, ERR_PARAM_RANGE, "there may be 64 values at most");
    char text[PARAM_TEXT_BYTES], end[PARAM_TEXT_BYTES], whole[3 * PARAM_TEXT_BYTES];
    param_text(g->axis->row, first, text);
    param_text(g->axis->row, last, end);
    snprintf(whole, sizeof whole, colon ? "%s..%s:%d" : "%s..%s", text, end, (int)count);
    enum err err = write_text(g, whole);
    int64_t parts = colon ? count - 1 : llabs(span);
    for (int64_t k = 0; k <= parts && !err; k++) { /* halves away from the first */
        int64_t twice = 2 * span * k + (span < 0 ? -parts : parts);
        param_text(g->axis->row, (int32_t)(first + twice / (2 * parts)), text);
        err = add_value(g, text);
    }
    return err;
}

static bool seed_is_plain(const char *text, size_t len)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._~-";
    for (size_t i = 0; i < len; i++)
        if (!text[i] || !strchr(plain, text[i]))
            return false;
    return len > 0 && len <= SEED_MAX_BYTES;
}

static enum err read_one(struct reading *g, const char *item, size_t len)
{
    char text[SEED_MAX_BYTES + 1], allowed[PARAM_ALLOWED_BYTES], sentence[PARAM_ALLOWED_BYTES + 64];
    int32_t steps;
    int row = g->axis->row;
    bool good;
    if (len > SEED_MAX_BYTES)
        len = 0; /* too long for any value */
    snprintf(text, sizeof text, "%.*s", (int)len, item);
    if (row == PARAM_ROW_seed) {
        if (!seed_is_plain(item, len))
            return refuse(g, ERR_PARAM_SYNTAX, "a seed here is 1 to 64 letters, digits and any of . _ ~ -");
        good = true;
    } else if (params[row].kind == PARAM_NUMBER) {
        good = read_steps(g, item, len, &steps);
        if (good)
            param_text(row, steps, text);
    } else {
        int w = 0;
        while (params[row].words[w] && strcmp(params[row].words[w], text) != 0)
            w++;
        good = params[row].words[w] && strlen(text) == len;
    }
    if (!good) {
        param_allowed(row, allowed);
        snprintf(sentence, sizeof sentence, "%s must be %s", params[row].name, allowed);
        return refuse(g, ERR_PARAM_SYNTAX, sentence);
    }
    enum err err = write_text(g, text);
    return err ? err : add_value(g, text);
}

static enum err read_item(struct reading *g, const char *item, size_t len)
{
    for (size_t i = 0; i + 1 < len; i++)
        if (item[i] == '.' && item[i + 1] == '.') {
            const char *high = item + i + 2;
            size_t high_len = len - i - 2;
            return g->axis->row == PARAM_ROW_seed ? read_seed_range(g, item, i, high, high_len)
                                                  : read_number_range(g, item, i, high, high_len);
        }
    return read_one(g, item, len);
}

static enum err read_name(struct reading *g, const char **text, size_t *len)
{
    const char *colon = memchr(*text, ':', *len);
    int row = colon ? param_find(*text, (size_t)(colon - *text)) : -1;
    if (!colon)
        return refuse(g, ERR_PARAM_SYNTAX,
                      "it is a parameter, a colon and its values, such as tilt:-90..90:5");
    if (row < 0 || !can_sweep(row))
        return refuse(
            g, ERR_PARAM_SYNTAX,
            "what stands before the colon is no parameter that can be swept: those are numbers and words of "
            "the picture, such as tilt, sea_level or type");
    g->axis->row = row;
    *len -= (size_t)(colon + 1 - *text);
    *text = colon + 1;
    enum err err = write_text(g, params[row].name);
    return err ? err : write_text(g, ":");
}

static enum err axis_read(struct reading *g, const char *text, size_t len)
{
    enum err err = ERR_NONE;
    g->axis->row = PARAM_ROW_seed;
    g->axis->count = 0;
    if (g->text_row != PARAM_ROW_seeds)
        err = read_name(g, &text, &len);
    for (size_t at = 0; at <= len && !err;) {
        const char *comma = at < len ? memchr(text + at, ',', len - at) : NULL;
        size_t end = comma ? (size_t)(comma - text) : len;
        if (at)
            err = write_text(g, ",");
        if (!err)
            err = read_item(g, text + at, end - at);
        at = end + 1;
    }
    return err;
}

enum err contact_set(struct request *r, int i, const char *value, size_t len, struct request_fault *ret_fault)
{
    struct contact_axis axis;
    struct reading g = {.text_row = i, .axis = &axis, .fault = ret_fault};
    enum err err = axis_read(&g, value, len);
    if (err)
        return err;
    memset(param_sweep(i, r), 0, SWEEP_BYTES);
    memcpy(param_sweep(i, r), g.text, g.len);
    return ERR_NONE;
}

/* ---- cells ---- */

static enum err axes_read(const struct request *r, struct contact *c, struct request_fault *fault)
{
    static const int rows[3] = {PARAM_ROW_seeds, PARAM_ROW_sweep_x, PARAM_ROW_sweep_y};
    bool none = !*r->seeds && !*r->sweep_x && !*r->sweep_y;
    for (int a = 0; a < 3; a++) {
        struct reading g = {.text_row = rows[a], .axis = &c->axes[a], .fault = fault};
        const char *text = a == 0 && none ? DEFAULT_SEEDS : param_sweep_const(rows[a], r);
        c->axes[a].count = 0;
        enum err err = *text ? axis_read(&g, text, strlen(text)) : ERR_NONE;
        if (err)
            return err;
    }
    if (c->axes[1].count && c->axes[2].count && c->axes[1].row == c->axes[2].row)
        return fault_set(fault, ERR_PARAM_COMBINATION, "sweep_y", "sweep_x and sweep_y both sweep %s",
                         params[c->axes[1].row].name);
    return ERR_NONE;
}

/* What has one value is no axis: it is as if that had been given. */
static enum err axes_place(struct contact *c, const struct request *r, struct request_fault *fault)
{
    const struct contact_axis *wide[3];
    int n = 0;
    for (int a = 2; a >= 0; a--) /* so that of two the later is first: y or x, then what is left */
        if (c->axes[a].count > 1)
            wide[n++] = &c->axes[a];
    if (n == 3)
        return fault_set(
            fault, ERR_PARAM_COMBINATION, "seeds",
            "a sheet has two sides: seeds, sweep_x and sweep_y can't all have more than one value");
    c->across = n ? wide[0] : &c->axes[*r->sweep_x ? 1 : *r->sweep_y ? 2 : 0];
    c->down = NULL;
    c->count = c->across->count;
    bool seeded = c->axes[0].count > 1;
    if (n == 2) { /* sweep_x lies across, sweep_y down, seeds where there is room */
        bool y = wide[0] == &c->axes[2];
        c->across = y ? wide[1] : wide[0];
        c->down = y ? wide[0] : wide[1];
        c->count = c->across->count * c->down->count;
    }
    if (c->down && c->count > CONTACT_CELLS_MAX)
        return fault_set(fault, ERR_PARAM_COMBINATION,
                         params[seeded ? PARAM_ROW_seeds : PARAM_ROW_sweep_x].name,
                         "%d x %d are %d cells; a sheet has %d at most", c->across->count, c->down->count,
                         c->count, CONTACT_CELLS_MAX);
    return ERR_NONE;
}

const char *contact_value(const struct contact *c, const struct contact_axis *axis, int k)
{
    if (axis->count == 1)
        return axis->value[0];
    return axis->value[!c->down ? k : axis == c->across ? k % c->across->count : k / c->across->count];
}

enum err contact_cell(const struct request *r, const struct contact *c, int k, struct request *ret_cell,
                      struct request_fault *ret_fault)
{
    struct request *cell = ret_cell;
    request_init(cell);
    for (int i = 0; i < param_count; i++) /* the type, and what is not its default */
        if (can_sweep(i) || params[i].kind == PARAM_COLOR) {
            if (i != PARAM_ROW_type && i != PARAM_ROW_background && param_get(i, r) == param_default(i, r))
                continue;
            param_put(i, cell, param_get(i, r));
            cell->given |= UINT64_C(1) << i;
        }
    memcpy(cell->seed, r->seed, sizeof cell->seed);
    cell->seed_len = r->seed_len;
    memcpy(cell->planet.palette, r->planet.palette, sizeof cell->planet.palette);
    cell->planet.palette_count = r->planet.palette_count;
    cell->planet.palette_source = r->planet.palette_source;
    for (int a = 0; a < 3; a++) {
        const struct contact_axis *axis = &c->axes[a];
        if (!axis->count)
            continue;
        const char *value = contact_value(c, axis, k), *name = params[axis->row].name;
        cell->given &= ~(UINT64_C(1) << axis->row);
        enum err err = request_set(cell, name, strlen(name), value, strlen(value), ret_fault);
        if (err)
            return err;
    }
    return request_finish(cell, ret_fault);
}

/* ---- layout ---- */

static int widest(const struct contact_axis *axis)
{
    int width = 0;
    for (int k = 0; k < axis->count; k++) {
        int w = glyph_text_width(axis->value[k], strlen(axis->value[k]));
        width = w > width ? w : width;
    }
    return width < LABEL_WIDE_PX ? width : LABEL_WIDE_PX;
}

/* As near to 4:3 as whole rows allow, and rather full rows. */
static int columns_of(const struct contact *c, const struct request *r)
{
    int best = 1;
    int64_t least = INT64_MAX;
    if (r->columns)
        return r->columns < c->count ? r->columns : c->count;
    for (int n = 1; n <= c->count; n++) {
        int rows = (c->count + n - 1) / n;
        int64_t off = llabs((int64_t)3 * n * c->pitch_x - (int64_t)4 * rows * c->pitch_y);
        off += (int64_t)(rows * n - c->count) * (c->pitch_x + c->pitch_y);
        if (off < least) {
            least = off;
            best = n;
        }
    }
    return best;
}

static bool sweeps_type(const struct contact *c)
{
    return (c->axes[1].count && c->axes[1].row == PARAM_ROW_type) ||
           (c->axes[2].count && c->axes[2].row == PARAM_ROW_type);
}

/* Whether a part of the key says something of the cells that their labels don't. */
static bool is_told(const struct contact *c, const char *part)
{
    static const char *const untold[] = {"rev=", "format=", "zoom=", "columns="};
    for (size_t i = 0; i < ARRAY_LEN(untold); i++)
        if (!strncmp(part, untold[i], strlen(untold[i])))
            return false;
    return !(c->axes[0].count && !strncmp(part, "seed=", 5)) &&
           !(sweeps_type(c) && !strncmp(part, "type=", 5));
}

/* What the sheet shows in all its cells, a part of its key for each line's word. */
static void title_write(const struct request *r, struct contact *c)
{
    struct key key;
    char *line = c->title[0];
    size_t len = 0;
    int room = c->width - 2 * MARGIN_PX;
    key_make(r, &key);
    c->title_lines = 1;
    line[0] = '\0';
    for (const char *part = key.text; *part;) {
        size_t part_len = strcspn(part, "&");
        bool told = is_told(c, part);
        for (size_t at = 0; told && at < part_len;) {
            int used = glyph_text_width(line, len) + (len && !at ? 8 : 0);
            size_t fit = glyph_text_fit(part + at, part_len - at, room - used);
            if (fit < part_len - at && len) { /* a line of its own, or more */
                if (c->title_lines == CONTACT_LINES_MAX)
                    return;
                line = c->title[c->title_lines++];
                len = 0;
                continue;
            }
            fit = fit ? fit : 1;
            int n = snprintf(line + len, CONTACT_LINE_BYTES - len, "%s%.*s", len ? "  " : "", (int)fit,
                             part + at);
            len += n > 0 ? (size_t)n : 0;
            len = len < CONTACT_LINE_BYTES ? len : CONTACT_LINE_BYTES - 1;
            at += fit;
        }
        part += part_len + (part[part_len] == '&');
    }
}

static void layout_make(const struct request *r, struct contact *c)
{
    int across = widest(c->across), down = c->down ? widest(c->down) + GAP_PX : 0;
    c->pitch_x = (c->cell_px > across ? c->cell_px : across) + GAP_PX;
    c->pitch_y = c->cell_px + GAP_PX + (c->down ? 0 : LABEL_PX + 1);
    c->columns = c->down ? c->across->count : columns_of(c, r);
    c->columns = c->columns > 1 ? c->columns : 1;
    c->rows = (c->count + c->columns - 1) / c->columns;
    int grid = down + c->columns * c->pitch_x - GAP_PX;
    if (c->down) { /* its name may be longer than its values */
        const char *name = params[c->down->row].name;
        int named = glyph_text_width(name, strlen(name)) + GAP_PX;
        grid += named > down ? named - down : 0;
        down = named > down ? named : down;
    }
    c->width = (grid > SHEET_WIDE_PX ? grid : SHEET_WIDE_PX) + 2 * MARGIN_PX;
    c->left = (c->width - grid) / 2 + down;
    title_write(r, c);
    c->top = MARGIN_PX + c->title_lines * LABEL_PX + RULE_PX + (c->down ? 2 * LABEL_PX : 2);
    c->height = c->top + c->rows * c->pitch_y - GAP_PX + MARGIN_PX;
}

enum err contact_make(const struct request *r, struct contact *ret_contact, struct request_fault *ret_fault)
{
    struct contact *c = ret_contact;
    enum err err = axes_read(r, c, ret_fault);
    if (!err)
        err = axes_place(c, r, ret_fault);
    if (err)
        return err;
    c->cell_px = 0;
    c->drawn_pixels = 0;
    for (int k = 0; k < c->count; k++) {
        struct request cell;
        struct request_fault why;
        err = contact_cell(r, c, k, &cell, &why);
        if (err)
            return fault_set(ret_fault, err, why.param, "cell %d (%s%s%s): %s", k + 1,
                             contact_value(c, c->across, k), c->down ? ", " : "",
                             c->down ? contact_value(c, c->down, k) : "", why.detail);
        int side = cell.planet.pixels;
        c->cell_px = side > c->cell_px ? side : c->cell_px;
        c->drawn_pixels += (int64_t)side * side;
    }
    layout_make(r, c);
    return ERR_NONE;
}

enum err contact_check(const struct request *r, struct request_fault *ret_fault)
{
    struct contact c;
    enum err err = contact_make(r, &c, ret_fault);
    if (err)
        return err;
    int64_t wide = (int64_t)c.width * r->zoom, high = (int64_t)c.height * r->zoom;
    if (c.drawn_pixels <= PICTURE_PIXELS_MAX && wide * high <= PICTURE_PIXELS_MAX)
        return ERR_NONE;
    return fault_set(ret_fault, ERR_PICTURE_SIZE, "pixels",
                     "the sheet would have %lld x %lld pixels, and may have %d at most", (long long)wide,
                     (long long)high, PICTURE_PIXELS_MAX);
}

struct request_size contact_size(const struct request *r)
{
    struct contact c;
    struct request_fault unused;
    if (contact_make(r, &c, &unused)) /* cannot be: contact_check() was asked */
        return (struct request_size){0, 0};
    return (struct request_size){c.drawn_pixels, (int64_t)c.width * c.height * r->zoom * r->zoom};
}
