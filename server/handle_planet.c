/* handle_planet.c -- /planet: from what the client asked to the pipeline and back.
 *
 * With keys set, the signature is checked before anything else is looked at, and taken off: neither the key
 * of the result nor what follows knows of it. The tag of a result is known from its key alone, so a client
 * that has the picture gets its 304 without a render. Threads: that of the exchange. The pipeline copies what
 * it is given, so nothing here outlives the call. */
#include "api/key.h"
#include "server/asker.h"
#include "server/plan.h"
#include "server/respond.h"
#include "server/routes.h"

/* The pipeline's result -> answer. */
static void finish(struct http_exchange *x, struct service *s)
{
    (void)s;
    struct pipeline_waiter *w = &x->waiter;
    x->out.cache = respond_source_word(w->source);
    x->out.drawn = w->source != SOURCE_HIT;
    if (w->err) {
        unsigned retry_after_s = w->retry_after_s ? w->retry_after_s : 1;
        bool passing = w->err == ERR_BUSY || w->err == ERR_SHARE || w->err == ERR_DRAINING;
        respond_problem(x, w->err, NULL, NULL, passing ? retry_after_s : 0);
    } else {
        struct entry *entry = w->entry;
        w->entry = NULL;
        respond_entry(x, entry, w->source);
    }
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
    enum err err = asker_check(x, s->sign_keys);
    if (err) {
        respond_problem(x, err, NULL, NULL, 0);
        return HTTP_ANSWERED;
    }
    err = plan_make(x, &room, &plan, &fault); /* request -> parameters -> key */
    x->negotiated = plan->negotiated;
    if (err) {
        respond_problem(x, err, &fault, NULL, 0);
        return HTTP_ANSWERED;
    }
    x->pinned = plan->pinned;
    x->fake = s->fake;
    if (answer_not_modified(x, s, &plan->key))
        return HTTP_ANSWERED;
    x->finish = finish;
    x->waiter.client = asker_hash(x);
    if (!pipeline_fetch(s->pipeline, &plan->request, &plan->key, &x->waiter)) /* key -> cache, or a render */
        return HTTP_PENDING;
    finish(x, s); /* entry -> answer */
    return HTTP_ANSWERED;
}
