/* What holds for a request wherever its parameters came from: query, path or body. */
#pragma once

#include "api/code.h"
#include "api/key.h"
#include "api/request.h"
#include "api/text.h"
#include "tests/fuzz/fuzz.h"

/* A refusal says why, in text that may stand in an answer and in a log. */
static inline void fuzz_check_fault(enum err err, const struct request_fault *fault)
{
    CHECK(err > ERR_NONE && err < ERR_COUNT);
    CHECK(memchr(fault->param, '\0', sizeof(fault->param)));
    CHECK(memchr(fault->detail, '\0', sizeof(fault->detail)));
    CHECK(fault->detail[0] || err == ERR_OOM || err == ERR_NOT_FOUND);
    CHECK(text_is_utf8(fault->param, strlen(fault->param)));
    CHECK(text_is_utf8(fault->detail, strlen(fault->detail)));
}

/* Finishes a request. True: it is good, and *ret_key its key, which as a query gives the same key again. */
static inline bool fuzz_finish(struct request *r, struct key *ret_key)
{
    struct request_fault fault = {.detail = ""};
    enum err err = request_finish(r, &fault);
    if (err) {
        fuzz_check_fault(err, &fault);
        return false;
    }
    int64_t side = (int64_t)r->planet.pixels * r->zoom;
    CHECK(side > 0 && side * side * r->planet.frames <= PICTURE_PIXELS_MAX);
    CHECK(r->type >= 0 && r->type < BODY_COUNT);
    CHECK(r->format >= 0 && r->format < FORMAT_COUNT);

    struct key *key = ret_key, key_again;
    struct request again;
    memset(key, 0x5a, sizeof(*key));
    key_make(r, key);
    CHECK(key->len < KEY_MAX_BYTES && strlen(key->text) == key->len);
    CHECK(text_is_printable(key->text, key->len));
    request_init(&again);
    CHECK(request_set_query(&again, key->text, key->len, &fault) == ERR_NONE);
    CHECK(request_finish(&again, &fault) == ERR_NONE);
    key_make(&again, &key_again);
    CHECK(key_again.len == key->len && memcmp(key_again.text, key->text, key->len) == 0);
    CHECK(key_again.hash == key->hash);
    /* Nothing that the picture hangs on is left out of the key. */
    CHECK(memcmp(&again.planet, &r->planet, sizeof(r->planet)) == 0);
    CHECK(again.format == r->format && again.zoom == r->zoom && again.fps == r->fps &&
          again.loops == r->loops);

    char code[CODE_MAX_BYTES]; /* and the share code leads there, too */
    code_make(r, code);
    CHECK(strlen(code) < CODE_MAX_BYTES);
    request_init(&again);
    CHECK(request_set(&again, "code", 4, code, strlen(code), &fault) == ERR_NONE);
    CHECK(request_finish(&again, &fault) == ERR_NONE);
    key_make(&again, &key_again);
    CHECK(key_again.len == key->len && memcmp(key_again.text, key->text, key->len) == 0);

    char name[FILE_NAME_BYTES], etag[ETAG_BYTES];
    key_file_name(r, key, name);
    CHECK(name[0] && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789._-") == strlen(name));
    key_etag(key, etag);
    CHECK(etag[0] == '"' && strlen(etag) > 2 && etag[strlen(etag) - 1] == '"');
    return true;
}
