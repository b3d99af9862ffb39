/* code.c -- share codes.
 *
 * A code is a run of bits, five in each character (Crockford's base 32, which leaves out letters that look
 * like others): version, revision, type, format, seed, then row and value of each parameter that stands in
 * the key, and 20 bits of a hash of all that, so that a slip of the pen is told from another planet (one in a
 * million is not).
 *
 * Numbers are written in groups of a few bits, each with a bit that says whether more follow, so that a wider
 * range or a longer table changes no code. Rows are named by their place in params.def, where new ones come
 * last but for `rev`, which has a place of its own here. Another layout needs another CODE_VERSION. Threads:
 * any, all pure. */
#include "api/code.h"

#include <assert.h>
#include <string.h>
#include <xxhash.h>

#include "api/fault.h"
#include "api/key.h"
#include "api/params.h"

#define CODE_VERSION 1
#define CHAR_BITS    5
#define VERSION_BITS 5
#define SUM_CHARS    4
#define SMALL_GROUP  2 /* bits of a group, for what is mostly small */
#define GROUP        4
#define SEED_GROUP   6
#define NUMBER_DIGITS                                                                                        \
    18 /* a seed of so many digits at most is written as a number: it has less than 64 bits */

enum seed_mode { SEED_NUMBER, SEED_ASCII, SEED_BYTES };
#define COLOR_IS_RGB    COLOR_WORD_COUNT /* else the number of its word */
#define COLOR_MODE_BITS 3
#define MODE_BITS       2
#define RGB_BITS        24
#define COUNT_BITS      6 /* of seed bytes and of colours, less one */
#define ASCII_BITS      7
#define BYTE_BITS       8
#define SWEEP_BITS      8 /* of the length of a sweep */

static const char alphabet[] = "0123456789abcdefghjkmnpqrstvwxyz";

/* Characters as numbers 0..31, filled or read from the first bit on. `bad`: the text has ended too early. */
struct bits {
    uint8_t chars[CODE_MAX_BYTES];
    size_t count; /* characters */
    size_t at;    /* bit */
    bool bad;
};

/* ---- writing ---- */

static void put(struct bits *b, uint64_t value, int width)
{
    for (int i = width - 1; i >= 0; i--) {
        size_t c = b->at / CHAR_BITS;
        assert(c < CODE_MAX_BYTES - SUM_CHARS - 1);
        b->chars[c] |= (uint8_t)((value >> i & 1) << (CHAR_BITS - 1 - b->at++ % CHAR_BITS));
        b->count = c + 1;
    }
}

static void put_groups(struct bits *b, uint64_t value, int group)
{
    for (; value >> group; value >>= group) {
        put(b, 1, 1);
        put(b, value & ((UINT64_C(1) << group) - 1), group);
    }
    put(b, value, 1 + group);
}

static uint64_t zigzag(int32_t value)
{
    return value < 0 ? (uint64_t)(-(int64_t)value) * 2 - 1 : (uint64_t)value * 2;
}

/* Whether the seed is a number in its only spelling, and which. */
static bool seed_number(const struct request *r, uint64_t *ret_number)
{
    uint64_t n = 0;
    if (r->seed_len > NUMBER_DIGITS || (r->seed[0] == '0' && r->seed_len > 1))
        return false;
    for (size_t i = 0; i < r->seed_len; i++) {
        if (r->seed[i] < '0' || r->seed[i] > '9')
            return false;
        n = n * 10 + (uint64_t)(r->seed[i] - '0');
    }
    *ret_number = n;
    return true;
}

static void put_seed(struct bits *b, const struct request *r)
{
    uint64_t number;
    if (seed_number(r, &number)) {
        put(b, SEED_NUMBER, MODE_BITS);
        put_groups(b, number, SEED_GROUP);
        return;
    }
    bool ascii = true;
    for (size_t i = 0; i < r->seed_len; i++)
        ascii &= (unsigned char)r->seed[i] < 0x80;
    put(b, ascii ? SEED_ASCII : SEED_BYTES, MODE_BITS);
    put(b, r->seed_len - 1, COUNT_BITS);
    for (size_t i = 0; i < r->seed_len; i++)
        put(b, (unsigned char)r->seed[i], ascii ? ASCII_BITS : BYTE_BITS);
}

static void put_sweep(struct bits *b, const char *text)
{
    size_t len = strlen(text);
    put(b, len, SWEEP_BITS);
    for (size_t i = 0; i < len; i++)
        put(b, (unsigned char)text[i], ASCII_BITS);
}

static void put_value(struct bits *b, const struct request *r, int i)
{
    int32_t value = param_has_number(i) ? param_get(i, r) : 0;
    switch (params[i].kind) {
    case PARAM_NUMBER:
        put_groups(b, zigzag(value), GROUP);
        break;
    case PARAM_CHOICE:
        put_groups(b, (uint64_t)value, SMALL_GROUP);
        break;
    case PARAM_SPAN:
        put_groups(b, (uint64_t)value, GROUP);
        break;
    case PARAM_COLOR:
        put(b, value >= 0 ? COLOR_IS_RGB : (uint64_t)COLOR_WORD_OF(value), COLOR_MODE_BITS);
        if (value >= 0)
            put(b, (uint64_t)value, RGB_BITS);
        break;
    case PARAM_PALETTE:
        put(b, (uint64_t)r->planet.palette_count - 1, COUNT_BITS);
        for (int c = 0; c < r->planet.palette_count; c++)
            put(b, r->planet.palette[c], RGB_BITS);
        break;
    case PARAM_SWEEP:
        put_sweep(b, param_sweep_const(i, r));
        break;
    case PARAM_SEED:
        break;
    }
}

static void put_sum(struct bits *b)
{
    uint64_t sum = XXH3_64bits(b->chars, b->count);
    for (int i = 0; i < SUM_CHARS; i++)
        b->chars[b->count++] = sum >> CHAR_BITS * i & 31;
}

void code_make(const struct request *r, char ret_code[CODE_MAX_BYTES])
{
    struct bits b = {0};
    put(&b, CODE_VERSION, VERSION_BITS);
    put_groups(&b, (uint64_t)r->rev, GROUP);
    put_groups(&b, (uint64_t)r->type, GROUP);
    put_groups(&b, (uint64_t)r->format, SMALL_GROUP);
    put_seed(&b, r);
    int next = 0;
    for (int i = 0; i < param_count; i++) {
        if (!key_adds(i, r))
            continue;
        put(&b, 1, 1);
        put_groups(&b, (uint64_t)(i - next), SMALL_GROUP);
        put_value(&b, r, i);
        next = i + 1;
    }
    put(&b, 0, 1);
    put_sum(&b);
    for (size_t i = 0; i < b.count; i++)
        ret_code[i] = alphabet[b.chars[i]];
    ret_code[b.count] = '\0';
}

/* ---- reading ---- */

static uint64_t get(struct bits *b, int width)
{
    uint64_t value = 0;
    for (int i = 0; i < width; i++) {
        size_t c = b->at / CHAR_BITS;
        if (c >= b->count) {
            b->bad = true;
            return 0;
        }
        value = value << 1 | (b->chars[c] >> (CHAR_BITS - 1 - b->at++ % CHAR_BITS) & 1);
    }
    return value;
}

static uint64_t get_groups(struct bits *b, int group)
{
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += group) {
        bool more = get(b, 1);
        value |= get(b, group) << shift;
        if (!more)
            return value;
    }
    b->bad = true;
    return 0;
}

static int char_value(char c)
{
    if (c >= 'A' && c <= 'Z')
        c = (char)(c - 'A' + 'a');
    c = (char)(c == 'i' || c == 'l' ? '1' : c == 'o' ? '0' : c);
    const char *at = c ? strchr(alphabet, c) : NULL;
    return at ? (int)(at - alphabet) : -1;
}

/* The characters, checked against their sum, which is taken off. */
static bool read_chars(struct bits *b, const char *code, size_t len)
{
    struct bits sum;
    *b = (struct bits){0};
    for (size_t i = 0; i < len; i++) {
        int value = char_value(code[i]);
        if (code[i] == '-')
            continue;
        if (value < 0 || b->count >= CODE_MAX_BYTES - 1)
            return false;
        b->chars[b->count++] = (uint8_t)value;
    }
    if (b->count <= SUM_CHARS)
        return false;
    b->count -= SUM_CHARS;
    sum = *b;
    put_sum(&sum);
    return memcmp(sum.chars + b->count, b->chars + b->count, SUM_CHARS) == 0;
}

/* Gives the request one value, by the rules of any other: text in, checked, `given`. */
static bool give(struct request *r, int i, const char *text, size_t len)
{
    struct request_fault unused;
    return !request_set(r, params[i].name, strlen(params[i].name), text, len, &unused);
}

static bool give_number(struct request *r, int i, uint64_t value)
{
    int64_t number = (int64_t)(value >> 1) * (value & 1 ? -1 : 1) - (int64_t)(value & 1);
    if (number < params[i].minimum || number > params[i].maximum)
        return false;
    char text[PARAM_TEXT_BYTES];
    return give(r, i, text, param_text(i, (int32_t)number, text));
}

static bool give_span(struct request *r, int i, uint64_t value)
{
    char text[PARAM_TEXT_BYTES];
    return value < 1 << 14 && give(r, i, text, param_text(i, (int32_t)value, text));
}

static bool give_word(struct request *r, int i, uint64_t value)
{
    for (uint64_t w = 0; params[i].words[w]; w++)
        if (w == value)
            return give(r, i, params[i].words[w], strlen(params[i].words[w]));
    return false;
}

static bool give_color(struct bits *b, struct request *r, int i)
{
    uint64_t mode = get(b, COLOR_MODE_BITS);
    if (mode != COLOR_IS_RGB) {
        const char *word = mode < COLOR_WORD_COUNT ? params[i].words[mode] : NULL;
        return word && give(r, i, word, strlen(word));
    }
    char text[PARAM_TEXT_BYTES];
    return give(r, i, text, param_text(i, (int32_t)get(b, RGB_BITS), text));
}

#define COLOR_TEXT_BYTES 7 /* "rrggbb," */

static bool give_palette(struct bits *b, struct request *r, int i)
{
    static const char hex[] = "0123456789abcdef";
    char text[PALETTE_MAX * COLOR_TEXT_BYTES];
    size_t len = 0, count = (size_t)get(b, COUNT_BITS) + 1;
    if (count > PALETTE_MAX)
        return false;
    for (size_t c = 0; c < count; c++) {
        uint64_t rgb = get(b, RGB_BITS);
        if (c)
            text[len++] = ',';
        for (int shift = RGB_BITS - 4; shift >= 0; shift -= 4)
            text[len++] = hex[rgb >> shift & 15];
    }
    return give(r, i, text, len);
}

static bool give_seed(struct bits *b, struct request *r)
{
    char text[SEED_MAX_BYTES];
    size_t len = 0;
    uint64_t mode = get(b, MODE_BITS);
    if (mode == SEED_NUMBER) {
        char digits[24];
        size_t count = 0;
        for (uint64_t n = get_groups(b, SEED_GROUP); n || !count; n /= 10)
            digits[count++] = (char)('0' + n % 10);
        while (count)
            text[len++] = digits[--count];
    } else if (mode == SEED_ASCII || mode == SEED_BYTES) {
        size_t count = (size_t)get(b, COUNT_BITS) + 1;
        while (len < count)
            text[len++] = (char)get(b, mode == SEED_ASCII ? ASCII_BITS : BYTE_BITS);
    }
    return give(r, PARAM_ROW_seed, text, len);
}

static bool give_sweep(struct bits *b, struct request *r, int i)
{
    char text[1 << SWEEP_BITS];
    size_t len = (size_t)get(b, SWEEP_BITS);
    for (size_t c = 0; c < len; c++)
        text[c] = (char)get(b, ASCII_BITS);
    return give(r, i, text, len);
}

static bool give_row(struct bits *b, struct request *r, int i)
{
    switch (params[i].kind) {
    case PARAM_NUMBER:
        return give_number(r, i, get_groups(b, GROUP));
    case PARAM_CHOICE:
        return give_word(r, i, get_groups(b, SMALL_GROUP));
    case PARAM_SPAN:
        return give_span(r, i, get_groups(b, GROUP));
    case PARAM_COLOR:
        return give_color(b, r, i);
    case PARAM_PALETTE:
        return give_palette(b, r, i);
    case PARAM_SWEEP:
        return give_sweep(b, r, i);
    case PARAM_SEED:
        break;
    }
    return false;
}

static bool give_all(struct bits *b, struct request *r)
{
    bool good = give_number(r, PARAM_ROW_rev, get_groups(b, GROUP) << 1);
    good = good && give_word(r, PARAM_ROW_type, get_groups(b, GROUP));
    good = good && give_word(r, PARAM_ROW_format, get_groups(b, SMALL_GROUP));
    good = good && give_seed(b, r);
    uint64_t i = 0;
    while (good && get(b, 1)) {
        i += get_groups(b, SMALL_GROUP);
        good = i < (uint64_t)param_count && give_row(b, r, (int)i);
        i++;
    }
    while (good && b->at < b->count * CHAR_BITS && b->at % CHAR_BITS)
        good = get(b, 1) == 0;
    return good && !b->bad && b->at == b->count * CHAR_BITS;
}

enum err code_read(struct request *r, const char *code, size_t len, struct request_fault *ret_fault)
{
    struct bits b;
    if (!read_chars(&b, code, len))
        return fault_set(ret_fault, ERR_PARAM_SYNTAX, "code",
                         "that is no share code: a character is wrong, missing or too many");
    uint64_t version = get(&b, VERSION_BITS);
    if (version != CODE_VERSION)
        return fault_set(ret_fault, ERR_PARAM_SYNTAX, "code",
                         "the share code is of version %u; this server reads version %u", (unsigned)version,
                         CODE_VERSION);
    if (!give_all(&b, r))
        return fault_set(ret_fault, ERR_PARAM_SYNTAX, "code",
                         "the share code asks for what this server does not know");
    return ERR_NONE;
}
