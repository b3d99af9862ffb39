/* err.c -- the causes of failure as words and as identifiers, both made from err.def.
 * The identifiers are part of the HTTP contract ("urn:planetd:problem:param-range"), so they are derived from
 * the enum's names and never written by hand. Threads: any; the table is made before main(). */
#include "renderer/base/err.h"

#include <stddef.h>

#include "renderer/base/attr.h"

#define NAME_BYTES 24

static const char *const words[ERR_COUNT] = {
#define ERR(name, text) [ERR_##name] = text,
#include "renderer/base/err.def"
#undef ERR
};

static const char *const upper[ERR_COUNT] = {
#define ERR(name, text) [ERR_##name] = #name,
#include "renderer/base/err.def"
#undef ERR
};

#define ERR(name, text) _Static_assert(sizeof(#name) <= NAME_BYTES, "the name of an error fits its row");
#include "renderer/base/err.def"
#undef ERR

static char names[ERR_COUNT][NAME_BYTES];

AT_START static void names_make(void)
{
    for (size_t e = 0; e < ERR_COUNT; e++) {
        const char *from = upper[e];
        char *to = names[e];
        for (; *from; from++)
            *to++ = (char)(*from == '_' ? '-' : *from >= 'A' && *from <= 'Z' ? *from - 'A' + 'a' : *from);
        *to = '\0';
    }
}

const char *err_words(enum err err)
{
    return (unsigned)err < ERR_COUNT ? words[err] : "unknown error";
}

const char *err_name(enum err err)
{
    return (unsigned)err < ERR_COUNT ? names[err] : "unknown";
}
