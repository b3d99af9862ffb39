/* Signed URLs: HMAC-SHA256 over the canonical form of path and query.
 *
 * Canonical form: path and query as sent, without the pair `signature`; %XX of unreserved characters (RFC
 * 3986, 2.3) decoded, other %XX with upper-case digits; in the query '+' becomes %20, empty pairs vanish, and
 * pairs are sorted bytewise; joined again as path?a=1&b=2 (no '?' without pairs). A body (POST), unless it is
 * empty, follows after one newline. The signature is unpadded base64url of the HMAC (RFC 4648, 5); padding is
 * taken. `expires` is Unix time in seconds, the last one that is good, and is signed like any other pair.
 *
 * A broken target has no canonical form: it holds a byte that is no visible ASCII character, a percent sign
 * without two hex digits, or %00; its path holds a '?'; or its query has more than SIGN_PAIRS_MAX pairs. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "renderer/base/attr.h"
#include "renderer/base/err.h"

#define SIGN_KEYS_MAX      8
#define SIGN_KEY_MIN_BYTES 16                  /* shorter ones could be searched */
#define SIGN_KEY_MAX_BYTES 64                  /* HMAC-SHA256 hashes longer ones down anyway */
#define SIGN_TEXT_BYTES    44                  /* base64url of 32 bytes, and NUL */
#define SIGN_PAIRS_MAX     128                 /* four times as many as there are parameters */
#define SIGN_EXPIRES_MAX   (UINT64_C(1) << 53) /* what JSON and JavaScript can count exactly */

struct sign_keys {
    int count; /* 0 = signatures are not asked for */
    struct sign_key {
        uint8_t bytes[SIGN_KEY_MAX_BYTES];
        size_t len;
    } keys[SIGN_KEYS_MAX];
};

/* Reads hex keys separated by commas; an empty text is no key at all. False: one is not hex of 16..64 bytes,
 * or there are too many. Threads: any. */
bool sign_keys_parse(const char *text, struct sign_keys *ret_keys);

/* Writes the signature of a target (path, or path?query, as it would be sent but for `signature`) and body.
 * ERR_OOM, ERR_TEXT_ENCODING (a broken target). Threads: any. */
MUST_USE enum err sign_make(const struct sign_key *key, const char *path, size_t path_len, const char *query,
                            size_t query_len, const void *body, size_t body_len,
                            char ret_signature[SIGN_TEXT_BYTES]);

/* Whether the query's `signature` is one that a key of *keys made, compared in constant time, and `expires`,
 * if there is one, is not past at `now` (Unix seconds). *ret_expires gets it, or 0. ERR_SIGNATURE (missing,
 * twice, wrong, not base64url; a broken target; `expires` malformed or twice), ERR_EXPIRED, ERR_OOM. Threads:
 * any. */
MUST_USE enum err sign_check(const struct sign_keys *keys, const char *path, size_t path_len,
                             const char *query, size_t query_len, const void *body, size_t body_len,
                             uint64_t now, uint64_t *ret_expires);

/* Writes the query without the pairs `signature` and `expires` to `to` (query_len + 1 bytes are enough),
 * NUL-terminated; returns its length. In-place is fine. Threads: any. */
size_t sign_strip(const char *query, size_t query_len, char *to);

/* How many pairs of the query have this name, however its letters are spelt. Threads: any. */
int sign_count(const char *query, size_t query_len, const char *name);
