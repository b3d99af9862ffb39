/* request.c -- takes name/value pairs, from a query or a path, into a request.
 * One function, request_set(), takes them all, whatever they came in, so that each way of asking for a
 * picture has the same rules and the same words for what is wrong. Threads: one request by one thread at a
 * time. */
#include "api/request.h"

#include <string.h>

#include "api/code.h"
#include "api/contact.h"
#include "api/fault.h"
#include "api/params.h"
#include "api/text.h"
#include "renderer/palettes.h"

#define NAME_MAX_BYTES  TEXT_DISTANCE_MAX /* longer than any name, even misspelt */
#define VALUE_MAX_BYTES 1024 /* longer than any sensible spelling of a value; palettes need 127 */

void request_default_seed(struct request *r)
{
    memset(r->seed, 0, sizeof r->seed);
    r->seed_len = strlen(params[PARAM_ROW_seed].default_text);
    memcpy(r->seed, params[PARAM_ROW_seed].default_text, r->seed_len);
}

void request_init(struct request *r)
{
    memset(r, 0, sizeof *r);
    r->format = FORMAT_PNG;
    r->rings = param_default(PARAM_ROW_rings, r);
    r->type = param_default(PARAM_ROW_type, r);
    r->planet.shading = param_default(PARAM_ROW_shading, r);
    r->rev = param_default(PARAM_ROW_rev, r);
    request_default_seed(r);
}

bool request_has(const struct request *r, const char *name)
{
    int i = param_find(name, strlen(name));
    return i >= 0 && (r->given >> i & 1);
}

/* The name that was probably meant, or NULL. A name that is the start of another ("light") counts as one
 * slip. */
static const char *nearest_name(const char *name, size_t len)
{
    const char *nearest = NULL;
    int best = 1 + (int)len / 3; /* more slips than that is another word */
    for (int i = 0; i < param_count; i++) {
        const char *known = params[i].name;
        int distance = text_distance(name, len, known, strlen(known));
        if (distance > 1 && len >= 3 && !strncmp(name, known, len))
            distance = 1;
        if (distance < best || (distance == best && !nearest)) {
            best = distance;
            nearest = known;
        }
    }
    return nearest;
}

static enum err refuse_name(const char *name, size_t len, struct request_fault *fault)
{
    char quote[FAULT_QUOTE_BYTES], param[sizeof fault->param] = "";
    fault_quote(name, len, "that", quote);
    if (len < sizeof param && text_is_printable(name, len))
        memcpy(param, name, len);
    const char *nearest = len <= NAME_MAX_BYTES ? nearest_name(name, len) : NULL;
    if (nearest)
        return fault_set(fault, ERR_PARAM_UNKNOWN, param, "no parameter is called %s; did you mean \"%s\"?",
                         quote, nearest);
    return fault_set(fault, ERR_PARAM_UNKNOWN, param, "no parameter is called %s; /types lists all of them",
                     quote);
}

static enum err parse_number(int i, const char *value, size_t len, int32_t *ret_value)
{
    const struct param *p = &params[i];
    struct decimal number;
    if (!text_decimal(value, len, p->decimals, &number))
        return ERR_PARAM_SYNTAX;
    /* The number itself is checked, not what it is rounded to: 90.04 is no latitude. */
    bool below = number.steps < p->minimum || (number.steps == p->minimum && number.sign < 0);
    bool above = number.steps > p->maximum || (number.steps == p->maximum && number.sign > 0);
    if (below || above)
        return ERR_PARAM_RANGE;
    if (p->decimals == 0 && !number.exact)
        return ERR_PARAM_SYNTAX;
    *ret_value = (int32_t)number.steps;
    return ERR_NONE;
}

static bool same_text(const char *word, const char *value, size_t len)
{
    return word && strlen(word) == len && !memcmp(word, value, len);
}

static enum err parse_choice(int i, const char *value, size_t len, int32_t *ret_value)
{
    for (int w = 0; params[i].words[w]; w++)
        if (same_text(params[i].words[w], value, len)) {
            *ret_value = w;
            return ERR_NONE;
        }
    return ERR_PARAM_SYNTAX;
}

static enum err parse_color(int i, const char *value, size_t len, int32_t *ret_value)
{
    uint32_t rgb;
    for (int w = 0; w < COLOR_WORD_COUNT; w++)
        if (same_text(params[i].words[w], value, len)) {
            *ret_value = COLOR_WORD_OF(w);
            return ERR_NONE;
        }
    if (!text_color(value, len, &rgb))
        return ERR_PARAM_SYNTAX;
    *ret_value = (int32_t)rgb;
    return ERR_NONE;
}

static enum err parse_percent(const char *text, size_t len, int32_t *ret_percent)
{
    struct decimal number;
    if (!text_decimal(text, len, 0, &number) || !number.exact)
        return ERR_PARAM_SYNTAX;
    if (number.steps < 0 || number.steps > 100)
        return ERR_PARAM_RANGE;
    *ret_percent = (int32_t)number.steps;
    return ERR_NONE;
}

/* "65..75", "65..", "..75" or "65", which is that number and half of one percent on both sides. */
static enum err parse_span(const char *value, size_t len, int32_t *ret_span)
{
    int32_t low = 0, high = 100;
    size_t dots = 0;
    while (dots + 1 < len && (value[dots] != '.' || value[dots + 1] != '.'))
        dots++;
    bool is_range = dots + 1 < len, ends_open = is_range && dots + 2 == len;
    enum err err =
        is_range && !dots && !ends_open ? ERR_NONE : parse_percent(value, is_range ? dots : len, &low);
    if (!err && is_range && !ends_open)
        err = parse_percent(value + dots + 2, len - dots - 2, &high);
    if (err)
        return err;
    if (!is_range)
        high = low;
    *ret_span = SPAN_OF(low, high);
    return low <= high ? ERR_NONE : ERR_PARAM_RANGE;
}

/* What the value names, or PALETTE_LIST. */
static int32_t palette_named(const char *value, size_t len)
{
    for (int32_t source = 0; source < PALETTE_SOURCE_COUNT; source++)
        if (same_text(palettes_name(source), value, len))
            return source;
    return PALETTE_LIST;
}

static enum err set_palette(struct request *r, const char *value, size_t len)
{
    uint32_t palette[PALETTE_MAX] = {0};
    int32_t count = 0;
    int32_t source = palette_named(value, len);
    if (source == PALETTE_LIST) {
        for (size_t at = 0; at <= len; count++) {
            const char *comma = at < len ? memchr(value + at, ',', len - at) : NULL;
            size_t end = comma ? (size_t)(comma - value) : len;
            uint32_t rgb;
            if (!text_color(value + at, end - at, &rgb))
                return ERR_PARAM_SYNTAX;
            if (count < PALETTE_MAX)
                palette[count] = rgb;
            at = end + 1;
        }
        if (count < 2 || count > PALETTE_MAX)
            return ERR_PARAM_RANGE;
    }
    memcpy(r->planet.palette, palette, sizeof palette);
    r->planet.palette_count = count;
    r->planet.palette_source = source;
    return ERR_NONE;
}

/* Whether the UTF-8 holds a control character: C0, DEL or C1 (U+0080..U+009F). */
static bool has_control(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i], next = i + 1 < len ? (unsigned char)text[i + 1] : 0;
        if (c < 0x20 || c == 0x7f || (c == 0xc2 && next < 0xa0))
            return true;
    }
    return false;
}

static enum err set_seed(struct request *r, const char *value, size_t len)
{
    if (!len)
        return ERR_PARAM_SYNTAX;
    if (len > SEED_MAX_BYTES)
        return ERR_PARAM_RANGE;
    if (has_control(value, len))
        return ERR_PARAM_SYNTAX;
    memset(r->seed, 0, sizeof r->seed);
    memcpy(r->seed, value, len);
    r->seed_len = len;
    return ERR_NONE;
}

static enum err set_value(struct request *r, int i, const char *value, size_t len)
{
    int32_t parsed = 0;
    enum err err = ERR_NONE;
    switch (params[i].kind) {
    case PARAM_NUMBER:
        err = parse_number(i, value, len, &parsed);
        break;
    case PARAM_CHOICE:
        err = parse_choice(i, value, len, &parsed);
        break;
    case PARAM_COLOR:
        err = parse_color(i, value, len, &parsed);
        break;
    case PARAM_SPAN:
        err = parse_span(value, len, &parsed);
        break;
    case PARAM_PALETTE:
        return set_palette(r, value, len);
    case PARAM_SEED:
        return set_seed(r, value, len);
    case PARAM_SWEEP: /* contact_set() */
        return ERR_PARAM_SYNTAX;
    }
    if (!err)
        param_put(i, r, parsed);
    return err;
}

static enum err refuse_beside_code(struct request_fault *fault)
{
    return fault_set(fault, ERR_PARAM_COMBINATION, "code",
                     "a share code stands for all parameters; nothing else may be given with it");
}

static enum err set_code(struct request *r, const char *value, size_t len, struct request_fault *fault)
{
    if (r->given_by_code)
        return fault_set(fault, ERR_PARAM_REPEATED, "code", "code is given more than once");
    if (r->given)
        return refuse_beside_code(fault);
    enum err err = code_read(r, value, len, fault);
    r->given_by_code = true;
    return err;
}

enum err request_set(struct request *r, const char *name, size_t name_len, const char *value,
                     size_t value_len, struct request_fault *ret_fault)
{
    if (name_len <= NAME_MAX_BYTES && !text_is_utf8(name, name_len))
        return fault_set(ret_fault, ERR_TEXT_ENCODING, NULL, "the name of a parameter is not UTF-8");
    if (name_len <= NAME_MAX_BYTES && memchr(name, '\0', name_len))
        return fault_set(ret_fault, ERR_TEXT_ENCODING, NULL, "the name of a parameter holds a NUL byte");
    int i = param_find(name, name_len);
    if (same_text("code", name, name_len))
        return set_code(r, value, value_len, ret_fault);
    if (r->given_by_code)
        return refuse_beside_code(ret_fault);
    if (i < 0)
        return refuse_name(name, name_len, ret_fault);
    const struct param *p = &params[i];
    if (r->given >> i & 1)
        return fault_set(
            ret_fault, ERR_PARAM_REPEATED, p->name,
            r->given_by_path >> i & 1 ? "the path already gives %s" : "%s is given more than once", p->name);
    if (value_len > VALUE_MAX_BYTES)
        return fault_value(ret_fault, p->kind == PARAM_SEED ? ERR_PARAM_RANGE : ERR_PARAM_SYNTAX, i, value,
                           value_len);
    if (!text_is_utf8(value, value_len))
        return fault_set(ret_fault, ERR_TEXT_ENCODING, p->name, "the value of %s is not UTF-8", p->name);
    if (value_len && memchr(value, '\0', value_len))
        return fault_set(ret_fault, ERR_TEXT_ENCODING, p->name, "the value of %s holds a NUL byte", p->name);
    enum err err = p->kind == PARAM_SWEEP ? contact_set(r, i, value, value_len, ret_fault)
                                          : set_value(r, i, value, value_len);
    if (err && p->kind == PARAM_SWEEP)
        return err;
    if (err)
        return fault_value(ret_fault, err, i, value, value_len);
    r->given |= UINT64_C(1) << i;
    return ERR_NONE;
}

/* Takes one value that is still percent-encoded. `name` is decoded. */
static enum err set_encoded(struct request *r, const char *name, size_t name_len, const char *value,
                            size_t value_len, bool plus_is_space, struct request_fault *fault)
{
    char decoded[VALUE_MAX_BYTES + 1]; /* one more, so that request_set() sees what is too long */
    size_t len;
    if (text_percent_decode(value, value_len, plus_is_space, decoded, sizeof decoded, &len))
        return request_set(r, name, name_len, decoded, len, fault);
    int i = text_is_utf8(name, name_len) ? param_find(name, name_len) : -1;
    if (i < 0)                                               /* of a code, too, which has no percent sign */
        return request_set(r, name, name_len, "", 0, fault); /* the name is the first thing wrong */
    return fault_set(fault, ERR_TEXT_ENCODING, params[i].name,
                     "in the value of %s a percent sign is not followed by two hex digits", params[i].name);
}

static enum err set_pair(struct request *r, const char *pair, size_t len, struct request_fault *fault)
{
    char name[NAME_MAX_BYTES + 1];
    size_t name_len;
    const char *equals = memchr(pair, '=', len);
    size_t raw_name_len = equals ? (size_t)(equals - pair) : len;
    if (!text_percent_decode(pair, raw_name_len, true, name, sizeof name, &name_len))
        return fault_set(fault, ERR_TEXT_ENCODING, NULL,
                         "in the name of a parameter a percent sign is not followed by two hex digits");
    const char *value = equals ? equals + 1 : pair + len;
    return set_encoded(r, name, name_len, value, (size_t)(pair + len - value), true, fault);
}

enum err request_set_query(struct request *r, const char *query, size_t len, struct request_fault *ret_fault)
{
    const char *end = query + len;
    while (query < end) {
        const char *amp = memchr(query, '&', (size_t)(end - query));
        const char *stop = amp ? amp : end;
        if (stop > query) {
            enum err err = set_pair(r, query, (size_t)(stop - query), ret_fault);
            if (err)
                return err;
        }
        query = stop + (amp != NULL);
    }
    return ERR_NONE;
}

static enum err refuse_path(struct request_fault *fault)
{
    return fault_set(
        fault, ERR_NOT_FOUND, NULL,
        "pictures are at /planet, /planet.png and /planet/{type}/{seed}.png; other endings: "
        "gif, apng, webp, json for what is in them, gpl and hex for their colours; others are at "
        "/sheet.png, /sheet.json, /palette.png, /contact.png and /find");
}

static const char *last_dot(const char *path, size_t len)
{
    while (len)
        if (path[--len] == '.')
            return path + len;
    return NULL;
}

static enum err set_named(struct request *r, int row, const char *value, size_t len,
                          struct request_fault *fault)
{
    enum err err = set_encoded(r, params[row].name, strlen(params[row].name), value, len, false, fault);
    if (!err)
        r->given_by_path |= UINT64_C(1) << row;
    return err;
}

enum err request_set_path(struct request *r, const char *path, size_t len, struct request_fault *ret_fault)
{
    if (!len)
        return ERR_NONE;
    const char *dot = last_dot(path, len);
    const char *extension = dot ? dot + 1 : path + len;
    size_t extension_len = (size_t)(path + len - extension);
    int format = 0;
    while (format < FORMAT_COUNT &&
           (encoders[format].address || !same_text(encoders[format].name, extension, extension_len)))
        format++;
    if (!dot || format == FORMAT_COUNT)
        return refuse_path(ret_fault);

    const char *type = path + 1, *slash = NULL;
    if (dot > path) { /* "/{type}/{seed}": two parts, the seed may be empty only to be refused by name */
        if (path[0] != '/')
            return refuse_path(ret_fault);
        slash = memchr(type, '/', (size_t)(dot - type));
        if (!slash || slash == type || memchr(slash + 1, '/', (size_t)(dot - slash - 1)))
            return refuse_path(ret_fault);
    }
    /* The format first: whatever else is wrong, Accept has no say. */
    const char *name = encoders[format].name;
    enum err err = set_named(r, PARAM_ROW_format, name, strlen(name), ret_fault);
    if (!err && slash)
        err = set_named(r, PARAM_ROW_type, type, (size_t)(slash - type), ret_fault);
    if (!err && slash)
        err = set_named(r, PARAM_ROW_seed, slash + 1, (size_t)(dot - slash - 1), ret_fault);
    return err;
}

enum err request_set_address(struct request *r, const char *path, size_t len, struct request_fault *ret_fault)
{
    static const char planet[] = "/planet";
    size_t planet_len = sizeof planet - 1;
    if (same_text(CONTACT_SHORT_ADDRESS, path, len)) {
        path = encoders[FORMAT_CONTACT].address;
        len = strlen(path);
    }
    for (int f = 0; f < FORMAT_COUNT; f++)
        if (same_text(encoders[f].address, path, len))
            return set_named(r, PARAM_ROW_format, encoders[f].name, strlen(encoders[f].name), ret_fault);
    if (len < planet_len || memcmp(path, planet, planet_len) != 0)
        return refuse_path(ret_fault);
    return request_set_path(r, path + planet_len, len - planet_len, ret_fault);
}
