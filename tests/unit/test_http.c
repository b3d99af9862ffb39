/* The parts of server/ that need no socket: routes, plans, conditions, limits per address, prepared answers,
 * ids. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/http_address.h"
#include "server/http_replies.h"
#include "server/plan.h"
#include "server/respond.h"
#include "server/routes.h"

static void conditions_match_lists_weak_tags_and_the_star(void **state)
{
    (void)state;
    const char *yes[] = {"\"t\"",   "W/\"t\"",       "\"a\", \"t\"", " \"a\" ,W/\"t\" ", "*",
                         ", \"t\"", "\"a,b\",\"t\"", " * ",          "\"t\" ,, \"a\","};
    const char *no[] = {"", "\"tt\"", "t", "\"t", "W/", "w/\"t\"", "\"a\"", "\"a, t\"", "x\"t\"", "\"\""};
    for (size_t i = 0; i < ARRAY_LEN(yes); i++)
        assert_true(respond_etag_matches(yes[i], "\"t\""));
    for (size_t i = 0; i < ARRAY_LEN(no); i++)
        assert_false(respond_etag_matches(no[i], "\"t\""));
}

static void a_malformed_list_of_tags_is_no_condition(void **state)
{
    (void)state;
    const char *no[] = {"\"t\"garbage", "\"t\"\"a\"",    "\"t\" \"a\"", "\"t\", a", "\"t\", \"a",
                        "\"t\";q=1",    "\"t\", *",      "*, \"t\"",    "**",       "*x",
                        "\"t\", W/",    "\"a\"x, \"t\"", "W/ \"t\""};
    for (size_t i = 0; i < ARRAY_LEN(no); i++)
        if (respond_etag_matches(no[i], "\"t\""))
            fail_msg("%s", no[i]);
}

static void routes_know_path_and_method(void **state)
{
    (void)state;
    const struct route *r;
    assert_int_equal(route_find(ROUTES_PUBLIC, "/planet", 7, HTTP_POST, &r), ERR_NONE);
    assert_ptr_equal(r->handler, handle_planet);
    assert_int_equal(route_find(ROUTES_PUBLIC, "/planet.png", 11, HTTP_GET, &r), ERR_NONE);
    assert_ptr_equal(r->handler, handle_planet);
    assert_int_equal(route_find(ROUTES_PUBLIC, "/planet.png", 11, HTTP_POST, &r), ERR_METHOD);
    assert_string_equal(r->allow, "GET, HEAD, OPTIONS");
    assert_int_equal(route_find(ROUTES_PUBLIC, "/planets", 8, HTTP_GET, &r), ERR_NOT_FOUND);
    assert_int_equal(route_find(ROUTES_PUBLIC, "/healthz", 7, HTTP_GET, &r),
                     ERR_NOT_FOUND); /* the length counts, not the NUL */
    assert_int_equal(route_find(ROUTES_PUBLIC, "/healthz", 8, HTTP_OTHER, &r), ERR_METHOD);
    assert_int_equal(route_find(ROUTES_PUBLIC, "/healthz", 8, HTTP_OPTIONS, &r), ERR_NONE);
}

static void each_address_has_its_own_routes(void **state)
{
    (void)state;
    const struct route *r;
    assert_int_equal(route_find(ROUTES_METRICS, "/planet", 7, HTTP_GET, &r), ERR_NOT_FOUND);
    assert_int_equal(route_find(ROUTES_METRICS, "/healthz", 8, HTTP_GET, &r), ERR_NONE);
    assert_int_equal(route_find(ROUTES_METRICS, "/metrics", 8, HTTP_GET, &r), ERR_NONE);
    assert_int_equal(route_find(ROUTES_PUBLIC, "/metrics", 8, HTTP_GET, &r), ERR_NOT_FOUND);
    for (int i = 0; i < route_count(); i++)
        assert_int_equal(route_index(route_at(i)), i);
}

static struct http_peer peer_of(const char *text)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    struct http_peer peer;
    if (inet_pton(AF_INET, text, &v4.sin_addr) == 1)
        http_peer_from((struct sockaddr *)&v4, &peer);
    else {
        assert_int_equal(inet_pton(AF_INET6, text, &v6.sin6_addr), 1);
        http_peer_from((struct sockaddr *)&v6, &peer);
    }
    return peer;
}

static void addresses_have_their_own_counts(void **state)
{
    (void)state;
    struct http_addresses a;
    struct http_peer one = peer_of("10.0.0.1"), other = peer_of("10.0.0.2");
    assert_int_equal(http_addresses_init(&a, 2), ERR_NONE);
    assert_true(http_addresses_enter(&a, &one));
    assert_true(http_addresses_enter(&a, &one));
    assert_false(http_addresses_enter(&a, &one));
    assert_true(http_addresses_enter(&a, &other));
    http_addresses_leave(&a, &one);
    assert_true(http_addresses_enter(&a, &one));
    assert_false(http_addresses_enter(&a, &one));
    http_addresses_finish(&a);
}

static void many_addresses_are_told_apart_and_forgotten(void **state)
{
    (void)state;
    struct http_addresses a;
    assert_int_equal(http_addresses_init(&a, 1), ERR_NONE);
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < 5000; i++) {
            char text[32];
            snprintf(text, sizeof(text), "10.1.%d.%d", i / 250, i % 250);
            struct http_peer p = peer_of(text);
            if (pass == 0)
                assert_true(http_addresses_enter(&a, &p));
            else
                http_addresses_leave(&a, &p);
        }
    }
    for (size_t i = 0; i < HTTP_ADDRESS_BUCKETS; i++)
        assert_null(a.buckets[i]);
    http_addresses_finish(&a);
}

static void a_v6_client_is_its_64_and_a_mapped_one_its_v4_address(void **state)
{
    (void)state;
    struct http_peer a = peer_of("2001:db8:1:2::1"), b = peer_of("2001:db8:1:2:ffff::9"),
                     c = peer_of("2001:db8:1:3::1");
    struct http_peer mapped = peer_of("::ffff:10.0.0.1"), plain = peer_of("10.0.0.1");
    assert_memory_equal(&a, &b, sizeof(a));
    assert_memory_not_equal(&a, &c, sizeof(a));
    assert_memory_equal(&mapped, &plain, sizeof(plain));
}

static void *memory;

static struct http_exchange *exchange_for(const char *target, const char *accept)
{
    static struct http_exchange x;
    x = (struct http_exchange){0};
    size_t len = strcspn(target, "?");
    x.in = (struct http_request){
        .method = HTTP_GET, .target = target, .path = target, .path_len = len, .accept = accept};
    if (target[len]) {
        x.in.query = target + len + 1;
        x.in.query_len = strlen(x.in.query);
    }
    x.memory = &memory;
    return &x;
}

static void remembered_plans_are_those_that_would_be_made(void **state)
{
    (void)state;
    const char *const accepts[] = {NULL, "image/gif", "image/png;q=0.5,image/gif"};
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < 600; i++) { /* more than there are places */
            char target[64], key[KEY_MAX_BYTES];
            const char *accept = accepts[i % 3];
            const struct plan *plan;
            struct plan room;
            struct request_fault fault;
            snprintf(target, sizeof(target), "/planet?seed=%d%s", i / 6, i % 6 < 3 ? "" : "&rev=1");
            assert_int_equal(plan_make(exchange_for(target, accept), &room, &plan, &fault), ERR_NONE);
            snprintf(key, sizeof(key), "rev=1&type=terrestrial&seed=%d&format=%s", i / 6,
                     accept ? "gif" : "png");
            assert_string_equal(plan->key.text, key);
            assert_true(plan->negotiated);
            assert_int_equal(plan->pinned, i % 6 >= 3);
        }
}

static void what_is_refused_is_not_remembered(void **state)
{
    (void)state;
    struct plan room;
    const struct plan *plan = NULL;
    struct request_fault fault;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(plan_make(exchange_for("/planet?sed=1", NULL), &room, &plan, &fault),
                         ERR_PARAM_UNKNOWN);
        assert_int_equal(plan_make(exchange_for("/planet?seed=1", "text/html"), &room, &plan, &fault),
                         ERR_NOT_ACCEPTABLE);
        assert_true(room.negotiated);
        assert_int_equal(plan_make(exchange_for("/planet?seed=1", NULL), &room, &plan, &fault), ERR_NONE);
    }
}

static void a_plan_is_that_of_path_and_query_alone(void **state)
{
    (void)state;
    const struct plan *plan;
    struct plan room;
    struct request_fault fault;
    struct http_exchange *x = exchange_for("/planet?seed=1&signature=x", NULL);
    x->in.query = "seed=2"; /* as after a signature was taken off */
    x->in.query_len = 6;
    assert_int_equal(plan_make(x, &room, &plan, &fault), ERR_NONE);
    assert_non_null(strstr(plan->key.text, "seed=2"));
    assert_int_equal(plan_make(exchange_for("/planet?seed=2", NULL), &room, &plan, &fault), ERR_NONE);
    assert_ptr_not_equal(plan, &room); /* remembered */
    assert_int_equal(plan_make(exchange_for("/planet?seed=1&signature=x", NULL), &room, &plan, &fault),
                     ERR_PARAM_UNKNOWN);
}

static int destroyed;

static void count_destroyed(void *reply)
{
    *(int *)reply += 1;
    destroyed++;
}

static void prepared_answers_are_found_by_entry_and_variant_and_freed_once(void **state)
{
    (void)state;
    enum { ENTRIES = 3 * HTTP_REPLIES_SLOTS };
    static int replies[ENTRIES + 1][HTTP_REPLIES_VARIANTS];
    struct http_replies *r;
    destroyed = 0;
    assert_int_equal(http_replies_create(count_destroyed, &r), ERR_NONE);
    assert_null(http_replies_find(r, 1, 0));
    for (uint64_t serial = 1; serial <= ENTRIES; serial++)
        for (int v = 0; v < HTTP_REPLIES_VARIANTS; v++) {
            assert_null(http_replies_find(r, serial, v));
            http_replies_keep(r, serial, v, &replies[serial][v]);
            assert_ptr_equal(http_replies_find(r, serial, v), &replies[serial][v]);
        }
    int found = 0;
    for (uint64_t serial = 1; serial <= ENTRIES; serial++)
        for (int v = 0; v < HTTP_REPLIES_VARIANTS; v++) {
            void *reply = http_replies_find(r, serial, v);
            assert_true(!reply || reply == &replies[serial][v]);
            assert_int_equal(replies[serial][v], reply ? 0 : 1);
            found += reply != NULL;
        }
    assert_true(found > HTTP_REPLIES_SLOTS / 2); /* places are spread */
    assert_int_equal(destroyed, ENTRIES * HTTP_REPLIES_VARIANTS - found);
    http_replies_destroy(r);
    assert_int_equal(destroyed, ENTRIES * HTTP_REPLIES_VARIANTS);
    http_replies_destroy(NULL);
}

static void own_ids_are_equally_long_and_tell_boot_loop_and_number(void **state)
{
    (void)state;
    struct http_exchange x = {.id_boot = 0xabc, .id_loop = 3, .id_number = 0x12};
    assert_string_equal(respond_id(&x), "0000000000000abc-03-00000012");
    struct http_exchange most = {.id_boot = UINT64_MAX, .id_loop = 63, .id_number = UINT64_MAX};
    assert_string_equal(respond_id(&most), "ffffffffffffffff-3f-ffffffffffffffff");
    struct http_exchange own = {.id = "mine"};
    assert_string_equal(respond_id(&own), "mine");
}

static int memory_free(void **state)
{
    (void)state;
    free(memory);
    memory = NULL;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conditions_match_lists_weak_tags_and_the_star),
        cmocka_unit_test(a_malformed_list_of_tags_is_no_condition),
        cmocka_unit_test(routes_know_path_and_method),
        cmocka_unit_test(each_address_has_its_own_routes),
        cmocka_unit_test(addresses_have_their_own_counts),
        cmocka_unit_test(many_addresses_are_told_apart_and_forgotten),
        cmocka_unit_test(a_v6_client_is_its_64_and_a_mapped_one_its_v4_address),
        cmocka_unit_test_teardown(remembered_plans_are_those_that_would_be_made, memory_free),
        cmocka_unit_test_teardown(what_is_refused_is_not_remembered, memory_free),
        cmocka_unit_test_teardown(a_plan_is_that_of_path_and_query_alone, memory_free),
        cmocka_unit_test(prepared_answers_are_found_by_entry_and_variant_and_freed_once),
        cmocka_unit_test(own_ids_are_equally_long_and_tell_boot_loop_and_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
