/* Lines on standard error: renderer/ and api/ return, server/ speaks. Callers write key=value pairs; whether
 * pairs or a JSON object come out is settled here. Threads: any; a line is written by one write(), so lines
 * never mix. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "renderer/base/attr.h"
#include "server/log_sink.h"

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

#define LOG_STAMP_BYTES 25 /* 2026-11-30T12:00:00.123Z and NUL */

/* "error", "warn", "info" or "debug"; "text" or "json". Any other word means "info", or "text". Call before
 * other threads start. */
void log_open(const char *level_name, const char *format_name);

bool log_enabled(enum log_level level);
bool log_is_json(void);
const char *log_level_name(enum log_level level);

/* Writes "time=... level=... " and then what the format says: key=value pairs with a blank between. A value
 * that is text stands in double quotes, and what a client sent must pass log_quote(). In JSON, values without
 * quotes that are numbers become numbers, all others texts. */
void log_line(enum log_level level, const char *format, ...) PRINTF_LIKE(2, 3);

#define log_error(...) log_line(LOG_ERROR, __VA_ARGS__)
#define log_warn(...)  log_line(LOG_WARN, __VA_ARGS__)
#define log_info(...)  log_line(LOG_INFO, __VA_ARGS__)
#define log_debug(...)                                                                                       \
    do {                                                                                                     \
        if (log_enabled(LOG_DEBUG))                                                                          \
            log_line(LOG_DEBUG, __VA_ARGS__);                                                                \
    } while (0)

/* Writes `bytes` to `to` in double quotes, with \" \\ \n \r \t and \xNN, cut (with "..." before the closing
 * quote) to fit `size` >= 8. Returns `to`. */
const char *log_quote(const char *bytes, size_t len, char *to, size_t size);

/* The same as a JSON text: UTF-8, bytes that are none become U+FFFD. Returns its length; `to` is terminated.
 */
size_t log_json_text(const char *bytes, size_t len, char *to, size_t size);

/* The time as the lines have it, UTC. */
void log_stamp(const struct timespec *time, char ret_stamp[LOG_STAMP_BYTES]);

/* Writes whole lines of LOG_LINE_BYTES at most. Waits a moment for a reader that is late, once: what a reader
 * who does not keep up has missed is counted, and told in a line (event=log_lines_lost) as soon as there is
 * room again. */
void log_write(const char *lines, size_t len);

/* Lines lost so far. */
uint64_t log_lost(void);

/* What log_line() makes of pairs in JSON, without the braces' content that it adds itself: for tests. Returns
 * the length; cuts a value, then drops pairs, to fit `size` >= 64. */
size_t log_json_object(const char *stamp, enum log_level level, const char *pairs, char *to, size_t size);
