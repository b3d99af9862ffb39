/* store_redis_keeper.c -- makes the shared cache's connections, tries idle ones, and probes a server that
 * fails.
 *
 * Whatever can take its time is here and not in a find: looking up the name, connecting, logging in. A new
 * connection must answer PING within the time that a find has, else finds would only learn it the slow way.
 * Idle connections are tried now and then: a firewall that has forgotten one drops what is sent on it without
 * a word. Threads: this is one. */
#include "server/store_redis_private.h"

#ifdef WITH_hiredis

#include <stdio.h>
#include <string.h>

#include "server/log.h"

#define MS           UINT64_C(1000000)
#define HANDSHAKE_NS (2000 * MS) /* name, connection and login together */
#define RETRY_NS                                                                                             \
    (200 * MS)               /* between attempts, while there is nothing else to tell that the server is up  \
                              */
#define IDLE_NS (15000 * MS) /* firewalls forget after a minute or more */

struct attempt {
    struct redis_client *client;
    const char *reason; /* why there is none; a fixed text */
};

/* Sends a command that must be answered with a status; false and a reason if it is not. */
static bool step(struct attempt *a, const struct redis_command *command, const struct redis_wait *wait)
{
    struct redis_answer answer = {0};
    enum talk talk = store_redis_ask(a->client, command, LINE_ANSWER_MAX, wait, &answer);
    bool good = !talk && answer.kind == REDIS_STATUS;
    if (talk)
        a->reason = redis_client_words(talk);
    else if (!good)
        a->reason = answer.kind == REDIS_ERROR ? store_redis_code(&answer) : redis_client_words(TALK_GARBAGE);
    redis_answer_free(&answer);
    return good;
}

static bool ping(struct store_redis *s, struct attempt *a)
{
    struct redis_wait wait = {.deadline_ns = redis_wait_now() + s->timeout_ns, .stop_fd = s->stop_fd[0]};
    struct redis_command command = {1, {"PING"}, {4}};
    return step(a, &command, &wait);
}

/* AUTH and SELECT, where the URL has them. */
static bool log_in(const struct store_redis *s, struct attempt *a, const struct redis_wait *wait)
{
    const struct redis_url *url = &s->url;
    if (url->auth) {
        struct redis_command auth = store_redis_command2("AUTH", url->password);
        if (url->user[0])
            auth = (struct redis_command){
                3, {"AUTH", url->user, url->password}, {4, strlen(url->user), strlen(url->password)}};
        if (!step(a, &auth, wait))
            return false;
    }
    if (url->database) {
        char number[16];
        snprintf(number, sizeof(number), "%d", url->database);
        struct redis_command select = store_redis_command2("SELECT", number);
        return step(a, &select, wait);
    }
    return true;
}

/* Tries the addresses of the name one after the other, each with its part of the time. */
static enum talk connect_any(struct store_redis *s, const struct redis_wait *wait,
                             struct redis_client **ret_client, const char **ret_reason)
{
    struct redis_addresses addresses;
    enum talk talk = TALK_CLOSED;
    if (!s->resolver) {
        talk = redis_client_connect_unix(s->url.path, wait, ret_client);
    } else if (!redis_resolver_ask(s->resolver, wait->deadline_ns, wait->stop_fd, &addresses)) {
        *ret_reason = "no address is found for the name";
        return TALK_CLOSED;
    } else {
        for (int i = 0; i < addresses.count; i++) {
            uint64_t now = redis_wait_now(), left = wait->deadline_ns > now ? wait->deadline_ns - now : 0;
            struct redis_wait part = {now + left / (uint64_t)(addresses.count - i), wait->stop_fd};
            talk = redis_client_connect(&addresses.list[i], &part, ret_client);
            if (talk == TALK_DONE || talk == TALK_STOPPED || talk == TALK_OOM)
                break;
        }
    }
    *ret_reason = redis_client_words(talk);
    return talk;
}

/* A connection that is logged in and answers. Without the lock. */
static struct attempt connection_make(struct store_redis *s)
{
    struct attempt a = {0};
    struct redis_wait wait = {.deadline_ns = redis_wait_now() + HANDSHAKE_NS, .stop_fd = s->stop_fd[0]};
    if (connect_any(s, &wait, &a.client, &a.reason) == TALK_DONE && (!log_in(s, &a, &wait) || !ping(s, &a))) {
        redis_client_close(a.client);
        a.client = NULL;
    }
    return a;
}

/* With the lock held, which is given up for the attempt and for the log. The attempt is a probe when the
 * breaker is open. */
static void slot_fill(struct store_redis *s, struct slot *slot)
{
    bool probe = s->breaker.open, up = false;
    pthread_mutex_unlock(&s->lock);
    struct attempt a = connection_make(s);
    pthread_mutex_lock(&s->lock);
    /* A failure says something about the server only where no other connection says the contrary: it may just
     * have as many clients as it takes. */
    bool failed = !a.client && !probe && !store_redis_has_finder(s);
    uint64_t now = redis_wait_now();
    if (probe)
        breaker_probed(&s->breaker, a.client != NULL, now);
    if (a.client) {
        slot->client = a.client;
        store_redis_slot_give(s, slot, true); /* closed there, if the breaker opened meanwhile */
        up = !s->shown_up && !s->breaker.open;
        s->shown_up = s->shown_up || up;
    } else {
        s->retry_ns = now + RETRY_NS;
    }
    pthread_mutex_unlock(&s->lock);
    if (up)
        log_info("event=shared_cache_up server=\"%s\"", s->url.shown);
    if (failed)
        store_redis_failed(s, a.reason);
    pthread_mutex_lock(&s->lock);
}

/* With the lock held, which is given up for the attempt. */
static void slot_try(struct store_redis *s, struct slot *slot)
{
    struct attempt a = {.client = slot->client};
    slot->state = SLOT_BUSY;
    pthread_mutex_unlock(&s->lock);
    bool good = redis_client_quiet(a.client) && ping(s, &a);
    pthread_mutex_lock(&s->lock);
    store_redis_slot_give(s, slot, good);
}

static struct slot *slot_empty_first(struct store_redis *s)
{
    for (int i = 0; i < CLIENT_SLOTS; i++)
        if (s->slots[i].state == SLOT_EMPTY)
            return &s->slots[i];
    return NULL;
}

/* The free connection that has been idle longest; *ret_due_ns is when it has to be tried. */
static struct slot *slot_idle_longest(struct store_redis *s, uint64_t now, uint64_t *ret_due_ns)
{
    struct slot *longest = NULL;
    for (int i = 0; i < CLIENT_SLOTS; i++)
        if (s->slots[i].state == SLOT_FREE && (!longest || s->slots[i].used_ns < longest->used_ns))
            longest = &s->slots[i];
    *ret_due_ns = (longest ? longest->used_ns : now) + IDLE_NS;
    return longest;
}

void *store_redis_keeper_run(void *arg)
{
    struct store_redis *s = arg;
    pthread_mutex_lock(&s->lock);
    while (!s->stopping) {
        uint64_t now = redis_wait_now(), due;
        struct slot *empty = slot_empty_first(s), *idle = slot_idle_longest(s, now, &due);
        bool open = s->breaker.open, fill = open ? breaker_probe_due(&s->breaker, now) : now >= s->retry_ns;
        uint64_t fill_ns = open ? s->breaker.probe_at_ns : s->retry_ns;
        if (empty && fill)
            slot_fill(s, empty);
        else if (!open && idle && now >= due)
            slot_try(s, idle);
        else
            store_redis_sleep(s, &s->keeper_wake, empty && (open || fill_ns < due) ? fill_ns : due);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

#endif
