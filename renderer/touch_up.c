/* touch_up.c -- what a pixel artist does last: lone pixels go, a line is drawn around the silhouette.
 * Both look at the eight pixels around one as they were before, so two rows are kept. A lone light among
 * things that are no lights is meant: a star, a lamp. Threads: pure. */
#include "renderer/touch_up.h"

#include <stdbool.h>
#include <string.h>

#include "shaders/codes.glsl"

#define KIND(c) ((c) >> CODE_KIND_SHIFT & CODE_KIND_MASK)

/* The eight around a pixel, those with a common edge first; where the frame ends there are fewer. */
struct around {
    uint32_t code[8];
    int count, beside; /* all, and those with a common edge */
};

static void look_around(const uint32_t *above, const uint32_t *row, const uint32_t *below, int side, int x,
                        struct around *ret)
{
    const uint32_t *rows[3] = {above, row, below};
    static const struct {
        int row, dx;
    } places[8] = {{0, 0}, {1, -1}, {1, 1}, {2, 0}, {0, -1}, {0, 1}, {2, -1}, {2, 1}};
    ret->count = ret->beside = 0;
    for (int i = 0; i < 8; i++) {
        const uint32_t *from = rows[places[i].row];
        int at = x + places[i].dx;
        if (!from || at < 0 || at >= side)
            continue;
        ret->code[ret->count++] = from[at];
        ret->beside += i < 4;
    }
}

/* The code that a lone pixel takes: the commonest of its kind around it, else the commonest of all; an edge
 * counts twice. The pixel's own when it isn't lone. */
static uint32_t cleaned(uint32_t code, const struct around *a)
{
    int of_kind = 0, lights = 0, best = -1, most = 0;
    for (int i = 0; i < a->count; i++) {
        if (a->code[i] == code)
            return code;
        of_kind += KIND(a->code[i]) == KIND(code);
        lights += (a->code[i] & CODE_SHINE) != 0;
    }
    if ((code & CODE_SHINE) && lights < 6)
        return code;
    for (int i = 0; i < a->count; i++) {
        int votes = 0;
        if (of_kind && KIND(a->code[i]) != KIND(code))
            continue;
        for (int k = 0; k < a->count; k++)
            if (a->code[k] == a->code[i])
                votes += k < a->beside ? 2 : 1;
        if (votes > most) {
            most = votes;
            best = i;
        }
    }
    return best < 0 ? code : a->code[best];
}

static bool solid(uint32_t code)
{
    return KIND(code) == KIND_PLANET || KIND(code) == KIND_RING;
}

static uint32_t outlined(uint32_t code, const struct around *a)
{
    if (solid(code))
        return code;
    for (int i = 0; i < a->beside; i++)
        if (solid(a->code[i]))
            return CODE_OUTLINE;
    return code;
}

static void each_pixel(uint32_t *codes, int side, uint32_t (*change)(uint32_t, const struct around *))
{
    uint32_t kept[2][PIXELS_MAX];
    for (int y = 0; y < side; y++) {
        uint32_t *row = codes + (size_t)y * (size_t)side, *now = kept[y & 1];
        memcpy(now, row, (size_t)side * sizeof *now);
        for (int x = 0; x < side; x++) {
            struct around a;
            look_around(y ? kept[~y & 1] : NULL, now, y + 1 < side ? row + side : NULL, side, x, &a);
            row[x] = change(now[x], &a);
        }
    }
}

void touch_up(const struct planet_desc *d, uint32_t *codes)
{
    if (d->layer != LAYER_COLOR)
        return;
    if (d->clean)
        each_pixel(codes, d->pixels, cleaned);
    if (d->outline >= 0)
        each_pixel(codes, d->pixels, outlined);
}
