/* test_forwarded.c -- whom a trusted proxy's headers make the client. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "renderer/base/attr.h"
#include "server/forwarded.h"

static void bytes_of(const char *text, unsigned char ret_bytes[16])
{
    char mapped[80];
    snprintf(mapped, sizeof(mapped), "%s%s", strchr(text, ':') ? "" : "::ffff:", text);
    if (inet_pton(AF_INET6, mapped, ret_bytes) != 1)
        fail_msg("the test itself has a wrong address: %s", text);
}

static struct forwarded_proxies proxies_of(const char *text)
{
    struct forwarded_proxies p = {0};
    if (!forwarded_proxies_parse(text, &p))
        fail_msg("refused: '%s'", text);
    return p;
}

/* The client as a text; "unix" when it is nobody. */
static const char *client(const char *proxies, const char *socket, const char *forwarded,
                          const char *x_forwarded_for)
{
    static char text[INET6_ADDRSTRLEN];
    struct forwarded_proxies p = proxies_of(proxies);
    unsigned char bytes[16];
    struct http_peer peer;
    bool is_unix = strcmp(socket, "unix") == 0;
    if (!is_unix)
        bytes_of(socket, bytes);
    forwarded_client(&p, is_unix ? NULL : bytes, forwarded, x_forwarded_for, &peer);
    static const uint8_t nobody[16];
    if (memcmp(peer.bytes, nobody, 16) == 0)
        return "unix";
    if (memcmp(peer.bytes, "\0\0\0\0\0\0\0\0\0\0\xff\xff", 12) == 0)
        return inet_ntop(AF_INET, peer.bytes + 12, text, sizeof(text));
    return inet_ntop(AF_INET6, peer.bytes, text, sizeof(text));
}

struct walk {
    const char *header, *client;
};

static void forwarded_is(const char *proxies, const char *socket, const struct walk *walks, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *got = client(proxies, socket, walks[i].header, NULL);
        if (strcmp(got, walks[i].client) != 0)
            fail_msg("Forwarded: %s\nis %s, not %s", walks[i].header, got, walks[i].client);
    }
}

static void x_forwarded_for_is(const char *proxies, const char *socket, const struct walk *walks,
                               size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *got = client(proxies, socket, NULL, walks[i].header);
        if (strcmp(got, walks[i].client) != 0)
            fail_msg("X-Forwarded-For: %s\nis %s, not %s", walks[i].header, got, walks[i].client);
    }
}

static void without_headers_the_socket_is_the_client(void **state)
{
    (void)state;
    assert_string_equal(client("", "192.0.2.1", NULL, NULL), "192.0.2.1");
    assert_string_equal(client("192.0.2.1", "192.0.2.1", NULL, NULL), "192.0.2.1");
    assert_string_equal(client("192.0.2.1", "192.0.2.1", "", ""), "192.0.2.1");
    assert_string_equal(client("unix", "unix", NULL, NULL), "unix");
    assert_string_equal(client("", "2001:db8:1:2:3:4:5:6", NULL, NULL), "2001:db8:1:2::");
}

static void headers_of_a_stranger_are_not_believed(void **state)
{
    (void)state;
    assert_string_equal(client("", "192.0.2.1", "for=6.6.6.6", "6.6.6.6"), "192.0.2.1");
    assert_string_equal(client("10.0.0.0/8", "192.0.2.1", "for=6.6.6.6", NULL), "192.0.2.1");
    assert_string_equal(client("10.0.0.0/8", "192.0.2.1", NULL, "6.6.6.6"), "192.0.2.1");
    assert_string_equal(client("unix", "127.0.0.1", NULL, "6.6.6.6"), "127.0.0.1");
    assert_string_equal(client("0.0.0.0/0", "unix", NULL, "6.6.6.6"), "unix");
}

static void a_trusted_proxy_names_the_client(void **state)
{
    (void)state;
    static const struct walk walks[] = {
        {"for=203.0.113.7", "203.0.113.7"},
        {"For=203.0.113.7", "203.0.113.7"},
        {"FOR=\"203.0.113.7\"", "203.0.113.7"},
        {"for=\"203.0.113.7:4711\"", "203.0.113.7"},
        {"for=\"203.0.113.7:_port-1.x\"", "203.0.113.7"},
        {"for=203.0.113.7:80", "203.0.113.7"},
        {"for=\"[2001:db8:cafe:1::17]:4711\"", "2001:db8:cafe:1::"},
        {"for=\"[2001:db8:cafe:1::17]\"", "2001:db8:cafe:1::"},
        {"for=[2001:DB8:CAFE:1::17]", "2001:db8:cafe:1::"},
        {"for=\"[::ffff:203.0.113.7]\"", "203.0.113.7"},
        {"for=203.0.113.7;proto=http;by=10.0.0.1", "203.0.113.7"},
        {"proto=https;host=\"a,b;for=6.6.6.6\";for=203.0.113.7", "203.0.113.7"},
        {"by=\"[fd00::1]\"; host=planets.example:8080 ;for=203.0.113.7;;", "203.0.113.7"},
        {"for=203.0.113.7;x=\"a\\\"b,\\\\\"", "203.0.113.7"},
        {" for=203.0.113.7\t", "203.0.113.7"},
    };
    forwarded_is("10.0.0.0/8,unix", "10.0.0.1", walks, ARRAY_LEN(walks));
    forwarded_is("10.0.0.0/8,unix", "unix", walks, ARRAY_LEN(walks));
}

static void x_forwarded_for_has_bare_addresses_with_or_without_ports(void **state)
{
    (void)state;
    static const struct walk walks[] = {
        {"203.0.113.7", "203.0.113.7"},
        {"203.0.113.7:80", "203.0.113.7"},
        {"2001:db8:cafe:1::17", "2001:db8:cafe:1::"},
        {"[2001:db8:cafe:1::17]", "2001:db8:cafe:1::"},
        {"[2001:db8:cafe:1::17]:65535", "2001:db8:cafe:1::"},
        {"::ffff:203.0.113.7", "203.0.113.7"},
        {"6.6.6.6, 203.0.113.7", "203.0.113.7"},
        {"6.6.6.6,203.0.113.7\t, 10.0.0.2", "203.0.113.7"},
        {"6.6.6.6,203.0.113.7,10.0.0.3,10.0.0.2", "203.0.113.7"},
        {"10.0.0.3,10.0.0.2", "10.0.0.3"},
    };
    x_forwarded_for_is("10.0.0.0/8", "10.0.0.1", walks, ARRAY_LEN(walks));
}

static void the_walk_ends_at_the_first_address_that_is_no_proxy(void **state)
{
    (void)state;
    static const struct walk walks[] = {
        {"for=6.6.6.6, for=203.0.113.7", "203.0.113.7"},
        {"for=10.0.0.9, for=203.0.113.7, for=10.0.0.2", "203.0.113.7"},
        {"for=6.6.6.6,for=203.0.113.7,for=10.0.0.3,for=\"10.0.0.2:5\"", "203.0.113.7"},
        {"for=10.0.0.3, for=10.0.0.2", "10.0.0.3"},
        {"for=6.6.6.6, for=\"[fd00:7::1]\"", "fd00:7::"},
        {"for=6.6.6.6, for=\"[::ffff:203.0.113.7]\", for=\"[::ffff:10.0.0.2]\"", "203.0.113.7"},
    };
    forwarded_is("10.0.0.0/8", "10.0.0.1", walks, ARRAY_LEN(walks));
}

static void what_a_client_put_before_the_proxy_s_word_changes_nothing(void **state)
{
    (void)state;
    static const char *const inventions[] = {
        "for=10.0.0.1",
        "for=\"",
        "for=6.6.6.6;x=\"",
        "for=\"\\",
        "\\",
        "\"\\\"",
        ",,,,",
        "for=\"6.6.6.6,",
        "for=unknown",
        "=",
        "for=",
        ";;;",
        "\x80",
        "[",
        "for=6.6.6.6;for=6.6.6.6;x=\"a",
    };
    static const char *const words[] = {"for=203.0.113.7", "for=\"203.0.113.7:80\";proto=http",
                                        "by=_x;for=\"203.0.113.7\"", "for=203.0.113.7;host=\"a,b\""};
    for (size_t i = 0; i < ARRAY_LEN(inventions); i++)
        for (size_t k = 0; k < ARRAY_LEN(words); k++) {
            char header[200];
            snprintf(header, sizeof(header), "%s, %s", inventions[i], words[k]);
            assert_string_equal(client("10.0.0.1", "10.0.0.1", header, NULL), "203.0.113.7");
            snprintf(header, sizeof(header), "%s, 203.0.113.7", inventions[i]);
            assert_string_equal(client("10.0.0.1", "10.0.0.1", NULL, header), "203.0.113.7");
        }
}

static void a_header_that_the_proxy_passed_on_unseen_is_not_believed(void **state)
{
    (void)state;
    /* The proxy writes one header; the client sent the other. */
    assert_string_equal(client("10.0.0.1", "10.0.0.1", "for=6.6.6.6", "203.0.113.7"), "10.0.0.1");
    assert_string_equal(client("10.0.0.1", "10.0.0.1", "for=203.0.113.7", "6.6.6.6"), "10.0.0.1");
    assert_string_equal(client("unix", "unix", "for=6.6.6.6", "203.0.113.7"), "unix");
    assert_string_equal(client("10.0.0.1", "10.0.0.1", "for=unknown", "203.0.113.7"), "10.0.0.1");
    /* It writes both. */
    assert_string_equal(client("10.0.0.1", "10.0.0.1", "for=203.0.113.7", "203.0.113.7"), "203.0.113.7");
    assert_string_equal(client("10.0.0.1", "10.0.0.1", "for=1.1.1.1,for=203.0.113.7", "2.2.2.2, 203.0.113.7"),
                        "203.0.113.7");
}

static void who_is_unknown_or_malformed_ends_the_walk(void **state)
{
    (void)state;
    static const char *const ends[] = {
        "for=unknown",
        "for=_hidden",
        "for=\"_hidden:80\"",
        "for=\"unknown:80\"",
        "proto=http",
        "for=",
        "for",
        "for=\"\"",
        "for=256.0.0.1",
        "for=1.2.3",
        "for=01.2.3.4",
        "for=1.2.3.4.5",
        "for=2001:db8::1",
        "for=\"2001:db8::1\"",
        "for=\"[2001:db8::1\"",
        "for=\"[fe80::1%eth0]\"",
        "for=\"[1.2.3.4]\"",
        "for=\"[::1]80\"",
        "for=\"[::1]:\"",
        "for=\"1.2.3.4:\"",
        "for=\"1.2.3.4:x\"",
        "for=\"1.2.3.4:65536\"",
        "for=\"1.2.3.4:000080\"",
        "for=\"1.2.3.4:_\"",
        "for=1.2.3.4;for=1.2.3.4",
        "for=1.2.3.4 x",
        "for=1.2.3.4;x",
        "for = 1.2.3.4",
        "for=1.2.3.4;x=\"",
        "for=\"1.2.3.4",
        "for=1.2.3.4\"",
        "for=\"1.2.3.4\"x",
        "for='1.2.3.4'",
        "for=1.2.3.4;=b",
        "for=\" 1.2.3.4\"",
        "for=\"1.2.3\\.4\"",
        "f\xc3\xb6r=1.2.3.4",
        "for=1.2.3.4;\x01=b",
        "\\\"",
        "for=1.2.3.4;x=\"\x7f\"",
    };
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        char header[200];
        snprintf(header, sizeof(header), "for=6.6.6.6, %s, for=10.0.0.2", ends[i]);
        const char *got = client("10.0.0.0/8", "10.0.0.1", header, NULL);
        if (strcmp(got, "10.0.0.2") != 0)
            fail_msg("%s: %s", ends[i], got);
    }
    static const char *const bare[] = {"unknown",
                                       "_hidden",
                                       "1.2.3",
                                       "unix:",
                                       "fe80::1%eth0",
                                       "[::1",
                                       "::1]",
                                       "1.2.3.4/8",
                                       "1.2.3.4 5",
                                       "[1.2.3.4]",
                                       "\"1.2.3.4\"",
                                       "1.2.3.4:",
                                       "1.2.3.4:70000",
                                       "[::1]:99999",
                                       "for=1.2.3.4",
                                       "",
                                       " ",
                                       ":",
                                       "[]",
                                       "[]:1"};
    for (size_t i = 0; i < ARRAY_LEN(bare); i++) {
        char header[200];
        snprintf(header, sizeof(header), "6.6.6.6, %s, 10.0.0.2", bare[i]);
        const char *got = client("10.0.0.0/8", "10.0.0.1", NULL, header);
        if (strcmp(got, "10.0.0.2") != 0)
            fail_msg("%s: %s", bare[i], got);
    }
}

static void empty_elements_of_forwarded_are_none(void **state)
{
    (void)state;
    static const struct walk walks[] = {
        {"for=203.0.113.7,", "203.0.113.7"},
        {"for=203.0.113.7, ,\t,", "203.0.113.7"},
        {",for=203.0.113.7", "203.0.113.7"},
        {"for=203.0.113.7,,for=10.0.0.2,", "203.0.113.7"},
        {",", "10.0.0.1"},
        {" , ,", "10.0.0.1"},
        {"for=203.0.113.7, ;", "10.0.0.1"},
        {"", "10.0.0.1"},
    };
    forwarded_is("10.0.0.0/8", "10.0.0.1", walks, ARRAY_LEN(walks));
    /* In X-Forwarded-For somebody had no name for whom he served. */
    static const struct walk older[] = {
        {"203.0.113.7,", "10.0.0.1"}, {",203.0.113.7", "203.0.113.7"}, {",", "10.0.0.1"}};
    x_forwarded_for_is("10.0.0.0/8", "10.0.0.1", older, ARRAY_LEN(older));
}

static void a_walk_is_bounded(void **state)
{
    (void)state;
    static const char proxy[] = ",10.0.0.2";
    char header[FORWARDED_HOPS_MAX * sizeof(proxy) + 16] = "203.0.113.7";
    size_t len = strlen(header);
    for (int hops = 2; hops <= FORWARDED_HOPS_MAX + 1; hops++, len += sizeof(proxy) - 1) {
        memcpy(header + len, proxy, sizeof(proxy));
        assert_string_equal(client("10.0.0.0/8", "10.0.0.1", NULL, header),
                            hops <= FORWARDED_HOPS_MAX ? "203.0.113.7" : "10.0.0.2");
    }
}

static void very_long_headers_are_read_to_their_right_end(void **state)
{
    (void)state;
    static const char *const fills[] = {",", "\"", "\\",  "a", "\\\"", "for=", "for=10.0.0.2,",
                                        "[", ";",  "\x80"};
    size_t room = 200000;
    char *header = malloc(room + 64);
    assert_non_null(header);
    for (size_t i = 0; i < ARRAY_LEN(fills); i++) {
        size_t len = 0;
        for (; len + strlen(fills[i]) < room; len += strlen(fills[i]))
            memcpy(header + len, fills[i], strlen(fills[i]));
        snprintf(header + len, 64, ", for=203.0.113.7");
        assert_string_equal(client("10.0.0.0/8", "10.0.0.1", header, NULL), "203.0.113.7");
        snprintf(header + len, 64, ",203.0.113.7");
        assert_string_equal(client("10.0.0.0/8", "10.0.0.1", NULL, header), "203.0.113.7");
        snprintf(header + len, 64, "\"");
        client("10.0.0.0/8", "10.0.0.1", header, header);
    }
    free(header);
}

/* Any bytes: neither a crash (the sanitizers look) nor an address that is nobody's. */
static void noise_is_survived(void **state)
{
    (void)state;
    static const char alphabet[] = "for=by;,\"\\[]:.0123456789abcdef _\t%\x80\x7f";
    uint32_t x = 1;
    for (int round = 0; round < 20000; round++) {
        char header[48];
        size_t len = (size_t)round % (sizeof(header) - 1);
        for (size_t i = 0; i < len; i++) {
            x = x * 1664525u + 1013904223u;
            header[i] = alphabet[(x >> 16) % (sizeof(alphabet) - 1)];
        }
        header[len] = '\0';
        assert_string_equal(client("10.0.0.0/8", "192.0.2.1", header, header), "192.0.2.1");
        client("0.0.0.0/0,::/0", "10.0.0.1", header, NULL);
        client("0.0.0.0/0,::/0", "10.0.0.1", NULL, header);
    }
}

static void networks_hold_their_addresses_and_no_others(void **state)
{
    (void)state;
    static const struct {
        const char *network, *inside, *outside;
    } cases[] = {
        {"192.0.2.1", "192.0.2.1", "192.0.2.2"},
        {"192.0.2.1/32", "192.0.2.1", "192.0.2.0"},
        {"192.0.2.0/31", "192.0.2.1", "192.0.2.2"},
        {"10.0.0.0/8", "10.255.255.255", "11.0.0.0"},
        {"10.9.9.9/8", "10.0.0.1", "9.9.9.9"},
        {"172.16.0.0/12", "172.31.0.1", "172.32.0.1"},
        {"0.0.0.0/0", "255.1.1.1", "2001:db8::1"},
        {"0.0.0.0/1", "127.1.1.1", "128.0.0.1"},
        {"fd00::/8", "fdff::1", "fe00::1"},
        {"2001:db8::/33", "2001:db8:7fff::1", "2001:db8:8000::1"},
        {"2001:db8::1", "2001:db8::1", "2001:db8::2"},
        {"2001:db8::1/128", "2001:db8::1", "2001:db8::3"},
        {"::ffff:10.0.0.0/104", "10.1.1.1", "11.1.1.1"},
        {" 192.0.2.9 ,\t192.0.2.1 ", "192.0.2.1", "192.0.2.2"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        if (strcmp(client(cases[i].network, cases[i].inside, NULL, "203.0.113.7"), "203.0.113.7") != 0)
            fail_msg("%s has not %s", cases[i].network, cases[i].inside);
        if (strcmp(client(cases[i].network, cases[i].outside, NULL, "203.0.113.7"), "203.0.113.7") == 0)
            fail_msg("%s has %s", cases[i].network, cases[i].outside);
    }
    assert_string_equal(client("::/0", "10.0.0.1", NULL, "203.0.113.7"),
                        "203.0.113.7"); /* v4 is part of it */
}

static void malformed_networks_are_refused_and_leave_the_list_alone(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "10.0.0.0/33",
        "10.0.0.0/",
        "10.0.0.0/-1",
        "10.0.0.0/08",
        "10.0.0.0/8/8",
        "10.0.0",
        "10.0.0.0/x",
        "::1/129",
        "[::1]",
        "fe80::1%lo",
        "localhost",
        "unix:",
        "unix/8",
        "1.2.3.4:80",
        ",",
        "10.0.0.1,",
        ",10.0.0.1",
        "10.0.0.1,,10.0.0.2",
        "10.0.0.1 10.0.0.2",
        "/8",
        "10.0.0.0/ 8",
        "10.0.0.0/8 x",
        "10.0.0.0/1000",
        "::ffff:10.0.0.0/129",
    };
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        struct forwarded_proxies p = proxies_of("192.0.2.1"), before = p;
        if (forwarded_proxies_parse(wrong[i], &p))
            fail_msg("taken: '%s'", wrong[i]);
        assert_memory_equal(&p, &before, sizeof(p));
    }
}

static void the_word_unix_and_several_lists_add_up_to_the_limit(void **state)
{
    (void)state;
    struct forwarded_proxies p = proxies_of("unix");
    assert_true(p.unix_socket);
    assert_int_equal(p.count, 0);
    for (int i = 0; i < FORWARDED_PROXIES_MAX; i++)
        assert_true(forwarded_proxies_parse("10.0.0.0/8", &p));
    assert_false(forwarded_proxies_parse("10.0.0.0/8", &p));
    assert_true(forwarded_proxies_parse(" UNIX ", &p));
    assert_true(forwarded_proxies_parse("", &p));
    assert_int_equal(p.count, FORWARDED_PROXIES_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_headers_the_socket_is_the_client),
        cmocka_unit_test(headers_of_a_stranger_are_not_believed),
        cmocka_unit_test(a_trusted_proxy_names_the_client),
        cmocka_unit_test(x_forwarded_for_has_bare_addresses_with_or_without_ports),
        cmocka_unit_test(the_walk_ends_at_the_first_address_that_is_no_proxy),
        cmocka_unit_test(what_a_client_put_before_the_proxy_s_word_changes_nothing),
        cmocka_unit_test(a_header_that_the_proxy_passed_on_unseen_is_not_believed),
        cmocka_unit_test(who_is_unknown_or_malformed_ends_the_walk),
        cmocka_unit_test(empty_elements_of_forwarded_are_none),
        cmocka_unit_test(a_walk_is_bounded),
        cmocka_unit_test(very_long_headers_are_read_to_their_right_end),
        cmocka_unit_test(noise_is_survived),
        cmocka_unit_test(networks_hold_their_addresses_and_no_others),
        cmocka_unit_test(malformed_networks_are_refused_and_leave_the_list_alone),
        cmocka_unit_test(the_word_unix_and_several_lists_add_up_to_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
