/* fuzz_redis_url.c -- the address of the shared cache. What is shown of it in logs is the same with and
 * without user and password, so it can't hold them. */
#include "api/text.h"
#include "server/redis_url.h"
#include "server/store_redis.h"
#include "tests/fuzz/fuzz.h"

/* The URL without user and password, or NULL when it has none. */
static char *without_user(const char *url)
{
    const char *begin = strstr(url, "://"), *at;
    if (!begin)
        return NULL;
    begin += 3;
    size_t authority = strcspn(begin, "/");
    at = authority ? memrchr(begin, '@', authority) : NULL;
    if (!at)
        return NULL;
    size_t kept = (size_t)(begin - url), rest = strlen(at + 1);
    char *text = malloc(kept + rest + 1);
    CHECK(text);
    memcpy(text, url, kept);
    memcpy(text + kept, at + 1, rest + 1);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct redis_url url, before, plain;
    char *text = fuzz_text(data, size);
    memset(&url, 0x5a, sizeof(url));
    memset(&before, 0x5a, sizeof(before));
    bool valid = redis_url_parse(text, &url);
    CHECK(store_redis_url_valid(text) == valid);
    if (valid) {
        CHECK((url.host[0] == '\0') != (url.path[0] == '\0'));
        CHECK(url.database >= 0);
        CHECK(text_is_printable(url.shown, strlen(url.shown)) && !strpbrk(url.shown, "\"\\"));
        char *stripped = without_user(text);
        CHECK(stripped || !url.auth);
        if (stripped) {
            CHECK(redis_url_parse(stripped, &plain));
            CHECK(!plain.auth && strcmp(plain.shown, url.shown) == 0);
        }
        free(stripped);
    } else {
        CHECK(fuzz_same(&url, &before, sizeof(url)));
    }
    free(text);
    return 0;
}
