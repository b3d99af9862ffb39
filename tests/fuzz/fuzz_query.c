/* fuzz_query.c -- a query string. What is accepted has a key that gives itself again, and the order of pairs
 * changes nothing. */
#include "tests/fuzz/fuzz_request.h"

/* The first pair goes to the end. */
static char *rotated(const char *query, size_t len)
{
    const char *cut = memchr(query, '&', len);
    size_t first = cut ? (size_t)(cut - query) : len, rest = cut ? len - first - 1 : 0;
    char *text = malloc(len + 1);
    CHECK(text);
    memcpy(text, query + len - rest, rest);
    if (cut)
        text[rest] = '&';
    memcpy(text + len - first, query, first);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct request r, other;
    struct request_fault fault = {.detail = ""};
    struct key key, other_key;
    char *query = fuzz_copy(data, size);
    request_init(&r);
    enum err err = request_set_query(&r, query, size, &fault);
    if (err) {
        fuzz_check_fault(err, &fault);
    } else if (fuzz_finish(&r, &key)) {
        char *turned = rotated(query, size);
        request_init(&other);
        CHECK(request_set_query(&other, turned, size, &fault) == ERR_NONE);
        CHECK(fuzz_finish(&other, &other_key));
        CHECK(strcmp(key.text, other_key.text) == 0);
        free(turned);
    }
    free(query);
    return 0;
}
