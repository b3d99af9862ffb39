/* The table of parameters at run time, made from params.def. Parser, key, /types, README and tests walk it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/request.h"

enum param_kind {
    PARAM_NUMBER,  /* decimal number, kept as an integer count of steps of 10^-decimals */
    PARAM_CHOICE,  /* one of a list of words */
    PARAM_COLOR,   /* rrggbb with or without '#', or a word */
    PARAM_PALETTE, /* a name (renderer/palettes.h) or 2..16 colours with commas */
    PARAM_SEED,    /* text of up to SEED_MAX_BYTES bytes */
    PARAM_SPAN,    /* a share in percent or a range of them, SPAN_OF() both ends (api/find.h) */
    PARAM_SWEEP    /* what the cells of a contact sheet differ in (api/contact.h); "" = nothing */
};

/* Rows of the table by name: PARAM_ROW_pixels is the row of `pixels`. */
enum param_row {
#define PARAM(name, ...) PARAM_ROW_##name,
#include "api/params.def"
#undef PARAM
    PARAM_ROW_COUNT
};

struct param {
    const char *name;
    enum param_kind kind;
    size_t offset;            /* of the int32_t in struct request; unused for PALETTE and SEED */
    int32_t minimum, maximum; /* NUMBER: in steps */
    int decimals;             /* NUMBER: digits after the point */
    const char *const *words; /* CHOICE: the words, index = value, NULL at the end; COLOR: COLOR_WORD_COUNT
                               * of them, by COLOR_WORD_OF(value), NULL where there is none */
    const char *default_text; /* for people; "by body" and the like where it depends */
    const char *unit;         /* "px", "deg", "" ... */
    const char *help;         /* one line */
};

#define COLOR_WORD_COUNT     4              /* COLOR_AUTO, COLOR_NONE, COLOR_STARS, COLOR_NEBULA */
#define COLOR_WORD_OF(value) (-1 - (value)) /* and back */

extern const struct param params[];
extern const int param_count;

/* Row with that name, or -1. */
int param_find(const char *name, size_t len);

/* The default of row `i` for this request. It can depend on type, rings, format and shading: these must be
 * settled. */
int32_t param_default(int i, const struct request *r);

/* Whether row `i` can change the picture of this settled request. */
bool param_matters(int i, const struct request *r);

/* The library that word `w` of row `i` needs and this binary was built without; NULL: the word can be had. */
const char *param_word_lacks(int i, int w);

/* Whether the default of row `i` is a field of the body. */
bool param_by_body(int i);

/* Whether row `i` is about a search and means nothing to a picture. */
bool param_searches(int i);

/* The field of row `i`. Not for SEED, PALETTE and SWEEP. */
int32_t param_get(int i, const struct request *r);
void param_put(int i, struct request *r, int32_t value);

/* The text of row `i`, a SWEEP. */
char *param_sweep(int i, struct request *r);
const char *param_sweep_const(int i, const struct request *r);

/* Whether row `i` is one number: neither SEED, PALETTE nor SWEEP. */
bool param_has_number(int i);

/* Writes `value` of row `i` as it stands in a key: numbers in shortest form, colours as rrggbb.
 * NUL-terminated; returns the length. Not for SEED, PALETTE and SWEEP. */
#define PARAM_TEXT_BYTES 24
size_t param_text(int i, int32_t value, char ret_text[PARAM_TEXT_BYTES]);

/* Writes what row `i` allows as the end of a sentence ("a whole number from 8 to 1024"). NUL-terminated. */
#define PARAM_ALLOWED_BYTES 192
void param_allowed(int i, char ret_text[PARAM_ALLOWED_BYTES]);
