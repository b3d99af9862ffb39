/* Fills answers. Every one gets the CORS headers. Threads: those of the exchange. */
#pragma once

#include "api/request.h"
#include "server/http.h"

/* The request's id, as the client gets it in X-Request-Id and the log has it: the client's own, or
 * boot-loop-number in hex, where boot is random for each start. */
const char *respond_id(struct http_exchange *x);

/* The word of X-Cache and Server-Timing. */
const char *respond_source_word(enum pipeline_source source);

/* An answer from static memory. `type` is the Content-Type, `cache` the Cache-Control. */
void respond_text(struct http_exchange *x, int status, const char *type, const char *cache, const char *text);

/* Adds Vary. `names` is static. */
void respond_vary(struct http_exchange *x, const char *names);

/* Takes *bytes. */
void respond_blob(struct http_exchange *x, int status, const char *type, const char *cache,
                  struct blob *bytes);

/* The problem+json for `err`; `fault` may be NULL. `allow` goes into Allow with ERR_METHOD, retry_after_s (0
 * = none) into Retry-After. Never fails: without memory the body is empty. */
void respond_problem(struct http_exchange *x, enum err err, const struct request_fault *fault,
                     const char *allow, unsigned retry_after_s);

/* Words *fault anew, for respond_problem(), and returns `err`. */
enum err respond_fault(struct request_fault *fault, enum err err, const char *detail);

/* 200 with a body that is made while it is sent. Takes *stream. `type` must live as long as the stream;
 * `file_name`, static, is the name under which a browser is to save it, NULL = none. */
void respond_stream(struct http_exchange *x, const char *type, const char *file_name,
                    struct http_stream *stream);

/* The file of *entry, whose reference it takes. Uses the prepared answer if there is one, has one kept if the
 * entry came from the cache. */
void respond_entry(struct http_exchange *x, struct entry *entry, enum pipeline_source source);

/* 304 for a result with this tag. Takes *entry, the result, or NULL when it would have to be drawn. */
void respond_not_modified(struct http_exchange *x, const char *etag, struct entry *entry);

struct page_copy;
/* A file of the page, or 304 when If-None-Match has its tag. It may be kept, but not used without asking
 * again: its address names no revision. `vary` names the headers that chose it. */
void respond_page(struct http_exchange *x, const char *type, const char *vary, const struct page_copy *copy);

/* 204 with Allow and what a CORS preflight asks for. */
void respond_options(struct http_exchange *x, const char *allow);

/* True when the value of If-None-Match is "*" or a list of tags that names `etag` (weak comparison, as GET
 * has it). A malformed list names none. */
bool respond_etag_matches(const char *if_none_match, const char *etag);
