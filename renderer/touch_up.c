/* touch_up.c -- what a pixel artist does last: steps are dithered into each other, lone pixels go, a line is
 * drawn around the silhouette.
 * All of it works on codes, after whatever backend drew them, so that it is exact, needs no kernel, and
 * covers each body and layer alike. The light is dithered by the kernels (shaders/light.glsl), which know how
 * far a pixel is from the next band; tones have no such gradient, so here their edges get a width in pixels.
 * Threads: pure. */
#include "renderer/touch_up.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "renderer/bodies.h"
#include "shaders/codes.glsl"

#define KIND(c)  ((c) >> CODE_KIND_SHIFT & CODE_KIND_MASK)
#define COVER(c) ((int)((c) >> CODE_COVER_SHIFT & CODE_COVER_MASK))
#define STEP(c)  ((int)((c)&CODE_STEP_MASK))
#define BAND(c)  ((int)((c) >> CODE_BAND_SHIFT & CODE_BAND_MASK))
/* Of what sort a thing is: its kind, whether it shines, and what stands above these in a code. */
#define SORT(c) ((c) >> CODE_KIND_SHIFT)

/* By enum dither: half the width of a dithered edge, in half pixels, and the bits of the 8 x 8 matrix that
 * count. */
static const struct edge {
    int half_width, bits;
} edges[DITHER_COUNT] = {
    [DITHER_CHECKER] = {2, 1}, [DITHER_BAYER2] = {3, 2}, [DITHER_BAYER4] = {5, 4}, [DITHER_BAYER8] = {7, 6}};

#define REACH_MAX 6 /* pixels above one that count: the widest edge, and two beyond */

/* Two codes between which a field may be dithered: neighbouring tones of one material. */
typedef bool pair_of(const struct body_info *body, uint32_t a, uint32_t b);

static bool ground_pair(const struct body_info *body, uint32_t a, uint32_t b)
{
    int low = STEP(a) < STEP(b) ? STEP(a) : STEP(b), high = STEP(a) + STEP(b) - low;
    bool lamp = (a & CODE_SHINE) && !(body->traits & BODY_FILLS_FRAME);
    if (low == high || KIND(a) != KIND_PLANET || SORT(a) != SORT(b) || lamp)
        return false;
    if (high >= body->steps) /* a cap lies on whatever is there */
        return low < body->steps;
    return high - low == 1 && body->roles[low] == body->roles[high];
}

static bool cover_pair(const struct body_info *body, uint32_t a, uint32_t b)
{
    int low = COVER(a) < COVER(b) ? COVER(a) : COVER(b), high = COVER(a) + COVER(b) - low;
    (void)body;
    return KIND(a) == KIND_PLANET && SORT(a) == SORT(b) && low != high &&
           (high < (int)COVER_CORE || low == (int)COVER_EDGE);
}

static const struct field {
    uint32_t mask;
    pair_of *pair;
} fields[] = {{CODE_STEP_MASK, ground_pair}, {CODE_COVER_MASK << CODE_COVER_SHIFT, cover_pair}};

/* A frame of which the rows above y were changed already; `kept` has them as they were. */
struct view {
    const uint32_t *codes, (*kept)[PIXELS_MAX];
    int side, y;
};

static const uint32_t *at(const struct view *v, int x, int y)
{
    if (x < 0 || y < 0 || x >= v->side || y >= v->side)
        return NULL;
    return y > v->y ? v->codes + (size_t)y * (size_t)v->side + x : v->kept[y % (REACH_MAX + 1)] + x;
}

/* Whether the tone goes on from x, y away from the edge for two pixels. */
static bool wide(const struct view *v, int x, int y, int dx, int dy, uint32_t tone, uint32_t mask)
{
    const uint32_t *near = at(v, x, y), *far = at(v, x - dx, y - dy);
    return near && far && (*near & mask) == tone && (*far & mask) == tone;
}

/* What `field` of the pixel becomes. The share of the higher tone falls from 1 to 0 over the edge's width,
 * and the matrix says which pixels make up that share. Where either tone is less than three pixels wide all
 * stays: thin things would break up into dots. */
static uint32_t dithered(const struct view *v, const struct body_info *body, const struct field *field,
                         const struct edge *e, int x)
{
    static const int dx[] = {-1, 1, 0, 0}, dy[] = {0, 0, -1, 1};
    uint32_t code = *at(v, x, v->y);
    uint32_t across = (uint32_t)(x ^ v->y), row = (uint32_t)v->y;
    int level = (int)(BAYER_LEVEL(across, row) >> (6 - e->bits)), levels = 1 << e->bits;
    for (int d = 1; 2 * d - 1 < e->half_width; d++)
        for (int i = 0; i < 4; i++) {
            const uint32_t *there = at(v, x + d * dx[i], v->y + d * dy[i]);
            if (!there || !field->pair(body, code, *there) ||
                !wide(v, x - dx[i], v->y - dy[i], dx[i], dy[i], code & field->mask, field->mask) ||
                !wide(v, x + (d + 1) * dx[i], v->y + (d + 1) * dy[i], -dx[i], -dy[i], *there & field->mask,
                      field->mask))
                continue;
            bool high = (code & field->mask) > (*there & field->mask);
            int inside = high ? 2 * d - 1 : 1 - 2 * d; /* from the edge, in half pixels */
            /* (level + 1/2) / levels < 1/2 + inside / (2 half_width) */
            bool gets_high = (2 * level + 1) * e->half_width < levels * (e->half_width + inside);
            return high == gets_high ? code & field->mask : *there & field->mask;
        }
    return code & field->mask;
}

static void dither(const struct planet_desc *d, uint32_t *codes)
{
    const struct edge *e = &edges[d->dither];
    uint32_t kept[REACH_MAX + 1][PIXELS_MAX];
    struct view v = {codes, kept, d->pixels, 0};
    for (v.y = 0; v.y < v.side; v.y++) {
        uint32_t *row = codes + (size_t)v.y * (size_t)v.side;
        memcpy(kept[v.y % (REACH_MAX + 1)], row, (size_t)v.side * sizeof *row);
        for (int x = 0; x < v.side; x++) {
            if (KIND(row[x]) != KIND_PLANET)
                continue;
            uint32_t code = row[x];
            for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
                code = (code & ~fields[i].mask) | dithered(&v, &bodies[d->body], &fields[i], e, x);
            row[x] = code;
        }
    }
}

/* The eight around a pixel, those with a common edge first; where the frame ends there are fewer. */
struct around {
    uint32_t code[8];
    int count, beside; /* all, and those with a common edge */
};

static void look_around(const uint32_t *codes, int side, int x, int y, struct around *ret)
{
    static const int dx[] = {0, -1, 1, 0, -1, 1, -1, 1}, dy[] = {-1, 0, 0, 1, -1, -1, 1, 1};
    ret->count = ret->beside = 0;
    for (int i = 0; i < 8; i++) {
        int there = x + dx[i], row = y + dy[i];
        if (there < 0 || row < 0 || there >= side || row >= side)
            continue;
        ret->code[ret->count++] = codes[(size_t)row * (size_t)side + (size_t)there];
        ret->beside += i < 4;
    }
}

/* Whether two pixels belong together: a wide dither sets lone pixels of the next tone or band, which are
 * meant. */
static bool alike(const struct planet_desc *d, uint32_t a, uint32_t b)
{
    if (a == b)
        return true;
    if (d->dither <= DITHER_CHECKER || KIND(a) != KIND_PLANET || SORT(a) != SORT(b) ||
        abs(BAND(a) - BAND(b)) > 1)
        return false;
    const struct body_info *body = &bodies[d->body];
    return (STEP(a) == STEP(b) || ground_pair(body, a, b)) &&
           (COVER(a) == COVER(b) || cover_pair(body, a, b));
}

/* The commonest code around, an edge counting twice; of the lone pixel's own sort when there is any. */
static uint32_t commonest(uint32_t code, const struct around *a)
{
    int of_sort = 0, best = 0, most = 0;
    for (int i = 0; i < a->count; i++)
        of_sort += SORT(a->code[i]) == SORT(code);
    for (int i = 0; i < a->count; i++) {
        int votes = 0;
        if (of_sort && SORT(a->code[i]) != SORT(code))
            continue;
        for (int k = 0; k < a->count; k++)
            if (a->code[k] == a->code[i])
                votes += k < a->beside ? 2 : 1;
        if (votes > most) {
            most = votes;
            best = i;
        }
    }
    return a->code[best];
}

#define LIGHTS_AROUND 6 /* with so many around it a light is part of an area; with fewer a lamp or a star */

/* One pass, in place: a lone pixel takes the code of a neighbour, which is not lone from then on, so that
 * none is made. Says whether there was any. */
static bool clean_once(const struct planet_desc *d, uint32_t *codes)
{
    bool any = false;
    for (int y = 0; y < d->pixels; y++) {
        uint32_t *row = codes + (size_t)y * (size_t)d->pixels;
        for (int x = 0; x < d->pixels; x++) {
            if (x && row[x - 1] == row[x])
                continue;
            struct around a;
            int lights = 0, i = 0;
            look_around(codes, d->pixels, x, y, &a);
            while (i < a.count && !alike(d, a.code[i], row[x]))
                lights += (a.code[i++] & CODE_SHINE) != 0;
            bool meant =
                ((row[x] & CODE_SHINE) && lights < LIGHTS_AROUND) || (row[x] && KIND(row[x]) == KIND_NOTHING);
            if (i < a.count || meant)
                continue;
            row[x] = commonest(row[x], &a);
            any = true;
        }
    }
    return any;
}

static bool solid(uint32_t code)
{
    return KIND(code) == KIND_PLANET || KIND(code) == KIND_RING;
}

/* Beside the silhouette, in place of the air's glow; what has no room in the frame is left out. */
static void outline(const struct planet_desc *d, uint32_t *codes)
{
    for (int y = 0; y < d->pixels; y++) {
        uint32_t *row = codes + (size_t)y * (size_t)d->pixels;
        for (int x = 0; x < d->pixels; x++) {
            struct around a;
            bool beside = false;
            if (solid(row[x]))
                continue;
            look_around(codes, d->pixels, x, y, &a);
            for (int i = 0; i < a.beside; i++)
                beside |= solid(a.code[i]);
            row[x] = beside ? CODE_OUTLINE : row[x];
        }
    }
}

void touch_up(const struct planet_desc *d, uint32_t *codes)
{
    if (d->layer != LAYER_COLOR)
        return;
    if (d->dither != DITHER_NONE)
        dither(d, codes);
    while (d->clean &&
           clean_once(d, codes)) /* again, since what is a lamp goes by its neighbours: there are */
        continue;                /* fewer lone ones each time */
    if (d->outline >= 0)
        outline(d, codes);
}
