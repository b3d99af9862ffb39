/* respond.c -- answers in terms of status, headers and bytes.
 *
 * Values that must be made (file names, lengths of time) go into a small text area of the answer itself, so
 * an answer needs no memory of its own. A hit gets the answer that was prepared when this loop hit the entry
 * before; what can differ between two answers for one entry (revision pinned or not, negotiated or not) makes
 * the variants. X-Request-Id is put in when the answer is queued; whoever needs more of its own (a trace, the
 * end of a signed URL) gets an answer made for it. Threads: those of the exchange. */
#include "server/respond.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "api/problem.h"
#include "renderer/renderer.h"
#include "server/http_replies.h"
#include "server/page.h"

#define CACHE_DAY      "public, max-age=86400, stale-while-revalidate=604800"
#define CACHE_FOR_EVER "public, max-age=31536000, immutable"
#define DAY_S          86400
#define YEAR_S         31536000
#define TIMING_BYTES   192

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
           "ETag, X-Cache, X-Request-Id, Retry-After, Content-Disposition, Server-Timing");
    if (status != 304)
        header(out, "X-Content-Type-Options",
               "nosniff"); /* a picture is one, and an error quotes the client */
}

static char *put_hex(char *to, uint64_t n, int least_digits)
{
    static const char hex[] = "0123456789abcdef";
    int digits = least_digits;
    while (digits < 16 && n >> digits * 4)
        digits++;
    for (int i = digits - 1; i >= 0; i--)
        *to++ = hex[n >> i * 4 & 15];
    return to;
}

const char *respond_id(struct http_exchange *x)
{
    if (!x->id[0]) { /* always as long, so that it can take the last one's place in a prepared answer */
        char *at = put_hex(x->id, x->id_boot, 16);
        *at++ = '-';
        at = put_hex(at, x->id_loop, 2);
        *at++ = '-';
        *put_hex(at, x->id_number, 8) = '\0';
    }
    return x->id;
}

const char *respond_source_word(enum pipeline_source source)
{
    static const char *const words[] = {[SOURCE_HIT] = "hit",
                                        [SOURCE_MISS] = "miss",
                                        [SOURCE_COALESCED] = "coalesced",
                                        [SOURCE_DISK] = "disk",
                                        [SOURCE_SHARED] = "shared"};
    return words[source];
}

void respond_text(struct http_exchange *x, int status, const char *type, const char *cache, const char *text)
{
    begin(x, status);
    header(&x->out, "Content-Type", type);
    header(&x->out, "Cache-Control", cache);
    x->out.body = text;
    x->out.body_len = strlen(text);
}

void respond_vary(struct http_exchange *x, const char *names)
{
    header(&x->out, "Vary", names);
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
    out->err = err;
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

enum err respond_fault(struct request_fault *fault, enum err err, const char *detail)
{
    *fault = (struct request_fault){0};
    snprintf(fault->detail, sizeof(fault->detail), "%s", detail);
    return err;
}

void respond_stream(struct http_exchange *x, const char *type, const char *file_name,
                    struct http_stream *stream)
{
    respond_text(x, 200, type, "no-store", "");
    if (x->negotiated)
        header(&x->out, "Vary", "Accept");
    if (file_name)
        header_made(&x->out, "Content-Disposition", "attachment; filename=\"", file_name, "\"");
    x->out.stream = stream;
}

/* Takes the answer that was prepared for the entry, or has it kept. True when there is one. */
static bool prepared(struct http_exchange *x, struct entry *entry, int status)
{
    _Static_assert(HTTP_REPLIES_VARIANTS >= 8, "two statuses, pinned or not, negotiated or not");
    int variant = (x->pinned ? 1 : 0) | (x->negotiated ? 2 : 0) | (status == 304 ? 4 : 0);
    if (x->closing || x->traceparent[0] || x->expires || !x->replies)
        return false; /* for this client alone */
    x->out.status = status;
    x->out.keep_as = variant + 1;
    x->out.ready = http_replies_find(x->replies, entry->serial, variant);
    return x->out.ready != NULL;
}

/* A signed URL that ends: nobody may keep the answer beyond that. */
static void caching_until(struct http_exchange *x)
{
    uint64_t now = (uint64_t)time(NULL), left = x->expires > now ? x->expires - now : 0;
    uint64_t most = x->pinned ? YEAR_S : DAY_S;
    char seconds[24];
    snprintf(seconds, sizeof(seconds), "%llu", (unsigned long long)(left < most ? left : most));
    header_made(&x->out, "Cache-Control", "public, max-age=", seconds, "");
}

static void caching(struct http_exchange *x)
{
    if (x->expires && !x->fake)
        caching_until(x);
    else
        header(&x->out, "Cache-Control", x->fake ? "no-store" : x->pinned ? CACHE_FOR_EVER : CACHE_DAY);
    if (x->negotiated)
        header(&x->out, "Vary", "Accept");
}

/* Server-Timing: where the picture came from, and how long the parts of its making took. */
static void timing(struct http_exchange *x, const char *word)
{
    const struct pipeline_times *t = &x->waiter.times;
    const struct {
        const char *name;
        uint64_t ns;
    } parts[] = {
        {"lookup", t->lookup_ns}, {"queue", t->queue_ns}, {"render", t->render_ns}, {"encode", t->encode_ns}};
    char text[TIMING_BYTES];
    size_t len = (size_t)snprintf(text, sizeof(text), "cache;desc=%s", word);
    for (size_t i = 0; i < ARRAY_LEN(parts) && len < sizeof(text); i++) {
        unsigned long long us = (parts[i].ns + 500) / 1000;
        if (parts[i].ns)
            len += (size_t)snprintf(text + len, sizeof(text) - len, ", %s;dur=%llu.%03llu", parts[i].name,
                                    us / 1000, us % 1000);
    }
    header_made(&x->out, "Server-Timing", text, "", "");
    header(&x->out, "Timing-Allow-Origin", "*");
}

void respond_entry(struct http_exchange *x, struct entry *entry, enum pipeline_source source)
{
    struct http_response *out = &x->out;
    const char *word = respond_source_word(source);
    out->entry = entry;
    if (source == SOURCE_HIT && prepared(x, entry, 200))
        return;
    begin(x, 200);
    header(out, "Content-Type", encoders[entry->format].mime);
    if (!x->fake)
        header(out, "ETag", entry->etag);
    caching(x);
    header_made(out, "Content-Disposition", "inline; filename=\"", entry->file_name, "\"");
    header(out, "X-Cache", word);
    timing(x, word);
    out->body = entry->body.data;
    out->body_len = entry->body.len;
}

void respond_not_modified(struct http_exchange *x, const char *etag, struct entry *entry)
{
    struct http_response *out = &x->out;
    out->entry = entry;
    if (entry && prepared(x, entry, 304))
        return;
    begin(x, 304);
    header_made(out, "ETag", etag, "", "");
    caching(x);
    out->no_length = !entry; /* 304 must give the length of the 200, or none */
    out->body = entry ? (const void *)entry->body.data : "";
    out->body_len = entry ? entry->body.len : 0;
}

/* What a browser may do with the page: nothing that is not served here. */
static void guard(struct http_response *out)
{
    header(out, "Content-Security-Policy",
           "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; "
           "img-src 'self' blob: data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
           "frame-ancestors 'none'");
    header(out, "Referrer-Policy", "no-referrer");
    header(out, "Cross-Origin-Opener-Policy", "same-origin");
}

void respond_page(struct http_exchange *x, const char *type, const char *vary, const struct page_copy *copy)
{
    struct http_response *out = &x->out;
    const char *known = x->in.if_none_match;
    bool unchanged = known && respond_etag_matches(known, copy->etag);
    begin(x, unchanged ? 304 : 200);
    if (!unchanged) {
        header(out, "Content-Type", type);
        if (copy->gzip)
            header(out, "Content-Encoding", "gzip");
    }
    header(out, "ETag", copy->etag);
    header(out, "Cache-Control", "no-cache");
    header(out, "Vary", vary);
    guard(out);
    out->body = copy->bytes; /* also of a 304, which gives the length of the 200 */
    out->body_len = copy->len;
}

void respond_options(struct http_exchange *x, const char *allow)
{
    begin(x, 204);
    header(&x->out, "Allow", allow);
    header(&x->out, "Access-Control-Allow-Methods", allow);
    header(&x->out, "Access-Control-Allow-Headers", "Content-Type, If-None-Match, X-Request-Id, traceparent");
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
