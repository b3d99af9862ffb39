/* png_pack.c -- turns a frame into the rows that PNG compresses, in the smallest form the format has.
 *
 * A palette of up to 256 colours is nearly always enough. Its order is by use: then the empty sky is index 0,
 * as is the filter byte before each row, and rows run into each other (3 % smaller than the other way round;
 * beyond that the order hardly matters). Indices are not filtered: neighbouring numbers mean nothing.
 *
 * True colour rows take the filter with the smallest sum of differences, the usual guess; and a row that zoom
 * only repeats takes "up", which is all zeros.
 *
 * Threads: any; nothing is kept between calls. */
#include "renderer/encode/png_pack.h"

#include <stdlib.h>
#include <string.h>

#include "renderer/encode/formats.h"

#define CANCEL_ROWS 64 /* rows between two looks at `cancel`: at most about a millisecond */

enum { FILTER_NONE, FILTER_SUB, FILTER_UP, FILTER_AVERAGE, FILTER_PAETH, FILTER_COUNT };

/* Sorts translucent colours to the front (tRNS ends with the last of them), then by use; the colour itself
 * breaks ties, so that the order in the frame set does not matter. */
struct use {
    uint32_t count;
    uint32_t color;
    int at; /* in the frame set */
};

static int by_use(const void *a, const void *b)
{
    const struct use *x = a, *y = b;
    bool x_solid = RGBA_A(x->color) == 255, y_solid = RGBA_A(y->color) == 255;
    if (x_solid != y_solid)
        return x_solid - y_solid;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return (x->color > y->color) - (x->color < y->color);
}

static int depth_for(int colors)
{
    return colors <= 2 ? 1 : colors <= 4 ? 2 : colors <= 16 ? 4 : 8;
}

static enum err plan_palette(const struct frame_set *set, struct png_plan *plan)
{
    struct use uses[PNG_PALETTE_MAX];
    int count = set->color_count;
    for (int i = 0; i < count; i++)
        uses[i] = (struct use){.count = 0, .color = set->colors[i], .at = i};
    size_t pixels = (size_t)set->side * (size_t)set->side * (size_t)set->frames;
    for (size_t i = 0; i < pixels; i++)
        uses[set->index[i]].count++;
    if (plan->clear == set->color_count) {
        uses[count] = (struct use){.count = 0, .color = 0, .at = plan->clear};
        count++;
    }
    qsort(uses, (size_t)count, sizeof(uses[0]), by_use);
    plan->map = malloc((size_t)count + 1); /* never nothing */
    if (!plan->map)
        return ERR_OOM;
    for (int i = 0; i < count; i++) {
        plan->palette[i] = uses[i].color;
        plan->map[uses[i].at] = (uint8_t)i;
        if (RGBA_A(uses[i].color) < 255)
            plan->clear_count = i + 1;
    }
    plan->palette_count = count;
    plan->depth = depth_for(count);
    return ERR_NONE;
}

/* Number of the colour that shows nothing, as in struct png_plan. */
static int clear_of(const struct frame_set *set, enum png_clear wish, bool translucent)
{
    int count = set->color_count;
    for (int i = 0; i < count; i++)
        if (set->colors[i] == 0)
            return i;
    bool indexed = count <= PNG_PALETTE_MAX;
    bool cheap = indexed ? count < PNG_PALETTE_MAX && depth_for(count + 1) == depth_for(count) : translucent;
    bool wanted = wish == PNG_CLEAR_NEEDED || (wish == PNG_CLEAR_CHEAP && cheap);
    return wanted && count < FRAME_SET_COLORS_MAX ? count : PNG_NO_CLEAR;
}

enum err png_plan_make(const struct frame_set *set, enum png_clear clear, struct png_plan *ret_plan)
{
    struct png_plan plan = {.kind = PNG_INDEXED, .depth = 8, .set = set};
    bool translucent = false;
    for (int i = 0; i < set->color_count; i++)
        translucent |= RGBA_A(set->colors[i]) < 255;
    plan.clear = clear_of(set, clear, translucent);
    if (set->color_count + (plan.clear == set->color_count) <= PNG_PALETTE_MAX) {
        enum err err = plan_palette(set, &plan);
        if (err)
            return err;
    } else {
        plan.kind = translucent || plan.clear != PNG_NO_CLEAR ? PNG_RGBA : PNG_RGB;
    }
    *ret_plan = plan;
    return ERR_NONE;
}

void png_plan_finish(struct png_plan *plan)
{
    free(plan->map);
    memset(plan, 0, sizeof(*plan));
}

static size_t row_bytes(const struct png_plan *plan, int width_px)
{
    int bits = plan->kind == PNG_INDEXED ? plan->depth : plan->kind == PNG_RGB ? 24 : 32;
    return ((size_t)width_px * (size_t)bits + 7) / 8;
}

size_t png_packed_bytes(const struct png_plan *plan, int width_px, int height_px)
{
    return (1 + row_bytes(plan, width_px)) * (size_t)height_px;
}

static void pack_indexed(const struct png_plan *plan, const uint16_t *row, int side, int zoom, uint8_t *dst)
{
    if (plan->depth == 8) {
        for (int x = 0; x < side; x++)
            for (int i = 0; i < zoom; i++)
                *dst++ = plan->map[row[x]];
        return;
    }
    unsigned bits = 0;
    int filled = 0;
    for (int x = 0; x < side; x++) {
        for (int i = 0; i < zoom; i++) {
            bits = bits << plan->depth | plan->map[row[x]];
            filled += plan->depth;
            if (filled == 8) {
                *dst++ = (uint8_t)bits;
                filled = 0;
            }
        }
    }
    if (filled)
        *dst = (uint8_t)(bits << (8 - filled));
}

static void pack_true(const struct png_plan *plan, const uint16_t *row, int side, int zoom, uint8_t *dst)
{
    for (int x = 0; x < side; x++) {
        uint32_t c = row[x] < plan->set->color_count ? plan->set->colors[row[x]] : 0;
        for (int i = 0; i < zoom; i++) {
            *dst++ = RGBA_R(c);
            *dst++ = RGBA_G(c);
            *dst++ = RGBA_B(c);
            if (plan->kind == PNG_RGBA)
                *dst++ = RGBA_A(c);
        }
    }
}

static int paeth(int left, int up, int corner)
{
    int to_left = abs(up - corner), to_up = abs(left - corner), to_corner = abs(left + up - 2 * corner);
    if (to_left <= to_up && to_left <= to_corner)
        return left;
    return to_up <= to_corner ? up : corner;
}

/* Filters one row with one filter; returns the sum of the differences' sizes. `step` is the bytes of a pixel.
 */
static uint64_t filter_row(int filter, const uint8_t *row, const uint8_t *above, size_t len, size_t step,
                           uint8_t *dst)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < len; i++) {
        int left = i >= step ? row[i - step] : 0, corner = i >= step ? above[i - step] : 0, up = above[i];
        int guess = filter == FILTER_SUB       ? left
                    : filter == FILTER_UP      ? up
                    : filter == FILTER_AVERAGE ? (left + up) / 2
                    : filter == FILTER_PAETH   ? paeth(left, up, corner)
                                               : 0;
        uint8_t rest = (uint8_t)(row[i] - guess);
        dst[i] = rest;
        sum += rest < 128 ? rest : 256u - rest;
    }
    return sum;
}

/* Writes filter byte and filtered row; `trial` has len bytes. */
static void filter_best(const uint8_t *row, const uint8_t *above, size_t len, size_t step, uint8_t *trial,
                        uint8_t *dst)
{
    uint64_t best = UINT64_MAX;
    for (int filter = FILTER_NONE; filter < FILTER_COUNT; filter++) {
        uint64_t sum = filter_row(filter, row, above, len, step, trial);
        if (sum < best) {
            best = sum;
            dst[0] = (uint8_t)filter;
            memcpy(dst + 1, trial, len);
        }
    }
}

enum err png_packer_init(struct png_packer *p, const struct png_plan *plan, int width_px, uint8_t *dst)
{
    *p = (struct png_packer){.plan = plan, .row_bytes = row_bytes(plan, width_px), .dst = dst};
    if (plan->kind == PNG_INDEXED)
        return ERR_NONE;
    p->scratch = calloc(3, p->row_bytes); /* zeros stand above the first row */
    if (!p->scratch)
        return ERR_OOM;
    p->row = p->scratch;
    p->above = p->row + p->row_bytes;
    p->trial = p->above + p->row_bytes;
    return ERR_NONE;
}

void png_packer_finish(struct png_packer *p)
{
    free(p->scratch);
    p->scratch = NULL;
}

static void put_true(struct png_packer *p, const uint16_t *pixels, int count, int wide, int high)
{
    size_t len = p->row_bytes, step = p->plan->kind == PNG_RGBA ? 4 : 3;
    pack_true(p->plan, pixels, count, wide, p->row);
    filter_best(p->row, p->above, len, step, p->trial, p->dst);
    p->dst += 1 + len;
    for (int i = 1; i < high; i++, p->dst += 1 + len) {
        p->dst[0] = FILTER_UP;
        memset(p->dst + 1, 0, len);
    }
    uint8_t *done = p->row;
    p->row = p->above;
    p->above = done;
}

void png_packer_put(struct png_packer *p, const uint16_t *pixels, int count, int wide, int high)
{
    if (p->plan->kind != PNG_INDEXED) {
        put_true(p, pixels, count, wide, high);
        return;
    }
    size_t line = 1 + p->row_bytes;
    const uint8_t *first = p->dst;
    p->dst[0] = FILTER_NONE;
    pack_indexed(p->plan, pixels, count, wide, p->dst + 1);
    p->dst += line;
    for (int i = 1; i < high; i++, p->dst += line)
        memcpy(p->dst, first, line);
}

enum err png_pack(const struct png_plan *plan, const struct png_rect *rect, int zoom,
                  const atomic_bool *cancel, uint8_t *dst)
{
    struct png_packer p;
    enum err err = png_packer_init(&p, plan, rect->width * zoom, dst);
    for (int y = 0; y < rect->height && !err; y++) {
        if (y % CANCEL_ROWS == 0 && encode_cancelled(cancel))
            err = ERR_CANCELLED;
        else
            png_packer_put(&p, rect->index + (size_t)y * rect->stride, rect->width, zoom, zoom);
    }
    png_packer_finish(&p);
    return err;
}
