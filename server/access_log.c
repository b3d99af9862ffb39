/* access_log.c -- one line for each request, put together by hand: a hit takes some microseconds, and printf
 * would be a good part of that.
 *
 * The wall clock is read once a turn, when its first line comes. Lines go out in pieces of whole lines that a
 * pipe takes whole, so that several processes can share one. Threads: the loop that owns the log. */
#include "server/access_log.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

#include "server/respond.h"

#define TARGET_BYTES   640                                /* of a target; what follows is cut */
#define CLIENT_BYTES   (INET6_ADDRSTRLEN + sizeof("/64")) /* an address as text */
#define TRACE_ID_AT    3                                  /* where it begins in a traceparent */
#define TRACE_ID_BYTES 32

enum access_mode access_log_mode(const char *word)
{
    return strcmp(word, "none") == 0 ? ACCESS_NONE : strcmp(word, "drawn") == 0 ? ACCESS_DRAWN : ACCESS_ALL;
}

void access_log_flush(struct access_log *a)
{
    if (a->len)
        log_write(a->text, a->len);
    a->len = 0;
    a->stamped = false;
}

/* ---- Signatures ---- */

/* One character of a target, %XX decoded. Returns how many bytes it takes there. */
static size_t character(const char *at, char *ret_character)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    const char *high = *at == '%' && at[1] ? strchr(digits, at[1]) : NULL;
    const char *low = high && at[2] ? strchr(digits, at[2]) : NULL;
    if (!low) {
        *ret_character = *at;
        return 1;
    }
    *ret_character = (char)(((high - digits) % 16 * 16) + (low - digits) % 16);
    return 3;
}

/* The length of the word `signature` and an equals sign at the beginning of `at`; 0 when they aren't there.
 */
static size_t signature_len(const char *at)
{
    size_t len = 0;
    for (const char *word = "signature="; *word; word++) {
        char c = '\0';
        if (!at[len])
            return 0;
        len += character(at + len, &c);
        if ((c | ((c >= 'A' && c <= 'Z') ? 0x20 : 0)) != *word)
            return 0;
    }
    return len;
}

size_t access_log_hide(const char *target, char *to, size_t room)
{
    size_t len = 0;
    while (*target && len + 1 < room) {
        size_t name = *target == 's' || *target == 'S' || *target == '%' ? signature_len(target) : 0;
        if (!name) {
            to[len++] = *target++;
            continue;
        }
        size_t fits = name < room - 1 - len ? name : room - 1 - len;
        memcpy(to + len, target, fits);
        len += fits;
        for (int i = 0; i < 3 && len + 1 < room; i++)
            to[len++] = '*';
        target += name;
        target += strcspn(target, "&");
    }
    to[len] = '\0';
    return len;
}

/* ---- Lines ---- */

struct line {
    char *at;
    bool json;
};

static void put(struct line *l, const char *text, size_t len)
{
    memcpy(l->at, text, len);
    l->at += len;
}

static void put_digits(struct line *l, uint64_t n, int least)
{
    char digits[24];
    int i = sizeof(digits);
    for (; n > 0 || least > 0; n /= 10, least--)
        digits[--i] = (char)('0' + n % 10);
    put(l, digits + i, sizeof(digits) - (size_t)i);
}

static void put_name(struct line *l, const char *name)
{
    put(l, l->json ? ",\"" : " ", l->json ? 2 : 1);
    put(l, name, strlen(name));
    put(l, l->json ? "\":" : "=", l->json ? 2 : 1);
}

static void put_number(struct line *l, const char *name, uint64_t n)
{
    put_name(l, name);
    put_digits(l, n, 1);
}

/* A value that needs no escapes. */
static void put_word(struct line *l, const char *name, const char *word, size_t len)
{
    put_name(l, name);
    if (l->json)
        *l->at++ = '"';
    put(l, word, len);
    if (l->json)
        *l->at++ = '"';
}

static void put_target(struct line *l, const char *target)
{
    char hidden[TARGET_BYTES];
    size_t len = access_log_hide(target, hidden, sizeof(hidden));
    put_name(l, "target");
    if (l->json)
        l->at += log_json_text(hidden, len, l->at, TARGET_BYTES);
    else
        l->at += strlen(log_quote(hidden, len, l->at, TARGET_BYTES));
}

static const char *method_name(enum http_method method)
{
    switch (method) {
    case HTTP_GET:
        return "GET";
    case HTTP_HEAD:
        return "HEAD";
    case HTTP_POST:
        return "POST";
    case HTTP_OPTIONS:
        return "OPTIONS";
    case HTTP_OTHER:
        break;
    }
    return "other";
}

static size_t client_text(const struct http_exchange *x, char to[CLIENT_BYTES])
{
    static const uint8_t v4[12] = {[10] = 0xff, [11] = 0xff};
    const struct http_peer *client = &x->client;
    struct line l = {.at = to};
    if (memcmp(client->bytes, v4, sizeof(v4)) == 0) {
        for (int i = 12; i < 16; i++) {
            put_digits(&l, client->bytes[i], 1);
            *l.at++ = '.';
        }
        return (size_t)(l.at - to) - 1;
    }
    if (x->client_unknown) {
        put(&l, "unix", 4);
    } else {
        inet_ntop(AF_INET6, client->bytes, to, CLIENT_BYTES);
        l.at += strlen(to);
        put(&l, "/64", 3);
    }
    return (size_t)(l.at - to);
}

static void stamp(struct access_log *a)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (now.tv_sec != a->second) {
        log_stamp(&now, a->stamp);
        a->second = now.tv_sec;
    } else {
        struct line ms = {.at = a->stamp + LOG_STAMP_BYTES - sizeof("123Z")};
        put_digits(&ms, (uint64_t)now.tv_nsec / 1000000, 3);
    }
    a->stamped = true;
}

static uint64_t bytes_sent(const struct http_exchange *x)
{
    if (x->in.method == HTTP_HEAD || x->out.status == 304)
        return 0;
    return x->out.entry ? x->out.entry->body.len : x->out.body_len;
}

/* Errors of the service get a line whatever the mode. */
static bool wanted(const struct access_log *a, const struct http_exchange *x, bool probe,
                   enum log_level *ret_level)
{
    bool failed = x->out.status >= 500 && !probe;
    *ret_level = probe ? LOG_DEBUG : failed ? LOG_WARN : LOG_INFO;
    if (!log_enabled(*ret_level))
        return false;
    return failed || a->mode == ACCESS_ALL || (a->mode == ACCESS_DRAWN && x->out.drawn);
}

void access_log_add(struct access_log *a, struct http_exchange *x, bool probe, bool sent)
{
    enum log_level level;
    struct timespec now;
    char client[CLIENT_BYTES];
    if (!wanted(a, x, probe, &level))
        return;
    if (a->len + ACCESS_LOG_LINE_BYTES > sizeof(a->text))
        access_log_flush(a);
    if (!a->stamped)
        stamp(a);
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t us = ((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec - x->started_ns) / 1000;
    struct line l = {.at = a->text + a->len, .json = log_is_json()};
    const char *method = method_name(x->in.method), *level_name = log_level_name(level), *id = respond_id(x);
    const char *error = x->out.err ? err_name(x->out.err) : !sent ? "client-gone" : NULL;

    put(&l, l.json ? "{\"time\":\"" : "time=", l.json ? 9 : 5);
    put(&l, a->stamp, LOG_STAMP_BYTES - 1);
    if (l.json)
        *l.at++ = '"';
    put_word(&l, "level", level_name, strlen(level_name));
    put_word(&l, "event", "request", 7);
    put_word(&l, "id", id, strlen(id));
    put_word(&l, "method", method, strlen(method));
    put_target(&l, x->in.target);
    put_number(&l, "status", (uint64_t)x->out.status);
    put_number(&l, "bytes", bytes_sent(x));
    put_number(&l, "ms", us / 1000);
    *l.at++ = '.';
    put_digits(&l, us % 1000, 3);
    if (x->out.cache)
        put_word(&l, "cache", x->out.cache, strlen(x->out.cache));
    put_word(&l, "client", client, client_text(x, client));
    if (x->traceparent[0])
        put_word(&l, "trace", x->traceparent + TRACE_ID_AT, TRACE_ID_BYTES);
    if (error)
        put_word(&l, "error", error, strlen(error));
    put(&l, l.json ? "}\n" : "\n", l.json ? 2 : 1);
    a->len = (size_t)(l.at - a->text);
}
