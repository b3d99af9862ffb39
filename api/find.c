/* find.c -- what a search tries and takes.
 *
 * Seeds are tried at the size of their picture and not smaller, so that the shares are just those that the
 * facts of the picture tell: a range is met or not, whoever counts. Counts are whole numbers and so are the
 * ranges, so no rounding decides. Threads: any. */
#include "api/find.h"

#include <stddef.h>
#include <stdio.h>

#include "api/fault.h"
#include "api/key.h"
#include "api/params.h"
#include "renderer/bodies.h"

#define SEED_DIGITS     12
#define SMALL_SIDE      32 /* a smaller drawing costs as much as one of this side */
#define BODY_LIST_BYTES 192
#define PERCENT         100

/* What each SPAN is about: a count of the census, and whether a body has it. */
static const struct subject {
    int row;
    size_t count, has;
} subjects[] = {
    {PARAM_ROW_ocean, offsetof(struct census, sea), offsetof(struct census_has, sea)},
    {PARAM_ROW_land, offsetof(struct census, land), offsetof(struct census_has, ground)},
    {PARAM_ROW_caps, offsetof(struct census, cap), offsetof(struct census_has, cap)},
    {PARAM_ROW_clouds, offsetof(struct census, cloud), offsetof(struct census_has, cloud)},
};

static bool body_has(const struct subject *s, int32_t body)
{
    struct planet_desc desc = {.body = body, .layer = LAYER_COLOR};
    struct census_has has = census_has(&desc);
    return *(const bool *)(const void *)((const char *)&has + s->has);
}

static bool asks(const struct request *r, const struct subject *s)
{
    return param_get(s->row, r) != SPAN_ANY;
}

bool find_has(int i, const struct request *r)
{
    for (size_t s = 0; s < ARRAY_LEN(subjects); s++)
        if (subjects[s].row == i)
            return body_has(&subjects[s], r->type);
    return false;
}

enum err find_candidate(const struct request *r, int32_t seed, struct request *ret_candidate,
                        struct request_fault *ret_fault)
{
    struct request *c = ret_candidate;
    char text[SEED_DIGITS];
    *c = *r;
    c->format = FORMAT_PNG;
    c->given = 0;
    c->given_by_path = 0;
    c->given_by_code = false;
    for (int i = 0; i < param_count; i++) {
        if (params[i].kind == PARAM_SPAN)
            param_put(i, c, SPAN_ANY);
        else if (key_adds(i, r))
            c->given |= UINT64_C(1) << i;
    }
    int len = snprintf(text, sizeof text, "%d", (int)seed);
    c->given &= ~(UINT64_C(1) << PARAM_ROW_seed);
    enum err err = request_set(c, "seed", 4, text, (size_t)len, ret_fault);
    return err ? err : request_finish(c, ret_fault);
}

static bool within(uint32_t part, uint32_t whole, int32_t span)
{
    uint64_t twice = (uint64_t)part * 2 * PERCENT, low = (uint64_t)SPAN_LOW(span) * 2 * whole,
             high = (uint64_t)SPAN_HIGH(span) * 2 * whole;
    if (low == high)
        return twice + whole >= low && twice < high + whole;
    return twice >= low && twice <= high;
}

bool find_takes(const struct request *r, const struct census *census)
{
    for (size_t s = 0; s < ARRAY_LEN(subjects); s++) {
        uint32_t part = *(const uint32_t *)(const void *)((const char *)census + subjects[s].count);
        if (asks(r, &subjects[s]) && !within(part, census->body, param_get(subjects[s].row, r)))
            return false;
    }
    return true;
}

int find_tries(const struct request *r)
{
    for (size_t s = 0; s < ARRAY_LEN(subjects); s++)
        if (asks(r, &subjects[s]))
            return FIND_TRIES_MAX;
    return r->count;
}

struct request_size find_size(const struct request *r)
{
    struct request ringed = *r;
    int64_t side = r->planet.pixels;
    if (r->rings == RINGS_AUTO) { /* some may be as large as with rings */
        ringed.rings = RINGS_ON;
        int32_t most = param_default(PARAM_ROW_pixels, &ringed);
        side = side < most && !key_adds(PARAM_ROW_pixels, r) ? most : side;
    }
    side = side < SMALL_SIDE ? SMALL_SIDE : side;
    return (struct request_size){side * side * find_tries(r), 0};
}

static enum err refuse_lacking(const struct subject *s, const struct request *r, struct request_fault *fault)
{
    char having[BODY_LIST_BYTES] = "";
    size_t n = 0;
    for (int b = 0; b < BODY_COUNT; b++)
        if (body_has(s, b) && n < sizeof having)
            n += (size_t)snprintf(having + n, sizeof having - n, "%s%s", n ? ", " : "", bodies[b].name);
    return fault_set(fault, ERR_PARAM_COMBINATION, params[s->row].name,
                     "type=%s has no %s to look for; these have: %s", bodies[r->type].name,
                     params[s->row].name, having);
}

enum err find_check(const struct request *r, struct request_fault *ret_fault)
{
    for (size_t s = 0; s < ARRAY_LEN(subjects); s++) {
        if (!asks(r, &subjects[s]))
            continue;
        const char *name = params[subjects[s].row].name;
        if (r->format != FORMAT_FIND)
            return fault_set(
                ret_fault, ERR_PARAM_COMBINATION, name,
                "%s is what /find looks for among many seeds; a picture can't be told to have it", name);
        if (!body_has(&subjects[s], r->type))
            return refuse_lacking(&subjects[s], r, ret_fault);
    }
    if (r->format != FORMAT_FIND)
        return ERR_NONE;
    struct request candidate;
    enum err err = find_candidate(r, r->from, &candidate, ret_fault);
    int64_t drawn = find_size(r).drawn_pixels;
    if (!err && drawn > PICTURE_PIXELS_MAX)
        err =
            fault_set(ret_fault, ERR_PICTURE_SIZE, "pixels",
                      "the pictures that are tried have %lld pixels together, and may have %d; leave pixels "
                      "to the URLs that are found",
                      (long long)drawn, PICTURE_PIXELS_MAX);
    return err;
}
