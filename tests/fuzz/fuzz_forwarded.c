/* fuzz_forwarded.c -- three lines: networks of trusted proxies, Forwarded, X-Forwarded-For. Whoever is not
 * trusted is the client, whatever it sends; and what a trusted proxy adds at the end beats all that stands
 * before it. */
#include "server/forwarded.h"
#include "tests/fuzz/fuzz.h"

#define MAPPED 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff
static const unsigned char proxy[16] = {MAPPED, 10, 0, 0, 1};
static const unsigned char visitor[16] = {MAPPED, 203, 0, 113, 9};

static struct http_peer client_of(const struct forwarded_proxies *proxies,
                                  const unsigned char *socket_address, const char *forwarded,
                                  const char *x_forwarded_for)
{
    struct http_peer client;
    memset(&client, 0x5a, sizeof(client));
    forwarded_client(proxies, socket_address, forwarded, x_forwarded_for, &client);
    return client;
}

static bool same(struct http_peer a, struct http_peer b)
{
    return memcmp(&a, &b, sizeof(a)) == 0;
}

static void check_walk(const struct forwarded_proxies *proxies, const unsigned char *socket_address,
                       const char *forwarded, const char *x_forwarded_for)
{
    struct http_peer nobody = client_of(proxies, socket_address, NULL, NULL);
    struct http_peer a = client_of(proxies, socket_address, forwarded, NULL);
    struct http_peer b = client_of(proxies, socket_address, NULL, x_forwarded_for);
    struct http_peer both = client_of(proxies, socket_address, forwarded, x_forwarded_for);
    CHECK(same(both, nobody) || (same(both, a) && same(both, b)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct forwarded_proxies none;
    struct forwarded_proxies given = {0}, one = {0};
    struct fuzz_part parts[3];
    fuzz_split(data, size, parts, 3);
    char *list = fuzz_text(parts[0].at, parts[0].len), *forwarded = fuzz_text(parts[1].at, parts[1].len);
    char *x_forwarded_for = fuzz_text(parts[2].at, parts[2].len);

    if (!forwarded_proxies_parse(list, &given))
        CHECK(fuzz_same(&given, &none, sizeof(given)));
    CHECK(given.count >= 0 && given.count <= FORWARDED_PROXIES_MAX);
    for (int i = 0; i < given.count; i++)
        CHECK(given.networks[i].bits >= 0 && given.networks[i].bits <= 128);
    check_walk(&given, proxy, forwarded, x_forwarded_for);
    check_walk(&given, NULL, forwarded, x_forwarded_for);

    CHECK(same(client_of(&none, proxy, forwarded, x_forwarded_for), client_of(&none, proxy, NULL, NULL)));
    CHECK(forwarded_proxies_parse("10.0.0.1", &one));
    struct http_peer right = client_of(&none, visitor, NULL, NULL);
    char *added = fuzz_joined(forwarded, ", for=203.0.113.9"),
         *x_added = fuzz_joined(x_forwarded_for, ", 203.0.113.9");
    CHECK(same(client_of(&one, proxy, added, NULL), right));
    CHECK(same(client_of(&one, proxy, NULL, x_added), right));
    CHECK(same(client_of(&one, proxy, added, x_added), right));
    free(added);
    free(x_added);
    free(list);
    free(forwarded);
    free(x_forwarded_for);
    return 0;
}
