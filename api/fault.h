/* Filling a struct request_fault. For the files of api/ alone. */
#pragma once

#include "api/request.h"
#include "renderer/base/attr.h"
#include "renderer/base/err.h"

/* Names the parameter (NULL = none; else NUL-terminated) and words the detail. Returns `err`, so that a
 * caller can refuse in one line. Text of a client goes through fault_quote() first. */
enum err fault_set(struct request_fault *fault, enum err err, const char *param, const char *format, ...)
    PRINTF_LIKE(4, 5);

/* Copies client text for a sentence, in double quotes: printable ASCII, cut with "..." after
 * FAULT_QUOTE_SHOWN bytes. Text with other bytes becomes `instead`. */
#define FAULT_QUOTE_SHOWN 32
#define FAULT_QUOTE_BYTES 48
void fault_quote(const char *text, size_t len, const char *instead, char ret_quote[FAULT_QUOTE_BYTES]);

/* Says that a value is not what row `i` of the table allows, and what is. */
enum err fault_value(struct request_fault *fault, enum err err, int i, const char *value, size_t len);
