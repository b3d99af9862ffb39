/* store_rig.h -- entries to store: the number n has one key and one body, so that whatever comes back from a
 * cache can be told right or wrong without having kept it. Include it once in a program. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <xxhash.h>

#include "server/cache.h"
#include "server/record.h"

static const struct request rig_request = {.format = FORMAT_GIF, .seed = "7", .seed_len = 1};

static void rig_key(uint64_t n, struct key *key)
{
    memset(key, 0, sizeof(*key));
    key->len = (size_t)snprintf(key->text, sizeof(key->text), "rev=1&type=gas&seed=%llu&format=gif",
                                (unsigned long long)n);
    key->hash = XXH3_64bits(key->text, key->len);
}

static uint8_t rig_byte(uint64_t n, size_t at)
{
    return (uint8_t)((n + 1) * 151 + at * 31 + (at >> 8));
}

static struct entry *rig_entry(uint64_t n, size_t body_bytes)
{
    struct key key;
    rig_key(n, &key);
    struct blob body = {.data = malloc(body_bytes), .len = body_bytes, .capacity = body_bytes};
    struct entry *e = NULL;
    if (!body.data)
        abort();
    for (size_t at = 0; at < body_bytes; at++)
        body.data[at] = rig_byte(n, at);
    if (entry_create(&rig_request, &key, &body, &e))
        abort();
    return e;
}

/* Whether `e` is what rig_entry(n, body_bytes) makes. */
static bool rig_entry_right(const struct entry *e, uint64_t n, size_t body_bytes)
{
    struct key key;
    rig_key(n, &key);
    if (strcmp(e->key.text, key.text) != 0 || e->key.len != key.len || e->key.hash != key.hash ||
        e->body.len != body_bytes || e->format != FORMAT_GIF)
        return false;
    for (size_t at = 0; at < body_bytes; at++)
        if (e->body.data[at] != rig_byte(n, at))
            return false;
    return true;
}
