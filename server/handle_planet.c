/* handle_planet.c -- /planet: from what the client asked to the pipeline and back.
 *
 * The query, the path and a JSON body all fill the same struct request, so they share key, ETag, cache and
 * bytes. The tag is known from the key alone: a client that has the picture gets its 304 without a render.
 * Threads: that of the exchange. The pipeline copies what it is given, so nothing here outlives the call. */
#include <stdio.h>
#include <string.h>

#include "api/key.h"
#include "api/request.h"
#include "server/log.h"
#include "server/respond.h"
#include "server/routes.h"

#define PLANET_PATH_BYTES (sizeof("/planet") - 1)
#define LOG_TARGET_BYTES  512

static enum err fault_set(struct request_fault *fault, enum err err, const char *detail)
{
    *fault = (struct request_fault){0};
    snprintf(fault->detail, sizeof(fault->detail), "%s", detail);
    return err;
}

/* Path, query or body -> parameters. */
static enum err parse(const struct http_request *in, struct request *r, struct request_fault *fault)
{
    request_init(r);
    if (in->method == HTTP_POST) {
        if (in->query_len)
            return fault_set(fault, ERR_PARAM_COMBINATION,
                             "POST takes its parameters from the JSON body alone; the query must be empty.");
        return request_set_json(r, (const char *)in->body, in->body_len, fault);
    }
    enum err err = request_set_path(r, in->path + PLANET_PATH_BYTES, in->path_len - PLANET_PATH_BYTES, fault);
    if (!err && in->query_len)
        err = request_set_query(r, in->query, in->query_len, fault);
    return err;
}

/* Without a format, Accept chooses one. */
static enum err negotiate(const struct http_exchange *x, struct request *r, struct request_fault *fault)
{
    enum format format = FORMAT_PNG;
    if (!x->negotiated)
        return ERR_NONE;
    if (request_accept(x->in.accept, &format))
        return fault_set(fault, ERR_NOT_ACCEPTABLE, "Accept allows neither image/png nor image/gif.");
    r->format = (int32_t)format;
    return ERR_NONE;
}

static void log_planet(struct http_exchange *x, enum err err)
{
    static const char *const words[] = {
        [SOURCE_HIT] = "hit", [SOURCE_MISS] = "miss", [SOURCE_COALESCED] = "coalesced"};
    char target[LOG_TARGET_BYTES];
    if (err) {
        log_info("event=refused id=%s target=%s status=%d error=%s", respond_id(x),
                 log_quote(x->in.target, strlen(x->in.target), target, sizeof(target)), x->out.status,
                 err_name(err));
        return;
    }
    enum log_level level = x->waiter.source == SOURCE_HIT ? LOG_DEBUG : LOG_INFO;
    if (log_enabled(level))
        log_line(level, "event=planet key=%s cache=%s status=%d bytes=%zu",
                 log_quote(x->out.entry->key.text, x->out.entry->key.len, target, sizeof(target)),
                 words[x->waiter.source], x->out.status, x->out.entry->body.len);
}

/* The pipeline's result -> answer. */
static void finish(struct http_exchange *x, struct service *s)
{
    (void)s;
    struct pipeline_waiter *w = &x->waiter;
    if (w->err) {
        unsigned retry_after_s = w->retry_after_s ? w->retry_after_s : 1;
        bool passing = w->err == ERR_BUSY || w->err == ERR_DRAINING;
        respond_problem(x, w->err, NULL, NULL, passing ? retry_after_s : 0);
    } else {
        struct entry *entry = w->entry;
        w->entry = NULL;
        respond_entry(x, entry, w->source);
    }
    log_planet(x, w->err);
}

enum http_verdict handle_planet(struct http_exchange *x, struct service *s)
{
    struct request r;
    struct request_fault fault;
    struct key key;
    enum err err = parse(&x->in, &r, &fault);   /* request -> parameters */
    x->negotiated = !request_has(&r, "format"); /* even when refused: a cache must know */
    if (!err)
        err = negotiate(x, &r, &fault); /* Accept -> format */
    if (!err)
        err = request_finish(&r, &fault); /* defaults, limits */
    if (err) {
        respond_problem(x, err, &fault, NULL, 0);
        log_planet(x, err);
        return HTTP_ANSWERED;
    }
    x->pinned = request_has(&r, "rev");
    key_make(&r, &key); /* parameters -> key */
    if (x->in.if_none_match && x->in.method != HTTP_POST) {
        char etag[ETAG_BYTES];
        key_etag(&key, etag);
        if (respond_etag_matches(x->in.if_none_match, etag)) {
            respond_not_modified(x, etag);
            return HTTP_ANSWERED;
        }
    }
    x->finish = finish;
    if (!pipeline_fetch(s->pipeline, &r, &key, &x->waiter)) /* key -> cache, or a render */
        return HTTP_PENDING;
    finish(x, s); /* entry -> answer */
    return HTTP_ANSWERED;
}
