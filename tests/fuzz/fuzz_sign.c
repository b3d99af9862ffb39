/* fuzz_sign.c -- three parts: path, query, body, each behind a line feed. What sign_make() signs,
 * sign_check() takes, in any order of pairs; what was altered, it refuses; and nobody signs without a key. */
#include "api/sign.h"
#include "tests/fuzz/fuzz.h"

#define FAR UINT64_C(1) << 60 /* after every time that a URL can end at */

struct target {
    struct fuzz_part path, query, body;
};

static struct sign_keys keys;

static enum err make(int key, const struct target *t, char ret_signature[SIGN_TEXT_BYTES])
{
    return sign_make(&keys.keys[key], t->path.at, t->path.len, t->query.at, t->query.len, t->body.at,
                     t->body.len, ret_signature);
}

static enum err check(const struct target *t, uint64_t now, uint64_t *ret_expires)
{
    return sign_check(&keys, t->path.at, t->path.len, t->query.at, t->query.len, t->body.at, t->body.len, now,
                      ret_expires);
}

/* The query with more text at its end, behind an '&'. */
static struct fuzz_part with(struct fuzz_part query, const char *name, const char *value)
{
    char *text = malloc(query.len + strlen(name) + strlen(value) + 2);
    CHECK(text);
    memcpy(text, query.at, query.len);
    int n = sprintf(text + query.len, "%s%s%s", query.len ? "&" : "", name, value);
    return (struct fuzz_part){text, query.len + (size_t)n};
}

static enum err check_with(const struct target *t, const char *signature, const char *more, uint64_t now,
                           uint64_t *ret_expires)
{
    struct target signed_target = *t;
    struct fuzz_part query = with(t->query, more, "");
    signed_target.query = with(query, "signature=", signature);
    enum err err = check(&signed_target, now, ret_expires);
    free((char *)(uintptr_t)query.at);
    free((char *)(uintptr_t)signed_target.query.at);
    return err;
}

/* Stripping takes signature and expires, nothing else, and is the same in place. */
static void check_strip(struct fuzz_part query)
{
    char *once = malloc(query.len + 1), *again = malloc(query.len + 1), *there = malloc(query.len + 1);
    CHECK(once && again && there);
    memcpy(there, query.at, query.len);
    size_t len = sign_strip(query.at, query.len, once);
    CHECK(len <= query.len && once[len] == '\0');
    CHECK(sign_count(once, len, "signature") == 0 && sign_count(once, len, "expires") == 0);
    CHECK(sign_strip(once, len, again) == len && memcmp(once, again, len) == 0);
    CHECK(sign_strip(there, query.len, there) == len && memcmp(once, there, len) == 0);
    free(once);
    free(again);
    free(there);
}

/* A target that can be signed and has no signature yet. */
static void check_signed(const struct target *t, const char *signature)
{
    uint64_t expires = 1;
    char wrong[SIGN_TEXT_BYTES], second[SIGN_TEXT_BYTES];
    int times = sign_count(t->query.at, t->query.len, "expires");
    enum err err = check_with(t, signature, "", 0, &expires);
    CHECK(err == ERR_NONE || (err == ERR_SIGNATURE && times > 0)); /* malformed, or twice */
    if (err)
        return;
    CHECK(times <= 1 && (times == 1 || expires == 0));
    if (times == 1)
        CHECK(expires <= SIGN_EXPIRES_MAX && check_with(t, signature, "", FAR, &expires) == ERR_EXPIRED);
    CHECK(make(1, t, second) == ERR_NONE && strcmp(second, signature) != 0);
    CHECK(check_with(t, second, "", 0, &expires) == ERR_NONE);
    memcpy(wrong, signature, sizeof(wrong));
    wrong[0] = wrong[0] == 'A' ? 'B' : 'A';
    CHECK(check_with(t, wrong, "", 0, &expires) == ERR_SIGNATURE);
    CHECK(check_with(t, signature, "another=1", 0, &expires) == ERR_SIGNATURE);
    CHECK(check_with(t, signature, "signature=", 0, &expires) == ERR_SIGNATURE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct target t;
    struct fuzz_part parts[3];
    char signature[SIGN_TEXT_BYTES], turned_signature[SIGN_TEXT_BYTES];
    uint64_t expires;
    if (!keys.count)
        CHECK(sign_keys_parse("00112233445566778899aabbccddeeff,ffeeddccbbaa99887766554433221100ff", &keys));
    fuzz_split(data, size, parts, 3);
    char *path = fuzz_copy(parts[0].at, parts[0].len), *query = fuzz_copy(parts[1].at, parts[1].len);
    char *body = fuzz_copy(parts[2].at, parts[2].len);
    t.path = (struct fuzz_part){path, parts[0].len};
    t.query = (struct fuzz_part){query, parts[1].len};
    t.body = (struct fuzz_part){body, parts[2].len};

    check_strip(t.query);
    CHECK(check(&t, 0, &expires) == ERR_SIGNATURE);
    enum err err = make(0, &t, signature);
    CHECK(err == ERR_NONE || err == ERR_TEXT_ENCODING);
    if (!err) {
        size_t pairs = 3; /* what is added */
        struct target turned = t;
        const char *cut = t.query.len ? memchr(query, '&', t.query.len) : NULL;
        struct fuzz_part first = {query, cut ? (size_t)(cut - query) : 0};
        struct fuzz_part rest = {cut ? cut + 1 : query, t.query.len - first.len - (cut ? 1 : 0)};
        char *first_text = fuzz_text(first.at, first.len);
        turned.query = with(rest, first_text, "");
        CHECK(strlen(signature) == SIGN_TEXT_BYTES - 1);
        CHECK(make(0, &turned, turned_signature) == ERR_NONE);
        CHECK(strcmp(signature, turned_signature) == 0);
        free(first_text);
        free((char *)(uintptr_t)turned.query.at);
        for (size_t i = 0; i < t.query.len; i++)
            pairs += query[i] == '&';
        if (pairs < SIGN_PAIRS_MAX && sign_count(query, t.query.len, "signature") == 0)
            check_signed(&t, signature);
    }
    free(path);
    free(query);
    free(body);
    return 0;
}
