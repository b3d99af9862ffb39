/* handle_planet.c -- /planet: from what the client asked to the pipeline and back.
 *
 * The tag of a result is known from its key alone, so a client that has the picture gets its 304 without a
 * render. Threads: that of the exchange. The pipeline copies what it is given, so nothing here outlives the
 * call. */
#include <string.h>

#include "api/key.h"
#include "server/log.h"
#include "server/plan.h"
#include "server/respond.h"
#include "server/routes.h"

#define LOG_TARGET_BYTES 512

static void log_planet(struct http_exchange *x, enum err err)
{
    static const char *const words[] = {[SOURCE_HIT] = "hit",
                                        [SOURCE_MISS] = "miss",
                                        [SOURCE_COALESCED] = "coalesced",
                                        [SOURCE_DISK] = "disk",
                                        [SOURCE_SHARED] = "shared"};
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

/* True when the client has the result already, and is told so. */
static bool answer_not_modified(struct http_exchange *x, struct service *s, const struct key *key)
{
    char etag[ETAG_BYTES];
    if (!x->in.if_none_match || x->in.method == HTTP_POST || x->fake)
        return false;
    key_etag(key, etag);
    if (!respond_etag_matches(x->in.if_none_match, etag))
        return false;
    respond_not_modified(x, etag, pipeline_find(s->pipeline, key));
    return true;
}

enum http_verdict handle_planet(struct http_exchange *x, struct service *s)
{
    struct plan room;
    const struct plan *plan = &room;
    struct request_fault fault;
    enum err err = plan_make(x, &room, &plan, &fault); /* request -> parameters -> key */
    x->negotiated = plan->negotiated;
    if (err) {
        respond_problem(x, err, &fault, NULL, 0);
        log_planet(x, err);
        return HTTP_ANSWERED;
    }
    x->pinned = plan->pinned;
    x->fake = s->fake;
    if (answer_not_modified(x, s, &plan->key))
        return HTTP_ANSWERED;
    x->finish = finish;
    if (!pipeline_fetch(s->pipeline, &plan->request, &plan->key, &x->waiter)) /* key -> cache, or a render */
        return HTTP_PENDING;
    finish(x, s); /* entry -> answer */
    return HTTP_ANSWERED;
}
