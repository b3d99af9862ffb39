/* The name of a result: the request as canonical text. It is itself a query string, so a key found in a log
 * or in a file's metadata can be pasted behind "/planet?". */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/request.h"

#define KEY_MAX_BYTES 2048

/* `text` is ASCII, NUL-terminated: "rev=1&type=gas&seed=3&format=png", then each parameter that differs from
 * its default, in table order, numbers shortest form. `hash` picks a bucket; equality is that of the text. */
struct key {
    char text[KEY_MAX_BYTES];
    size_t len;
    uint64_t hash;
};

/* From a finished request. Cannot fail: the longest key fits (a test shows it). */
void key_make(const struct request *r, struct key *ret_key);

/* Whether row `i` of params.def stands in the key because of its value, and not because each key begins with
 * it. */
bool key_adds(int i, const struct request *r);

/* Strong entity tag of the result, in quotes, NUL-terminated: a hash of the key and of the libraries that
 * write files, so it is known before anything is drawn. */
#define ETAG_BYTES 40
void key_etag(const struct key *key, char ret_etag[ETAG_BYTES]);

/* A telling file name: "gas-3.png", "terrestrial-7-rings.gif", "gas-3-9f2c41.png" (six digits of the hash
 * where the request is not all defaults). Only [a-z0-9._-]. */
#define FILE_NAME_BYTES 128
void key_file_name(const struct request *r, const struct key *key, char ret_name[FILE_NAME_BYTES]);
