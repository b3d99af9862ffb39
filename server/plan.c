/* plan.c -- from what the client sent to parameters and key.
 *
 * Parsing, filling defaults and spelling the key take about 1.4 us, a good part of what a hit costs, and hot
 * URLs come again and again: so each thread remembers what its last targets came to, in a table where a
 * newcomer simply takes the place of whoever hashes alike. It holds no pictures: those stay in the cache
 * alone, within its budget. Threads: that of the exchange. */
#include "server/plan.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "server/respond.h"

#define MEMORY_SLOTS      256 /* 0.5 MB a thread */
#define MEMORY_TEXT_BYTES 384 /* target and Accept; longer ones are not worth it */

struct slot {
    size_t text_len; /* 0 = empty */
    char text[MEMORY_TEXT_BYTES];
    struct plan plan;
};

/* Path, query or body -> parameters. */
static enum err parse(const struct http_request *in, struct request *r, struct request_fault *fault)
{
    request_init(r);
    if (in->method == HTTP_POST) {
        if (in->query_len)
            return respond_fault(
                fault, ERR_PARAM_COMBINATION,
                "POST takes its parameters from the JSON body alone; the query must be empty.");
        return request_set_json(r, (const char *)in->body, in->body_len, fault);
    }
    enum err err = request_set_address(r, in->path, in->path_len, fault);
    if (!err && in->query_len)
        err = request_set_query(r, in->query, in->query_len, fault);
    return err;
}

static enum err negotiate(const char *accept, struct request *r, struct request_fault *fault)
{
    enum format format = FORMAT_PNG;
    if (request_accept(accept, &format))
        return respond_fault(fault, ERR_NOT_ACCEPTABLE,
                             "Accept allows none of image/png, image/gif, image/apng and image/webp.");
    r->format = (int32_t)format;
    return ERR_NONE;
}

static enum err fill(const struct http_exchange *x, struct plan *plan, struct request_fault *fault)
{
    struct request *r = &plan->request;
    enum err err = parse(&x->in, r, fault); /* request -> parameters */
    /* Told even when refused: a cache must know. What is at no address has no format either. */
    plan->negotiated = !request_has(r, "format") && err != ERR_NOT_FOUND;
    if (!err && plan->negotiated)
        err = negotiate(x->in.accept, r, fault); /* Accept -> format */
    if (!err)
        err = request_finish(r, fault); /* defaults, limits */
    if (err)
        return err;
    plan->pinned = request_has(r, "rev");
    key_make(r, &plan->key); /* parameters -> key */
    return ERR_NONE;
}

/* Writes what the plan depends on; 0 when that is too long or not all in the text. */
static size_t text_write(const struct http_request *in, char text[MEMORY_TEXT_BYTES])
{
    const char *accept = in->accept ? in->accept : "";
    size_t len = in->path_len, accept_len = strlen(accept);
    if (in->method == HTTP_POST || len + in->query_len + accept_len + 3 > MEMORY_TEXT_BYTES)
        return 0;
    memcpy(text, in->path, len);
    text[len++] = '?'; /* no path holds one */
    if (in->query_len)
        memcpy(text + len, in->query, in->query_len);
    len += in->query_len;
    text[len++] = '\n'; /* no query holds one */
    memcpy(text + len, accept, accept_len + 1);
    return len + accept_len;
}

enum err plan_make(const struct http_exchange *x, struct plan *room, const struct plan **ret_plan,
                   struct request_fault *ret_fault)
{
    char text[MEMORY_TEXT_BYTES];
    size_t len = text_write(&x->in, text);
    struct slot *slot = NULL;
    if (len && !*x->memory)
        *x->memory = calloc(MEMORY_SLOTS, sizeof(*slot));
    if (len && *x->memory) {
        slot = (struct slot *)*x->memory + XXH3_64bits(text, len) % MEMORY_SLOTS;
        if (slot->text_len == len && memcmp(slot->text, text, len) == 0) {
            *ret_plan = &slot->plan;
            return ERR_NONE;
        }
    }
    enum err err = fill(x, room, ret_fault);
    if (err)
        return err;
    if (slot) {
        slot->text_len = len;
        memcpy(slot->text, text, len);
        slot->plan = *room;
    }
    *ret_plan = room;
    return ERR_NONE;
}
