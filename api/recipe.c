/* recipe.c -- reads the key out of a picture.
 *
 * The file comes from anywhere, so nothing in it is believed: each length is held against what is left before
 * anything is skipped, nothing is decompressed, and what is found counts as a query that a stranger has sent.
 * It is found by walking over chunks or blocks as the formats have them, and not by looking for its letters,
 * which may stand in pixels. Threads: any, all pure. */
#include "api/recipe.h"

#include <jansson.h>
#include <string.h>

#include "api/code.h"
#include "api/facts.h"
#include "api/fault.h"
#include "api/json_out.h"
#include "api/key.h"
#include "api/text.h"
#include "renderer/encode/webp_exif.h"

#define PNG_SIGNATURE "\x89PNG\r\n\x1a\n"
#define PNG_HEAD      8                     /* signature; and length and type of a chunk */
#define PNG_SUM       4                     /* behind the data of a chunk */
#define KEY_CHUNK     "planetd:key\0\0\0\0" /* name, not compressed, no language, no translation */
#define KEY_CHUNK_LEN sizeof(KEY_CHUNK)     /* its last NUL counts */
#define GIF_HEAD      13                    /* signature and screen */
#define GIF_EXTENSION 0x21
#define GIF_COMMENT   0xfe
#define RIFF_HEAD     12 /* of a WebP: RIFF, length, WEBP */
#define RIFF_CHUNK    8  /* name and length */
#define KEY_START     "rev="

struct text {
    char bytes[KEY_MAX_BYTES];
    size_t len;
    bool too_long;
};

static void text_add(struct text *t, const uint8_t *bytes, size_t len)
{
    if (len > sizeof(t->bytes) - t->len) {
        t->too_long = true;
        return;
    }
    memcpy(t->bytes + t->len, bytes, len);
    t->len += len;
}

static bool text_is_key(const struct text *t)
{
    size_t start = strlen(KEY_START);
    return !t->too_long && t->len > start && !memcmp(t->bytes, KEY_START, start) &&
           text_is_printable(t->bytes, t->len);
}

static bool find_in_png(const uint8_t *file, size_t len, struct text *ret_text)
{
    for (size_t at = PNG_HEAD; len - at >= PNG_HEAD;) {
        const uint8_t *chunk = file + at;
        size_t data_len =
            (size_t)chunk[0] << 24 | (size_t)chunk[1] << 16 | (size_t)chunk[2] << 8 | (size_t)chunk[3];
        size_t left = len - at - PNG_HEAD;
        if (data_len > left)
            return false;
        const uint8_t *data = chunk + PNG_HEAD;
        if (!memcmp(chunk + 4, "iTXt", 4) && data_len > KEY_CHUNK_LEN &&
            !memcmp(data, KEY_CHUNK, KEY_CHUNK_LEN)) {
            *ret_text = (struct text){.len = 0};
            text_add(ret_text, data + KEY_CHUNK_LEN, data_len - KEY_CHUNK_LEN);
            if (text_is_key(ret_text))
                return true;
        }
        if (left - data_len < PNG_SUM)
            return false;
        at += PNG_HEAD + data_len + PNG_SUM;
    }
    return false;
}

/* Reads sub-blocks from `at` to their end, into *t unless it is NULL. The place behind them, or 0: the file
 * ends. */
static size_t read_blocks(const uint8_t *file, size_t len, size_t at, struct text *t)
{
    while (at < len && file[at]) {
        size_t block = file[at++];
        if (block > len - at)
            return 0;
        if (t)
            text_add(t, file + at, block);
        at += block;
    }
    return at < len ? at + 1 : 0;
}

static bool find_in_gif(const uint8_t *file, size_t len, struct text *ret_text)
{
    if (len < GIF_HEAD)
        return false;
    size_t at = GIF_HEAD;
    if (file[10] & 0x80)
        at += (size_t)3 << ((file[10] & 7) + 1);
    while (at < len && len - at > 2 && file[at] == GIF_EXTENSION) { /* ours is before the first frame */
        bool comment = file[at + 1] == GIF_COMMENT;
        if (comment)
            *ret_text = (struct text){.len = 0};
        at = read_blocks(file, len, at + 2, comment ? ret_text : NULL);
        if (!at)
            return false;
        if (comment && text_is_key(ret_text))
            return true;
    }
    return false;
}

/* EXIF as we write it: an image description and nothing else. Its text is the key and a NUL. */
static bool key_of_exif(const uint8_t *exif, size_t len, struct text *ret_text)
{
    static const uint8_t head[] = WEBP_EXIF_HEAD;
    size_t text = sizeof head + WEBP_EXIF_REST;
    if (len <= text || memcmp(exif, head, sizeof head) != 0 || exif[len - 1])
        return false;
    *ret_text = (struct text){.len = 0};
    text_add(ret_text, exif + text, len - 1 - text);
    return text_is_key(ret_text);
}

static bool find_in_webp(const uint8_t *file, size_t len, struct text *ret_text)
{
    for (size_t at = RIFF_HEAD; len - at >= RIFF_CHUNK;) {
        const uint8_t *chunk = file + at;
        size_t data_len =
            (size_t)chunk[7] << 24 | (size_t)chunk[6] << 16 | (size_t)chunk[5] << 8 | (size_t)chunk[4];
        size_t left = len - at - RIFF_CHUNK;
        if (data_len > left)
            return false;
        if (!memcmp(chunk, "EXIF", 4) && key_of_exif(chunk + RIFF_CHUNK, data_len, ret_text))
            return true;
        if (data_len == left) /* no room for a byte of padding */
            return false;
        at += RIFF_CHUNK + data_len + (data_len & 1);
    }
    return false;
}

static enum err find(const uint8_t *file, size_t len, struct text *ret_text, struct request_fault *fault)
{
    bool found;
    if (len >= PNG_HEAD && !memcmp(file, PNG_SIGNATURE, PNG_HEAD))
        found = find_in_png(file, len, ret_text);
    else if (len >= 6 && (!memcmp(file, "GIF89a", 6) || !memcmp(file, "GIF87a", 6)))
        found = find_in_gif(file, len, ret_text);
    else if (len >= RIFF_HEAD && !memcmp(file, "RIFF", 4) && !memcmp(file + 8, "WEBP", 4))
        found = find_in_webp(file, len, ret_text);
    else
        return fault_set(fault, ERR_RECIPE, NULL, "the file is neither PNG nor GIF nor WebP");
    if (!found)
        return fault_set(fault, ERR_RECIPE, NULL,
                         "the picture carries no recipe: it is none of ours, or a program has taken it out");
    return ERR_NONE;
}

enum err recipe_read(const uint8_t *file, size_t len, struct request *ret_request,
                     struct request_fault *ret_fault)
{
    struct text text = {.len = 0};
    struct request_fault cause;
    enum err err = find(file, len, &text, ret_fault);
    if (err)
        return err;
    request_init(ret_request);
    err = request_set_query(ret_request, text.bytes, text.len, &cause);
    if (!err)
        err = request_finish(ret_request, &cause);
    if (err == ERR_REVISION)
        *ret_fault = cause;
    else if (err)
        err = fault_set(ret_fault, ERR_RECIPE, NULL, "the recipe in the picture was altered: %.250s",
                        cause.detail);
    return err;
}

enum err recipe_write(const struct request *r, struct blob *out)
{
    struct key key;
    char code[CODE_MAX_BYTES];
    key_make(r, &key);
    code_make(r, code);
    return json_out(json_pack("{s:s, s:o, s:s, s:o}", "key", key.text, "url",
                              json_sprintf("/planet?%s", key.text), "code", code, "request",
                              facts_request(r)),
                    out);
}
