/* text.c -- readers of text that clients send.
 * Numbers are read by hand: strtod takes NaN, infinity, hex, blanks and the locale's comma, and rounds to
 * binary before anything can be snapped to a decimal step. Threads: any, all pure. */
#include "api/text.h"

#include <string.h>

bool text_is_utf8(const char *text, size_t len)
{
    const unsigned char *s = (const unsigned char *)text;
    for (size_t i = 0; i < len;) {
        unsigned char lead = s[i++];
        if (lead < 0x80)
            continue;
        int more = lead >= 0xc2 && lead <= 0xdf   ? 1
                   : (lead & 0xf0) == 0xe0        ? 2
                   : lead >= 0xf0 && lead <= 0xf4 ? 3
                                                  : 0;
        if (!more || len - i < (size_t)more)
            return false;
        /* The second byte is where overlong forms, surrogates and numbers above 10FFFF show. */
        unsigned char low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
        unsigned char high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
        if (s[i] < low || s[i] > high)
            return false;
        for (int k = 1; k < more; k++)
            if ((s[i + (size_t)k] & 0xc0) != 0x80)
                return false;
        i += (size_t)more;
    }
    return true;
}

bool text_is_printable(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] < 0x20 || text[i] > 0x7e)
            return false;
    return true;
}

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

bool text_percent_decode(const char *text, size_t len, bool plus_is_space, char *ret_bytes, size_t room,
                         size_t *ret_len)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        if (c == '%') {
            int high = len - i > 2 ? hex_digit(text[i + 1]) : -1;
            int low = len - i > 2 ? hex_digit(text[i + 2]) : -1;
            if (high < 0 || low < 0)
                return false;
            c = (char)(high << 4 | low);
            i += 2;
        } else if (c == '+' && plus_is_space) {
            c = ' ';
        }
        if (n < room)
            ret_bytes[n++] = c;
    }
    *ret_len = n;
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Where the parts of a number stand. */
struct number_parts {
    bool negative;
    size_t start, end;    /* digits and point */
    int64_t whole_digits; /* digits before the point */
    int64_t
        exponent; /* held within -EXPONENT_LIMIT..EXPONENT_LIMIT: no text is long enough to bring it back */
};
#define EXPONENT_LIMIT 10000000

static bool find_parts(const char *text, size_t len, struct number_parts *ret_parts)
{
    struct number_parts p = {0};
    size_t i = 0, digits = 0;
    if (i < len && (text[i] == '+' || text[i] == '-'))
        p.negative = text[i++] == '-';
    p.start = i;
    for (; i < len && is_digit(text[i]); i++)
        digits++;
    p.whole_digits = (int64_t)digits;
    if (i < len && text[i] == '.')
        for (i++; i < len && is_digit(text[i]); i++)
            digits++;
    p.end = i;
    if (!digits)
        return false;
    if (i < len && (text[i] == 'e' || text[i] == 'E')) {
        i++;
        bool below = i < len && text[i] == '-';
        if (i < len && (text[i] == '+' || text[i] == '-'))
            i++;
        if (i == len)
            return false;
        for (; i < len && is_digit(text[i]); i++)
            if (p.exponent < EXPONENT_LIMIT)
                p.exponent = p.exponent * 10 + (text[i] - '0');
        if (below)
            p.exponent = -p.exponent;
    }
    *ret_parts = p;
    return i == len;
}

static int64_t times_ten_plus(int64_t value, int digit)
{
    return value >= DECIMAL_LIMIT / 10 ? DECIMAL_LIMIT : value * 10 + digit;
}

bool text_decimal(const char *text, size_t len, int places, struct decimal *ret_decimal)
{
    struct number_parts p;
    if (!find_parts(text, len, &p))
        return false;
    int64_t kept = p.whole_digits + p.exponent + places; /* digits that count as whole steps */
    int64_t at = 0, value = 0;
    bool exact = true, round_up = false;
    for (size_t i = p.start; i < p.end; i++) {
        if (text[i] == '.')
            continue;
        int digit = text[i] - '0';
        if (at < kept)
            value = times_ten_plus(value, digit);
        else if (digit)
            exact = false;
        if (at == kept)
            round_up = digit >= 5;
        at++;
    }
    for (; at < kept && value && value < DECIMAL_LIMIT; at++)
        value = times_ten_plus(value, 0);
    if (round_up && value < DECIMAL_LIMIT)
        value++;
    ret_decimal->steps = p.negative ? -value : value;
    ret_decimal->exact = exact;
    ret_decimal->sign = exact ? 0 : round_up != p.negative ? -1 : 1;
    return true;
}

bool text_color(const char *text, size_t len, uint32_t *ret_rgb)
{
    if (len && text[0] == '#') {
        text++;
        len--;
    }
    if (len != 3 && len != 6)
        return false;
    uint32_t rgb = 0;
    for (size_t i = 0; i < len; i++) {
        int digit = hex_digit(text[i]);
        if (digit < 0)
            return false;
        rgb = rgb << 4 | (uint32_t)digit;
        if (len == 3)
            rgb = rgb << 4 | (uint32_t)digit;
    }
    *ret_rgb = rgb;
    return true;
}

static char small_letter(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Optimal string alignment: three rows of the classic table, since a swap looks two rows back. */
int text_distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
    int rows[3][TEXT_DISTANCE_MAX + 1];
    for (size_t j = 0; j <= b_len; j++)
        rows[0][j] = (int)j;
    for (size_t i = 1; i <= a_len; i++) {
        int *row = rows[i % 3], *up = rows[(i + 2) % 3], *up2 = rows[(i + 1) % 3];
        char x = small_letter(a[i - 1]);
        row[0] = (int)i;
        for (size_t j = 1; j <= b_len; j++) {
            char y = small_letter(b[j - 1]);
            int best = up[j - 1] + (x != y);
            if (up[j] + 1 < best)
                best = up[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            bool swapped = i > 1 && j > 1 && x == small_letter(b[j - 2]) && small_letter(a[i - 2]) == y;
            if (swapped && up2[j - 2] + 1 < best)
                best = up2[j - 2] + 1;
            row[j] = best;
        }
    }
    return rows[a_len % 3][b_len];
}
