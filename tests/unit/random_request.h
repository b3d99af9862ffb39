/* Random requests, for tests of what must hold for each. Set random_state first: the same start, the same
 * requests. */
#pragma once

#include <inttypes.h>

#include "renderer/base/attr.h"
#include "tests/unit/ask.h"

#define QUERY_BYTES 8192

static uint64_t random_state;

static uint32_t random_below(uint32_t n)
{
    random_state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = random_state;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((z >> 32) * n >> 32);
}

#define VALUE_BYTES 256 /* 16 colours or 64 bytes of seed, spelled at length */

/* Adds to the end of a text with room for VALUE_BYTES. */
static void append(char *text, const char *more)
{
    size_t len = strlen(text);
    assert_true(len + strlen(more) < VALUE_BYTES);
    snprintf(text + len, VALUE_BYTES - len, "%s", more);
}

/* Name and value of each row that a random request gives, decoded. */
struct pair {
    int row;
    char value[VALUE_BYTES];
};
struct pairs {
    struct pair pair[64];
    int count;
};

static void random_seed(char *text)
{
    static const char *const pieces[] = {"a",
                                         "Z",
                                         "0",
                                         "9",
                                         "-",
                                         ".",
                                         "_",
                                         "~",
                                         " ",
                                         "+",
                                         "%",
                                         "&",
                                         "=",
                                         "#",
                                         "/",
                                         "?",
                                         "\"",
                                         "\xc3\xa9",
                                         "\xe6\x97\xa5",
                                         "\xf0\x9f\xaa\x90"};
    for (uint32_t n = 1 + random_below(16); n; n--)
        append(text, pieces[random_below(ARRAY_LEN(pieces))]);
}

/* A number in one of its spellings. */
static void spelled_number(int row, int32_t value, char *text)
{
    char plain[PARAM_TEXT_BYTES];
    param_text(row, value, plain);
    const char *digits = plain + (plain[0] == '-'), *sign = plain[0] == '-'   ? "-"
                                                            : random_below(2) ? "+"
                                                                              : "";
    const char *point = strchr(digits, '.');
    switch (random_below(4)) {
    case 0:
        snprintf(text, VALUE_BYTES, "%s", plain);
        break;
    case 1:
        snprintf(text, VALUE_BYTES, "%s00%s%s", sign, digits, point ? "000" : ".00");
        break;
    case 2:
        snprintf(text, VALUE_BYTES, "%s%se%s0", sign, digits, random_below(2) ? "-" : "+");
        break;
    default: /* the steps with an exponent */
        snprintf(text, VALUE_BYTES, "%" PRId32 "E-%d", value, params[row].decimals);
        break;
    }
}

static void spelled_color(uint32_t rgb, char *text)
{
    char color[16];
    snprintf(color, sizeof color, random_below(2) ? "#%06" PRIX32 : "%06" PRIx32, rgb & 0xffffff);
    append(text, color);
}

static void random_value(int row, char text[VALUE_BYTES])
{
    const struct param *p = &params[row];
    text[0] = '\0';
    int words = 0;
    switch (p->kind) {
    case PARAM_NUMBER: {
        int32_t span = p->maximum - p->minimum;
        spelled_number(row, p->minimum + (int32_t)random_below((uint32_t)span + 1), text);
        break;
    }
    case PARAM_CHOICE:
        while (p->words[words])
            words++;
        param_text(row, (int32_t)random_below((uint32_t)words), text);
        break;
    case PARAM_COLOR: {
        const char *word = p->words[random_below(COLOR_WORD_COUNT)];
        if (word && random_below(2))
            append(text, word);
        else
            spelled_color(random_below(1 << 24), text);
        break;
    }
    case PARAM_SPAN: {
        int low = (int)random_below(101), high = low + (int)random_below(101 - (uint32_t)low);
        static const char *const forms[] = {"%d..%d", "%d.0..%d", "%d..%de0", "0%d..%d."};
        snprintf(text, VALUE_BYTES, forms[random_below(4)], low, high);
        break;
    }
    case PARAM_PALETTE:
        for (uint32_t n = 2 + random_below(15); n; n--) {
            spelled_color(random_below(1 << 24), text);
            append(text, n > 1 ? "," : "");
        }
        break;
    case PARAM_SWEEP: {
        static const char *const seeds[] = {"1..3", "7", "a,B_~", "0..1,home"};
        static const char *const sweeps[] = {"tilt:-9..9:3", "type:gas,moon", "shade_steps:1..3",
                                             "rings:auto"};
        append(text, row == PARAM_ROW_seeds ? seeds[random_below(4)] : sweeps[random_below(4)]);
        break;
    }
    case PARAM_SEED:
        random_seed(text);
        break;
    }
}

static void give(struct pairs *q, int row, const char *value)
{
    q->pair[q->count].row = row;
    snprintf(q->pair[q->count++].value, VALUE_BYTES, "%s", value);
}

static bool gives(const struct pairs *q, int row)
{
    for (int i = 0; i < q->count; i++)
        if (q->pair[i].row == row)
            return true;
    return false;
}

/* A request of 0 to all parameters; most of them are good. */
static void random_pairs(struct pairs *q)
{
    uint32_t share = 1 + random_below(10);
    q->count = 0;
    for (int i = 0; i < param_count; i++) {
        char value[VALUE_BYTES];
        if (random_below(10) >= share || i == PARAM_ROW_rev)
            continue;
        if (params[i].kind == PARAM_SPAN && random_below(8)) /* nearly all else would be refused */
            continue;
        random_value(i, value);
        if (i == PARAM_ROW_pixels || i == PARAM_ROW_zoom) /* small enough for the pixel limit, mostly */
            snprintf(value, sizeof value, "%d",
                     i == PARAM_ROW_zoom ? 1 + (int)random_below(4) : 8 + (int)random_below(100));
        if (i == PARAM_ROW_layer && random_below(3))
            snprintf(value, sizeof value, "color");
        give(q, i, value);
    }
    if (gives(q, PARAM_ROW_frames) && !gives(q, PARAM_ROW_format))
        give(q, PARAM_ROW_format, "gif");
}

/* Writes the pairs as a query: each byte as it is or as %xx of either case, as the dice say. */
static void write_query(const struct pairs *q, char *query)
{
    char *to = query;
    for (int i = 0; i < q->count; i++) {
        const char *parts[] = {params[q->pair[i].row].name, q->pair[i].value};
        if (i)
            *to++ = '&';
        for (int p = 0; p < 2; p++) {
            for (const char *s = parts[p]; *s; s++) {
                bool must = strchr("%&=+# ", *s) || (*s & 0x80);
                if (must || !random_below(8))
                    to += sprintf(to, random_below(2) ? "%%%02x" : "%%%02X", (unsigned char)*s);
                else
                    *to++ = *s;
            }
            if (!p)
                *to++ = '=';
        }
    }
    *to = '\0';
    assert_true(to - query < QUERY_BYTES);
}

static inline void shuffle(struct pairs *q)
{
    for (int i = q->count - 1; i > 0; i--) {
        int k = (int)random_below((uint32_t)i + 1);
        struct pair kept = q->pair[i];
        q->pair[i] = q->pair[k];
        q->pair[k] = kept;
    }
}

static struct asked random_request(struct pairs *q)
{
    static char query[QUERY_BYTES];
    struct asked a;
    do {
        random_pairs(q);
        write_query(q, query);
        a = ask(query);
        if (a.err && a.err != ERR_PARAM_COMBINATION && a.err != ERR_PICTURE_SIZE)
            fail_msg("%s: %s", query, a.fault.detail);
    } while (a.err);
    return a;
}
