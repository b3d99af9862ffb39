/* Lines of key=value pairs on standard error: renderer/ and api/ return, server/ speaks. Threads: any; a line
 * is written by one write(), so lines never mix. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "renderer/base/attr.h"

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

/* "error", "warn", "info" or "debug"; any other word means "info". Call before other threads start. */
void log_open(const char *level_name);

bool log_enabled(enum log_level level);

/* Writes "time=... level=... " and then what the format says; text that a client sent must pass log_quote().
 */
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
