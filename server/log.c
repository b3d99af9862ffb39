/* log.c -- one line for each event: key=value pairs, or the same as a JSON object.
 *
 * A line is put together on the stack and written at once (log_sink.c): no buffer to flush when the process
 * dies. Callers write pairs; for JSON they are taken apart again here, so that no caller knows of it.
 * Threads: any. */
#include "server/log.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "api/text.h"

#define NUMBER_MAX_DIGITS 15 /* longer ones would lose digits in a reader's double */
#define JSON_FEWEST       16 /* room that a key and a cut value need at least */

static enum log_level level_max = LOG_INFO;
static bool json;
static atomic_uint_fast64_t lost, untold; /* lines: ever, and since the reader was told */
static const char *const level_names[] = {"error", "warn", "info", "debug"};

void log_open(const char *level_name, const char *format_name)
{
    level_max = LOG_INFO;
    for (size_t i = 0; i < ARRAY_LEN(level_names); i++)
        if (strcmp(level_name, level_names[i]) == 0)
            level_max = (enum log_level)i;
    json = strcmp(format_name, "json") == 0;
}

bool log_enabled(enum log_level level)
{
    return level <= level_max;
}

bool log_is_json(void)
{
    return json;
}

const char *log_level_name(enum log_level level)
{
    return level_names[level];
}

void log_stamp(const struct timespec *time, char ret_stamp[LOG_STAMP_BYTES])
{
    struct tm utc;
    gmtime_r(&time->tv_sec, &utc);
    size_t len = strftime(ret_stamp, LOG_STAMP_BYTES, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(ret_stamp + len, LOG_STAMP_BYTES - len, ".%03uZ", (unsigned)(time->tv_nsec / 1000000) % 1000);
}

/* ---- Pairs to JSON ---- */

static bool is_plain(unsigned char c)
{
    return c >= ' ' && c < 127 && c != '"' && c != '\\';
}

/* The length of the UTF-8 character that `bytes` begin with; 0 when they begin with none. */
static size_t character_len(const char *bytes, size_t len)
{
    unsigned char c = (unsigned char)bytes[0];
    size_t n = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
    return n <= len && text_is_utf8(bytes, n) ? n : 0;
}

/* One character as JSON has it. Returns how many bytes were read; *ret_len are in `piece`. */
static size_t json_character(const char *bytes, size_t len, char piece[8], size_t *ret_len)
{
    static const char names[] = "\"\\\n\r\t", letters[] = "\"\\nrt";
    size_t n = character_len(bytes, len);
    const char *name = *bytes ? strchr(names, *bytes) : NULL;
    if (name) {
        piece[0] = '\\';
        piece[1] = letters[name - names];
        *ret_len = 2;
    } else if (n == 1 && ((unsigned char)*bytes < ' ' || *bytes == 127)) {
        *ret_len = (size_t)snprintf(piece, 8, "\\u%04x", (unsigned char)*bytes);
    } else if (n == 0) {
        static const char replacement[] = {'\xef', '\xbf', '\xbd'};
        memcpy(piece, replacement, sizeof(replacement));
        *ret_len = sizeof(replacement);
    } else {
        memcpy(piece, bytes, n);
        *ret_len = n;
    }
    return n ? n : 1;
}

size_t log_json_text(const char *bytes, size_t len, char *to, size_t size)
{
    const size_t end = size - 5; /* three dots, the quote, NUL */
    size_t at = 0, i = 0;
    to[at++] = '"';
    while (i < len && at < end) {
        if (is_plain((unsigned char)bytes[i])) {
            to[at++] = bytes[i++];
            continue;
        }
        char piece[8];
        size_t piece_len, read = json_character(bytes + i, len - i, piece, &piece_len);
        if (at + piece_len > end)
            break;
        memcpy(to + at, piece, piece_len);
        at += piece_len;
        i += read;
    }
    if (i < len) {
        memcpy(to + at, "...", 3);
        at += 3;
    }
    to[at++] = '"';
    to[at] = '\0';
    return at;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Undoes log_quote() from behind the opening quote. Returns what follows the closing one. A quote that no
 * blank follows is taken for a part of the text: then a caller forgot to quote it. */
static const char *unquote(const char *at, char *to, size_t size, size_t *ret_len)
{
    static const char letters[] = "\"\\nrt", bytes[] = "\"\\\n\r\t";
    size_t len = 0;
    for (; *at; at++) {
        char c = *at;
        if (c == '"' && (at[1] == ' ' || at[1] == '\0'))
            break;
        const char *letter = c == '\\' && at[1] ? strchr(letters, at[1]) : NULL;
        if (letter) {
            c = bytes[letter - letters];
            at++;
        } else if (c == '\\' && at[1] == 'x' && hex_digit(at[2]) >= 0 && hex_digit(at[3]) >= 0) {
            c = (char)(hex_digit(at[2]) * 16 + hex_digit(at[3]));
            at += 3;
        }
        if (len < size)
            to[len++] = c;
    }
    *ret_len = len;
    return *at ? at + 1 : at;
}

/* Digits with or without a sign and a fraction, as JSON takes them. */
static bool is_number(const char *text, size_t len)
{
    size_t i = len && text[0] == '-' ? 1 : 0, begin = i;
    if (len - begin > NUMBER_MAX_DIGITS)
        return false;
    while (i < len && text[i] >= '0' && text[i] <= '9')
        i++;
    if (i == begin || (text[begin] == '0' && i > begin + 1))
        return false;
    if (i == len)
        return true;
    begin = i + 1;
    if (text[i++] != '.')
        return false;
    while (i < len && text[i] >= '0' && text[i] <= '9')
        i++;
    return i == len && i > begin;
}

/* Adds one pair; false when there is no room for it. */
static bool json_pair(const char *key, size_t key_len, const char *value, size_t len, bool number, char *to,
                      size_t size, size_t *at)
{
    if (*at + key_len + JSON_FEWEST > size || (number && *at + key_len + len + 6 > size))
        return false;
    *at += (size_t)snprintf(to + *at, size - *at, ",\"%.*s\":", (int)key_len, key);
    if (!number)
        *at += log_json_text(value, len, to + *at, size - *at - 1);
    else
        *at += (size_t)snprintf(to + *at, size - *at, "%.*s", (int)len, value);
    return true;
}

size_t log_json_object(const char *stamp, enum log_level level, const char *pairs, char *to, size_t size)
{
    static const char key_characters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    char value[LOG_LINE_BYTES];
    size_t at = (size_t)snprintf(to, size, "{\"time\":\"%s\",\"level\":\"%s\"", stamp, level_names[level]);
    for (bool room = true; room && *(pairs += strspn(pairs, " "));) {
        const char *key = pairs;
        size_t key_len = strspn(pairs, key_characters), len;
        if (key_len == 0 || pairs[key_len] != '=') { /* no pair: nothing of it is lost */
            json_pair("rest", 4, pairs, strlen(pairs), false, to, size, &at);
            break;
        }
        pairs += key_len + 1;
        if (*pairs == '"') {
            pairs = unquote(pairs + 1, value, sizeof(value), &len);
            room = json_pair(key, key_len, value, len, false, to, size, &at);
        } else {
            len = strcspn(pairs, " ");
            room = json_pair(key, key_len, pairs, len, is_number(pairs, len), to, size, &at);
            pairs += len;
        }
    }
    to[at++] = '}';
    to[at] = '\0';
    return at;
}

/* ---- Lines ---- */

/* One line, with its newline; returns its length. `line` has room for LOG_LINE_BYTES + 1. */
static size_t line_make(enum log_level level, const char *pairs, char *line)
{
    char stamp[LOG_STAMP_BYTES];
    struct timespec now;
    size_t len;
    clock_gettime(CLOCK_REALTIME, &now);
    log_stamp(&now, stamp);
    if (json) {
        len = log_json_object(stamp, level, pairs, line, LOG_LINE_BYTES);
    } else {
        len = (size_t)snprintf(line, LOG_LINE_BYTES, "time=%s level=%s %s", stamp, level_names[level], pairs);
        if (len > LOG_LINE_BYTES - 1)
            len = LOG_LINE_BYTES - 1; /* cut, but still one line */
    }
    line[len++] = '\n';
    return len;
}

static void tell_what_was_lost(void)
{
    uint64_t lines = atomic_exchange(&untold, 0);
    char pairs[64], line[LOG_LINE_BYTES + 1];
    if (!lines)
        return;
    snprintf(pairs, sizeof(pairs), "event=log_lines_lost lines=%" PRIu64, lines);
    if (log_sink_write(line, line_make(LOG_WARN, pairs, line)))
        atomic_fetch_add(&untold, lines);
}

void log_write(const char *lines, size_t len)
{
    tell_what_was_lost();
    uint64_t n = log_sink_write(lines, len);
    if (n) {
        atomic_fetch_add(&untold, n);
        atomic_fetch_add(&lost, n);
    }
}

uint64_t log_lost(void)
{
    return atomic_load(&lost);
}

void log_line(enum log_level level, const char *format, ...)
{
    if (level > level_max)
        return;
    char pairs[LOG_LINE_BYTES], line[LOG_LINE_BYTES + 1];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(pairs, sizeof(pairs), format, args);
    va_end(args);
    if (n >= 0)
        log_write(line, line_make(level, pairs, line));
}

const char *log_quote(const char *bytes, size_t len, char *to, size_t size)
{
    static const char hex[] = "0123456789abcdef";
    const size_t end = size - 5; /* three dots, the quote, NUL */
    size_t at = 0, i = 0;
    to[at++] = '"';
    for (; i < len && at < end; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if (is_plain(c)) {
            to[at++] = (char)c;
            continue;
        }
        char piece[4] = {'\\'};
        size_t piece_len = 2;
        if (c == '"' || c == '\\') {
            piece[1] = (char)c;
        } else if (c == '\n' || c == '\r' || c == '\t') {
            piece[1] = c == '\n' ? 'n' : c == '\r' ? 'r' : 't';
        } else {
            piece[1] = 'x';
            piece[2] = hex[c >> 4];
            piece[3] = hex[c & 15];
            piece_len = 4;
        }
        if (at + piece_len > end)
            break;
        memcpy(to + at, piece, piece_len);
        at += piece_len;
    }
    if (i < len) {
        memcpy(to + at, "...", 3);
        at += 3;
    }
    to[at++] = '"';
    to[at] = '\0';
    return to;
}
