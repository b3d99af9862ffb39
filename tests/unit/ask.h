/* Asking for a picture the short way, for the tests of api/. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "api/key.h"
#include "api/params.h"
#include "api/request.h"

struct asked {
    enum err err;
    struct request request;
    struct request_fault fault;
    struct key key;
};

static inline void asked_finish(struct asked *a)
{
    if (!a->err)
        a->err = request_finish(&a->request, &a->fault);
    if (!a->err)
        key_make(&a->request, &a->key);
}

/* Query of `len` bytes, finished; the key is there when err is ERR_NONE. */
static inline struct asked ask_bytes(const char *query, size_t len)
{
    struct asked a;
    memset(&a, 0, sizeof a);
    request_init(&a.request);
    a.err = request_set_query(&a.request, query, len, &a.fault);
    asked_finish(&a);
    return a;
}

static inline struct asked ask(const char *query)
{
    return ask_bytes(query, strlen(query));
}

static inline struct asked ask_path(const char *path, const char *query)
{
    struct asked a;
    memset(&a, 0, sizeof a);
    request_init(&a.request);
    a.err = request_set_path(&a.request, path, strlen(path), &a.fault);
    if (!a.err)
        a.err = request_set_query(&a.request, query, strlen(query), &a.fault);
    asked_finish(&a);
    return a;
}

/* Both queries are good and have one key. */
#define assert_same_key(left, right)                                                                         \
    do {                                                                                                     \
        struct asked left_ = ask(left), right_ = ask(right);                                                 \
        assert_string_equal(left_.err ? left_.fault.detail : "", "");                                        \
        assert_string_equal(right_.err ? right_.fault.detail : "", "");                                      \
        assert_string_equal(left_.key.text, right_.key.text);                                                \
    } while (0)

#define assert_other_key(left, right)                                                                        \
    do {                                                                                                     \
        struct asked left_ = ask(left), right_ = ask(right);                                                 \
        assert_string_equal(left_.err ? left_.fault.detail : "", "");                                        \
        assert_string_equal(right_.err ? right_.fault.detail : "", "");                                      \
        assert_string_not_equal(left_.key.text, right_.key.text);                                            \
    } while (0)
