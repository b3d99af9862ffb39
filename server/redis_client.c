/* redis_client.c -- a socket of our own, with hiredis to write commands and to read answers.
 *
 * hiredis can also own the socket, but then it resolves names while it connects, tries one address only,
 * writes without MSG_NOSIGNAL, and its time limits are for each call of the system. Its reader collects as
 * many bytes as a length announces before it says anything, and makes room for as many elements as an array
 * announces. So the first line of each answer is looked at here before the reader sees it: our commands are
 * never answered with an array, and lengths have a limit.
 *
 * Threads: a client by one thread at a time. */
#include "server/redis_client.h"

#ifdef WITH_hiredis

#include <errno.h>
#include <hiredis/hiredis.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#define CHUNK_BYTES    16384
#define LINE_MAX_BYTES 1024 /* of a status or an error; Redis' longest have about 200 */
#define KEEP_BYTES                                                                                           \
    ((size_t)256 << 10) /* a reader that has held more is replaced, to give its memory back                  \
                         */

struct redis_client {
    int fd;
    redisReader *reader;
    bool line_seen;   /* the first line of the answer being read has passed line_check() */
    size_t in_reader; /* bytes fed since the reader was made or last found empty */
};

const char *redis_client_words(enum talk talk)
{
    switch (talk) {
    case TALK_DONE:
        return "answered";
    case TALK_LATE:
        return "no answer in time";
    case TALK_CLOSED:
        return "connection refused or closed";
    case TALK_GARBAGE:
        return "answer is not what Redis sends";
    case TALK_STOPPED:
        return "stopped";
    case TALK_OOM:
        return "out of memory";
    }
    return "unknown";
}

static enum talk from_wait(enum redis_wait_end end)
{
    switch (end) {
    case REDIS_WAIT_READY:
        return TALK_DONE;
    case REDIS_WAIT_LATE:
        return TALK_LATE;
    case REDIS_WAIT_STOPPED:
        return TALK_STOPPED;
    case REDIS_WAIT_BROKEN:
        break;
    }
    return TALK_CLOSED;
}

/* ---- connecting ---- */

static enum talk connect_to(const struct sockaddr *at, socklen_t len, const struct redis_wait *wait,
                            struct redis_client **ret_client)
{
    enum talk talk = TALK_OOM;
    int on = 1, error = 0;
    socklen_t error_len = sizeof(error);
    struct redis_client *c = calloc(1, sizeof(*c));
    if (!c)
        return TALK_OOM;
    c->fd = socket(at->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    c->reader = redisReaderCreate();
    if (!c->reader)
        goto fail;
    talk = TALK_CLOSED;
    if (c->fd < 0)
        goto fail;
    if (connect(c->fd, at, len) < 0) {
        if (errno != EINPROGRESS)
            goto fail;
        talk = from_wait(redis_wait_for(c->fd, POLLOUT, wait));
        if (talk)
            goto fail;
        talk = TALK_CLOSED;
        if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &error_len) < 0 || error)
            goto fail;
    }
    if (at->sa_family != AF_UNIX) {
        setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        setsockopt(c->fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
    }
    *ret_client = c;
    return TALK_DONE;
fail:
    redis_client_close(c);
    return talk;
}

enum talk redis_client_connect(const struct redis_address *address, const struct redis_wait *wait,
                               struct redis_client **ret_client)
{
    return connect_to((const struct sockaddr *)&address->at, address->len, wait, ret_client);
}

enum talk redis_client_connect_unix(const char *path, const struct redis_wait *wait,
                                    struct redis_client **ret_client)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    size_t len = strlen(path);
    if (len >= sizeof(at.sun_path))
        return TALK_CLOSED;
    memcpy(at.sun_path, path, len);
    return connect_to((const struct sockaddr *)&at, sizeof(at), wait, ret_client);
}

void redis_client_close(struct redis_client *c)
{
    if (!c)
        return;
    if (c->fd >= 0)
        close(c->fd);
    if (c->reader)
        redisReaderFree(c->reader);
    free(c);
}

bool redis_client_quiet(const struct redis_client *c)
{
    struct pollfd fd = {.fd = c->fd, .events = POLLIN};
    return c->reader->len == c->reader->pos && poll(&fd, 1, 0) == 0;
}

/* ---- commands ---- */

enum talk redis_client_send(struct redis_client *c, const struct redis_command *command,
                            const struct redis_wait *wait)
{
    char *text = NULL;
    const char *args[REDIS_ARGS_MAX]; /* hiredis' parameter lacks a const */
    memcpy(args, command->args, sizeof(args));
    int len = redisFormatCommandArgv(&text, command->count, args, command->lens);
    if (len < 0)
        return TALK_OOM;
    enum talk talk = TALK_DONE;
    for (size_t sent = 0; sent < (size_t)len && !talk;) {
        ssize_t n = send(c->fd, text + sent, (size_t)len - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n > 0)
            sent += (size_t)n;
        else if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
            talk = TALK_CLOSED;
        if (!talk && sent < (size_t)len)
            talk = from_wait(redis_wait_for(c->fd, POLLOUT, wait));
    }
    redisFreeCommand(text);
    return talk;
}

/* ---- answers ---- */

enum line { LINE_SHORT, LINE_GOOD, LINE_BAD };

/* Whether the first line of an answer is whole, of a kind that we ask for, and announces no more than
 * `bytes_max`. */
static enum line line_check(const char *bytes, size_t len, size_t bytes_max)
{
    if (len < 1)
        return LINE_SHORT;
    if (bytes[0] != '+' && bytes[0] != '-' && bytes[0] != ':' && bytes[0] != '$')
        return LINE_BAD;
    size_t length = 0, max = bytes[0] == '$' ? 24 : LINE_MAX_BYTES;
    const char *end = memchr(bytes, '\n', len < max ? len : max);
    if (!end)
        return len < max ? LINE_SHORT : LINE_BAD;
    if (bytes[0] != '$' || (end - bytes == 4 && memcmp(bytes, "$-1\r", 4) == 0))
        return LINE_GOOD;
    if (end - bytes < 3 || end[-1] != '\r')
        return LINE_BAD;
    for (const char *digit = bytes + 1; digit < end - 1; digit++) {
        if (*digit < '0' || *digit > '9')
            return LINE_BAD;
        length = length * 10 + (size_t)(*digit - '0');
        if (length > bytes_max)
            return LINE_BAD;
    }
    return LINE_GOOD;
}

static enum talk answer_from(redisReply *reply, struct redis_answer *ret_answer)
{
    struct redis_answer a = {.bytes = reply->str, .len = reply->len, .reply = reply};
    switch (reply->type) {
    case REDIS_REPLY_STATUS:
        a.kind = REDIS_STATUS;
        break;
    case REDIS_REPLY_ERROR:
        a.kind = REDIS_ERROR;
        break;
    case REDIS_REPLY_STRING:
        a.kind = REDIS_BYTES;
        break;
    case REDIS_REPLY_NIL:
        a.kind = REDIS_NIL;
        break;
    case REDIS_REPLY_INTEGER:
        a.kind = REDIS_NUMBER;
        break;
    default:
        freeReplyObject(reply);
        return TALK_GARBAGE;
    }
    *ret_answer = a;
    return TALK_DONE;
}

void redis_answer_free(struct redis_answer *answer)
{
    if (answer->reply)
        freeReplyObject(answer->reply);
    *answer = (struct redis_answer){0};
}

/* hiredis keeps a large buffer until the next bytes come, which may be hours. */
static void reader_trim(struct redis_client *c)
{
    if (c->reader->len != c->reader->pos)
        return;
    if (c->in_reader > KEEP_BYTES) {
        redisReader *fresh = redisReaderCreate();
        if (!fresh)
            return;
        redisReaderFree(c->reader);
        c->reader = fresh;
    }
    c->in_reader = 0;
}

/* Takes an answer from what has been read, if it is all there; else *ret_answer stays empty. */
static enum talk answer_take(struct redis_client *c, size_t bytes_max, struct redis_answer *ret_answer)
{
    void *reply = NULL;
    redisReader *r = c->reader;
    if (!c->line_seen) {
        enum line line = line_check(r->buf + r->pos, r->len - r->pos, bytes_max);
        if (line != LINE_GOOD)
            return line == LINE_BAD ? TALK_GARBAGE : TALK_DONE;
        c->line_seen = true;
    }
    if (redisReaderGetReply(r, &reply) != REDIS_OK)
        return r->err == REDIS_ERR_OOM ? TALK_OOM : TALK_GARBAGE;
    if (!reply)
        return TALK_DONE;
    c->line_seen = false;
    reader_trim(c);
    return answer_from(reply, ret_answer);
}

enum talk redis_client_receive(struct redis_client *c, size_t bytes_max, const struct redis_wait *wait,
                               struct redis_answer *ret_answer)
{
    char chunk[CHUNK_BYTES];
    struct redis_answer answer = {0};
    for (;;) {
        enum talk talk = answer_take(c, bytes_max, &answer);
        if (!talk && !answer.reply)
            talk = from_wait(redis_wait_for(c->fd, POLLIN, wait));
        if (talk)
            return talk;
        if (answer.reply) {
            *ret_answer = answer;
            return TALK_DONE;
        }
        ssize_t n = recv(c->fd, chunk, sizeof(chunk), MSG_DONTWAIT);
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR))
            return TALK_CLOSED;
        if (n > 0 && redisReaderFeed(c->reader, chunk, (size_t)n) != REDIS_OK)
            return TALK_OOM;
        c->in_reader += n > 0 ? (size_t)n : 0;
    }
}

#endif
