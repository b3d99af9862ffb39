/* palette_reduce.c -- caps the number of colours of a result.
 * A colour that goes becomes one that stays, never a mean, so that a fixed palette stays itself. Pictures
 * that are all gradient (layers) have tens of thousands: these are first put together by their upper bits,
 * since the search below takes time by the square. Threads: pure. */
#include "renderer/palette_reduce.h"

#include <stdbool.h>
#include <stdlib.h>

#include "renderer/frame_set.h"
#include "renderer/oklab.h"

#define SEARCHED_MAX 1024

struct entry {
    struct oklab look;
    double alpha;    /* 0..1 */
    uint64_t pixels; /* that have it, or have come to it */
    double distance; /* squared, to the nearest that is left */
    int nearest;
    bool left;
};

static double distance(const struct entry *a, const struct entry *b)
{
    double alpha = (a->alpha - b->alpha) * 0.5;
    return oklab_distance_squared(a->look, b->look) + alpha * alpha;
}

static void find_nearest(struct entry *e, int count, int i)
{
    e[i].nearest = -1;
    for (int j = 0; j < count; j++) {
        if (j == i || !e[j].left)
            continue;
        double d = distance(&e[i], &e[j]);
        if (e[i].nearest < 0 || d < e[i].distance) {
            e[i].distance = d;
            e[i].nearest = j;
        }
    }
}

/* Drops the lowest `bits` of each channel: all that then agree become the first of them. Returns how many are
 * left. */
static int put_together(struct entry *e, const uint32_t *colors, int count, int bits)
{
    uint32_t keep = (0xffu << bits & 0xff) * 0x010101u | 0xff000000u;
    int *first = malloc(sizeof *first << 16); /* by a hash of the upper bits; open, at most full */
    int left = 0;
    if (!first)
        return -1;
    for (int i = 0; i < 1 << 16; i++)
        first[i] = -1;
    for (int i = 0; i < count; i++) {
        uint32_t key = colors[i] & keep, at = key * 0x9e3779b1u >> 16;
        if (!e[i].left)
            continue;
        while (first[at] >= 0 && (colors[first[at]] & keep) != key)
            at = (at + 1) & 0xffff;
        if (first[at] >= 0) {
            e[first[at]].pixels += e[i].pixels;
            e[i].left = false;
        } else {
            first[at] = i;
            left++;
        }
    }
    free(first);
    return left;
}

static void drop_cheapest(struct entry *e, int count)
{
    int cheapest = -1;
    double least = 0;
    for (int i = 0; i < count; i++) {
        double cost = e[i].distance * (double)e[i].pixels;
        if (e[i].left && (cheapest < 0 || cost < least)) {
            cheapest = i;
            least = cost;
        }
    }
    e[cheapest].left = false;
    e[e[cheapest].nearest].pixels += e[cheapest].pixels;
    for (int i = 0; i < count; i++)
        if (e[i].left && e[i].nearest == cheapest)
            find_nearest(e, count, i);
}

/* Renumbers: `index` and `colors` hold what is left. */
static enum err settle(struct entry *e, uint32_t *colors, int *count, uint16_t *index, size_t pixels)
{
    int n = *count, kept = 0;
    uint16_t *place = calloc((size_t)n, sizeof *place);
    if (!place)
        return ERR_OOM;
    for (int i = 0; i < n; i++)
        if (e[i].left || colors[i] == 0)
            place[i] = (uint16_t)kept++;
    for (int i = 0; i < n; i++)
        if (!e[i].left && colors[i] != 0) {
            find_nearest(e, n, i);
            place[i] = place[e[i].nearest];
        }
    for (size_t i = 0; i < pixels; i++)
        index[i] = place[index[i]];
    kept = 0;
    for (int i = 0; i < n; i++)
        if (e[i].left || colors[i] == 0)
            colors[kept++] = colors[i];
    *count = kept;
    free(place);
    return ERR_NONE;
}

enum err palette_reduce(uint32_t *colors, int *count, int most, uint16_t *index, size_t pixels)
{
    int n = *count, left = 0;
    for (int i = 0; i < n; i++)
        left += colors[i] != 0;
    if (left <= most)
        return ERR_NONE;
    struct entry *e = calloc((size_t)n, sizeof *e);
    if (!e)
        return ERR_OOM;
    for (size_t i = 0; i < pixels; i++)
        e[index[i]].pixels++;
    for (int i = 0; i < n; i++) {
        uint32_t c = colors[i], rgb = (uint32_t)RGBA_R(c) << 16 | (uint32_t)RGBA_G(c) << 8 | RGBA_B(c);
        e[i].look = oklab_of(rgb);
        e[i].alpha = RGBA_A(c) / 255.0;
        e[i].left = c != 0;
    }
    for (int bits = 1; left > SEARCHED_MAX && bits < 8; bits++) {
        left = put_together(e, colors, n, bits);
        if (left < 0) {
            free(e);
            return ERR_OOM;
        }
    }
    for (int i = 0; i < n; i++)
        if (e[i].left)
            find_nearest(e, n, i);
    for (; left > most; left--)
        drop_cheapest(e, n);
    enum err err = settle(e, colors, count, index, pixels);
    free(e);
    return err;
}
