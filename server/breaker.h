/* A circuit breaker: after a few failures in a row it opens, and while it is open nobody asks the thing that
 * fails. One prober tries again, after a second and then after twice as long each time. The clock is an
 * argument. Threads: one at a time (the owner's lock). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "renderer/base/attr.h"

#define BREAKER_FAILURES    3                     /* one is chance, two a hiccup */
#define BREAKER_WAIT_MIN_NS UINT64_C(1000000000)  /* a restart takes about so long */
#define BREAKER_WAIT_MAX_NS UINT64_C(30000000000) /* more would be felt after a repair */

struct breaker {
    bool open;
    int failures;         /* in a row; while closed */
    uint64_t wait_ns;     /* from the next opening, or the next failed probe, to the probe that follows */
    uint64_t probe_at_ns; /* while open */
};

/* Closed. */
void breaker_init(struct breaker *b);

/* What a use came to that began while the breaker was closed. If it has opened meanwhile, the news is old and
 * changes nothing. breaker_failed() returns true when this failure opened it. */
MUST_USE bool breaker_failed(struct breaker *b, uint64_t now_ns);
void breaker_worked(struct breaker *b);

/* Whether it is time to probe. */
bool breaker_probe_due(const struct breaker *b, uint64_t now_ns);

/* What a probe came to: closes the breaker, or puts off the next probe. Waits begin at a second again only
 * after breaker_worked(): what answers probes and fails at work is tried less and less often. */
void breaker_probed(struct breaker *b, bool worked, uint64_t now_ns);
