/* What the fuzz targets share. A target is a function that gets any bytes and ends the process when a
 * property does not hold. libFuzzer calls it for `make fuzz`, replay.c for `make test`. Threads: one. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(property)                                                                                      \
    do {                                                                                                     \
        if (!(property)) {                                                                                   \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #property);                         \
            abort();                                                                                         \
        }                                                                                                    \
    } while (0)

/* A block of exactly `len` bytes, so that a sanitizer sees a step beyond them. Freed by the caller. */
static inline void *fuzz_copy(const void *bytes, size_t len)
{
    char *copy = malloc(len ? len : 1);
    CHECK(copy);
    if (len)
        memcpy(copy, bytes, len);
    return copy;
}

/* The bytes up to a NUL as text, in a block without a byte to spare. Freed by the caller. */
static inline char *fuzz_text(const void *bytes, size_t len)
{
    size_t kept = len ? strnlen(bytes, len) : 0;
    char *text = malloc(kept + 1);
    CHECK(text);
    if (kept)
        memcpy(text, bytes, kept);
    text[kept] = '\0';
    return text;
}

/* Both texts, one behind the other. Freed by the caller. */
static inline char *fuzz_joined(const char *a, const char *b)
{
    char *text = NULL;
    CHECK(asprintf(&text, "%s%s", a, b) >= 0);
    return text;
}

/* Whether two objects are the same down to their padding: one was copied or left alone. */
static inline bool fuzz_same(const void *a, const void *b, size_t len)
{
    return memcmp(a, b, len) == 0;
}

/* Cuts the input at line feeds into `count` parts; the last one has the rest. Parts that are missing are
 * empty. */
struct fuzz_part {
    const char *at;
    size_t len;
};
static inline void fuzz_split(const uint8_t *data, size_t size, struct fuzz_part *ret_parts, int count)
{
    const char *at = (const char *)data;
    for (int i = 0; i < count; i++) {
        const char *end = size && i < count - 1 ? memchr(at, '\n', size) : NULL;
        size_t len = end ? (size_t)(end - at) : size;
        ret_parts[i] = (struct fuzz_part){len ? at : "", len};
        at += len + (end ? 1 : 0);
        size -= len + (end ? 1 : 0);
    }
}
