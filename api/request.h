/* From text to a request: parameters parsed, checked, snapped to their steps, defaults filled in.
 *
 * Give it name/value pairs from wherever they come (query, path, JSON), then finish it. All functions are
 * pure. Threads: one request by one thread at a time. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "renderer/base/attr.h"
#include "renderer/base/err.h"
#include "renderer/desc.h"
#include "renderer/encode/encoder.h"
#include "renderer/encode/sheet_layout.h"

#define SEED_MAX_BYTES 64
#define TYPE_RANDOM    BODY_COUNT /* value of request.type before request_finish() */
#define PICTURE_PIXELS_MAX                                                                                   \
    33554432 /* pixels * pixels * frames * zoom * zoom: 64 MiB of indices, our memory budget for one request \
              */

/* Two shares in whole percent, 0 <= low <= high <= 100, as one number. */
#define SPAN_OF(low, high) ((int32_t)((low) | (high) << 7))
#define SPAN_LOW(span)     ((span)&127)
#define SPAN_HIGH(span)    ((span) >> 7)
#define SPAN_ANY           SPAN_OF(0, 100)

#define SWEEP_BYTES 160 /* of a sweep, with its NUL */

enum rings_choice { RINGS_AUTO, RINGS_OFF, RINGS_ON };
enum layers_choice { LAYERS_ONE, LAYERS_SPLIT };
enum atlas_form { ATLAS_TEXTUREPACKER, ATLAS_ASEPRITE };

struct request {
    struct planet_desc planet; /* complete after request_finish() */
    int32_t type;              /* enum body or TYPE_RANDOM */
    int32_t rings;             /* enum rings_choice */
    int32_t format;            /* enum format */
    int32_t zoom, fps, loops;  /* as in struct encode_desc */
    int32_t rev;               /* revision asked for; RENDERER_REVISION when none was */
    char seed[SEED_MAX_BYTES]; /* UTF-8, not terminated */
    size_t seed_len;
    int32_t columns, margin, spacing; /* of a sheet, as in struct encode_desc */
    int32_t atlas;                    /* enum atlas_form */
    int32_t layers;                   /* enum layers_choice; of a sheet */
    char seeds[SWEEP_BYTES], sweep_x[SWEEP_BYTES], sweep_y[SWEEP_BYTES]; /* of a contact sheet; ASCII */
    int32_t count, from;               /* of a search: seeds that are enough, number of the first one tried */
    int32_t ocean, land, caps, clouds; /* of a search: SPAN_OF() what it takes (api/find.h) */
    uint64_t given;                    /* bit i: row i of params.def was given */
    uint64_t given_by_path;            /* those of them that the path gave */
    bool given_by_code;                /* a share code gave them all: nothing may be added */
};

/* Why a request is refused: which parameter, and what is allowed, in a sentence. Both NUL-terminated UTF-8
 * that never holds what the client sent unless it is printable ASCII of bounded length. */
struct request_fault {
    char param[32];
    char detail[384];
    int item; /* of a batch: which request, from 1; 0 = there is none */
};

void request_init(struct request *r);

/* Gives it the seed that a request has to which none was given. */
void request_default_seed(struct request *r);

/* Takes one value. The name `code` is no row of the table: its value is a share code (api/code.h), which
 * stands for all parameters and goes with no other: ERR_PARAM_COMBINATION. Else: `name` and `value` are
 * decoded text of any bytes, not terminated. ERR_PARAM_UNKNOWN (detail names the nearest name),
 * ERR_PARAM_REPEATED, ERR_PARAM_SYNTAX, ERR_PARAM_RANGE, ERR_TEXT_ENCODING. On failure *ret_fault is filled
 * and *r must not be used further. */
MUST_USE enum err request_set(struct request *r, const char *name, size_t name_len, const char *value,
                              size_t value_len, struct request_fault *ret_fault);

/* Takes a raw query string (what follows '?'): '&' between pairs, '+' is a space, %XX is decoded strictly.
 * An empty query is fine; an empty pair ("a=1&&b=2") is skipped. ERR_TEXT_ENCODING and those of
 * request_set(). */
MUST_USE enum err request_set_query(struct request *r, const char *query, size_t len,
                                    struct request_fault *ret_fault);

/* Takes a JSON object with the same names (numbers, strings, true/false for on/off, an array of strings for
 * palette). Duplicate names are ERR_PARAM_REPEATED, malformed JSON is ERR_BODY_SYNTAX with line and column,
 * no JSON at all or another value than an object is ERR_BODY_SYNTAX. */
MUST_USE enum err request_set_json(struct request *r, const char *body, size_t len,
                                   struct request_fault *ret_fault);

/* Takes a path after "/planet": "", ".png" (or another format), "/{type}/{seed}.png". '+' is literal here.
 * ERR_NOT_FOUND when it has none of these forms; else as request_set(), and then the format is taken even
 * when something else is refused. */
MUST_USE enum err request_set_path(struct request *r, const char *path, size_t len,
                                   struct request_fault *ret_fault);

/* Takes a whole path: that of a format with an address of its own ("/sheet.png"), or "/planet" and what
 * request_set_path() takes. Errors: the same. */
MUST_USE enum err request_set_address(struct request *r, const char *path, size_t len,
                                      struct request_fault *ret_fault);

/* Fills defaults (`format` is FORMAT_PNG unless given or set by the caller before), draws the type when it is
 * random, settles rings=auto (in a search each seed does that), sets what has no effect back to its default
 * so that equal pictures have equal keys, and checks the whole: ERR_PICTURE_SIZE, ERR_PARAM_COMBINATION,
 * ERR_REVISION. */
MUST_USE enum err request_finish(struct request *r, struct request_fault *ret_fault);

/* Whether this body can be asked for this layer (enum body, enum layer); LAYER_RINGS needs rings=on besides.
 */
bool request_body_has_layer(int32_t body, int32_t layer);

/* True if the parameter was given. `name` must be one of the table. */
bool request_has(const struct request *r, const char *name);

/* The format that an Accept header chooses: PNG or GIF, where it allows neither another picture; NULL or "" =
 * no header = PNG. ERR_NOT_ACCEPTABLE. */
MUST_USE enum err request_accept(const char *accept, enum format *ret_format);

/* Whether an Accept header names text/html, as browsers do and programs with their wildcards do not, and
 * likes it at least as well as plain text. NULL = no header. */
bool request_accepts_html(const char *accept);

/* Whether an Accept-Encoding header (NULL = none) allows gzip, and likes it at least as well as no coding. */
bool request_accepts_gzip(const char *accept_encoding);

/* The grid of a finished request for a sheet or an atlas. */
struct sheet_layout request_sheet_layout(const struct request *r);

/* What a settled request costs to make, all drawings and frames together. request_finish() lets neither pass
 * PICTURE_PIXELS_MAX. */
struct request_size {
    int64_t drawn_pixels; /* 0: nothing is drawn for it */
    int64_t file_pixels;  /* what is encoded, zoom and margins included */
};
struct request_size request_size(const struct request *r);

/* The encoder's side of a finished request; `key` must outlive the result. */
struct encode_desc request_encode_desc(const struct request *r, const char *key);
