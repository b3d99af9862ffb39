/* handle_meta.c -- what is not a picture: the help of /, /healthz, /readyz, /types, /version.
 *
 * Probes must answer when everything else is saturated, so they read snapshots and never queue behind a
 * render. Threads: that of the exchange. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/describe.h"
#include "renderer/renderer.h"
#include "server/respond.h"
#include "server/routes.h"

#define PLAIN "text/plain; charset=utf-8"
#define JSON  "application/json"

#define QUEUE_SPARE_PART 16 /* a queue with less than one part in this many free is full */

static const char help_text[] =
    "planetd draws procedural planets. The same URL gives the same bytes, always.\n"
    "\n"
    "  curl 'localhost:8080/planet?type=gas&seed=3' -o gas.png\n"
    "  curl 'localhost:8080/planet.gif?type=terrestrial&seed=7&rings=on' -o world.gif\n"
    "  curl 'localhost:8080/planet/lava/42.png?pixels=128&zoom=4' -o lava.png\n"
    "  curl localhost:8080/planet -H 'Content-Type: application/json' -d '{\"type\":\"ice\",\"seed\":5}' -o "
    "ice.png\n"
    "\n"
    "/planet.json  what is in a picture: same parameters, facts in place of pixels\n"
    "/batch    post up to 64 requests, get a ZIP or a multipart body\n"
    "/recipe   post a picture, get its parameters\n"
    "/openapi.json  this service for programs (OpenAPI 3.1)\n"
    "/types    bodies and parameters as JSON\n"
    "/version  name, version, revision and libraries\n"
    "/readyz   can it draw, and with what\n"
    "/healthz  does the process answer\n";

enum http_verdict handle_help(struct http_exchange *x, struct service *s)
{
    (void)s;
    /* A cache that heeds no Vary must not give it to browsers. */
    respond_text(x, 200, PLAIN, "no-cache", help_text);
    respond_vary(x, "Accept");
    return HTTP_ANSWERED;
}

enum http_verdict handle_health(struct http_exchange *x, struct service *s)
{
    (void)s;
    respond_text(x, 200, PLAIN, "no-store", "ok\n");
    return HTTP_ANSWERED;
}

static enum http_verdict described(struct http_exchange *x, enum err (*describe)(struct blob *out))
{
    struct blob text = {0};
    enum err err = describe(&text);
    if (err)
        respond_problem(x, err, NULL, NULL, 0);
    else
        respond_blob(x, 200, JSON, "public, max-age=3600", &text);
    blob_free(&text);
    return HTTP_ANSWERED;
}

enum http_verdict handle_types(struct http_exchange *x, struct service *s)
{
    (void)s;
    return described(x, describe_types);
}

enum http_verdict handle_version(struct http_exchange *x, struct service *s)
{
    (void)s;
    return described(x, describe_version);
}

static json_t *number(uint64_t n)
{
    return json_integer((json_int_t)n);
}

/* Nearly full counts as full: the next render but a small one would be refused. */
static bool queue_full(const struct pipeline_stats *p)
{
    return p->queued_work_max_ns > 0 &&
           p->queued_work_ns >= p->queued_work_max_ns - p->queued_work_max_ns / QUEUE_SPARE_PART;
}

const char *ready_reason(const struct renderer_status *r, const struct pipeline_stats *p, bool draining)
{
    return draining ? "draining" : !r->self_test_ok ? "self-test failed" : queue_full(p) ? "queue full" : "";
}

static json_t *store_state(const struct pipeline_stats *p, enum store_tier tier)
{
    const struct store_stats *t = &p->stores[tier];
    if (!p->store_there[tier])
        return json_null();
    return json_pack("{s:b s:o s:o s:o s:o s:o s:o}", "up", t->up, "hits", number(t->hits), "misses",
                     number(t->misses), "corrupt", number(t->corrupt), "errors", number(t->errors), "entries",
                     number(t->entries), "bytes", number(t->bytes));
}

static json_t *queue_state(const struct pipeline_stats *p)
{
    return json_pack("{s:i s:i s:i s:o s:o s:o s:o s:o s:o}", "looking", p->looking, "queued", p->queued,
                     "running", p->running, "work_ms", number(p->queued_work_ns / 1000000), "work_max_ms",
                     number(p->queued_work_max_ns / 1000000), "renders", number(p->renders), "cancelled",
                     number(p->cancelled), "shed", number(p->shed), "shed_share", number(p->shed_share));
}

static json_t *readiness(const struct renderer_status *r, const struct pipeline_stats *p, const char *reason,
                         bool draining)
{
    char hash[24];
    snprintf(hash, sizeof(hash), "%016llx", (unsigned long long)r->self_test_hash);
    return json_pack(
        "{s:b s:s s:b s:{s:s s:s s:s s:b s:s s:i} s:o s:{s:o s:o s:o s:o s:o s:o s:o} s:o s:o}", "ready",
        !*reason, "reason", reason, "draining", draining, /* */
        "renderer", "backend", r->backend, "device", r->device, "reason", r->reason, "self_test_ok",
        r->self_test_ok, "self_test_hash", hash, "device_losses", (int)r->device_losses, /* */
        "queue", queue_state(p), "cache", "hits", number(p->hits), "misses", number(p->misses), "coalesced",
        number(p->coalesced), "entries", number(p->cache.entries), "bytes", number(p->cache.bytes), "budget",
        number(p->cache.budget), "evictions", number(p->cache.evictions), /* */
        "disk", store_state(p, STORE_DISK), "shared", store_state(p, STORE_SHARED));
}

enum http_verdict handle_ready(struct http_exchange *x, struct service *s)
{
    struct renderer_status r;
    struct pipeline_stats p;
    struct blob text = {0};
    renderer_status(s->renderer, &r);
    pipeline_stats(s->pipeline, &p);
    bool draining = atomic_load(&s->draining);
    const char *reason = ready_reason(&r, &p, draining);
    json_t *j = readiness(&r, &p, reason, draining);
    char *dump = j ? json_dumps(j, JSON_INDENT(2)) : NULL;
    if (!dump || blob_append(&text, dump, strlen(dump)) || blob_append(&text, "\n", 1))
        respond_problem(x, ERR_OOM, NULL, NULL, 0);
    else
        respond_blob(x, *reason ? 503 : 200, JSON, "no-store", &text);
    blob_free(&text);
    free(dump);
    json_decref(j);
    return HTTP_ANSWERED;
}
