/* sign.c -- signed URLs: one canonical form, one HMAC over it.
 *
 * Clients, proxies and libraries spell one URL in many ways, so not the bytes that came are signed but a form
 * in which the harmless differences are gone. Everything that the service tells apart stays apart in it:
 * only characters that mean the same with and without %XX are decoded, so no '&', '=', '+' or '%' comes into
 * being. tests/unit/test_sign.c compares the two readers.
 *
 * The pairs are sorted as views of one buffer; nothing is put together again but in the hash. What a stranger
 * sends costs one pass, one allocation of the form's length and a sort of at most SIGN_PAIRS_MAX pairs before
 * it is refused. Threads: any, all pure. */
#include "api/sign.h"

#include <stdlib.h>
#include <string.h>

#include <nettle/base64.h>
#include <nettle/hmac.h>
#include <nettle/memops.h>

#include "api/text.h"

#define NAME_ROOM 16 /* longer than any name that is looked for */

struct view {
    const char *text;
    size_t len;
};

/* The canonical form in pieces. Zeroed it is empty; free `memory` at the end. */
struct form {
    char *memory;
    struct view path;
    struct view pairs[SIGN_PAIRS_MAX]; /* sorted, without `signature` */
    int pair_count;
    struct view signature, expires; /* the values */
    int signature_count, expires_count;
};

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

static bool is_unreserved(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

bool sign_keys_parse(const char *text, struct sign_keys *ret_keys)
{
    struct sign_keys keys = {0};
    while (*text) {
        size_t digits = strcspn(text, ",");
        if (keys.count == SIGN_KEYS_MAX || digits % 2 || digits / 2 < SIGN_KEY_MIN_BYTES ||
            digits / 2 > SIGN_KEY_MAX_BYTES)
            return false;
        struct sign_key *key = &keys.keys[keys.count++];
        for (size_t i = 0; i < digits; i += 2) {
            int high = hex_digit(text[i]), low = hex_digit(text[i + 1]);
            if (high < 0 || low < 0)
                return false;
            key->bytes[key->len++] = (uint8_t)(high << 4 | low);
        }
        text += digits;
        if (*text == ',' && *++text == '\0')
            return false; /* a key was to follow */
    }
    *ret_keys = keys;
    return true;
}

/* Writes the canonical spelling of `from`, which needs 3 bytes for each '+' and one for each other byte, and
 * moves *to behind it. False when it is broken. */
static bool spell(struct view from, bool in_query, char **to)
{
    static const char digits[] = "0123456789ABCDEF";
    char *out = *to;
    for (size_t i = 0; i < from.len; i++) {
        int c = (unsigned char)from.text[i];
        bool escape = c == '%';
        if (escape) {
            int high = from.len - i > 2 ? hex_digit(from.text[i + 1]) : -1;
            int low = from.len - i > 2 ? hex_digit(from.text[i + 2]) : -1;
            c = high < 0 || low < 0 ? 0 : high << 4 | low;
            i += 2;
            if (!c)
                return false;
            escape = !is_unreserved(c);
        } else if (c <= ' ' || c >= 0x7f || (c == '?' && !in_query)) {
            return false;
        } else if (c == '+' && in_query) {
            escape = true;
            c = ' ';
        }
        if (escape) {
            *out++ = '%';
            *out++ = digits[c >> 4];
            *out++ = digits[c & 15];
        } else {
            *out++ = (char)c;
        }
    }
    *to = out;
    return true;
}

/* The value when the spelt pair has this name. */
static bool named(struct view pair, const char *name, struct view *ret_value)
{
    size_t len = strlen(name);
    if (pair.len < len || memcmp(pair.text, name, len) != 0 || (pair.len > len && pair.text[len] != '='))
        return false;
    *ret_value = pair.len > len ? (struct view){pair.text + len + 1, pair.len - len - 1}
                                : (struct view){pair.text + len, 0};
    return true;
}

/* The next pair of *rest that is not empty; false at the end. */
static bool next_pair(struct view *rest, struct view *ret_pair)
{
    while (rest->len) {
        const char *amp = memchr(rest->text, '&', rest->len);
        size_t len = amp ? (size_t)(amp - rest->text) : rest->len;
        *ret_pair = (struct view){rest->text, len};
        rest->text += len + (amp != NULL);
        rest->len -= len + (amp != NULL);
        if (len)
            return true;
    }
    return false;
}

static int by_bytes(const void *left, const void *right)
{
    const struct view *a = left, *b = right;
    int order = memcmp(a->text, b->text, a->len < b->len ? a->len : b->len);
    return order ? order : (a->len > b->len) - (a->len < b->len);
}

static enum err form_fill(struct form *f, struct view path, struct view query)
{
    char *to = f->memory;
    if (!spell(path, false, &to))
        return ERR_TEXT_ENCODING;
    f->path = (struct view){f->memory, (size_t)(to - f->memory)};
    struct view pair;
    while (next_pair(&query, &pair)) {
        char *start = to;
        if (!spell(pair, true, &to))
            return ERR_TEXT_ENCODING;
        pair = (struct view){start, (size_t)(to - start)};
        if (named(pair, "signature", &f->signature)) {
            f->signature_count++;
            continue;
        }
        if (named(pair, "expires", &f->expires))
            f->expires_count++;
        if (f->pair_count == SIGN_PAIRS_MAX)
            return ERR_TEXT_ENCODING;
        f->pairs[f->pair_count++] = pair;
    }
    qsort(f->pairs, (size_t)f->pair_count, sizeof(f->pairs[0]), by_bytes);
    return ERR_NONE;
}

/* On failure *f holds nothing to free. */
static enum err form_make(struct view path, struct view query, struct form *f)
{
    size_t room = path.len + query.len + 1; /* one more, so that it is never 0 */
    for (size_t i = 0; i < query.len; i++)
        room += query.text[i] == '+' ? 2 : 0;
    f->memory = malloc(room);
    if (!f->memory)
        return ERR_OOM;
    enum err err = form_fill(f, path, query);
    if (err) {
        free(f->memory);
        f->memory = NULL;
    }
    return err;
}

static void add(struct hmac_sha256_ctx *hmac, const void *bytes, size_t len)
{
    if (len)
        hmac_sha256_update(hmac, len, bytes);
}

static void form_sign(const struct form *f, const struct sign_key *key, struct view body,
                      char ret_signature[SIGN_TEXT_BYTES])
{
    struct hmac_sha256_ctx hmac;
    struct base64_encode_ctx base64;
    uint8_t digest[SHA256_DIGEST_SIZE];
    char text[BASE64_ENCODE_LENGTH(SHA256_DIGEST_SIZE) + BASE64_ENCODE_FINAL_LENGTH];
    hmac_sha256_set_key(&hmac, key->len, key->bytes);
    add(&hmac, f->path.text, f->path.len);
    for (int i = 0; i < f->pair_count; i++) {
        add(&hmac, i ? "&" : "?", 1);
        add(&hmac, f->pairs[i].text, f->pairs[i].len);
    }
    if (body.len) {
        add(&hmac, "\n", 1); /* no target holds one */
        add(&hmac, body.text, body.len);
    }
    hmac_sha256_digest(&hmac, sizeof(digest), digest);
    base64url_encode_init(&base64);
    size_t len = base64_encode_update(&base64, text, sizeof(digest), digest);
    (void)base64_encode_final(&base64,
                              text + len); /* one more character, and the padding, which stays here */
    memcpy(ret_signature, text, SIGN_TEXT_BYTES - 1);
    ret_signature[SIGN_TEXT_BYTES - 1] = '\0';
}

enum err sign_make(const struct sign_key *key, const char *path, size_t path_len, const char *query,
                   size_t query_len, const void *body, size_t body_len, char ret_signature[SIGN_TEXT_BYTES])
{
    struct form form = {0};
    enum err err = form_make((struct view){path, path_len}, (struct view){query, query_len}, &form);
    if (err)
        return err;
    form_sign(&form, key, (struct view){body, body_len}, ret_signature);
    free(form.memory);
    return ERR_NONE;
}

static bool seconds(struct view text, uint64_t *ret_seconds)
{
    uint64_t value = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.text[i] < '0' || text.text[i] > '9')
            return false;
        value = value * 10 + (uint64_t)(text.text[i] - '0');
        if (value > SIGN_EXPIRES_MAX)
            return false;
    }
    *ret_seconds = value;
    return text.len != 0;
}

/* Without the padding that some libraries leave, or leave escaped. */
static struct view unpadded(struct view text)
{
    if (text.len == SIGN_TEXT_BYTES && text.text[text.len - 1] == '=')
        text.len -= 1;
    else if (text.len == SIGN_TEXT_BYTES + 2 && memcmp(text.text + text.len - 3, "%3D", 3) == 0)
        text.len -= 3;
    return text;
}

static enum err form_check(const struct form *f, const struct sign_keys *keys, struct view body, uint64_t now,
                           uint64_t *ret_expires)
{
    uint64_t expires = 0;
    struct view given = unpadded(f->signature);
    if (f->signature_count != 1 || given.len != SIGN_TEXT_BYTES - 1 || f->expires_count > 1 ||
        (f->expires_count && !seconds(f->expires, &expires)))
        return ERR_SIGNATURE;
    int equal = 0; /* every key is tried, so that the time doesn't tell which one it was */
    for (int i = 0; i < keys->count; i++) {
        char signature[SIGN_TEXT_BYTES];
        form_sign(f, &keys->keys[i], body, signature);
        equal |= memeql_sec(given.text, signature, given.len);
    }
    if (!equal)
        return ERR_SIGNATURE;
    if (f->expires_count && now > expires)
        return ERR_EXPIRED;
    *ret_expires = expires;
    return ERR_NONE;
}

enum err sign_check(const struct sign_keys *keys, const char *path, size_t path_len, const char *query,
                    size_t query_len, const void *body, size_t body_len, uint64_t now, uint64_t *ret_expires)
{
    struct form form = {0};
    enum err err = form_make((struct view){path, path_len}, (struct view){query, query_len}, &form);
    if (err)
        return err == ERR_OOM ? err : ERR_SIGNATURE;
    err = form_check(&form, keys, (struct view){body, body_len}, now, ret_expires);
    free(form.memory);
    return err;
}

/* Whether a pair as it was sent has this name. */
static bool sent_name_is(struct view pair, const char *name)
{
    char decoded[NAME_ROOM];
    const char *equals = memchr(pair.text, '=', pair.len);
    size_t len, raw_len = equals ? (size_t)(equals - pair.text) : pair.len;
    return text_percent_decode(pair.text, raw_len, true, decoded, sizeof(decoded), &len) &&
           len == strlen(name) && memcmp(decoded, name, len) == 0;
}

size_t sign_strip(const char *query, size_t query_len, char *to)
{
    struct view rest = {query, query_len}, pair;
    size_t len = 0;
    while (next_pair(&rest, &pair)) {
        if (sent_name_is(pair, "signature") || sent_name_is(pair, "expires"))
            continue;
        if (len)
            to[len++] = '&';
        memmove(to + len, pair.text, pair.len); /* never ahead of what is still to be read */
        len += pair.len;
    }
    to[len] = '\0';
    return len;
}

int sign_count(const char *query, size_t query_len, const char *name)
{
    struct view rest = {query, query_len}, pair;
    int count = 0;
    while (next_pair(&rest, &pair))
        count += sent_name_is(pair, name);
    return count;
}
