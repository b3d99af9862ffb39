/* log.c -- one line of key=value pairs for each event.
 *
 * A line is put together on the stack and handed to one write(), which the kernel keeps whole for pipes up to
 * PIPE_BUF: no lock, no buffer to flush when the process dies. Threads: any. */
#include "server/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LINE_BYTES 4096 /* PIPE_BUF on Linux */

static enum log_level level_max = LOG_INFO;
static const char *const level_names[] = {"error", "warn", "info", "debug"};

void log_open(const char *level_name)
{
    level_max = LOG_INFO;
    for (size_t i = 0; i < ARRAY_LEN(level_names); i++)
        if (strcmp(level_name, level_names[i]) == 0)
            level_max = (enum log_level)i;
}

bool log_enabled(enum log_level level)
{
    return level <= level_max;
}

void log_line(enum log_level level, const char *format, ...)
{
    if (level > level_max)
        return;
    char line[LINE_BYTES];
    struct timespec now;
    struct tm utc;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    size_t len = strftime(line, sizeof(line), "time=%Y-%m-%dT%H:%M:%S", &utc);
    len += (size_t)snprintf(line + len, sizeof(line) - len, ".%03ldZ level=%s ", now.tv_nsec / 1000000,
                            level_names[level]);
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line + len, sizeof(line) - len, format, args);
    va_end(args);
    if (n < 0)
        return;
    len += (size_t)n;
    if (len > sizeof(line) - 1)
        len = sizeof(line) - 1; /* cut, but still one line */
    line[len++] = '\n';
    if (write(STDERR_FILENO, line, len) < 0)
        return; /* nobody is left to tell */
}

const char *log_quote(const char *bytes, size_t len, char *to, size_t size)
{
    static const char hex[] = "0123456789abcdef";
    size_t at = 0;
    to[at++] = '"';
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)bytes[i];
        char piece[4] = {'\\'};
        size_t piece_len = 2;
        if (c == '"' || c == '\\') {
            piece[1] = (char)c;
        } else if (c == '\n' || c == '\r' || c == '\t') {
            piece[1] = c == '\n' ? 'n' : c == '\r' ? 'r' : 't';
        } else if (c < 32 || c > 126) {
            piece[1] = 'x';
            piece[2] = hex[c >> 4];
            piece[3] = hex[c & 15];
            piece_len = 4;
        } else {
            piece[0] = (char)c;
            piece_len = 1;
        }
        if (at + piece_len + 5 > size) { /* three dots, the quote, NUL */
            memcpy(to + at, "...", 3);
            at += 3;
            break;
        }
        memcpy(to + at, piece, piece_len);
        at += piece_len;
    }
    to[at++] = '"';
    to[at] = '\0';
    return to;
}
