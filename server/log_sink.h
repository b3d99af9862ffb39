/* Where finished lines of the log go: standard error, without ever waiting for who reads it. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define LOG_LINE_BYTES 4096 /* PIPE_BUF on Linux: so much a pipe takes whole */

/* Writes whole lines, each ended by a newline and at most LOG_LINE_BYTES long, in pieces that a pipe takes
 * whole. Returns how many lines were lost because the reader does not keep up. Threads: any. */
uint64_t log_sink_write(const char *lines, size_t len);
