/* facts_alt.c -- a picture in one sentence of plain English. Threads: any, all pure. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "api/facts.h"
#include "api/params.h"
#include "renderer/bodies.h"
#include "renderer/census.h"

#define FRONT_Z                                                                                              \
    0.9 /* a light that stands higher has no side; below -BEHIND_Z the disc is a crescent at most */
#define BEHIND_Z 0.5
#define SIDEWAYS 0.3827 /* sine of 22.5 degrees: the compass has eight directions */

struct sentence {
    char *text;
    size_t len;
};

PRINTF_LIKE(2, 3) static void add(struct sentence *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(s->text + s->len, FACTS_ALT_BYTES - s->len, format, args);
    va_end(args);
    if (n > 0)
        s->len = s->len + (size_t)n < FACTS_ALT_BYTES ? s->len + (size_t)n : FACTS_ALT_BYTES - 1;
}

static const char *light_words(const struct census_place *p)
{
    if (p->light_z > FRONT_Z)
        return "lit from the front";
    if (p->light_z < -BEHIND_Z)
        return "lit from behind";
    double flat = p->light_x * p->light_x + p->light_y * p->light_y, limit = SIDEWAYS * SIDEWAYS * flat;
    int column = p->light_x * p->light_x < limit ? 1 : p->light_x < 0 ? 0 : 2;
    int row = p->light_y * p->light_y < limit ? 1 : p->light_y > 0 ? 0 : 2;
    static const char *const words[3][3] = {
        {"lit from the upper left", "lit from above", "lit from the upper right"},
        {"lit from the left", "lit from the front", "lit from the right"},
        {"lit from the lower left", "lit from below", "lit from the lower right"}};
    return words[row][column];
}

static unsigned percent(uint32_t part, uint32_t whole)
{
    return whole ? (unsigned)(((uint64_t)part * 200 + whole) / ((uint64_t)whole * 2)) : 0;
}

static void add_shares(struct sentence *s, const struct request *r, const struct census *c)
{
    struct census_has has = census_has(&r->planet);
    const struct {
        bool there;
        const char *words;
        uint32_t pixels;
    } parts[] = {{has.sea, "sea", c->sea},
                 {has.ground && has.sea, "land", c->land},
                 {has.cap, "polar caps", c->cap},
                 {has.cloud, "clouds over", c->cloud},
                 {has.night, "night on", c->night}};
    const char *glue = ": ";
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        unsigned n = percent(parts[i].pixels, c->body);
        if (!parts[i].there || !n)
            continue;
        add(s, "%s%s %u %%", glue, parts[i].words, n);
        glue = ", ";
    }
    if (*glue == ',')
        add(s, " of the disc");
}

void facts_alt(const struct request *r, const struct frame_set *frames, char ret_alt[FACTS_ALT_BYTES])
{
    const struct body_info *body = &bodies[r->planet.body];
    struct sentence s = {.text = ret_alt};
    struct census census;
    struct census_place place;
    census_count(&r->planet, frames, &census);
    census_place(&r->planet, &place);
    add(&s, "%s%s%s", body->noun ? body->noun : "a ", body->noun ? "" : body->name,
        r->planet.rings ? " with rings" : "");
    if (r->planet.moons)
        add(&s, "%s %d moon%s", r->planet.rings ? " and" : " with", (int)r->planet.moons,
            r->planet.moons > 1 ? "s" : "");
    ret_alt[0] = (char)toupper((unsigned char)ret_alt[0]);
    if (r->planet.background == COLOR_STARS || r->planet.background == COLOR_NEBULA)
        add(&s, " before %s", r->planet.background == COLOR_STARS ? "stars" : "a nebula");
    if (r->planet.layer == LAYER_COLOR) {
        if (place.light_x != 0 || place.light_y != 0 || place.light_z != 0)
            add(&s, ", %s", light_words(&place));
        add_shares(&s, r, &census);
    } else {
        add(&s, ", drawn as its layer of %s", params[PARAM_ROW_layer].words[r->planet.layer]);
    }
    add(&s, ".");
}
