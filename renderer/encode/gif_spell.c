/* gif_spell.c -- picks, for pixels that a viewer already shows, whether to draw them again or to skip them.
 *
 * LZW writes the longest string that it has seen before. Where a pixel may be spelt in two ways, a match
 * may go on by either; so we run the same dictionary as the compressor (giflib's: it starts anew at 4095
 * codes), follow all strings that fit some spelling at once, and fix the spelling of the longest. The
 * compressor then finds just these strings. On planets that is 6 to 10 % smaller than skipping all or
 * drawing all (tests/bench/bench_encode.c).
 *
 * Threads: a speller by one thread at a time. */
#include "renderer/encode/gif_spell.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define CODES_MAX  4096
#define CODE_LIMIT 4095 /* where giflib clears its dictionary */
#define RUN_MIN    8 /* unchanged pixels that are worth starting strings of skips for; 4 to 48 do the same */
#define FOLLOW_MAX 4 /* strings followed at once; more gain nothing that could be measured */

/* The dictionary as a table of "string + pixel = longer string", 0 = not entered (no longer string has code
 * 0). Its rows are emptied when their string is entered, so a new frame costs no more than it uses. Beside a
 * hash this needs no branches, which nobody could predict. */
struct gif_speller {
    int bits;
    uint16_t parent[CODES_MAX]; /* of each code: the string without its last pixel */
    uint8_t last[CODES_MAX];    /* of each code: its last pixel */
    uint16_t longer[];          /* [code << bits | pixel] */
};

struct gif_speller *gif_speller_create(int bits)
{
    struct gif_speller *s = malloc(sizeof(*s) + ((size_t)CODES_MAX << bits) * sizeof(s->longer[0]));
    if (s)
        s->bits = bits;
    return s;
}

/* Whether the next pixels are all the same in their second spelling. */
static bool starts_run(const uint8_t *other, size_t count)
{
    size_t len = 0;
    while (len < count && len < RUN_MIN && other[len] == other[0])
        len++;
    return len == RUN_MIN;
}

/* The longest string that fits some spelling of the next `count` pixels; of several the newest, for what was
 * entered near by goes on more alike: that alone saves 2 %. Returns its code. */
static uint32_t match(const struct gif_speller *s, const uint8_t *plain, const uint8_t *other, size_t count,
                      size_t *ret_len)
{
    uint16_t lists[2][FOLLOW_MAX + 2] = {
        {other[0], plain[0]}}; /* room for the two that one string can bring */
    int now = 0, found = other[0] == plain[0] ? 1 : 2;
    size_t len = 1;
    while (len < count) {
        uint16_t *next = lists[!now];
        int more = 0, two = other[len] != plain[len];
        for (int i = 0; i < found && more < FOLLOW_MAX; i++) {
            const uint16_t *row = s->longer + ((size_t)lists[now][i] << s->bits);
            uint16_t by_other = row[other[len]], by_plain = row[plain[len]];
            next[more] = by_other;
            more += by_other != 0;
            next[more] = by_plain;
            more += (by_plain != 0) & two;
        }
        if (!more)
            break;
        now = !now;
        found = more < FOLLOW_MAX ? more : FOLLOW_MAX;
        len++;
    }
    uint16_t newest = lists[now][0];
    for (int i = 1; i < found; i++)
        if (lists[now][i] > newest)
            newest = lists[now][i];
    if (len == 1 && starts_run(other, count))
        newest = other[0];
    *ret_len = len;
    return newest;
}

/* Enters string + pixel, which must be new, under the code `next`. */
static void enter(struct gif_speller *s, uint32_t code, uint8_t pixel, uint32_t next)
{
    s->longer[code << s->bits | pixel] = (uint16_t)next;
    s->parent[next] = (uint16_t)code;
    s->last[next] = pixel;
    memset(s->longer + ((size_t)next << s->bits), 0, sizeof(s->longer[0]) << s->bits);
}

static void start_anew(struct gif_speller *s)
{
    memset(s->longer, 0, sizeof(s->longer[0]) << 2 * s->bits);
}

void gif_spell(struct gif_speller *s, uint8_t *plain, const uint8_t *other, size_t count)
{
    const uint32_t first_code = (1u << s->bits) + 2; /* after the pixels themselves, clear and end */
    uint32_t next = first_code, before = 0;          /* `before` is the string before */
    uint8_t before_first = 0;                        /* its first pixel */
    bool enters = false; /* whether it is to be entered with our first pixel behind it */
    start_anew(s);
    for (size_t at = 0; at < count;) {
        /* The compressor enters before + our first pixel ahead of our match. That can only matter to a match
         * which runs through all of `before`, hence starts as it does: so one entry stands for both
         * spellings. */
        bool early = enters && (before_first == other[at] || before_first == plain[at]);
        if (early)
            enter(s, before, before_first, next);
        size_t len = 0;
        uint32_t code = match(s, plain + at, other + at, count - at, &len), string = code;
        for (size_t i = at + len; i-- > at + 1; string = s->parent[string])
            plain[i] = s->last[string];
        plain[at] = (uint8_t)string;
        if (enters && !(early && before_first == plain[at])) {
            if (early)
                s->longer[before << s->bits | before_first] = 0;
            enter(s, before, plain[at], next);
        }
        if (enters)
            next++;
        at += len;
        before = code;
        before_first = (uint8_t)string;
        enters = next < CODE_LIMIT;
        if (!enters) {
            start_anew(s);
            next = first_code;
        }
    }
}
