/* test_http_listen.c -- what is hard to see from outside: hosts with several addresses, sockets that were
 * passed on, files of unix sockets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server/http.h"
#include "server/http_listen.h"
#include "server/log.h"

#define THREADS 3

/* ---- A resolver of our own, in place of the library's ---- */

static const char *const *answers; /* addresses of every host */

static struct addrinfo *answer_make(const char *address, int port)
{
    struct answer {
        struct addrinfo info; /* first: freeaddrinfo() gets it */
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } *a = calloc(1, sizeof(*a));
    if (!a)
        abort();
    a->v4.sin_family = AF_INET;
    a->v6.sin6_family = AF_INET6;
    a->v4.sin_port = a->v6.sin6_port = htons((uint16_t)port);
    bool is_v6 = inet_pton(AF_INET6, address, &a->v6.sin6_addr) == 1;
    if (!is_v6 && inet_pton(AF_INET, address, &a->v4.sin_addr) != 1)
        abort();
    a->info.ai_family = is_v6 ? AF_INET6 : AF_INET;
    a->info.ai_addr = is_v6 ? (struct sockaddr *)&a->v6 : (struct sockaddr *)&a->v4;
    a->info.ai_addrlen = is_v6 ? sizeof(a->v6) : sizeof(a->v4);
    return &a->info;
}

/* The parameters' names are the library's. */
int getaddrinfo(const char *name, const char *service, const struct addrinfo *req, struct addrinfo **pai)
{
    struct addrinfo **end = pai;
    *end = NULL;
    (void)name, (void)req;
    if (!*answers)
        return EAI_NONAME;
    for (const char *const *a = answers; *a; a++) {
        *end = answer_make(*a, atoi(service));
        end = &(*end)->ai_next;
    }
    return 0;
}

void freeaddrinfo(struct addrinfo *ai)
{
    while (ai) {
        struct addrinfo *next = ai->ai_next;
        free(ai);
        ai = next;
    }
}

/* ---- Hosts ---- */

static struct http_listeners listeners;

static enum err open_all(const struct http_listen_inherited *inherited, bool is_default, int count,
                         const char (*addresses)[256])
{
    struct http_server_desc desc = {.listen = addresses,
                                    .listen_count = count,
                                    .threads = THREADS,
                                    .routes = ROUTES_PUBLIC,
                                    .inherited = inherited,
                                    .listen_is_default = is_default};
    return http_listen_open(&desc, &listeners);
}

static enum err open_one(const char *address)
{
    char text[1][256];
    snprintf(text[0], sizeof(text[0]), "%s", address);
    return open_all(NULL, false, 1, (const char(*)[256])text);
}

static void close_all(void)
{
    http_listen_unlink(&listeners);
    for (int i = 0; i < listeners.count; i++)
        for (int k = 0; k < THREADS; k++)
            assert_int_equal(close(listeners.all[i].fds[k]), 0);
    listeners.count = 0;
}

static int fds_open(void)
{
    int n = 0;
    for (int fd = 0; fd < 256; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

static void a_host_is_listened_on_at_all_its_addresses_once(void **state)
{
    (void)state;
    answers = (const char *const[]){"127.0.0.1", "127.0.0.2", "127.0.0.1", NULL};
    assert_int_equal(open_one("host:0"), ERR_NONE);
    assert_int_equal(listeners.count, 2);
    assert_memory_equal(listeners.all[0].url, "http://127.0.0.1:", 17);
    assert_memory_equal(listeners.all[1].url, "http://127.0.0.2:", 17);
    for (int i = 0; i < listeners.count; i++)
        for (int k = 0; k < THREADS; k++) {
            struct sockaddr_in at = {0};
            socklen_t len = sizeof(at);
            assert_int_equal(getsockname(listeners.all[i].fds[k], (struct sockaddr *)&at, &len), 0);
            assert_int_equal(ntohs(at.sin_port), atoi(listeners.all[i].url + 17));
        }
    close_all();
}

static void an_address_that_the_machine_lacks_is_left_out_if_there_is_another(void **state)
{
    (void)state;
    answers = (const char *const[]){"192.0.2.1", "127.0.0.1", NULL};
    assert_int_equal(open_one("host:0"), ERR_NONE);
    assert_int_equal(listeners.count, 1);
    close_all();
    answers = (const char *const[]){"192.0.2.1", NULL};
    assert_int_equal(open_one("host:0"), ERR_IO);
    answers = (const char *const[]){NULL};
    assert_int_equal(open_one("host:0"), ERR_IO);
}

static void one_address_that_is_taken_fails_all_and_closes_all(void **state)
{
    (void)state;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK + 1)}};
    socklen_t len = sizeof(at);
    int taken = socket(AF_INET, SOCK_STREAM, 0), before = fds_open();
    assert_int_equal(bind(taken, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(taken, 1), 0);
    assert_int_equal(getsockname(taken, (struct sockaddr *)&at, &len), 0);
    char address[32];
    snprintf(address, sizeof(address), "host:%d", ntohs(at.sin_port));
    answers = (const char *const[]){"127.0.0.1", "127.0.0.2", NULL};
    assert_int_equal(open_one(address), ERR_IO);
    assert_int_equal(listeners.count, 0);
    assert_int_equal(fds_open(), before);
    close(taken);
    assert_int_equal(open_one(address), ERR_NONE);
    assert_int_equal(listeners.count, 2);
    close_all();
}

static void more_addresses_than_there_is_room_for_are_refused(void **state)
{
    (void)state;
    int before = fds_open();
    const char *many[CONFIG_LISTEN_MAX + 2] = {NULL};
    char texts[CONFIG_LISTEN_MAX + 1][16];
    for (int i = 0; i <= CONFIG_LISTEN_MAX; i++) {
        snprintf(texts[i], sizeof(texts[i]), "127.0.1.%d", i + 1);
        many[i] = texts[i];
    }
    answers = many;
    assert_int_equal(open_one("host:0"), ERR_CONFIG);
    assert_int_equal(fds_open(), before);
    many[CONFIG_LISTEN_MAX] = NULL;
    assert_int_equal(open_one("host:0"), ERR_NONE);
    close_all();
    assert_int_equal(open_all(NULL, false, 0, NULL), ERR_CONFIG); /* nowhere at all */
}

/* ---- Unix sockets ---- */

static char folder[64], unix_path[96], unix_address[128];

static int folder_make(void **state)
{
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/test_http_listen.XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(unix_path, sizeof(unix_path), "%s/a b.sock", folder);
    snprintf(unix_address, sizeof(unix_address), "unix:%s", unix_path);
    return 0;
}

static int folder_remove(void **state)
{
    (void)state;
    unlink(unix_path);
    return rmdir(folder);
}

static int unix_socket(int type, bool listens)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    snprintf(at.sun_path, sizeof(at.sun_path), "%s", unix_path);
    int fd = socket(AF_UNIX, type, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listens ? listen(fd, 1) : 0, 0);
    return fd;
}

static void threads_share_one_unix_socket_that_has_no_rights_for_others(void **state)
{
    (void)state;
    struct stat s;
    mode_t mask = umask(0);
    assert_int_equal(open_one(unix_address), ERR_NONE);
    umask(mask);
    assert_string_equal(listeners.all[0].url, unix_address);
    assert_int_equal(lstat(unix_path, &s), 0);
    assert_int_equal(s.st_mode, S_IFSOCK | 0660);
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    snprintf(at.sun_path, sizeof(at.sun_path), "%s", unix_path);
    for (int k = 0; k < THREADS; k++) {
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
        int client = accept(listeners.all[0].fds[k], NULL, NULL);
        assert_true(client >= 0);
        assert_int_equal(fcntl(listeners.all[0].fds[k], F_GETFD), FD_CLOEXEC);
        assert_int_equal(accept(listeners.all[0].fds[k], NULL, NULL), -1);
        assert_int_equal(errno, EAGAIN);
        close(client);
        close(fd);
    }
    close_all();
    assert_int_equal(access(unix_path, F_OK), -1);
}

static void a_file_that_a_dead_process_left_is_replaced(void **state)
{
    (void)state;
    close(unix_socket(SOCK_STREAM, true));
    assert_int_equal(open_one(unix_address), ERR_NONE);
    close_all();
    close(unix_socket(SOCK_DGRAM, false));
    assert_int_equal(open_one(unix_address), ERR_NONE);
    close_all();
}

static void a_socket_that_lives_and_a_file_that_is_none_stay(void **state)
{
    (void)state;
    int before = fds_open();
    for (int i = 0; i < 2; i++) {
        int fd = unix_socket(i ? SOCK_DGRAM : SOCK_STREAM, !i);
        assert_int_equal(open_one(unix_address), ERR_IO);
        assert_int_equal(access(unix_path, F_OK), 0);
        close(fd);
        unlink(unix_path);
    }
    int file = open(unix_path, O_CREAT | O_WRONLY, 0600);
    assert_int_equal(write(file, "precious", 8), 8);
    close(file);
    struct stat s;
    assert_int_equal(open_one(unix_address), ERR_IO);
    assert_int_equal(stat(unix_path, &s), 0);
    assert_int_equal(s.st_size, 8);
    unlink(unix_path);
    assert_int_equal(symlink("/dev/null", unix_path), 0);
    assert_int_equal(open_one(unix_address), ERR_IO);
    assert_int_equal(fds_open(), before);
}

static void a_successor_s_file_is_left_alone(void **state)
{
    (void)state;
    struct stat ours, theirs;
    assert_int_equal(open_one(unix_address), ERR_NONE);
    assert_int_equal(lstat(unix_path, &ours), 0);
    unlink(unix_path);
    int fd = unix_socket(SOCK_STREAM, true);
    assert_int_equal(lstat(unix_path, &theirs), 0);
    assert_true(theirs.st_ino != ours.st_ino);
    close_all();
    assert_int_equal(access(unix_path, F_OK), 0);
    close(fd);
}

static void a_failure_later_on_removes_the_file_again(void **state)
{
    (void)state;
    char addresses[2][256];
    answers = (const char *const[]){NULL};
    snprintf(addresses[0], sizeof(addresses[0]), "%s", unix_address);
    snprintf(addresses[1], sizeof(addresses[1]), "nowhere:1");
    int before = fds_open();
    assert_int_equal(open_all(NULL, false, 2, (const char(*)[256])addresses), ERR_IO);
    assert_int_equal(access(unix_path, F_OK), -1);
    assert_int_equal(fds_open(), before);
}

/* ---- Sockets that were passed on ---- */

/* Runs in a child of its own, which may do with its descriptors what it wants. Returns its exit status. */
static int child_run(int (*body)(void))
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        for (int fd = 3; fd < 64; fd++)
            close(fd);
        char pid[16];
        snprintf(pid, sizeof(pid), "%d", (int)getpid());
        setenv("LISTEN_PID", pid, 1);
        unsetenv("LISTEN_FDS");
        unsetenv("LISTEN_FDNAMES");
        _exit(body());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int tcp_listening(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    return fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) || listen(fd, 5) ? -1 : fd;
}

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "line %d: %s\n", __LINE__, #condition);                                          \
            return 1;                                                                                        \
        }                                                                                                    \
    } while (0)

static int takes_two(void)
{
    struct http_listen_inherited in = {0};
    char addresses[1][256] = {"host:0"};
    static const char *const loopback[] = {"127.0.0.1", NULL};
    answers = loopback;
    CHECK(tcp_listening() == 3);
    CHECK(tcp_listening() == 4);
    setenv("LISTEN_FDS", "2", 1);
    setenv("LISTEN_FDNAMES", "web:metrics", 1);
    CHECK(http_listen_inherit(&in) == ERR_NONE);
    CHECK(in.count == 2 && !in.sockets[0].metrics && in.sockets[1].metrics);
    CHECK(http_listen_inherited_count(&in, true) == 1 && http_listen_inherited_count(&in, false) == 1);
    CHECK(!getenv("LISTEN_PID") && !getenv("LISTEN_FDS") && !getenv("LISTEN_FDNAMES"));
    for (int fd = 3; fd <= 4; fd++)
        CHECK(fcntl(fd, F_GETFD) == FD_CLOEXEC && fcntl(fd, F_GETFL) & O_NONBLOCK);
    struct http_listen_inherited none = {0};
    CHECK(http_listen_inherit(&none) == ERR_NONE && none.count == 0);
    /* The default gives way, what was asked for does not. */
    CHECK(open_all(&in, false, 1, (const char(*)[256])addresses) == ERR_NONE);
    CHECK(listeners.count == 2 && listeners.all[0].fds[0] == 3);
    CHECK(open_all(&in, true, 1, (const char(*)[256])addresses) == ERR_NONE);
    CHECK(listeners.count == 1 && listeners.all[0].fds[0] == 3);
    for (int k = 0; k < THREADS; k++)
        CHECK(fcntl(listeners.all[0].fds[k], F_GETFD) == FD_CLOEXEC);
    /* With nothing for the public server the default is used. */
    in.sockets[0].metrics = true;
    CHECK(http_listen_inherited_count(&in, true) == 2 && http_listen_inherited_count(&in, false) == 0);
    CHECK(open_all(&in, true, 1, (const char(*)[256])addresses) == ERR_NONE);
    CHECK(listeners.count == 1 && listeners.all[0].fds[0] > 4);
    struct http_server_desc metrics = {.threads = 1, .routes = ROUTES_METRICS, .inherited = &in};
    CHECK(http_listen_open(&metrics, &listeners) == ERR_NONE);
    CHECK(listeners.count == 2 && listeners.all[1].fds[0] == 4);
    return 0;
}

static int ignores_those_of_another_process(void)
{
    struct http_listen_inherited in = {0};
    CHECK(tcp_listening() == 3);
    setenv("LISTEN_PID", "1", 1);
    setenv("LISTEN_FDS", "1", 1);
    CHECK(http_listen_inherit(&in) == ERR_NONE && in.count == 0);
    CHECK(!getenv("LISTEN_FDS"));
    return 0;
}

static int refuses_numbers_that_are_none(void)
{
    static const char *const wrong[] = {"", "x", "1x", "-1", "17", "99999999999999999999", "1000001"};
    struct http_listen_inherited in;
    char pid[16];
    CHECK(tcp_listening() == 3);
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        snprintf(pid, sizeof(pid), "%d", (int)getpid());
        setenv("LISTEN_PID", pid, 1);
        setenv("LISTEN_FDS", wrong[i], 1);
        CHECK(http_listen_inherit(&in) == ERR_CONFIG);
    }
    setenv("LISTEN_PID", "me", 1);
    setenv("LISTEN_FDS", "1", 1);
    CHECK(http_listen_inherit(&in) == ERR_CONFIG);
    return 0;
}

static enum err inherits_one(void)
{
    struct http_listen_inherited in;
    setenv("LISTEN_FDS", "1", 1);
    return http_listen_inherit(&in);
}

static int refuses_a_closed_one(void)
{
    CHECK(inherits_one() == ERR_CONFIG);
    return 0;
}

static int refuses_a_file(void)
{
    CHECK(open("/dev/null", O_RDONLY) == 3);
    CHECK(inherits_one() == ERR_CONFIG);
    return 0;
}

static int refuses_one_that_does_not_listen(void)
{
    CHECK(socket(AF_INET, SOCK_STREAM, 0) == 3);
    CHECK(inherits_one() == ERR_CONFIG);
    return 0;
}

static int refuses_datagrams(void)
{
    CHECK(socket(AF_INET, SOCK_DGRAM, 0) == 3);
    CHECK(inherits_one() == ERR_CONFIG);
    return 0;
}

static void passed_sockets_are_taken_once_and_by_name(void **state)
{
    (void)state;
    assert_int_equal(child_run(takes_two), 0);
}

static void passed_sockets_of_another_process_are_ignored(void **state)
{
    (void)state;
    assert_int_equal(child_run(ignores_those_of_another_process), 0);
}

static void what_was_passed_wrongly_is_refused(void **state)
{
    (void)state;
    assert_int_equal(child_run(refuses_numbers_that_are_none), 0);
    assert_int_equal(child_run(refuses_a_closed_one), 0);
    assert_int_equal(child_run(refuses_a_file), 0);
    assert_int_equal(child_run(refuses_one_that_does_not_listen), 0);
    assert_int_equal(child_run(refuses_datagrams), 0);
}

#define WITH_FOLDER(f) cmocka_unit_test_setup_teardown(f, folder_make, folder_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_host_is_listened_on_at_all_its_addresses_once),
        cmocka_unit_test(an_address_that_the_machine_lacks_is_left_out_if_there_is_another),
        cmocka_unit_test(one_address_that_is_taken_fails_all_and_closes_all),
        cmocka_unit_test(more_addresses_than_there_is_room_for_are_refused),
        WITH_FOLDER(threads_share_one_unix_socket_that_has_no_rights_for_others),
        WITH_FOLDER(a_file_that_a_dead_process_left_is_replaced),
        WITH_FOLDER(a_socket_that_lives_and_a_file_that_is_none_stay),
        WITH_FOLDER(a_successor_s_file_is_left_alone),
        WITH_FOLDER(a_failure_later_on_removes_the_file_again),
        cmocka_unit_test(passed_sockets_are_taken_once_and_by_name),
        cmocka_unit_test(passed_sockets_of_another_process_are_ignored),
        cmocka_unit_test(what_was_passed_wrongly_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
