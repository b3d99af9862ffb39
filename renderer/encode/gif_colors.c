/* gif_colors.c -- finds the colour table of a GIF.
 *
 * Pixel planets have a few dozen colours, so the usual work is to list them. Pictures with more (soft
 * layers) are reduced: colours that share their upper bits are put together until at most CLUSTERS_MAX are
 * left, then the pair whose merging moves the pixels least (Ward's criterion) is merged until the table is
 * full. All in integers and in an order that depends on nothing but the set, because equal requests must
 * give equal bytes.
 *
 * Threads: any; nothing is kept between calls. */
#include "renderer/encode/gif_colors.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "renderer/encode/gif_frames.h"

/* Merging takes time by the square of it: 2,048 need about 30 ms. */
#define CLUSTERS_MAX 2048

/* The mean colour is sum / count. */
struct cluster {
    uint64_t sum[3];
    uint64_t count; /* pixels; at most 240 * 1024 * 1024 */
    int32_t mean[3];
    int nearest;   /* index of the cluster that is cheapest to merge with, among those after this one */
    uint64_t cost; /* of that merge */
};

static uint32_t over_black(uint32_t c)
{
    uint32_t a = RGBA_A(c);
    uint32_t r = (RGBA_R(c) * a + 127) / 255, g = (RGBA_G(c) * a + 127) / 255,
             b = (RGBA_B(c) * a + 127) / 255;
    return r << 16 | g << 8 | b;
}

static int channel(uint32_t rgb, int i)
{
    return (int)(rgb >> (16 - 8 * i) & 255);
}

/* The eye sees green best and blue least; 2 : 4 : 1 is near enough for merging neighbours. */
static uint64_t distance(const int32_t a[3], const int32_t b[3])
{
    int64_t dr = a[0] - b[0], dg = a[1] - b[1], db = a[2] - b[2];
    return (uint64_t)(2 * dr * dr + 4 * dg * dg + db * db);
}

/* What a merge moves: both counts over their harmonic sum, in sixteenths, times the distance. At most 2^32 *
 * 2^19. */
static uint64_t merge_cost(const struct cluster *a, const struct cluster *b)
{
    return a->count * b->count * 16 / (a->count + b->count) * distance(a->mean, b->mean);
}

static void find_nearest(struct cluster *list, int count, int i)
{
    list[i].nearest = -1;
    list[i].cost = UINT64_MAX;
    for (int j = i + 1; j < count; j++) {
        uint64_t cost = merge_cost(&list[i], &list[j]);
        if (cost < list[i].cost) {
            list[i].cost = cost;
            list[i].nearest = j;
        }
    }
}

static void set_mean(struct cluster *c)
{
    for (int i = 0; i < 3; i++)
        c->mean[i] = (int32_t)((c->sum[i] + c->count / 2) / c->count);
}

/* Merges the cheapest pair: `b` goes into `a`, the last one takes the place of `b`. Returns the new count. */
static int merge_pair(struct cluster *list, int count, int a, int b)
{
    int last = count - 1;
    for (int i = 0; i < 3; i++)
        list[a].sum[i] += list[b].sum[i];
    list[a].count += list[b].count;
    set_mean(&list[a]);
    list[b] = list[last];
    /* Those that pointed at a, b or the one that moved must look again; the others only need to hear of `a`
     * and `b`, which hold something new now. */
    for (int i = 0; i < last; i++) {
        if (i == a || i == b || list[i].nearest == a || list[i].nearest == b || list[i].nearest == last) {
            find_nearest(list, last, i);
            continue;
        }
        const int fresh[2] = {a, b};
        for (int k = 0; k < 2; k++) {
            if (fresh[k] <= i || fresh[k] >= last)
                continue;
            uint64_t cost = merge_cost(&list[i], &list[fresh[k]]);
            if (cost < list[i].cost || (cost == list[i].cost && fresh[k] < list[i].nearest)) {
                list[i].cost = cost;
                list[i].nearest = fresh[k];
            }
        }
    }
    return last;
}

static int by_key(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Puts colours together that agree in all but the lowest `drop` bits of each channel. `keys` is sorted
 * scratch of `n` entries: upper bits, then index. Returns the clusters there would be, and writes them if
 * `list` has room. */
static int bucket(const uint32_t *rgb, const uint64_t *counts, int n, int drop, uint64_t *keys,
                  struct cluster *list)
{
    uint32_t keep = (0xffu << drop & 0xffu) * 0x010101u;
    for (int i = 0; i < n; i++)
        keys[i] = (uint64_t)(rgb[i] & keep) << 32 | (uint32_t)i;
    qsort(keys, (size_t)n, sizeof(*keys), by_key);
    int clusters = 0;
    for (int i = 0; i < n; i++) {
        if (i == 0 || keys[i] >> 32 != keys[i - 1] >> 32) {
            if (clusters == CLUSTERS_MAX)
                return CLUSTERS_MAX + 1;
            list[clusters++] = (struct cluster){0};
        }
        struct cluster *c = &list[clusters - 1];
        uint32_t at = (uint32_t)keys[i];
        c->count += counts[at];
        for (int k = 0; k < 3; k++)
            c->sum[k] += counts[at] * (uint64_t)channel(rgb[at], k);
    }
    return clusters;
}

/* Reduces n colours to `room`, writes them to table[] and each colour's place to place[]. */
static enum err reduce(const uint32_t *rgb, const uint64_t *counts, int n, int room, uint32_t *table,
                       uint8_t *place)
{
    enum err err = ERR_OOM;
    uint64_t *keys = malloc((size_t)n * sizeof(*keys));
    struct cluster *list = malloc(CLUSTERS_MAX * sizeof(*list));
    if (!keys || !list)
        goto done;
    int clusters = CLUSTERS_MAX + 1;
    for (int drop = 0; clusters > CLUSTERS_MAX; drop++) /* 5 bits dropped leave 512, so it ends */
        clusters = bucket(rgb, counts, n, drop, keys, list);
    for (int i = 0; i < clusters; i++)
        set_mean(&list[i]);
    for (int i = 0; i < clusters; i++)
        find_nearest(list, clusters, i);
    while (clusters > room) {
        int best = 0;
        for (int i = 1; i < clusters; i++)
            if (list[i].cost < list[best].cost)
                best = i;
        clusters = merge_pair(list, clusters, best, list[best].nearest);
    }
    for (int i = 0; i < clusters; i++)
        table[i] =
            (uint32_t)list[i].mean[0] << 16 | (uint32_t)list[i].mean[1] << 8 | (uint32_t)list[i].mean[2];
    for (int i = 0; i < n; i++) {
        int32_t color[3] = {channel(rgb[i], 0), channel(rgb[i], 1), channel(rgb[i], 2)};
        int best = 0;
        for (int j = 1; j < clusters; j++)
            if (distance(color, list[j].mean) < distance(color, list[best].mean))
                best = j;
        place[i] = (uint8_t)best;
    }
    err = ERR_NONE;
done:
    free(keys);
    free(list);
    return err;
}

/* The distinct opaque colours that the set shows once alpha is gone. Arrays have color_count entries. */
struct palette {
    uint32_t *rgb;    /* ascending */
    uint64_t *counts; /* pixels of each */
    uint8_t *place;   /* index in the table, before the transparent one is put in front */
    int *of;          /* colour of the set -> entry here, -1 = transparent */
    uint64_t *keys;
    int n;
    bool holes; /* some colour is transparent */
};

static void palette_finish(struct palette *p)
{
    free(p->rgb);
    free(p->counts);
    free(p->place);
    free(p->of);
    free(p->keys);
}

static enum err palette_make(const struct frame_set *set, struct palette *p)
{
    size_t colors = (size_t)set->color_count;
    p->rgb = malloc(colors * sizeof(*p->rgb));
    p->counts = calloc(colors, sizeof(*p->counts));
    p->place = malloc(colors);
    p->of = malloc(colors * sizeof(*p->of));
    p->keys = malloc(colors * sizeof(*p->keys));
    if (!p->rgb || !p->counts || !p->place || !p->of || !p->keys)
        return ERR_OOM;
    for (size_t i = 0; i < colors; i++)
        p->keys[i] = (uint64_t)over_black(set->colors[i]) << 32 | i;
    qsort(p->keys, colors, sizeof(*p->keys), by_key);
    for (size_t i = 0; i < colors; i++) {
        uint32_t at = (uint32_t)p->keys[i], rgb = (uint32_t)(p->keys[i] >> 32);
        if (RGBA_A(set->colors[at]) == 0) {
            p->of[at] = -1;
            p->holes = true;
            continue;
        }
        if (p->n == 0 || p->rgb[p->n - 1] != rgb)
            p->rgb[p->n++] = rgb;
        p->of[at] = p->n - 1;
    }
    return ERR_NONE;
}

static void palette_count(struct palette *p, const struct frame_set *set)
{
    size_t pixels = (size_t)set->side * (size_t)set->side * (size_t)set->frames;
    for (size_t i = 0; i < pixels; i++) {
        int at = p->of[set->index[i]];
        if (at >= 0)
            p->counts[at]++;
    }
    for (int i = 0; i < p->n; i++) /* the contract says that each is used; a mean needs it */
        if (p->counts[i] == 0)
            p->counts[i] = 1;
}

enum err gif_colors_make(const struct frame_set *frames, struct gif_colors *ret_colors)
{
    struct palette p = {0};
    struct gif_colors colors = {.transparent = GIF_OPAQUE};
    enum err err = palette_make(frames, &p);
    if (err)
        goto done;
    bool wants_hole = p.holes || (frames->frames > 1 && p.n < GIF_TABLE_MAX);
    int room = p.holes || p.n != GIF_TABLE_MAX ? GIF_TABLE_MAX - wants_hole : GIF_TABLE_MAX;
    if (p.n > room) {
        palette_count(&p, frames);
        err = reduce(p.rgb, p.counts, p.n, room, colors.rgb + wants_hole, p.place);
        if (err)
            goto done;
        p.n = room;
    } else {
        for (int i = 0; i < p.n; i++) {
            colors.rgb[i + wants_hole] = p.rgb[i];
            p.place[i] = (uint8_t)i;
        }
    }
    colors.map = malloc((size_t)frames->color_count);
    if (!colors.map) {
        err = ERR_OOM;
        goto done;
    }
    for (int i = 0; i < frames->color_count; i++)
        colors.map[i] = p.of[i] < 0 ? 0 : (uint8_t)(p.place[p.of[i]] + wants_hole);
    if (wants_hole)
        colors.transparent = 0;
    colors.used = p.n + wants_hole;
    for (colors.bits = 1; 1 << colors.bits < colors.used;)
        colors.bits++;
    *ret_colors = colors;
done:
    palette_finish(&p);
    return err;
}

void gif_colors_finish(struct gif_colors *colors)
{
    free(colors->map);
    memset(colors, 0, sizeof(*colors));
}
