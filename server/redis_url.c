/* redis_url.c -- reads redis:// and unix:// URLs. Strict, since a setting that is half understood sends
 * pictures to the wrong database; and it makes the text that logs may show, so that no other file has to
 * think of the password. Threads: any. */
#include "server/redis_url.h"

#include <stdio.h>
#include <string.h>

#include "api/text.h"

#define DATABASE_DIGITS 9 /* fits an int */

/* Copies decoded bytes and a NUL; false when they are too many or hold a NUL or a control character. */
static bool part_decode(const char *text, size_t len, char *to, size_t size)
{
    size_t got;
    if (!text_percent_decode(text, len, false, to, size, &got) || got >= size)
        return false;
    to[got] = '\0';
    for (size_t i = 0; i < got; i++)
        if ((unsigned char)to[i] < ' ' || to[i] == '\x7f')
            return false;
    return true;
}

/* A decimal number of at most `digits` digits and nothing else. */
static bool number_read(const char *text, size_t len, size_t digits, int *ret_number)
{
    int number = 0;
    if (len < 1 || len > digits)
        return false;
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        number = number * 10 + (text[i] - '0');
    }
    *ret_number = number;
    return true;
}

/* user[:password]@ */
static bool user_read(const char *text, size_t len, struct redis_url *url)
{
    const char *colon = memchr(text, ':', len);
    size_t user_len = colon ? (size_t)(colon - text) : len;
    url->auth = len > 0;
    return part_decode(text, user_len, url->user, sizeof(url->user)) &&
           (!colon || part_decode(colon + 1, len - user_len - 1, url->password, sizeof(url->password)));
}

static bool host_byte(char c, bool brackets)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || (brackets && (c == ':' || c == '%'));
}

/* host[:port] */
static bool host_read(const char *text, size_t len, struct redis_url *url)
{
    bool brackets = len > 0 && text[0] == '[';
    const char *end = text + len, *host = text + brackets;
    const char *host_end = memchr(host, brackets ? ']' : ':', (size_t)(end - host));
    if (brackets && !host_end)
        return false;
    if (!host_end)
        host_end = end;
    size_t host_len = (size_t)(host_end - host);
    if (host_len < 1 || host_len >= sizeof(url->host))
        return false;
    for (size_t i = 0; i < host_len; i++)
        if (!host_byte(host[i], brackets))
            return false;
    memcpy(url->host, host, host_len);
    url->host[host_len] = '\0';
    const char *rest = host_end + brackets;
    int port = REDIS_URL_PORT;
    if (rest < end && (*rest != ':' || !number_read(rest + 1, (size_t)(end - rest - 1), 5, &port) ||
                       port < 1 || port > 65535))
        return false;
    snprintf(url->port, sizeof(url->port), "%d", port);
    return true;
}

/* What stands behind the authority: /database, or /path?db=N. */
static bool place_read(const char *text, struct redis_url *url, bool is_unix)
{
    size_t len = strlen(text);
    if (!is_unix)
        return len <= 1 || number_read(text + 1, len - 1, DATABASE_DIGITS, &url->database);
    const char *query = strchr(text, '?');
    size_t path_len = query ? (size_t)(query - text) : len;
    if (path_len < 2 || !part_decode(text, path_len, url->path, sizeof(url->path)))
        return false;
    return !query || (strncmp(query, "?db=", 4) == 0 &&
                      number_read(query + 4, len - path_len - 4, DATABASE_DIGITS, &url->database));
}

static void shown_make(struct redis_url *url, bool is_unix)
{
    if (is_unix)
        snprintf(url->shown, sizeof(url->shown), "unix:%s?db=%d", url->path, url->database);
    else
        snprintf(url->shown, sizeof(url->shown), strchr(url->host, ':') ? "[%s]:%s/%d" : "%s:%s/%d",
                 url->host, url->port, url->database);
    for (char *c = url->shown; *c; c++)
        if (*c <= ' ' || *c > '~' || *c == '"' || *c == '\\')
            *c = '?';
}

bool redis_url_parse(const char *text, struct redis_url *ret_url)
{
    struct redis_url url = {0};
    bool is_unix = strncmp(text, "unix://", 7) == 0;
    if (!is_unix && strncmp(text, "redis://", 8) != 0)
        return false;
    const char *authority = text + (is_unix ? 7 : 8);
    size_t len = strcspn(authority, "/?#"), user_len = 0;
    for (size_t i = 0; i < len;
         i++) /* the last @ ends the password: one that was not written as %40 is taken too */
        if (authority[i] == '@')
            user_len = i + 1;
    const char *place = authority + len;
    if (user_len > 0 && !user_read(authority, user_len - 1, &url))
        return false;
    if (is_unix ? len != user_len : !host_read(authority + user_len, len - user_len, &url))
        return false;
    if ((*place && *place != '/') || !place_read(place, &url, is_unix))
        return false;
    shown_make(&url, is_unix);
    *ret_url = url;
    return true;
}
