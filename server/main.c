/* main.c -- reads the settings, starts the daemon, waits for a signal, ends it.
 *
 * SIGTERM or SIGINT: not ready at once, no new connections and no new renders, what was accepted is answered,
 * then exit 0; at the limit what is left is cut off. A second signal ends the process at once. All threads
 * block the signals; the main thread has nothing else to do and waits for them. Threads: main. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "server/config.h"
#include "server/daemon.h"
#include "server/health.h"
#include "server/http.h"
#include "server/http_listen.h"
#include "server/log.h"
#include "server/pipeline.h"

#define EXIT_CONFIG  2
#define WAIT_STEP_MS 20
#define REST_S       5    /* to end threads and free memory, after the last answer */
#define ABORT_MS     1000 /* answers to cancelled requests get so long to be sent */

static const char *environment(const char *name)
{
    return getenv(name);
}

/* A misspelt variable would go unnoticed. What Kubernetes sets for a service that is called planetd is no
 * mistake. */
static void warn_of_unknown_variables(void)
{
    for (char **at = environ; at && *at; at++) {
        char quoted[160];
        const char *nearest, *value = strchr(*at, '=');
        size_t len = value ? (size_t)(value - *at) : strlen(*at);
        bool ours = strncmp(*at, "PLANETD_", 8) == 0;
        bool kubernetes = strncmp(*at, "PLANETD_SERVICE_", 16) == 0 ||
                          strncmp(*at, "PLANETD_PORT_", 13) == 0 ||
                          strncmp(*at, "PLANETD_PORT=tcp:", 17) == 0;
        if (!ours || kubernetes || config_variable_known(*at, len, &nearest))
            continue;
        log_warn("event=unknown_variable variable=%s message=\"no setting has this name; %s%s\"",
                 log_quote(*at, len, quoted, sizeof(quoted)), nearest ? "did you mean " : "--help lists them",
                 nearest ? nearest : "");
    }
}

static void signals_block(sigset_t *ret_set)
{
    signal(SIGPIPE, SIG_IGN);
    sigemptyset(ret_set);
    sigaddset(ret_set, SIGTERM);
    sigaddset(ret_set, SIGINT);
    pthread_sigmask(SIG_BLOCK, ret_set, NULL);
}

/* True when a signal comes within `ms`. */
static bool signal_within(const sigset_t *set, int ms)
{
    struct timespec limit = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
    return sigtimedwait(set, NULL, &limit) > 0;
}

static bool drained(struct http_server *http, const sigset_t *set, int ms)
{
    for (int waited = 0; waited <= ms; waited += WAIT_STEP_MS) {
        if (http_server_wait(http, WAIT_STEP_MS))
            return true;
        if (signal_within(set, 0)) {
            log_warn("event=killed message=\"second signal\" connections=%d", http_server_connections(http));
            _exit(1);
        }
    }
    return false;
}

static void give_up(int signal_number)
{
    _exit(signal_number == SIGALRM ? 0 : 1);
}

/* Nobody waits for an answer any more; what is left is to free things, for which a render, or a driver that
 * hangs, may have to be waited for. That is no reason to outlive the limit, or to be deaf to a second signal.
 */
static void bound_the_rest(const sigset_t *set)
{
    struct sigaction action = {.sa_handler = give_up};
    sigaction(SIGALRM, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    pthread_sigmask(SIG_UNBLOCK, set, NULL);
    alarm(REST_S);
}

static void serve(const struct config *c, struct daemon *d, const sigset_t *set)
{
    struct http_server *http = d->http;
    int got;
    while ((got = sigwaitinfo(set, NULL)) < 0 && errno == EINTR)
        ;
    log_info("event=draining signal=%s seconds=%d connections=%d", got == SIGTERM ? "TERM" : "INT",
             (int)c->drain_seconds, http_server_connections(http));
    atomic_store(&d->service.draining, true);
    pipeline_drain(d->service.pipeline);
    http_server_drain(http);
    if (!drained(http, set, (int)c->drain_seconds * 1000)) {
        log_warn("event=drain_limit connections=%d", http_server_connections(http));
        pipeline_abort(d->service.pipeline);
        if (!drained(http, set, ABORT_MS))
            log_warn("event=cut_off connections=%d", http_server_connections(http));
    }
    bound_the_rest(set);
}

/* Starts everything, serves, ends everything. Each failure is in the log when it returns. */
static enum err run(const struct config *c, const sigset_t *set)
{
    struct daemon d = {0};
    struct http_listen_inherited inherited = {0};
    enum err err = http_listen_inherit(&inherited);
    if (!err)
        err = daemon_start(&d, c, &inherited);
    if (!err)
        serve(c, &d, set);
    daemon_stop(&d);
    return err;
}

int main(int argc, char **argv)
{
    struct config c;
    sigset_t set;
    bool health = argc > 1 && strcmp(argv[1], "health") == 0;
    enum config_outcome outcome = config_read(argc - health, argv + health, environment, stdout, stderr, &c);
    if (outcome != CONFIG_RUN)
        return outcome == CONFIG_DONE ? 0 : EXIT_CONFIG;
    if (health)
        return health_check(&c);
    log_open(c.log_level, c.log_format);
    warn_of_unknown_variables();
    signals_block(&set);
    enum err err = run(&c, &set);
    if (!err)
        log_info("event=stopped");
    return !err ? 0 : err == ERR_CONFIG || err == ERR_BACKEND_UNKNOWN ? EXIT_CONFIG : 1;
}
