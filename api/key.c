/* key.c -- the name of a result.
 * Text rather than a hash, because it is read by people in logs and metadata and because two results must
 * never share one. A key is a query string that leads to itself. Threads: any, all pure. */
#include "api/key.h"

#include <assert.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "api/params.h"
#include "renderer/bodies.h"
#include "renderer/encode/encoder.h"
#include "renderer/palettes.h"

#define FILE_SEED_BYTES 40 /* of the seed in a file name; what is cut is told apart by the hash */

static void add(struct key *k, const char *text, size_t len)
{
    assert(len < KEY_MAX_BYTES - k->len); /* tests/unit/test_key.c builds the longest key */
    memcpy(k->text + k->len, text, len);
    k->len += len;
}

static void add_name(struct key *k, int i)
{
    if (k->len)
        add(k, "&", 1);
    add(k, params[i].name, strlen(params[i].name));
    add(k, "=", 1);
}

static bool is_unreserved(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("-._~", c) != NULL);
}

static void add_seed(struct key *k, const struct request *r)
{
    static const char hex[] = "0123456789ABCDEF";
    for (size_t i = 0; i < r->seed_len; i++) {
        unsigned char c = (unsigned char)r->seed[i];
        if (is_unreserved((char)c))
            add(k, r->seed + i, 1);
        else
            add(k, (char[]){'%', hex[c >> 4], hex[c & 15]}, 3);
    }
}

static void add_palette(struct key *k, const struct request *r)
{
    const char *name = palettes_name(r->planet.palette_source);
    if (name)
        add(k, name, strlen(name));
    for (int i = 0; i < r->planet.palette_count; i++) {
        char color[16];
        int len =
            snprintf(color, sizeof color, "%s%06" PRIx32, i ? "," : "", r->planet.palette[i] & 0xffffff);
        add(k, color, (size_t)len);
    }
}

static void add_value(struct key *k, const struct request *r, int i)
{
    add_name(k, i);
    if (params[i].kind == PARAM_SEED) {
        add_seed(k, r);
    } else if (params[i].kind == PARAM_PALETTE) {
        add_palette(k, r);
    } else if (params[i].kind == PARAM_SWEEP) { /* holds nothing that a query escapes */
        add(k, param_sweep_const(i, r), strlen(param_sweep_const(i, r)));
    } else {
        char text[PARAM_TEXT_BYTES];
        size_t len = param_text(i, param_get(i, r), text);
        add(k, text, len);
    }
}

/* What each key begins with, default or not: a key stays readable when a default changes. */
static const enum param_row head[] = {PARAM_ROW_rev, PARAM_ROW_type, PARAM_ROW_seed, PARAM_ROW_format};

static bool in_head(int i)
{
    for (size_t h = 0; h < ARRAY_LEN(head); h++)
        if ((int)head[h] == i)
            return true;
    return false;
}

static bool differs(int i, const struct request *r)
{
    if (params[i].kind == PARAM_PALETTE)
        return r->planet.palette_source != PALETTE_AUTO;
    if (params[i].kind == PARAM_SWEEP)
        return *param_sweep_const(i, r) != '\0';
    return param_get(i, r) != param_default(i, r);
}

bool key_adds(int i, const struct request *r)
{
    return !in_head(i) && differs(i, r);
}

void key_make(const struct request *r, struct key *ret_key)
{
    ret_key->len = 0;
    for (size_t h = 0; h < ARRAY_LEN(head); h++)
        add_value(ret_key, r, (int)head[h]);
    for (int i = 0; i < param_count; i++)
        if (key_adds(i, r))
            add_value(ret_key, r, i);
    ret_key->text[ret_key->len] = '\0';
    ret_key->hash = XXH3_64bits(ret_key->text, ret_key->len);
}

void key_etag(const struct key *key, char ret_etag[ETAG_BYTES])
{
    const char *libraries = encoder_libraries();
    XXH128_hash_t hash =
        XXH3_128bits_withSeed(key->text, key->len, XXH3_64bits(libraries, strlen(libraries)));
    snprintf(ret_etag, ETAG_BYTES, "\"%016" PRIx64 "%016" PRIx64 "\"", (uint64_t)hash.high64,
             (uint64_t)hash.low64);
}

/* Writes the seed in [a-z0-9._-]; false if that lost something. */
static bool seed_slug(const struct request *r, char ret_slug[FILE_SEED_BYTES + 1])
{
    size_t n = 0;
    bool whole = true;
    for (size_t i = 0; i < r->seed_len; i++) {
        char c = r->seed[i];
        char small = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
        bool fits = is_unreserved(small) && small != '~' && n < FILE_SEED_BYTES;
        whole &= fits && small == c;
        if (fits)
            ret_slug[n++] = small;
    }
    ret_slug[n] = '\0';
    return whole;
}

void key_file_name(const struct request *r, const struct key *key, char ret_name[FILE_NAME_BYTES])
{
    char slug[FILE_SEED_BYTES + 1], hash[8] = "";
    const struct encoder *e = &encoders[r->format];
    bool plain = seed_slug(r, slug);
    for (int i = 0; i < param_count; i++)
        if (i != PARAM_ROW_rings && key_adds(i, r))
            plain = false;
    if (!plain)
        snprintf(hash, sizeof hash, "-%06x", (unsigned)(key->hash >> 40));
    snprintf(ret_name, FILE_NAME_BYTES, "%s%s%s%s%s%s.%s", bodies[r->type].name, slug[0] ? "-" : "", slug,
             r->planet.rings ? "-rings" : "", hash, e->suffix ? e->suffix : "", e->extension);
}
