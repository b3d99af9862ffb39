/* test_store_redis.c -- the shared cache on a real redis-server, which is stopped, killed, filled and
 * corrupted. Is skipped where there is no redis-server or the binary is built without hiredis. */
#include "redis_rig.h"

#ifdef WITH_hiredis

#include <pthread.h>

#include "redis_server.h"
#include "renderer/renderer.h"
#include "server/record.h"

static void what_one_planetd_writes_another_finds(void **state)
{
    (void)state;
    struct server v = server_start(NULL);
    struct store *a = store_start(v.url, TIMEOUT_MS, 1000), *b = store_start(v.url, TIMEOUT_MS, 1000);
    wait_up(a, true);
    wait_up(b, true);
    assert_false(find_tried(b, 1));
    put_now(a, 1);
    assert_true(find_tried(b, 1));
    assert_false(find_tried(b, 2));
    struct store_stats st = stats_of(b);
    assert_int_equal(st.hits, 1);
    assert_int_equal(st.misses, 2);
    assert_int_equal(st.errors + st.corrupt + st.dropped + st.writes + st.evictions, 0);
    assert_int_equal(st.bytes + st.entries + st.budget, 0);
    store_end(a);
    store_end(b);
    server_end(&v);
}

static void an_entry_has_our_name_the_record_and_a_time_to_live(void **state)
{
    (void)state;
    struct server v = server_start(NULL);
    struct store *s = store_start(v.url, TIMEOUT_MS, 1000);
    char name[64], before[64];
    put_now(s, 1);
    only_name(&v, name);
    snprintf(before, sizeof(before), "planetd:%d:", RENDERER_REVISION);
    assert_int_equal(strncmp(name, before, strlen(before)), 0);
    assert_int_equal(strlen(name), strlen(before) + 32);
    assert_int_equal(strspn(name + strlen(before), "0123456789abcdef"), 32);
    struct entry *e = make_entry(1, BODY_BYTES);
    assert_int_equal(ask_number(&v, "STRLEN %s", name), record_bytes(e));
    entry_unref(e);
    assert_in_range(ask_number(&v, "TTL %s", name), 900, 1000);
    store_end(s);
    server_end(&v);
}

static void a_time_to_live_of_0_is_for_ever(void **state)
{
    (void)state;
    struct server v = server_start(NULL);
    struct store *s = store_start(v.url, TIMEOUT_MS, 0);
    char name[64];
    put_now(s, 1);
    only_name(&v, name);
    assert_int_equal(ask_number(&v, "TTL %s", name), -1);
    store_end(s);
    server_end(&v);
}

/* Over TCP, with a name, in a database of its own, with a user of its own. */
static void user_password_and_database_of_the_url_are_used(void **state)
{
    (void)state;
    struct server v = {0};
    char port[8], url[URL_BYTES];
    free_port(port);
    const char *const extra[] = {"--port", port,   "--user", "planets", "on",    ">pass/word", "~planetd:*",
                                 "+get",   "+set", "+del",   "+select", "+ping", NULL};
    v = server_start(extra);
    snprintf(url, sizeof(url), "redis://planets:pass%%2fword@localhost:%s/3", port);
    struct store *s = store_start(url, TIMEOUT_MS, 0);
    put_now(s, 1);
    assert_true(find_tried(s, 1));
    assert_int_equal(ask_number(&v, "DBSIZE", NULL), 0);
    tell(&v, "SELECT 3");
    assert_int_equal(ask_number(&v, "DBSIZE", NULL), 1);
    store_end(s);
    server_end(&v);
}

static void a_wrong_password_is_logged_once_and_never_shown(void **state)
{
    (void)state;
    const char *const extra[] = {"--requirepass", "right-secret", NULL};
    struct server v = server_start(extra);
    char url[URL_BYTES];
    struct log_tap tap = log_tap_open();
    snprintf(url, sizeof(url), "unix://:wrong-secret@%s", v.socket);
    struct store *s = store_start(url, TIMEOUT_MS, 0);
    for (int i = 0; i < WAIT_MS && stats_of(s).skipped == 0; i++)
        (void)find(s, 1);
    sleep_ms(1500); /* a probe, too, must not say it again */
    assert_false(stats_of(s).up);
    store_end(s);
    snprintf(url, sizeof(url), "unix://:right-secret@%s", v.socket);
    s = store_start(url, TIMEOUT_MS, 0);
    wait_up(s, true);
    store_end(s);
    s = store_start(v.url, TIMEOUT_MS, 0); /* none at all */
    sleep_ms(1500);
    store_end(s);
    char *log = log_tap_close(&tap);
    assert_int_equal(count_of(log, "event=shared_cache_down"), 2);
    assert_int_equal(count_of(log, "reason=\"WRONGPASS\""), 1);
    assert_int_equal(count_of(log, "reason=\"NOAUTH\""), 1);
    assert_int_equal(count_of(log, "event=shared_cache_up"), 1);
    assert_null(strstr(log, "secret"));
    free(log);
    server_end(&v);
}

/* It says: ERR unknown command 'AUTH', with args beginning with: 'the password'. */
static void a_server_that_quotes_the_password_back_does_not_bring_it_into_the_log(void **state)
{
    (void)state;
    const char *const extra[] = {"--rename-command", "AUTH", "", NULL};
    struct server v = server_start(extra);
    char url[URL_BYTES];
    struct log_tap tap = log_tap_open();
    snprintf(url, sizeof(url), "unix://:hunter2@%s", v.socket);
    struct store *s = store_start(url, TIMEOUT_MS, 0);
    sleep_ms(1500);
    store_end(s);
    char *log = log_tap_close(&tap);
    assert_int_equal(count_of(log, "reason=\"ERR\""), 1);
    assert_null(strstr(log, "hunter2"));
    free(log);
    server_end(&v);
}

static void a_paused_server_delays_three_finds_and_then_none_until_it_goes_on(void **state)
{
    (void)state;
    struct server v = server_start(NULL);
    struct log_tap tap = log_tap_open();
    struct store *s = store_start(v.url, TIMEOUT_MS, 0);
    put_now(s, 1);
    assert_true(find_tried(s, 1));
    kill(v.pid, SIGSTOP);
    for (int i = 0; i < 3; i++) {
        assert_true(stats_of(s).up);
        assert_find_fails_in_time(s, 1, TIMEOUT_MS);
    }
    assert_int_equal(stats_of(s).errors, 3);
    assert_false(stats_of(s).up);
    assert_finds_skip_at_once(s);
    uint64_t dropped = stats_of(s).dropped;
    put(s, 2);
    assert_int_equal(stats_of(s).dropped, dropped + 1);
    kill(v.pid, SIGCONT);
    wait_up(s, true);
    assert_true(find_tried(s, 1));
    put_now(s, 2);
    store_end(s);
    char *log = log_tap_close(&tap);
    assert_int_equal(count_of(log, "event=shared_cache_down"), 1);
    assert_int_equal(count_of(log, "reason=\"no answer in time\""), 1);
    assert_int_equal(count_of(log, "event=shared_cache_up"), 2);
    free(log);
    server_end(&v);
}

static void a_find_ends_by_its_callers_deadline_too(void **state)
{
    (void)state;
    struct server v = server_start(NULL);
    struct store *s = store_start(v.url, 10000, 0);
    put_now(s, 1);
    assert_true(find_tried(s, 1));
    uint64_t skipped = stats_of(s).skipped;
    assert_false(find_by(s, 1, redis_wait_now())); /* past */
    assert_int_equal(stats_of(s).skipped, skipped + 1);
    kill(v.pid, SIGSTOP);
    for (int i = 0; i < 3; i++) {
        uint64_t start = redis_wait_now();
        assert_false(find_by(s, 1, start + UINT64_C(50000000)));
        assert_true(ms_since(start) <= 50 + SLACK_MS);
    }
    kill(v.pid, SIGCONT);
    store_end(s);
    server_end(&v);
}

static void a_caller_in_a_hurry_does_not_open_the_breaker(void **state)
{
    (void)state;
    struct server v = server_start(NULL);
    struct log_tap tap = log_tap_open();
    struct store *s = store_start(v.url, 10000, 0);
    put_now(s, 1);
    assert_true(find_tried(s, 1));
    for (int i = 0; i < 3; i++) {
        kill(v.pid, SIGSTOP);
        uint64_t errors = stats_of(s).errors;
        while (stats_of(s).errors == errors)
            assert_false(find_by(s, 1, redis_wait_now() + UINT64_C(20000000)));
        kill(v.pid, SIGCONT);
    }
    assert_true(find_tried(s, 1));
    store_end(s);
    char *log = log_tap_close(&tap);
    assert_int_equal(count_of(log, "event=shared_cache_down"), 0);
    free(log);
    server_end(&v);
}

static void a_killed_server_costs_its_hits_and_is_used_again_when_it_is_back(void **state)
{
    (void)state;
    struct server v = server_start(NULL);
    struct store *s = store_start(v.url, TIMEOUT_MS, 0);
    put_now(s, 1);
    assert_true(find_tried(s, 1));
    server_kill(&v);
    for (int i = 0; i < 20; i++)
        assert_find_fails_in_time(s, 1, TIMEOUT_MS);
    wait_up(s, false);
    assert_finds_skip_at_once(s);
    server_run(&v);
    wait_up(s, true);
    assert_false(find_tried(s, 1)); /* its memory is gone */
    put_now(s, 1);
    assert_true(find_tried(s, 1));
    store_end(s);
    server_end(&v);
}

static void a_server_that_starts_later_is_found(void **state)
{
    (void)state;
    struct server v = server_start(NULL);
    server_kill(&v);
    unlink(v.socket);
    struct store *s = store_start(v.url, TIMEOUT_MS, 0);
    assert_find_fails_in_time(s, 1, 0);
    server_run(&v);
    wait_up(s, true);
    put_now(s, 1);
    assert_true(find_tried(s, 1));
    store_end(s);
    server_end(&v);
}

/* Redis' `timeout` setting, or a restart behind a proxy. */
static void connections_that_the_server_closed_while_idle_are_no_failures(void **state)
{
    (void)state;
    struct server v = server_start(NULL);
    struct store *s = store_start(v.url, TIMEOUT_MS, 0);
    put_now(s, 1);
    for (int i = 0; i < 5; i++) {
        assert_true(find_tried(s, 1));
        tell(&v, "CLIENT KILL TYPE normal SKIPME yes");
        assert_true(find_tried(s, 1));
        put_now(s, (uint64_t)i + 2);
    }
    assert_int_equal(stats_of(s).errors, 0);
    store_end(s);
    server_end(&v);
}

enum damage { FLIPPED, CUT, EMPTY, LONGER, OTHERS, A_LIST, DAMAGES };

static void damage(struct server *v, const char *name, enum damage how)
{
    redisReply *value = ask(v, "GET %s", name);
    assert_int_equal(value->type, REDIS_REPLY_STRING);
    size_t len = value->len;
    if (how == FLIPPED)
        value->str[len / 2] = (char)(value->str[len / 2] ^ 1);
    if (how == CUT)
        len--;
    if (how == EMPTY)
        len = 0;
    if (how == A_LIST) {
        tell(v, "DEL %s", name);
        tell(v, "RPUSH %s a b", name);
    } else if (how == LONGER) {
        tell(v, "APPEND %s x", name);
    } else if (how != OTHERS) {
        tell(v, "SET %s %b", name, value->str, len);
    }
    freeReplyObject(value);
}

static void a_damaged_entry_is_a_miss_that_is_counted_removed_and_replaced(void **state)
{
    (void)state;
    struct server v = server_start(NULL);
    struct store *s = store_start(v.url, TIMEOUT_MS, 0);
    for (int how = 0; how < DAMAGES; how++) {
        char name[64];
        if (how == OTHERS)
            continue;
        put_now(s, 1);
        assert_true(find_tried(s, 1));
        only_name(&v, name);
        damage(&v, name, (enum damage)how);
        struct store_stats before = stats_of(s);
        assert_false(find_tried(s, 1));
        assert_int_equal(stats_of(s).corrupt, before.corrupt + 1);
        assert_int_equal(stats_of(s).misses, before.misses + 1);
        assert_int_equal(stats_of(s).errors, 0);
        for (int i = 0; i < WAIT_MS && ask_number(&v, "EXISTS %s", name); i++)
            sleep_ms(1);
        assert_int_equal(ask_number(&v, "EXISTS %s", name), 0);
        put_now(s, 1);
        assert_true(find_tried(s, 1));
        tell(&v, "FLUSHALL");
    }
    assert_true(stats_of(s).up); /* no reason for the breaker */
    store_end(s);
    server_end(&v);
}

static void the_entry_of_another_key_under_our_name_is_a_miss(void **state)
{
    (void)state;
    struct server v = server_start(NULL);
    struct store *s = store_start(v.url, TIMEOUT_MS, 0);
    char one[64], two[64];
    put_now(s, 1);
    only_name(&v, one);
    tell(&v, "RENAME %s other", one);
    put_now(s, 2);
    tell(&v, "RENAME other %s", one);
    assert_true(find_tried(s, 1));
    tell(&v, "DEL %s", one);
    only_name(&v, two);
    tell(&v, "RENAME %s %s", two, one);
    assert_false(find_tried(s, 1));
    put_now(s, 1);
    assert_true(find_tried(s, 1));
    store_end(s);
    server_end(&v);
}

static void a_full_server_refuses_writes_and_goes_on_to_be_read(void **state)
{
    (void)state;
    const char *const extra[] = {"--maxmemory", "3mb", "--maxmemory-policy", "noeviction", NULL};
    struct server v = server_start(extra);
    struct log_tap tap = log_tap_open();
    struct store *s = store_start(v.url, TIMEOUT_MS, 0);
    put_now(s, 1);
    uint64_t n = 2;
    for (; n < 100 && stats_of(s).errors < 10; n++) {
        struct store_stats before = stats_of(s), now = before;
        put_sized(s, n, 500000);
        for (int i = 0; i < WAIT_MS && now.writes == before.writes && now.errors == before.errors; i++) {
            sleep_ms(1);
            now = stats_of(s);
            assert_true(now.up);
        }
    }
    assert_true(stats_of(s).errors >= 10);
    assert_true(stats_of(s).up);
    assert_true(find_tried(s, 1));
    tell(&v, "CONFIG SET maxmemory 0");
    put_now(s, n);
    assert_true(find_tried(s, n));
    store_end(s);
    char *log = log_tap_close(&tap);
    assert_int_equal(count_of(log, "event=shared_cache_refuses_writes"), 1);
    assert_int_equal(count_of(log, "reason=\"OOM\""), 1);
    assert_int_equal(count_of(log, "event=shared_cache_down"), 0);
    free(log);
    server_end(&v);
}

static void an_entry_above_the_limit_is_not_sent_and_one_below_comes_back_whole(void **state)
{
    (void)state;
    struct server v = server_start(NULL);
    struct store *s = store_start(v.url, 10000, 0);
    size_t limit = (size_t)8 << 20;
    wait_up(s, true);
    put_sized(s, 1, limit);
    assert_int_equal(stats_of(s).dropped, 1);
    uint64_t writes = stats_of(s).writes;
    put_sized(s, 2, limit - 2000);
    for (int i = 0; i < WAIT_MS && stats_of(s).writes == writes; i++)
        sleep_ms(1);
    assert_true(find_tried(s, 2));
    assert_false(find_tried(s, 1));
    store_end(s);
    server_end(&v);
}

static void puts_never_wait_and_the_queue_is_bounded(void **state)
{
    (void)state;
    struct server v = server_start(NULL);
    struct store *s = store_start(v.url, TIMEOUT_MS, 0);
    wait_up(s, true);
    kill(v.pid, SIGSTOP);
    int slowest = 0;
    struct entry *e = make_entry(1, (size_t)1 << 20);
    for (int i = 0; i < 100; i++) {
        uint64_t start = redis_wait_now();
        s->impl->put(s, e);
        slowest = ms_since(start) > slowest ? ms_since(start) : slowest;
    }
    entry_unref(e);
    assert_true(slowest < SLACK_MS);
    /* 31 records of just over 1 MiB fit in 32 MiB, and one is being sent. */
    assert_in_range(stats_of(s).dropped, 100 - 33, 100 - 31);
    kill(v.pid, SIGCONT);
    store_end(s);
    server_end(&v);
}

static void closing_writes_what_is_queued(void **state)
{
    (void)state;
    struct server v = server_start(NULL);
    struct store *s = store_start(v.url, TIMEOUT_MS, 0); /* not even connected yet */
    for (uint64_t n = 0; n < 200; n++)
        put(s, n);
    s->impl->close(s, WAIT_MS);
    assert_int_equal(ask_number(&v, "DBSIZE", NULL), 200);
    server_end(&v);
}

static void closing_takes_no_longer_than_it_may(void **state)
{
    (void)state;
    struct server v = server_start(NULL);
    for (int ms = 0; ms <= 200; ms += 200) {
        struct store *s = store_start(v.url, TIMEOUT_MS, 0);
        wait_up(s, true);
        put_now(s, 1);
        kill(v.pid, SIGSTOP);
        for (uint64_t n = 0; n < 20; n++)
            put_sized(s, n, 500000);
        uint64_t start = redis_wait_now();
        s->impl->close(s, ms);
        assert_true(ms_since(start) <= ms + SLACK_MS);
        kill(v.pid, SIGCONT);
    }
    server_end(&v);
}

/* ---- many threads ---- */

#define THREADS 8
#define KEYS    40
#define CUTS    5

struct finder {
    pthread_t thread;
    struct store *store;
    atomic_bool *stop;
    uint64_t random, hits, finds;
};

static void *find_and_put(void *arg)
{
    struct finder *f = arg;
    while (!atomic_load(f->stop)) {
        f->random = f->random * 6364136223846793005u + 1442695040888963407u;
        uint64_t n = (f->random >> 33) % KEYS;
        f->finds++;
        if (find(f->store, n))
            f->hits++;
        else
            put(f->store, n);
        if (!stats_of(f->store).up) /* cut too often in a row: the breaker opens for a second */
            sleep_ms(1);
    }
    return NULL;
}

static void eight_threads_find_and_put_while_connections_are_cut(void **state)
{
    (void)state;
    struct server v = server_start(NULL);
    struct store *s = store_start(v.url, 5000, 0);
    struct finder finders[THREADS];
    atomic_bool stop = false;
    uint64_t hits = 0, finds = 0;
    wait_up(s, true);
    for (int i = 0; i < THREADS; i++) {
        finders[i] = (struct finder){.store = s, .stop = &stop, .random = (uint64_t)i};
        assert_int_equal(pthread_create(&finders[i].thread, NULL, find_and_put, &finders[i]), 0);
    }
    for (int cut = 0; cut <= CUTS; cut++) {
        uint64_t before = stats_of(s).hits;
        for (int i = 0; i < WAIT_MS && stats_of(s).hits < before + 200; i++)
            sleep_ms(1);
        assert_true(stats_of(s).hits >= before + 200); /* it always comes back */
        if (cut < CUTS)
            tell(&v, "CLIENT KILL TYPE normal SKIPME yes");
    }
    atomic_store(&stop, true);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(finders[i].thread, NULL), 0);
        hits += finders[i].hits;
        finds += finders[i].finds;
    }
    struct store_stats st = stats_of(s);
    assert_int_equal(st.hits, hits);
    assert_int_equal(st.corrupt, 0);
    assert_true(st.hits + st.misses + st.skipped + st.errors >= finds); /* a failed write is an error, too */
    store_end(s);
    server_end(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_one_planetd_writes_another_finds),
        cmocka_unit_test(an_entry_has_our_name_the_record_and_a_time_to_live),
        cmocka_unit_test(a_time_to_live_of_0_is_for_ever),
        cmocka_unit_test(user_password_and_database_of_the_url_are_used),
        cmocka_unit_test(a_wrong_password_is_logged_once_and_never_shown),
        cmocka_unit_test(a_server_that_quotes_the_password_back_does_not_bring_it_into_the_log),
        cmocka_unit_test(a_paused_server_delays_three_finds_and_then_none_until_it_goes_on),
        cmocka_unit_test(a_find_ends_by_its_callers_deadline_too),
        cmocka_unit_test(a_caller_in_a_hurry_does_not_open_the_breaker),
        cmocka_unit_test(a_killed_server_costs_its_hits_and_is_used_again_when_it_is_back),
        cmocka_unit_test(a_server_that_starts_later_is_found),
        cmocka_unit_test(connections_that_the_server_closed_while_idle_are_no_failures),
        cmocka_unit_test(a_damaged_entry_is_a_miss_that_is_counted_removed_and_replaced),
        cmocka_unit_test(the_entry_of_another_key_under_our_name_is_a_miss),
        cmocka_unit_test(a_full_server_refuses_writes_and_goes_on_to_be_read),
        cmocka_unit_test(an_entry_above_the_limit_is_not_sent_and_one_below_comes_back_whole),
        cmocka_unit_test(puts_never_wait_and_the_queue_is_bounded),
        cmocka_unit_test(closing_writes_what_is_queued),
        cmocka_unit_test(closing_takes_no_longer_than_it_may),
        cmocka_unit_test(eight_threads_find_and_put_while_connections_are_cut),
    };
    if (system("command -v redis-server >/dev/null") != 0) {
        puts("SKIP store_redis: no redis-server (deploy/packages/test.txt names it)");
        return SKIPPED;
    }
    return cmocka_run_group_tests_name("store_redis", tests, NULL, NULL);
}

#else

int main(void)
{
    struct store *s = NULL;
    struct store_redis_desc desc = {"redis://localhost", TIMEOUT_MS, 0};
    if (!store_redis_url_valid(desc.url) || store_redis_open(&desc, &s) != ERR_CONFIG || s)
        return 1;
    puts("SKIP store_redis: built without hiredis");
    return SKIPPED;
}

#endif
