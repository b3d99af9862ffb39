/* Small readers of text that clients send. All take bytes of any value and a length. Threads: any, all pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "renderer/base/attr.h"

/* Whether the bytes are UTF-8 in its shortest form, without surrogates. */
bool text_is_utf8(const char *text, size_t len);

/* Whether all bytes are printable ASCII. */
bool text_is_printable(const char *text, size_t len);

/* Decodes %XX, and '+' to a space if asked to. Writes at most `room` bytes but looks at all of them. False
 * when a percent sign is not followed by two hex digits. */
MUST_USE bool text_percent_decode(const char *text, size_t len, bool plus_is_space, char *ret_bytes,
                                  size_t room, size_t *ret_len);

/* A decimal number: [+-] digits [. digits] [e [+-] digits]; a digit may be missing on one side of the point.
 */
#define DECIMAL_LIMIT ((int64_t)1000000000000000) /* 10^15: beyond any parameter */
struct decimal {
    int64_t
        steps; /* multiples of 10^-places, halves away from zero; held within -DECIMAL_LIMIT..DECIMAL_LIMIT */
    bool exact; /* nothing was rounded */
    int sign; /* of what rounding left out: 1 when the number is above `steps`, -1 when below, 0 when exact */
};

/* False when the bytes are no decimal number. `places` 0..6, len < 2^20. */
MUST_USE bool text_decimal(const char *text, size_t len, int places, struct decimal *ret_decimal);

/* 3 or 6 hex digits of any case, with or without '#', as 0xRRGGBB. False when they aren't. */
MUST_USE bool text_color(const char *text, size_t len, uint32_t *ret_rgb);

/* Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`, capitals counted as
 * small letters. Both at most TEXT_DISTANCE_MAX bytes long. */
#define TEXT_DISTANCE_MAX 64
int text_distance(const char *a, size_t a_len, const char *b, size_t b_len);
