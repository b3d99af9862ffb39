/* Compiler attributes, so that the rest of the code is plain C11. */
#pragma once

#define MUST_USE                         __attribute__((warn_unused_result))
#define PRINTF_LIKE(format_at, first_at) __attribute__((format(printf, format_at, first_at)))
#define ARRAY_LEN(a)                     (sizeof(a) / sizeof((a)[0]))

/* Run before main(), in no order that anyone may count on. */
#define AT_START __attribute__((constructor))
