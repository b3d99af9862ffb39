/* work.c -- estimates of processor time: a moving average of the time a pixel takes, for each body and each
 * format.
 *
 * One processor is eight times as fast as another and a GPU twenty times as fast as that, so no table could
 * be right; what this process has just done is. An average moves by an eighth toward each picture, and a
 * picture counts as at most four times dearer or cheaper than what was expected: one that was held up by
 * something else can't shed the next hundred. The averages stay within WIDEST of where they began.
 *
 * Small pictures teach nothing: their time isn't in their pixels. Threads: one at a time. */
#include "server/work.h"

/* Where the averages begin: terrestrial with AVX2 (SSE2 takes 2.5 times as long, AVX-512 half), and the
 * encoders on noisy pictures; measured in November 2026 on one core of an EPYC. Too little would let in more
 * than can be drawn, too much would refuse what could be, and after a few dozen pictures neither matters. */
#define DRAW_START_PS 40000u
#define PNG_START_PS  8000u
#define GIF_START_PS  18000u
#define APNG_START_PS 16000u
#define WEBP_START_PS 150000u
#define JSON_START_PS 2000u /* it counts, and writes little */

#define AVERAGE_WEIGHT 8 /* a new picture counts one part in this many */
#define SURPRISE_MOST  4
#define WIDEST         1000
#define TEACHES_PIXELS 4096 /* the 64 x 64 of a default picture */

static const uint64_t encode_start_ps[FORMAT_COUNT] = {
    [FORMAT_PNG] = PNG_START_PS,
    [FORMAT_GIF] = GIF_START_PS,
    [FORMAT_APNG] = APNG_START_PS,
    [FORMAT_SHEET] = PNG_START_PS,
    [FORMAT_ATLAS] = 0, /* nothing is drawn for it */
    [FORMAT_JSON] = JSON_START_PS,
    [FORMAT_WEBP] = WEBP_START_PS,
    [FORMAT_PALETTE] = JSON_START_PS,
    [FORMAT_GPL] = JSON_START_PS,
    [FORMAT_HEX] = JSON_START_PS,
    [FORMAT_CONTACT] = PNG_START_PS,
    [FORMAT_FIND] = 0, /* counts are had with the drawing */
};

static uint64_t clamp(uint64_t v, uint64_t least, uint64_t most)
{
    return v < least ? least : v > most ? most : v;
}

void work_init(struct work *w)
{
    for (int i = 0; i <= BODY_COUNT; i++)
        w->draw_ps[i] = DRAW_START_PS;
    for (int i = 0; i < FORMAT_COUNT; i++)
        w->encode_ps[i] = encode_start_ps[i];
}

static int draw_index(const struct request *r)
{
    return r->planet.layer == LAYER_COLOR ? r->planet.body : BODY_COUNT;
}

uint64_t work_estimate_ns(const struct work *w, const struct request *r)
{
    struct request_size size = request_size(r);
    uint64_t ps = (uint64_t)size.drawn_pixels * w->draw_ps[draw_index(r)] +
                  (uint64_t)size.file_pixels * w->encode_ps[r->format];
    return WORK_LEAST_NS + ps / 1000;
}

static void average_move(uint64_t *average_ps, uint64_t pixels, uint64_t took_ns, uint64_t start_ps)
{
    if (pixels < TEACHES_PIXELS)
        return;
    uint64_t hour_ns = 3600000000000u; /* times 1000 it still fits */
    uint64_t ps = clamp(took_ns, 0, hour_ns) * 1000 / pixels;
    ps = clamp(ps, *average_ps / SURPRISE_MOST, *average_ps * SURPRISE_MOST);
    ps = (*average_ps * (AVERAGE_WEIGHT - 1) + ps) / AVERAGE_WEIGHT;
    *average_ps = clamp(ps, start_ps / WIDEST, start_ps * WIDEST);
}

void work_learn(struct work *w, const struct request *r, uint64_t render_ns, uint64_t encode_ns)
{
    struct request_size size = request_size(r);
    if (r->format == FORMAT_FIND) /* it may end long before its size is drawn */
        return;
    average_move(&w->draw_ps[draw_index(r)], (uint64_t)size.drawn_pixels, render_ns, DRAW_START_PS);
    average_move(&w->encode_ps[r->format], (uint64_t)size.file_pixels, encode_ns, encode_start_ps[r->format]);
}
