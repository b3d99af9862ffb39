/* request_accept.c -- chooses a format by an Accept header, and a coding by Accept-Encoding (RFC 9110,
 * sections 12.5.1 and 12.5.3). The most specific range that fits a format gives its quality. PNG is taken
 * unless GIF has the higher quality, or the same quality from a more specific range: image/gif alone, or
 * beside a wildcard of the same quality, means GIF; wildcards alone mean PNG. Another format is taken where
 * neither of these is allowed and it is named (enum encoder_choice). Members that are no media range are
 * passed over, as are parameters other than q, since neither format has any. Threads: any, all pure. */
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "api/batch.h"
#include "api/request.h"

/* What the header says of one format. */
struct liking {
    int quality_milli; /* -1: no range fits */
    int specific;      /* 0 any type, 1 any image, 2 this one */
};

static bool is_token(char c)
{
    return c > 0x20 && c < 0x7f && !strchr("\"(),/:;<=>?@[\\]{}", c);
}

static const char *skip_blanks(const char *s)
{
    return s + strspn(s, " \t");
}

static const char *skip_token(const char *s)
{
    while (*s && is_token(*s))
        s++;
    return s;
}

/* s stands on the opening quote; behind the closing one, or on the end of the text. */
static const char *skip_quoted(const char *s)
{
    for (s++; *s && *s != '"'; s++)
        if (*s == '\\' && s[1])
            s++;
    return *s ? s + 1 : s;
}

static const char *next_member(const char *s)
{
    while (*s && *s != ',')
        s = *s == '"' ? skip_quoted(s) : s + 1;
    return *s ? s + 1 : s;
}

/* 0..1000, or -1 when the text is no quality. */
static int read_quality(const char *s, size_t len)
{
    if (!len || (s[0] != '0' && s[0] != '1') || len > 5 || (len > 1 && s[1] != '.'))
        return -1;
    int milli = (s[0] - '0') * 1000, unit = 100;
    for (size_t i = 2; i < len; i++, unit /= 10) {
        if (s[i] < '0' || s[i] > '9')
            return -1;
        milli += (s[i] - '0') * unit;
    }
    return milli <= 1000 ? milli : -1;
}

/* Reads the parameters behind a range up to the comma. The quality, 1000 without one, -1 when something is
 * malformed. */
static int read_params(const char *s)
{
    int quality = 1000;
    for (s = skip_blanks(s); *s == ';'; s = skip_blanks(s)) {
        const char *name = skip_blanks(s + 1);
        s = skip_token(name);
        if (s == name) /* an empty parameter is allowed */
            continue;
        size_t name_len = (size_t)(s - name);
        if (*s != '=')
            return -1;
        const char *value = ++s;
        s = *s == '"' ? skip_quoted(s) : skip_token(s);
        if (s == value)
            return -1;
        if (name_len == 1 && (*name == 'q' || *name == 'Q'))
            quality = read_quality(value, (size_t)(s - value));
        if (quality < 0)
            return -1;
    }
    return *s && *s != ',' ? -1 : quality;
}

static bool same(const char *a, size_t len, const char *b)
{
    return strlen(b) == len && !strncasecmp(a, b, len);
}

/* How well a range fits a type: -1 not at all, else as in struct liking. */
static int range_fit(const char *type, size_t type_len, const char *sub, size_t sub_len, const char *mime)
{
    const char *slash = strchr(mime, '/');
    if (same(type, type_len, "*"))
        return same(sub, sub_len, "*") ? 0 : -1;
    if (type_len != (size_t)(slash - mime) || strncasecmp(type, mime, type_len) != 0)
        return -1;
    if (same(sub, sub_len, "*"))
        return 1;
    return same(sub, sub_len, slash + 1) ? 2 : -1;
}

static void weigh_member(const char *s, const char *const mimes[], int count, struct liking likings[])
{
    const char *type = skip_blanks(s);
    const char *slash = skip_token(type);
    if (*slash != '/')
        return;
    const char *sub = slash + 1;
    const char *end = skip_token(sub);
    int quality = read_params(end);
    if (slash == type || end == sub || quality < 0)
        return;
    for (int i = 0; i < count; i++) {
        int fit = range_fit(type, (size_t)(slash - type), sub, (size_t)(end - sub), mimes[i]);
        struct liking *l = &likings[i];
        if (fit < 0 || fit < l->specific)
            continue;
        if (fit > l->specific || quality > l->quality_milli)
            l->quality_milli = quality;
        l->specific = fit;
    }
}

/* What a header, which is not NULL, says of each of `count` types. */
static void weigh(const char *accept, const char *const mimes[], int count, struct liking likings[])
{
    for (int i = 0; i < count; i++)
        likings[i] = (struct liking){-1, -1};
    for (const char *s = accept; *s; s = next_member(s))
        weigh_member(s, mimes, count, likings);
}

/* The best liked of those of one choice, by a range that is at least so specific; *best may be none, -1. A
 * later one must be liked better. */
static void take_best(const struct liking likings[FORMAT_COUNT], enum encoder_choice choice, int least,
                      int *best)
{
    for (int f = 0; f < FORMAT_COUNT; f++) {
        const struct liking *l = &likings[f], *b = *best < 0 ? NULL : &likings[*best];
        if (encoders[f].choice != choice || l->quality_milli <= 0 || l->specific < least)
            continue;
        if (!b || l->quality_milli > b->quality_milli ||
            (l->quality_milli == b->quality_milli && l->specific > b->specific))
            *best = f;
    }
}

enum err request_accept(const char *accept, enum format *ret_format)
{
    if (!accept || !*skip_blanks(accept)) {
        *ret_format = FORMAT_PNG;
        return ERR_NONE;
    }
    struct liking likings[FORMAT_COUNT];
    const char *mimes[FORMAT_COUNT];
    for (int f = 0; f < FORMAT_COUNT; f++)
        mimes[f] = encoders[f].mime;
    weigh(accept, mimes, FORMAT_COUNT, likings);

    int best = -1;
    take_best(likings, CHOICE_FREE, 0, &best);
    if (best < 0)
        take_best(likings, CHOICE_NAMED, 2, &best);
    if (best < 0)
        return ERR_NOT_ACCEPTABLE;
    *ret_format = (enum format)best;
    return ERR_NONE;
}

enum err batch_accept(const char *accept, enum batch_container *ret_container)
{
    static const char *const mimes[] = {
        [BATCH_ZIP] = "application/zip", [BATCH_MULTIPART] = "multipart/mixed"};
    struct liking likings[] = {{1, 0}, {0, 0}}; /* ZIP, without a header */
    if (accept && *skip_blanks(accept))
        weigh(accept, mimes, 2, likings);
    const struct liking *zip = &likings[BATCH_ZIP], *parts = &likings[BATCH_MULTIPART];
    if (zip->quality_milli <= 0 && parts->quality_milli <= 0)
        return ERR_NOT_ACCEPTABLE;
    bool parts_liked = parts->quality_milli > zip->quality_milli ||
                       (parts->quality_milli == zip->quality_milli && parts->specific > zip->specific);
    *ret_container = parts_liked ? BATCH_MULTIPART : BATCH_ZIP;
    return ERR_NONE;
}

bool request_accepts_html(const char *accept)
{
    static const char *const mimes[] = {"text/html", "text/plain"};
    struct liking likings[ARRAY_LEN(mimes)];
    weigh(accept ? accept : "", mimes, ARRAY_LEN(mimes), likings);
    const struct liking *html = &likings[0], *plain = &likings[1];
    return html->specific == 2 && html->quality_milli > 0 && html->quality_milli >= plain->quality_milli;
}

bool request_accepts_gzip(const char *accept_encoding)
{
    int gzip = -1, identity = -1, any = -1; /* qualities; -1: not named */
    for (const char *s = accept_encoding ? accept_encoding : ""; *s; s = next_member(s)) {
        const char *coding = skip_blanks(s), *end = skip_token(coding);
        size_t len = (size_t)(end - coding);
        int quality = read_params(end);
        int *named = same(coding, len, "gzip") || same(coding, len, "x-gzip") ? &gzip
                     : same(coding, len, "identity")                          ? &identity
                     : same(coding, len, "*")                                 ? &any
                                                                              : NULL;
        if (named && quality > *named)
            *named = quality;
    }
    int liked = gzip >= 0 ? gzip : any;
    return liked > 0 && liked >= identity;
}
