/* One connection to a Redis server: commands out, answers in, by a deadline. Only redis_client.c knows
 * hiredis, and it is built only where there is hiredis (WITH_hiredis).
 *
 * After any end of a talk but TALK_DONE the connection is good for nothing but redis_client_close(): what is
 * still on its way would be taken for the answer to the next command.
 *
 * Threads: a client by one thread at a time. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "renderer/base/attr.h"
#include "server/redis_resolve.h"
#include "server/redis_wait.h"

enum talk {
    TALK_DONE,
    TALK_LATE,    /* not by the deadline */
    TALK_CLOSED,  /* refused, reset, or closed by the server */
    TALK_GARBAGE, /* not the protocol, not a kind of answer that our commands have, or too large */
    TALK_STOPPED, /* by the wait's stop_fd */
    TALK_OOM
};

enum redis_kind { REDIS_STATUS, REDIS_ERROR, REDIS_BYTES, REDIS_NIL, REDIS_NUMBER };

/* bytes[0..len) of STATUS (without '+'), ERROR (without '-') and BYTES; freed by redis_answer_free(). */
struct redis_answer {
    enum redis_kind kind;
    const char *bytes;
    size_t len;
    void *reply;
};

#define REDIS_ARGS_MAX 5
struct redis_command {
    int count;
    const char *args[REDIS_ARGS_MAX];
    size_t lens[REDIS_ARGS_MAX];
};

struct redis_client;

/* "no answer in time" and the like; fixed texts for logs. */
const char *redis_client_words(enum talk talk);

/* Connects to an address, or to a unix socket. */
MUST_USE enum talk redis_client_connect(const struct redis_address *address, const struct redis_wait *wait,
                                        struct redis_client **ret_client);
MUST_USE enum talk redis_client_connect_unix(const char *path, const struct redis_wait *wait,
                                             struct redis_client **ret_client);

/* Sends a command. Several may be sent before their answers are received. */
MUST_USE enum talk redis_client_send(struct redis_client *c, const struct redis_command *command,
                                     const struct redis_wait *wait);

/* Receives one answer. A string above `bytes_max` is TALK_GARBAGE as soon as its length is known: it is never
 * held in memory. *ret_answer is set with TALK_DONE only. */
MUST_USE enum talk redis_client_receive(struct redis_client *c, size_t bytes_max,
                                        const struct redis_wait *wait, struct redis_answer *ret_answer);

void redis_answer_free(struct redis_answer *answer); /* empties it; accepts an empty one */

/* True while the connection is open and nothing unasked has come. */
bool redis_client_quiet(const struct redis_client *c);

void redis_client_close(struct redis_client *c); /* accepts NULL */
