/* redis_server.h -- a real redis-server of the test's own, and a connection to it that is not the store's. It
 * keeps nothing on disk and dies with the test. */
#pragma once

#include "redis_rig.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <hiredis/hiredis.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define PATH_BYTES 160
#define URL_BYTES  400
#define ARGS_MAX   16

struct server {
    char folder[PATH_BYTES], socket[PATH_BYTES], url[URL_BYTES];
    char port[8]; /* "0" = the unix socket alone */
    const char *extra[ARGS_MAX + 1];
    pid_t pid;
    redisContext *admin;
};

static inline redisReply *ask(struct server *v, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    redisReply *reply = redisvCommand(v->admin, format, args);
    va_end(args);
    assert_non_null(reply);
    return reply;
}

/* The number, or the length of the text, that a command is answered with. */
static inline long long ask_number(struct server *v, const char *format, const char *argument)
{
    redisReply *reply = ask(v, format, argument);
    long long number = reply->type == REDIS_REPLY_INTEGER ? reply->integer : (long long)reply->len;
    assert_int_not_equal(reply->type, REDIS_REPLY_ERROR);
    freeReplyObject(reply);
    return number;
}

static inline void tell(struct server *v, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    redisReply *reply = redisvCommand(v->admin, format, args);
    va_end(args);
    assert_non_null(reply);
    if (reply->type == REDIS_REPLY_ERROR)
        fail_msg("%s: %s", format, reply->str);
    freeReplyObject(reply);
}

static inline void server_exec(const struct server *v)
{
    const char *args[ARGS_MAX + 20] = {
        "redis-server", "--port", v->port, "--bind",       "127.0.0.1", "--unixsocket", v->socket, "--dir",
        v->folder,      "--save", "",      "--appendonly", "no"};
    int count = 0;
    while (args[count])
        count++;
    for (int i = 0; v->extra[i]; i++)
        args[count++] = v->extra[i];
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* no server is left when a test ends early */
    int null = open("/dev/null", O_WRONLY);
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    execvp(args[0], (char *const *)(uintptr_t)args);
    _exit(127);
}

/* Starts (again) and waits until it answers. */
static inline void server_run(struct server *v)
{
    v->pid = fork();
    assert_true(v->pid >= 0);
    if (v->pid == 0)
        server_exec(v);
    for (int i = 0; i < WAIT_MS / 10; i++) {
        v->admin = redisConnectUnix(v->socket);
        if (v->admin && !v->admin->err)
            return;
        if (v->admin)
            redisFree(v->admin);
        assert_int_equal(waitpid(v->pid, NULL, WNOHANG), 0); /* still there */
        sleep_ms(10);
    }
    fail_msg("redis-server does not start");
}

static inline struct server server_start(const char *const extra[])
{
    struct server v = {.port = "0"};
    const char *tmp = getenv("TMPDIR");
    snprintf(v.folder, sizeof(v.folder), "%s/planetd-redis-XXXXXX", tmp ? tmp : "/tmp");
    assert_non_null(mkdtemp(v.folder));
    snprintf(v.socket, sizeof(v.socket), "%.120s/sock", v.folder);
    snprintf(v.url, sizeof(v.url), "unix://%s", v.socket);
    for (int i = 0; extra && extra[i]; i++)
        v.extra[i] = extra[i];
    server_run(&v);
    return v;
}

static inline void server_kill(struct server *v)
{
    redisFree(v->admin);
    kill(v->pid, SIGKILL);
    waitpid(v->pid, NULL, 0);
}

static inline void server_end(struct server *v)
{
    server_kill(v);
    unlink(v->socket);
    assert_int_equal(rmdir(v->folder), 0); /* it wrote nothing */
}

/* A port that was free a moment ago. */
static inline void free_port(char ret_port[8])
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, len), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
    close(fd);
    snprintf(ret_port, 8, "%d", ntohs(at.sin_port));
}

/* The name of the only entry there is. */
static inline void only_name(struct server *v, char ret_name[64])
{
    redisReply *reply = ask(v, "KEYS *");
    assert_int_equal(reply->type, REDIS_REPLY_ARRAY);
    assert_int_equal(reply->elements, 1);
    snprintf(ret_name, 64, "%s", reply->element[0]->str);
    freeReplyObject(reply);
}
