/* http_headers.c -- the head of a request: its headers, its target, and what can be refused before a body
 * comes.
 *
 * libmicrohttpd hands over headers one by one, undecoded; one walk takes what is needed, and what contradicts
 * itself is remembered as malformed, so that the connection ends with the answer. Threads: the loop of the
 * connection. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "server/http_private.h"

static bool same(const char *a, size_t a_len, const char *b)
{
    return strlen(b) == a_len && strncasecmp(a, b, a_len) == 0;
}

static void length_take(struct exchange *e, const char *value)
{
    /* libmicrohttpd has refused what is no number. */
    uint64_t length = strtoull(value, NULL, 10);
    if (e->length_seen && length != e->length)
        e->malformed = true;
    e->length_seen = true;
    e->length = length;
    e->body_announced = e->body_announced || length > 0;
}

/* Several lines of one name are one list (RFC 9110, 5.3). The first line is used where it lies; a second one
 * has both copied to `room`. False when they don't fit: *list is as before. */
static bool line_add(const char **list, char room[HTTP_LINES_BYTES], const char *value)
{
    size_t len = *list ? strlen(*list) : 0, more = strlen(value);
    if (!len) {
        *list = value;
        return true;
    }
    if (!more)
        return true;
    if (len + 2 + more >= HTTP_LINES_BYTES)
        return false;
    if (*list != room)
        memcpy(room, *list, len + 1);
    memcpy(room + len, ", ", 3);
    memcpy(room + len + 2, value, more + 1);
    *list = room;
    return true;
}

/* For lists that are read from their end: when they don't fit together the earlier lines go. */
static void line_add_last(const char **list, char room[HTTP_LINES_BYTES], const char *value)
{
    if (!line_add(list, room, value))
        *list = value;
}

/* A header that is to stand there once: sent twice it counts as not sent. */
static void once(const char **at, bool *lost, const char *value, size_t value_len)
{
    *lost = *lost || *at || strlen(value) != value_len;
    *at = value;
}

void http_header_take(struct exchange *e, const char *name, size_t name_len, const char *value,
                      size_t value_len)
{
    struct http_request *in = &e->x.in;
    switch (name_len) {
    case 4:
        if (same(name, name_len, "Host")) {
            e->malformed = e->malformed || e->host_seen;
            e->host_seen = true;
        }
        break;
    case 6:
        if (same(name, name_len, "Accept")) /* what doesn't fit is lost: the first lines decide */
            e->accept_full = e->accept_full || !line_add(&in->accept, e->accept, value);
        else if (same(name, name_len, "Expect"))
            e->expects = true;
        break;
    case 9:
        if (same(name, name_len, "Forwarded"))
            line_add_last(&in->forwarded, e->forwarded, value);
        break;
    case 11:
        if (same(name, name_len, "traceparent"))
            once(&in->traceparent, &e->trace_lost, value, value_len);
        break;
    case 12:
        if (same(name, name_len, "Content-Type"))
            in->content_type = value;
        else if (same(name, name_len, "X-Request-Id"))
            once(&in->request_id, &e->id_lost, value, value_len);
        break;
    case 13:
        if (same(name, name_len, "If-None-Match"))
            e->match_lost = e->match_lost || !line_add(&in->if_none_match, e->match, value);
        break;
    case 14:
        if (same(name, name_len, "Content-Length"))
            length_take(e, value);
        break;
    case 15:
        if (same(name, name_len, "X-Forwarded-For"))
            line_add_last(&in->x_forwarded_for, e->x_forwarded_for, value);
        else if (same(name, name_len, "Accept-Encoding"))
            e->encoding_full = e->encoding_full || !line_add(&in->accept_encoding, e->accept_encoding, value);
        break;
    case 17:
        if (same(name, name_len, "Transfer-Encoding")) {
            e->malformed = e->malformed || !same(value, value_len, "chunked");
            e->body_announced = true;
            e->chunked = true;
        }
        break;
    default:
        break;
    }
}

/* libmicrohttpd leaves blanks at the end of a value. */
static size_t trimmed_len(const char *value)
{
    size_t len = strlen(value);
    while (len && (value[len - 1] == ' ' || value[len - 1] == '\t'))
        len--;
    return len;
}

/* An id of the client's is used as it is, so it must be harmless anywhere: headers, logs, files. */
static bool id_valid(const char *id, size_t len)
{
    return len > 0 && len < HTTP_REQUEST_ID_BYTES &&
           strspn(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") == len;
}

/* Version 00 of W3C Trace Context: 00-<32 hex>-<16 hex>-<2 hex>, lower case, neither id all zeros. */
static bool traceparent_valid(const char *text, size_t len)
{
    static const char form[] = "00-hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh-hhhhhhhhhhhhhhhh-hh";
    _Static_assert(sizeof(form) == HTTP_TRACEPARENT_BYTES, "as long as the header");
    if (len != sizeof(form) - 1)
        return false;
    for (size_t i = 0; i < len; i++) {
        bool hex = (text[i] >= '0' && text[i] <= '9') || (text[i] >= 'a' && text[i] <= 'f');
        if (form[i] == 'h' ? !hex : text[i] != form[i])
            return false;
    }
    return strspn(text + 3, "0") < 32 && strspn(text + 36, "0") < 16;
}

/* Both targets are zeroed and have room for a valid text and its NUL. */
static void names_take(struct exchange *e)
{
    const struct http_request *in = &e->x.in;
    size_t id_len = in->request_id && !e->id_lost ? trimmed_len(in->request_id) : 0;
    size_t trace_len = in->traceparent && !e->trace_lost ? trimmed_len(in->traceparent) : 0;
    if (id_len && id_valid(in->request_id, id_len))
        memcpy(e->x.id, in->request_id, id_len);
    if (trace_len && traceparent_valid(in->traceparent, trace_len))
        memcpy(e->x.traceparent, in->traceparent, trace_len);
}

static enum err target_check(const struct exchange *e, const char *version)
{
    if (e->target_len > HTTP_URL_MAX_BYTES)
        return ERR_URL_SIZE;
    /* libmicrohttpd ends the target at a NUL; the version, which follows it in the same line, tells. */
    uintptr_t end = (uintptr_t)e->raw_target + e->target_len, next = (uintptr_t)version;
    if (next > end + 1 && next < end + HTTP_CONNECTION_MEMORY_BYTES)
        return ERR_TEXT_ENCODING;
    for (const char *p = e->target; *p; p++)
        if ((unsigned char)*p <= ' ' || *p == 127)
            return ERR_TEXT_ENCODING;
    return ERR_NONE;
}

/* Cuts the target into path and query. */
static void target_split(struct exchange *e)
{
    struct http_request *in = &e->x.in;
    const char *path = e->target;
    if (strncasecmp(path, "http://", 7) == 0) { /* as to a proxy; servers must take it */
        path += 7;
        path += strcspn(path, "/?");
    }
    size_t len = strcspn(path, "?");
    in->path = len ? path : "/";
    in->path_len = len ? len : 1;
    if (path[len] == '?') {
        in->query = path + len + 1;
        in->query_len = strlen(in->query);
    }
}

static enum http_method method_from(const char *text)
{
    static const struct {
        const char *text;
        enum http_method method;
    } known[] = {{"GET", HTTP_GET}, {"HEAD", HTTP_HEAD}, {"POST", HTTP_POST}, {"OPTIONS", HTTP_OPTIONS}};
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (strcmp(text, known[i].text) == 0)
            return known[i].method;
    return HTTP_OTHER;
}

static bool is_json(const char *type)
{
    static const char json[] = "application/json";
    size_t len = sizeof(json) - 1;
    return !type || (strncasecmp(type, json, len) == 0 && (type[len] == '\0' || strchr("; \t", type[len])));
}

bool http_takes_file(const struct exchange *e)
{
    return e->route && (e->route->sets & ROUTES_FILE);
}

size_t http_body_max(const struct exchange *e)
{
    return http_takes_file(e) ? HTTP_FILE_MAX_BYTES : HTTP_BODY_MAX_BYTES;
}

size_t http_body_swallow(const struct exchange *e)
{
    return http_takes_file(e) ? HTTP_FILE_MAX_BYTES + HTTP_BODY_SWALLOW_BYTES : HTTP_BODY_SWALLOW_BYTES;
}

static enum err route_choose(struct exchange *e)
{
    struct http_request *in = &e->x.in;
    target_split(e);
    if (in->method == HTTP_OPTIONS && strcmp(in->path, "*") == 0)
        return ERR_NONE;
    enum err err =
        route_find(e->connection->loop->server->desc.routes, in->path, in->path_len, in->method, &e->route);
    if (e->route)
        e->x.route = route_index(e->route);
    if (!err && in->method == HTTP_POST) {
        e->body_kept = true;
        if (!http_takes_file(e) && !is_json(in->content_type))
            err = ERR_BODY_TYPE;
    }
    return !err && e->length > http_body_max(e) ? ERR_BODY_SIZE : err;
}

void http_headers_end(struct exchange *e, const char *method, const char *version, size_t head_bytes)
{
    struct http_request *in = &e->x.in;
    in->method = method_from(method);
    names_take(e);
    if (e->match_lost)
        in->if_none_match = NULL; /* the client gets the whole picture: never wrong */
    /* A chunked body has no length to contradict. */
    e->malformed =
        e->malformed || (e->chunked && e->length_seen) || (!e->host_seen && strcmp(version, "HTTP/1.1") == 0);
    e->refused = target_check(e, version);
    if (!e->refused && head_bytes > HTTP_HEADERS_MAX_BYTES)
        e->refused = ERR_HEADER_SIZE;
    if (!e->refused && e->malformed)
        e->refused = ERR_REQUEST_SYNTAX;
    if (!e->refused)
        e->refused = route_choose(e);
}

bool http_answer_early(const struct exchange *e)
{
    if (!e->refused || !e->body_announced)
        return e->malformed;
    return e->malformed || e->expects || e->length > http_body_swallow(e);
}
