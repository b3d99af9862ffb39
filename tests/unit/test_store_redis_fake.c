/* test_store_redis_fake.c -- the shared cache on a server that does what no Redis does: says nothing, talks
 * nonsense, answers a byte at a time, too late, too much, or never stops. Is skipped where the binary is
 * built without hiredis. */
#include "redis_rig.h"

#ifdef WITH_hiredis

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/socket.h>

#include "server/record.h"

#define CLIENTS_MAX 64
#define TICK_MS     5

/* ---- a server in a thread ---- */

enum mode {
    MODE_RECORD,     /* answers with picture `picture` */
    MODE_TWICE,      /* the same, two times */
    MODE_HOLD,       /* keeps the answer back until `release` */
    MODE_SILENT,     /* reads and says nothing */
    MODE_DRIP,       /* a sound answer, a byte each tick */
    MODE_DRIP_LINE,  /* its first line never ends, a byte each tick */
    MODE_CUT,        /* half of an answer, then closes */
    MODE_CLOSE,      /* closes */
    MODE_FLOOD,      /* a length of 4 GiB, and bytes without end */
    MODE_FLOOD_LINE, /* a line without end */
    MODE_TEXT        /* `text` */
};

struct client {
    int fd;
    enum mode mode;   /* what it is being answered with */
    size_t sent;      /* of a dripping answer */
    struct blob held; /* a whole answer */
};

static struct {
    pthread_t thread;
    int listen_fd;
    char url[64];
    _Atomic(enum mode) mode;
    _Atomic(const char *) text;
    atomic_uint picture;
    atomic_bool stop, release;
    atomic_int gets, closed; /* GETs seen; connections that the other side closed */
    atomic_size_t flooded;   /* bytes of floods that were taken */
} fake;

static struct blob record_answer(uint64_t n)
{
    struct entry *e = make_entry(n, BODY_BYTES);
    struct blob record = {0}, answer = {0};
    char head[32];
    assert_int_equal(record_write(e, &record), ERR_NONE);
    int head_len = snprintf(head, sizeof(head), "$%zu\r\n", record.len);
    assert_int_equal(blob_append(&answer, head, (size_t)head_len), ERR_NONE);
    assert_int_equal(blob_append(&answer, record.data, record.len), ERR_NONE);
    assert_int_equal(blob_append(&answer, "\r\n", 2), ERR_NONE);
    blob_free(&record);
    entry_unref(e);
    return answer;
}

static void say(const struct client *c, const void *bytes, size_t len)
{
    ssize_t n = send(c->fd, bytes, len, MSG_NOSIGNAL); /* short enough for the socket's buffer */
    (void)n;
}

static void hang_up(struct client *c)
{
    close(c->fd);
    blob_free(&c->held);
    *c = (struct client){.fd = -1};
}

static void answer_get(struct client *c)
{
    c->mode = atomic_load(&fake.mode);
    c->sent = 0;
    blob_free(&c->held);
    c->held = record_answer(atomic_load(&fake.picture));
    if (c->mode == MODE_RECORD || c->mode == MODE_TWICE)
        say(c, c->held.data, c->held.len);
    if (c->mode == MODE_TWICE)
        say(c, c->held.data, c->held.len);
    if (c->mode == MODE_CUT)
        say(c, c->held.data, c->held.len / 2);
    if (c->mode == MODE_TEXT)
        say(c, atomic_load(&fake.text), strlen(atomic_load(&fake.text)));
    if (c->mode == MODE_FLOOD)
        say(c, "$4294967296\r\n", 13);
    if (c->mode == MODE_FLOOD_LINE)
        say(c, "+", 1);
    atomic_fetch_add(&fake.gets, 1);
    if (c->mode == MODE_CUT || c->mode == MODE_CLOSE)
        hang_up(c);
}

/* Commands of the keeper and of finds come one at a time and are short: each is one read. */
static void hear(struct client *c)
{
    char text[4096];
    ssize_t n = recv(c->fd, text, sizeof(text) - 1, MSG_DONTWAIT);
    if (n <= 0) {
        atomic_fetch_add(&fake.closed, 1);
        hang_up(c);
        return;
    }
    text[n] = '\0';
    if (strstr(text, "PING"))
        say(c, "+PONG\r\n", 7);
    else if (strstr(text, "GET"))
        answer_get(c);
    else
        say(c, ":1\r\n", 4); /* DEL */
}

/* What a connection says without being asked again. */
static void go_on(struct client *c)
{
    static const char flood[65536];
    if (c->mode == MODE_DRIP && c->sent < c->held.len)
        say(c, c->held.data + c->sent++, 1);
    else if (c->mode == MODE_DRIP_LINE)
        say(c, c->sent++ ? "a" : "+", 1);
    else if (c->mode == MODE_HOLD && atomic_load(&fake.release)) {
        say(c, c->held.data, c->held.len);
        c->mode = MODE_RECORD;
    } else if (c->mode == MODE_FLOOD || c->mode == MODE_FLOOD_LINE) {
        ssize_t n = send(c->fd, flood, sizeof(flood), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n > 0)
            atomic_fetch_add(&fake.flooded, (size_t)n);
    }
}

static void *fake_run(void *arg)
{
    (void)arg;
    struct client clients[CLIENTS_MAX];
    for (int i = 0; i < CLIENTS_MAX; i++)
        clients[i] = (struct client){.fd = -1};
    while (!atomic_load(&fake.stop)) {
        struct pollfd fds[CLIENTS_MAX + 1] = {{.fd = fake.listen_fd, .events = POLLIN}};
        for (int i = 0; i < CLIENTS_MAX; i++)
            fds[i + 1] = (struct pollfd){.fd = clients[i].fd, .events = POLLIN};
        poll(fds, CLIENTS_MAX + 1, TICK_MS);
        for (int i = 0; i < CLIENTS_MAX; i++) {
            if (clients[i].fd >= 0 && fds[i + 1].revents)
                hear(&clients[i]);
            if (clients[i].fd >= 0)
                go_on(&clients[i]);
        }
        int fd = fds[0].revents ? accept(fake.listen_fd, NULL, NULL) : -1, on = 1;
        if (fd >= 0) /* what is said is on its way when send() returns */
            setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        for (int i = 0; i < CLIENTS_MAX && fd >= 0; i++)
            if (clients[i].fd < 0) {
                clients[i] = (struct client){.fd = fd, .mode = MODE_SILENT};
                fd = -1;
            }
        if (fd >= 0)
            close(fd);
    }
    for (int i = 0; i < CLIENTS_MAX; i++)
        if (clients[i].fd >= 0)
            hang_up(&clients[i]);
    return NULL;
}

static int listen_somewhere(int backlog, char ret_url[64])
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, len), 0);
    assert_int_equal(listen(fd, backlog), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
    snprintf(ret_url, 64, "redis://127.0.0.1:%d", ntohs(at.sin_port));
    return fd;
}

static void fake_start(enum mode mode)
{
    memset(&fake, 0, sizeof(fake));
    fake.listen_fd = listen_somewhere(64, fake.url);
    atomic_store(&fake.mode, mode);
    assert_int_equal(pthread_create(&fake.thread, NULL, fake_run, NULL), 0);
}

static void fake_end(void)
{
    atomic_store(&fake.stop, true);
    pthread_join(fake.thread, NULL);
    close(fake.listen_fd);
}

/* ---- tests ---- */

/* Three finds fail, each in its time; then the breaker is open, and nothing was served. */
static void assert_three_failures_open_the_breaker(enum mode mode, const char *text)
{
    fake_start(mode);
    atomic_store(&fake.text, text);
    struct store *s = store_start(fake.url, TIMEOUT_MS, 0);
    for (int i = 0; i < 3; i++) {
        wait_up(s, true);
        uint64_t start = redis_wait_now();
        while (stats_of(s).errors == (uint64_t)i && ms_since(start) < WAIT_MS)
            assert_find_fails_in_time(s, 1, TIMEOUT_MS);
        assert_int_equal(stats_of(s).errors, i + 1);
    }
    assert_false(stats_of(s).up);
    assert_int_equal(stats_of(s).hits + stats_of(s).misses + stats_of(s).corrupt, 0);
    assert_finds_skip_at_once(s);
    store_end(s);
    fake_end();
}

static void a_silent_server(void **state)
{
    (void)state;
    assert_three_failures_open_the_breaker(MODE_SILENT, NULL);
}

/* As the pipeline asks: its deadline began a little before the find did. */
static void a_silent_server_opens_the_breaker_for_callers_with_a_deadline_of_their_own(void **state)
{
    (void)state;
    fake_start(MODE_SILENT);
    struct store *s = store_start(fake.url, TIMEOUT_MS, 0);
    for (int i = 0; i < 3; i++) {
        wait_up(s, true);
        while (stats_of(s).errors == (uint64_t)i)
            assert_false(find_by(s, 1, redis_wait_now() + (uint64_t)TIMEOUT_MS * 900000u));
    }
    assert_false(stats_of(s).up);
    assert_finds_skip_at_once(s);
    store_end(s);
    fake_end();
}

static void a_server_that_sends_a_byte_at_a_time(void **state)
{
    (void)state;
    assert_three_failures_open_the_breaker(MODE_DRIP, NULL);
    assert_three_failures_open_the_breaker(MODE_DRIP_LINE, NULL);
}

static void a_server_that_closes_before_or_within_its_answer(void **state)
{
    (void)state;
    assert_three_failures_open_the_breaker(MODE_CLOSE, NULL);
    assert_three_failures_open_the_breaker(MODE_CUT, NULL);
}

static void errors_in_place_of_a_value(void **state)
{
    (void)state;
    static const char *const texts[] = {"-LOADING Redis is loading the dataset in memory\r\n",
                                        "-NOAUTH Authentication required.\r\n",
                                        "-OOM command not allowed when used memory > 'maxmemory'.\r\n",
                                        "-MOVED 3999 127.0.0.1:6381\r\n",
                                        "-NOPERM this user has no permissions\r\n",
                                        "-\r\n",
                                        "- \r\n",
                                        "-%s%n%s\" event=forged\r\n"};
    struct log_tap tap = log_tap_open();
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        assert_three_failures_open_the_breaker(MODE_TEXT, texts[i]);
    char *log = log_tap_close(&tap);
    assert_int_equal(count_of(log, "event=shared_cache_down"), ARRAY_LEN(texts));
    assert_int_equal(count_of(log, "reason=\"LOADING\""), 1);
    assert_int_equal(count_of(log, "reason=\"an error of another kind\""), 3);
    assert_null(strstr(log, "forged")); /* nothing that the server words itself */
    free(log);
}

static void answers_that_are_no_value_at_all(void **state)
{
    (void)state;
    static const char *const texts[] = {"HTTP/1.1 400 Bad Request\r\n\r\n",
                                        "+OK\r\n",
                                        ":1\r\n",
                                        ":x\r\n",
                                        "$\r\n",
                                        "$-2\r\n",
                                        "$+3\r\nabc\r\n",
                                        "$ 3\r\nabc\r\n",
                                        "$3x\r\nabc\r\n",
                                        "$3\nabc\r\n",
                                        "$00000000000000000000000000003\r\nabc\r\n",
                                        "$8388609\r\n",
                                        "$18446744073709551616\r\n",
                                        "$9223372036854775807\r\n",
                                        "*1\r\n$3\r\nabc\r\n",
                                        "*-1\r\n",
                                        "*2147483647\r\n",
                                        "%1\r\n+a\r\n+b\r\n",
                                        "_\r\n",
                                        "\r\n",
                                        "\x16\x03\x01"};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        assert_three_failures_open_the_breaker(MODE_TEXT, texts[i]);
}

/* The limit for the find is so long here that only the length itself can have ended it. */
static void a_length_of_4_gib_is_refused_before_its_bytes_are_read(void **state)
{
    (void)state;
    for (enum mode mode = MODE_FLOOD; mode <= MODE_FLOOD_LINE; mode++) {
        fake_start(mode);
        struct store *s = store_start(fake.url, WAIT_MS, 0);
        wait_up(s, true);
        uint64_t start = redis_wait_now();
        assert_false(find_tried(s, 1));
        assert_true(ms_since(start) < WAIT_MS / 2);
        assert_int_equal(stats_of(s).errors, 1);
        store_end(s);
        fake_end();
        assert_true(atomic_load(&fake.flooded) < (size_t)16 << 20); /* what sockets hold, and no more */
    }
}

static void a_late_answer_is_never_taken_for_the_next_keys(void **state)
{
    (void)state;
    fake_start(MODE_HOLD);
    struct store *s = store_start(fake.url, TIMEOUT_MS, 0);
    wait_up(s, true);
    atomic_store(&fake.picture, 1);
    assert_false(find_tried(s, 1));
    assert_int_equal(atomic_load(&fake.gets), 1);
    atomic_store(&fake.mode, MODE_RECORD);
    atomic_store(&fake.picture, 2);
    atomic_store(&fake.release, true); /* the answer for 1 comes now */
    for (int i = 0; i < 8; i++)        /* over every connection there is */
        assert_true(find_tried(s, 2));
    assert_int_equal(stats_of(s).hits, 8);
    assert_int_equal(stats_of(s).misses, 0);
    assert_int_equal(stats_of(s).errors, 1);
    assert_int_equal(atomic_load(&fake.closed), 1);
    store_end(s);
    fake_end();
}

static void a_second_answer_is_never_taken_for_the_next_keys(void **state)
{
    (void)state;
    fake_start(MODE_TWICE);
    struct store *s = store_start(fake.url, 10000, 0);
    wait_up(s, true);
    for (unsigned n = 1; n <= 20; n++) {
        atomic_store(&fake.picture, n);
        assert_true(find_tried(s, n));
        for (int i = 0; i < WAIT_MS && atomic_load(&fake.gets) < (int)n; i++)
            sleep_ms(1); /* until both have been sent */
    }
    assert_int_equal(stats_of(s).hits, 20);
    assert_int_equal(stats_of(s).misses, 0);
    store_end(s);
    fake_end();
}

static void a_sound_answer_for_another_key_is_a_miss(void **state)
{
    (void)state;
    fake_start(MODE_RECORD);
    struct store *s = store_start(fake.url, 10000, 0);
    wait_up(s, true);
    atomic_store(&fake.picture, 1);
    assert_false(find_tried(s, 2));
    assert_int_equal(stats_of(s).misses, 1);
    assert_int_equal(stats_of(s).corrupt, 0);
    assert_true(find_tried(s, 1));
    store_end(s);
    fake_end();
}

static void a_probe_after_a_hiccup_brings_the_cache_back(void **state)
{
    (void)state;
    fake_start(MODE_SILENT);
    struct store *s = store_start(fake.url, TIMEOUT_MS, 0);
    wait_up(s, true);
    for (int i = 0; i < WAIT_MS && stats_of(s).errors < 3; i++)
        assert_false(find(s, 1));
    assert_false(stats_of(s).up);
    int gets = atomic_load(&fake.gets);
    atomic_store(&fake.mode, MODE_RECORD);
    atomic_store(&fake.picture, 1);
    wait_up(s, true);
    assert_int_equal(atomic_load(&fake.gets), gets); /* no find was sent to try */
    assert_true(find_tried(s, 1));
    store_end(s);
    fake_end();
}

/* More finds at once than connections: each has its answer or gives up in its time. */
static void *find_once(void *arg)
{
    assert_find_fails_in_time(arg, 1, TIMEOUT_MS);
    return NULL;
}

static void many_finds_at_a_silent_server_all_end_in_time(void **state)
{
    (void)state;
    pthread_t threads[32];
    fake_start(MODE_SILENT);
    struct store *s = store_start(fake.url, TIMEOUT_MS, 0);
    wait_up(s, true);
    for (int i = 0; i < 32; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, find_once, s), 0);
    for (int i = 0; i < 32; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(stats_of(s).errors + stats_of(s).skipped, 32);
    assert_false(stats_of(s).up);
    store_end(s);
    fake_end();
}

/* Nobody listens, or who listens never accepts and its backlog is full: connections hang. */
static void connecting_that_is_refused_or_hangs_never_delays_a_find(void **state)
{
    (void)state;
    for (int hangs = 0; hangs < 2; hangs++) {
        char url[64];
        int listener = listen_somewhere(0, url), stuffing[4];
        struct sockaddr_in at;
        socklen_t len = sizeof(at);
        assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &len), 0);
        for (int i = 0; i < 4; i++) {
            stuffing[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
            (void)!connect(stuffing[i], (struct sockaddr *)&at, len);
        }
        if (!hangs)
            close(listener);
        struct store *s = store_start(url, TIMEOUT_MS, 0);
        assert_finds_skip_at_once(s);
        sleep_ms(50);
        put(s, 1);
        uint64_t start = redis_wait_now();
        s->impl->close(s, 100);
        assert_true(ms_since(start) <= 100 + SLACK_MS);
        for (int i = 0; i < 4; i++)
            close(stuffing[i]);
        if (hangs)
            close(listener);
    }
}

/* ---- a name server that hangs ---- */

static sem_t name_server;
static atomic_int lookups, lookups_ended;

/* Stands before libc's. NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name) */
int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **list)
{
    int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    *(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo");
    if (strcmp(node, "hangs.invalid") != 0 || (hints->ai_flags & AI_NUMERICHOST))
        return real(node, service, hints, list);
    atomic_fetch_add(&lookups, 1);
    while (sem_wait(&name_server) < 0)
        ;
    int result = real("127.0.0.1", service, hints, list);
    atomic_fetch_add(&lookups_ended, 1);
    return result;
}

static void a_name_server_that_hangs_delays_neither_finds_nor_closing(void **state)
{
    (void)state;
    sem_init(&name_server, 0, 0);
    struct store *s = store_start("redis://hangs.invalid", TIMEOUT_MS, 0);
    for (int i = 0; i < WAIT_MS && !atomic_load(&lookups); i++)
        sleep_ms(1);
    assert_int_equal(atomic_load(&lookups), 1);
    assert_finds_skip_at_once(s);
    uint64_t start = redis_wait_now();
    s->impl->close(s, 0);
    assert_true(ms_since(start) <= SLACK_MS);
    sem_post(&name_server);
    for (int i = 0; i < WAIT_MS && !atomic_load(&lookups_ended); i++)
        sleep_ms(1);
    sleep_ms(50); /* the thread frees what it has */
}

static void a_name_that_is_found_late_is_used_and_looked_up_once(void **state)
{
    (void)state;
    char url[64];
    sem_init(&name_server, 0, 0);
    atomic_store(&lookups, 0);
    fake_start(MODE_RECORD);
    snprintf(url, sizeof(url), "redis://hangs.invalid%s", strrchr(fake.url, ':'));
    struct store *s = store_start(url, TIMEOUT_MS, 0);
    sleep_ms(2500); /* longer than one attempt to connect */
    assert_int_equal(atomic_load(&lookups), 1);
    for (int i = 0; i < 100; i++)
        sem_post(&name_server);
    atomic_store(&fake.picture, 1);
    wait_up(s, true);
    assert_true(find_tried(s, 1));
    store_end(s);
    fake_end();
    sleep_ms(50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_silent_server),
        cmocka_unit_test(a_silent_server_opens_the_breaker_for_callers_with_a_deadline_of_their_own),
        cmocka_unit_test(a_server_that_sends_a_byte_at_a_time),
        cmocka_unit_test(a_server_that_closes_before_or_within_its_answer),
        cmocka_unit_test(errors_in_place_of_a_value),
        cmocka_unit_test(answers_that_are_no_value_at_all),
        cmocka_unit_test(a_length_of_4_gib_is_refused_before_its_bytes_are_read),
        cmocka_unit_test(a_late_answer_is_never_taken_for_the_next_keys),
        cmocka_unit_test(a_second_answer_is_never_taken_for_the_next_keys),
        cmocka_unit_test(a_sound_answer_for_another_key_is_a_miss),
        cmocka_unit_test(a_probe_after_a_hiccup_brings_the_cache_back),
        cmocka_unit_test(many_finds_at_a_silent_server_all_end_in_time),
        cmocka_unit_test(connecting_that_is_refused_or_hangs_never_delays_a_find),
        cmocka_unit_test(a_name_server_that_hangs_delays_neither_finds_nor_closing),
        cmocka_unit_test(a_name_that_is_found_late_is_used_and_looked_up_once),
    };
    return cmocka_run_group_tests_name("store_redis_fake", tests, NULL, NULL);
}

#else

int main(void)
{
    puts("SKIP store_redis_fake: built without hiredis");
    return SKIPPED;
}

#endif
