/* main.c -- starts the parts in order, waits for a signal, ends them in reverse.
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

#include "api/sign.h"
#include "renderer/base/pool.h"
#include "renderer/renderer.h"
#include "server/access_log.h"
#include "server/config.h"
#include "server/forwarded.h"
#include "server/health.h"
#include "server/http.h"
#include "server/log.h"
#include "server/pipeline.h"

#define EXIT_CONFIG         2
#define METRICS_CONNECTIONS 32 /* scrapers and probes; clients can't take their descriptors */
#define RENDER_NICE         5  /* hits and probes are answered in time while every processor draws */
#define WAIT_STEP_MS        20
#define REST_S              5    /* to end threads and free memory, after the last answer */
#define ABORT_MS            1000 /* answers to cancelled requests get so long to be sent */

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

static void note(void *ctx, const char *sentence)
{
    char quoted[512];
    (void)ctx;
    log_info("event=renderer message=%s", log_quote(sentence, strlen(sentence), quoted, sizeof(quoted)));
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

static void serve(const struct config *c, struct service *service, struct http_server *http,
                  const sigset_t *set)
{
    int got;
    while ((got = sigwaitinfo(set, NULL)) < 0 && errno == EINTR)
        ;
    log_info("event=draining signal=%s seconds=%d connections=%d", got == SIGTERM ? "TERM" : "INT",
             (int)c->drain_seconds, http_server_connections(http));
    atomic_store(&service->draining, true);
    pipeline_drain(service->pipeline);
    http_server_drain(http);
    if (!drained(http, set, (int)c->drain_seconds * 1000)) {
        log_warn("event=drain_limit connections=%d", http_server_connections(http));
        pipeline_abort(service->pipeline);
        if (!drained(http, set, ABORT_MS))
            log_warn("event=cut_off connections=%d", http_server_connections(http));
    }
    bound_the_rest(set);
}

static enum err http_start(const struct config *c, struct service *service, struct http_server **ret_http)
{
    struct http_server_desc desc = {
        .listen = c->listen.text,
        .listen_count = c->listen.count,
        .threads = (int)c->http_threads,
        .connections_per_address = (int)c->connections_per_address,
        .idle_seconds = (int)c->idle_seconds,
        .request_seconds = (int)c->request_seconds,
        .log_requests = access_log_mode(c->log_requests),
        .routes = ROUTES_PUBLIC,
        .service = service,
    };
    return http_server_start(&desc, ret_http);
}

/* The address for metrics and probes has a thread of its own: it answers when the public ones are busy, and
 * until the last of their answers is sent. */
static enum err metrics_start(const struct config *c, struct service *service, struct http_server **ret_http)
{
    struct http_server_desc desc = {
        .listen = c->metrics_listen.text,
        .listen_count = c->metrics_listen.count,
        .threads = 1,
        .connection_limit = METRICS_CONNECTIONS,
        .idle_seconds = (int)c->idle_seconds,
        .request_seconds = (int)c->request_seconds,
        .log_requests = access_log_mode(c->log_requests),
        .routes = ROUTES_METRICS,
        .service = service,
    };
    return desc.listen_count ? http_server_start(&desc, ret_http) : ERR_NONE;
}

/* Starts everything, serves, ends everything. Each failure is in the log when it returns. */
static enum err run(const struct config *c, const sigset_t *set)
{
    struct service service = {0};
    struct sign_keys keys = {0};
    struct forwarded_proxies proxies = {0};
    struct pool *pool = NULL;
    struct http_server *http = NULL, *metrics = NULL;
    struct renderer_status status;
    if (!sign_keys_parse(c->sign_keys, &keys) || !forwarded_proxies_parse(c->trusted_proxy, &proxies))
        return ERR_CONFIG; /* cannot be: config_read() has tried them */
    service.sign_keys = &keys;
    service.proxies = &proxies;
    enum err err = pool_create_nice((int)c->render_threads, RENDER_NICE, &pool);
    if (err) {
        log_error("event=no_threads error=%s reason=\"%s\"", err_name(err), err_words(err));
        goto done;
    }
    struct renderer_desc rd = renderer_desc_default;
    rd.backend = c->backend;
    rd.cpu_mask = c->cpu_mask;
    rd.pool = pool;
    rd.note = note;
    err = renderer_open(&rd, &service.renderer);
    if (err) {
        log_error("event=no_renderer backend=\"%s\" cpu_mask=\"%s\" error=%s reason=\"%s\"", c->backend,
                  c->cpu_mask, err_name(err), err_words(err));
        goto done;
    }
    renderer_status(service.renderer, &status);
    log_info("event=renderer_ready backend=\"%s\" device=\"%s\" reason=\"%s\" self_test_ok=%d",
             status.backend, status.device, status.reason, status.self_test_ok);
    service.fake = strcmp(status.backend, "null") == 0;
    if (service.fake)
        log_warn("event=null_backend message=\"null draws flat squares, for tests; no answer may be kept\"");
    struct pipeline_desc pd = {
        .renderer = service.renderer,
        .pool = pool,
        .cache_bytes = (size_t)c->cache_memory,
        .queue_work_ns = (uint64_t)c->queue_seconds * 1000000000u,
        .client_share_percent = (int)c->client_share,
    };
    err = pipeline_create(&pd, &service.pipeline);
    if (err)
        log_error("event=no_pipeline error=%s reason=\"%s\"", err_name(err), err_words(err));
    else if (!(err = http_start(c, &service, &http)))
        err = metrics_start(c, &service, &metrics);
    if (!err)
        serve(c, &service, http, set);
    if (http)
        http_server_stop(http);
    if (metrics)
        http_server_stop(metrics);
done: /* renders that nobody waits for end with the pool; only then can nothing call back into the server */
    pipeline_destroy(service.pipeline);
    renderer_close(service.renderer);
    pool_destroy(pool);
    http_server_destroy(http);
    http_server_destroy(metrics);
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
