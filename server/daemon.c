/* daemon.c -- starts the parts in the order in which they need each other, and ends them in reverse.
 *
 * Sockets come last, so that nobody is told to wait for a service that can't be had; rights are given up when
 * everything is open. Threads: main. */
#include "server/daemon.h"

#include <string.h>

#include "renderer/base/pool.h"
#include "renderer/renderer.h"
#include "server/access_log.h"
#include "server/log.h"
#include "server/pipeline.h"
#include "server/rights.h"
#include "server/store_disk.h"
#include "server/store_redis.h"

#define METRICS_CONNECTIONS 32   /* scrapers and probes; clients can't take their descriptors */
#define RENDER_NICE         5    /* hits and probes are answered in time while every processor draws */
#define LOOKUP_THREADS      4    /* each may wait for a disk or a server, so not tied to the processors */
#define LOOKUP_DISK_MS      1000 /* a disk that takes longer is slower than drawing */
#define STORE_CLOSE_MS      1000 /* to write what is queued */

static void note(void *ctx, const char *sentence)
{
    char quoted[512];
    (void)ctx;
    log_info("event=renderer message=%s", log_quote(sentence, strlen(sentence), quoted, sizeof(quoted)));
}

static enum err pools_start(struct daemon *d, const struct config *c)
{
    enum err err = pool_create_nice((int)c->render_threads, RENDER_NICE, &d->pool);
    if (!err && (c->cache_dir[0] || c->redis[0]))
        err = pool_create(LOOKUP_THREADS, &d->lookup_pool);
    if (err)
        log_error("event=no_threads error=%s reason=\"%s\"", err_name(err), err_words(err));
    return err;
}

static enum err renderer_start(struct daemon *d, const struct config *c, bool *ret_gpu)
{
    struct renderer_status status;
    struct renderer_desc desc = renderer_desc_default;
    desc.backend = c->backend;
    desc.cpu_mask = c->cpu_mask;
    desc.pool = d->pool;
    desc.note = note;
    enum err err = renderer_open(&desc, &d->service.renderer);
    if (err) {
        log_error("event=no_renderer backend=\"%s\" cpu_mask=\"%s\" error=%s reason=\"%s\"", c->backend,
                  c->cpu_mask, err_name(err), err_words(err));
        return err;
    }
    renderer_status(d->service.renderer, &status);
    log_info("event=renderer_ready backend=\"%s\" device=\"%s\" reason=\"%s\" self_test_ok=%d",
             status.backend, status.device, status.reason, status.self_test_ok);
    *ret_gpu = strcmp(status.backend, "gl") == 0;
    d->service.fake = strcmp(status.backend, "null") == 0;
    if (d->service.fake)
        log_warn("event=null_backend message=\"null draws flat squares, for tests; no answer may be kept\"");
    return ERR_NONE;
}

/* The nearest first: they are asked in this order. Stand-ins of the null backend are kept nowhere. */
static enum err stores_start(struct daemon *d, const struct config *c)
{
    enum err err = ERR_NONE;
    if (c->cache_dir[0] && !d->service.fake) {
        struct store_disk_desc desc = {.folder = c->cache_dir, .budget_bytes = (uint64_t)c->cache_disk};
        err = store_disk_open(&desc, &d->stores[d->store_count]);
        if (!err)
            d->store_count++;
    }
    if (!err && c->redis[0] && !d->service.fake) {
        struct store_redis_desc desc = {
            .url = c->redis, .timeout_ms = (int)c->redis_timeout, .ttl_seconds = c->redis_ttl};
        err = store_redis_open(&desc, &d->stores[d->store_count]);
        if (!err)
            d->store_count++;
    }
    return err;
}

static enum err pipeline_start(struct daemon *d, const struct config *c)
{
    struct pipeline_desc desc = {
        .renderer = d->service.renderer,
        .pool = d->pool,
        .cache_bytes = (size_t)c->cache_memory,
        .queue_work_ns = (uint64_t)c->queue_seconds * 1000000000u,
        .client_share_percent = (int)c->client_share,
        .store_count = d->store_count,
        .lookup_pool = d->lookup_pool,
        .lookup_ns = (uint64_t)(c->redis[0] ? c->redis_timeout : LOOKUP_DISK_MS) * 1000000u,
    };
    memcpy(desc.stores, d->stores, sizeof(desc.stores));
    enum err err = pipeline_create(&desc, &d->service.pipeline);
    if (err)
        log_error("event=no_pipeline error=%s reason=\"%s\"", err_name(err), err_words(err));
    return err;
}

static enum err http_start(struct daemon *d, const struct config *c,
                           const struct http_listen_inherited *inherited)
{
    struct http_server_desc desc = {
        .listen = c->listen.text,
        .listen_count = c->listen.count,
        .listen_is_default = !c->listen_given,
        .inherited = inherited,
        .threads = (int)c->http_threads,
        .connections_per_address = (int)c->connections_per_address,
        .idle_seconds = (int)c->idle_seconds,
        .request_seconds = (int)c->request_seconds,
        .log_requests = access_log_mode(c->log_requests),
        .routes = ROUTES_PUBLIC,
        .service = &d->service,
    };
    return http_server_start(&desc, &d->http);
}

/* The address for metrics and probes has a thread of its own: it answers when the public ones are busy, and
 * until the last of their answers is sent. */
static enum err metrics_start(struct daemon *d, const struct config *c,
                              const struct http_listen_inherited *inherited)
{
    struct http_server_desc desc = {
        .listen = c->metrics_listen.text,
        .listen_count = c->metrics_listen.count,
        .inherited = inherited,
        .threads = 1,
        .connection_limit = METRICS_CONNECTIONS,
        .idle_seconds = (int)c->idle_seconds,
        .request_seconds = (int)c->request_seconds,
        .log_requests = access_log_mode(c->log_requests),
        .routes = ROUTES_METRICS,
        .service = &d->service,
    };
    if (!desc.listen_count && !http_listen_inherited_count(inherited, true))
        return ERR_NONE;
    return http_server_start(&desc, &d->metrics);
}

static void rights_start(const struct config *c, bool gpu)
{
    const char *reason = "";
    if (strcmp(c->sandbox, "off") == 0) {
        log_info("event=rights filter=off reason=\"--sandbox off\"");
        return;
    }
    switch (rights_drop(gpu, &reason)) {
    case RIGHTS_FILTERED:
        log_info("event=rights filter=on");
        return;
    case RIGHTS_NO_FILTER:
        log_info("event=rights filter=off reason=\"%s\"", reason);
        return;
    case RIGHTS_FAILED:
        log_warn("event=rights_failed reason=\"%s\"", reason);
        return;
    }
}

enum err daemon_start(struct daemon *d, const struct config *c, const struct http_listen_inherited *inherited)
{
    bool gpu = false;
    if (!sign_keys_parse(c->sign_keys, &d->keys) || !forwarded_proxies_parse(c->trusted_proxy, &d->proxies))
        return ERR_CONFIG; /* cannot be: config_read() has tried them */
    d->service.sign_keys = &d->keys;
    d->service.proxies = &d->proxies;
    enum err err = pools_start(d, c);
    if (!err)
        err = renderer_start(d, c, &gpu);
    if (!err)
        err = stores_start(d, c);
    if (!err)
        err = pipeline_start(d, c);
    if (!err)
        err = http_start(d, c, inherited);
    if (!err)
        err = metrics_start(d, c, inherited);
    if (!err)
        rights_start(c, gpu);
    return err;
}

void daemon_stop(struct daemon *d)
{
    if (d->http)
        http_server_stop(d->http);
    if (d->metrics)
        http_server_stop(d->metrics);
    /* Renders that nobody waits for end with the pool; only then can nothing call back into the server. */
    pipeline_destroy(d->service.pipeline);
    renderer_close(d->service.renderer);
    pool_destroy(d->pool);
    pool_destroy(d->lookup_pool);
    for (int i = 0; i < d->store_count; i++)
        d->stores[i]->impl->close(d->stores[i], STORE_CLOSE_MS);
    http_server_destroy(d->http);
    http_server_destroy(d->metrics);
}
