/* respond.c -- answers in terms of status, headers and bytes.
 *
 * Values that must be made (file names, lengths of time) go into a small text area of the answer itself, so
 * an answer needs no memory of its own. A hit gets the answer that was prepared when the entry was hit for
 * the first time; what can differ between two answers for one entry (revision pinned or not, negotiated or
 * not) makes the variants. Threads: those of the exchange. */
#include "server/respond.h"

#include <stdio.h>
#include <string.h>

#include "api/problem.h"
#include "renderer/renderer.h"

#define CACHE_DAY      "public, max-age=86400, stale-while-revalidate=604800"
#define CACHE_FOR_EVER "public, max-age=31536000, immutable"

static void header(struct http_response *out, const char *name, const char *value)
{
    if (out->header_count < HTTP_ANSWER_HEADERS_MAX)
        out->headers[out->header_count++] = (struct http_header){name, value};
}

/* A header whose value is put together here: pre, middle and post. */
static void header_made(struct http_response *out, const char *name, const char *pre, const char *middle,
                        const char *post)
{
    size_t room = sizeof(out->text) - out->text_len;
    char *to = out->text + out->text_len;
    int n = snprintf(to, room, "%s%s%s", pre, middle, post);
    if (n < 0 || (size_t)n >= room)
        return; /* cannot be: the area holds the longest of each */
    out->text_len += (size_t)n + 1;
    header(out, name, to);
}

static void begin(struct http_exchange *x, int status)
{
    struct http_response *out = &x->out;
    out->status = status;
    out->header_count = 0;
    out->text_len = 0;
    header(out, "Access-Control-Allow-Origin", "*");
    header(out, "Access-Control-Expose-Headers",
           "ETag, X-Cache, X-Request-Id, Retry-After, Content-Disposition");
    if (status != 304)
        header(out, "X-Content-Type-Options",
               "nosniff"); /* a picture is one, and an error quotes the client */
}

const char *respond_id(struct http_exchange *x)
{
    if (!x->id[0]) /* a hit never needs it */
        snprintf(x->id, sizeof(x->id), "%08x-%x-%llx", (unsigned)x->id_boot, (unsigned)x->id_loop,
                 (unsigned long long)x->id_number);
    return x->id;
}

void respond_text(struct http_exchange *x, int status, const char *type, const char *cache, const char *text)
{
    begin(x, status);
    header(&x->out, "Content-Type", type);
    header(&x->out, "Cache-Control", cache);
    x->out.body = text;
    x->out.body_len = strlen(text);
}

void respond_blob(struct http_exchange *x, int status, const char *type, const char *cache,
                  struct blob *bytes)
{
    respond_text(x, status, type, cache, "");
    blob_free(&x->out.owned);
    x->out.owned = blob_take(bytes);
    x->out.body = x->out.owned.data;
    x->out.body_len = x->out.owned.len;
}

void respond_problem(struct http_exchange *x, enum err err, const struct request_fault *fault,
                     const char *allow, unsigned retry_after_s)
{
    struct http_response *out = &x->out;
    struct blob text = {0};
    if (problem_write(err, fault, respond_id(x), &text))
        blob_free(&text);
    respond_blob(x, problem_status(err), "application/problem+json", "no-store", &text);
    header(out, "X-Request-Id", respond_id(x));
    if (x->negotiated)
        header(out, "Vary", "Accept");
    if (err == ERR_METHOD && allow)
        header(out, "Allow", allow);
    if (retry_after_s) {
        char seconds[16];
        snprintf(seconds, sizeof(seconds), "%u", retry_after_s);
        header_made(out, "Retry-After", seconds, "", "");
    }
}

/* Takes the answer that was prepared for the entry, or has it kept. True when there is one. */
static bool prepared(struct http_exchange *x, struct entry *entry, int status)
{
    _Static_assert(ENTRY_REPLIES >= 8, "two statuses, pinned or not, negotiated or not");
    int slot = (x->pinned ? 1 : 0) | (x->negotiated ? 2 : 0) | (status == 304 ? 4 : 0);
    x->out.status = status;
    x->out.keep = &entry->replies[slot];
    x->out.ready = atomic_load_explicit(x->out.keep, memory_order_acquire);
    return x->out.ready != NULL;
}

static void caching(struct http_exchange *x)
{
    header(&x->out, "Cache-Control", x->fake ? "no-store" : x->pinned ? CACHE_FOR_EVER : CACHE_DAY);
    if (x->negotiated)
        header(&x->out, "Vary", "Accept");
}

void respond_entry(struct http_exchange *x, struct entry *entry, enum pipeline_source source)
{
    static const char *const words[] = {[SOURCE_HIT] = "hit",
                                        [SOURCE_MISS] = "miss",
                                        [SOURCE_COALESCED] = "coalesced",
                                        [SOURCE_DISK] = "disk",
                                        [SOURCE_SHARED] = "shared"};
    struct http_response *out = &x->out;
    out->entry = entry;
    if (source == SOURCE_HIT && !x->closing && prepared(x, entry, 200))
        return;
    begin(x, 200);
    header(out, "Content-Type", encoders[entry->format].mime);
    if (!x->fake)
        header(out, "ETag", entry->etag);
    caching(x);
    header_made(out, "Content-Disposition", "inline; filename=\"", entry->file_name, "\"");
    header(out, "X-Cache", words[source]);
    out->body = entry->body.data;
    out->body_len = entry->body.len;
}

void respond_not_modified(struct http_exchange *x, const char *etag, struct entry *entry)
{
    struct http_response *out = &x->out;
    out->entry = entry;
    if (entry && !x->closing && prepared(x, entry, 304))
        return;
    begin(x, 304);
    header_made(out, "ETag", etag, "", "");
    caching(x);
    out->no_length = !entry; /* 304 must give the length of the 200, or none */
    out->body = entry ? (const void *)entry->body.data : "";
    out->body_len = entry ? entry->body.len : 0;
}

void respond_options(struct http_exchange *x, const char *allow)
{
    begin(x, 204);
    header(&x->out, "Allow", allow);
    header(&x->out, "Access-Control-Allow-Methods", allow);
    header(&x->out, "Access-Control-Allow-Headers", "Content-Type, If-None-Match");
    header(&x->out, "Access-Control-Max-Age", "86400");
    x->out.body = "";
    x->out.body_len = 0;
}

bool respond_etag_matches(const char *list, const char *etag)
{
    size_t len = strlen(etag);
    bool found = false;
    list += strspn(list, " \t");
    if (*list == '*')
        return list[1 + strspn(list + 1, " \t")] == '\0';
    for (;;) { /* to its end: a list that is malformed anywhere is no condition */
        list += strspn(list, " \t,");
        if (*list == '\0')
            return found;
        if (strncmp(list, "W/", 2) == 0)
            list += 2;
        const char *end = *list == '"' ? strchr(list + 1, '"') : NULL;
        if (!end)
            return false;
        found = found || ((size_t)(end + 1 - list) == len && memcmp(list, etag, len) == 0);
        list = end + 1 + strspn(end + 1, " \t");
        if (*list != ',' && *list != '\0')
            return false;
    }
}
