/* breaker.c -- counts failures in a row and says when to try again. Pure, so that a test can hold the clock.
 * Threads: one at a time. */
#include "server/breaker.h"

void breaker_init(struct breaker *b)
{
    *b = (struct breaker){.wait_ns = BREAKER_WAIT_MIN_NS};
}

/* The next probe is a wait away, and the wait after that is longer. */
static void put_off(struct breaker *b, uint64_t now_ns)
{
    b->probe_at_ns = now_ns + b->wait_ns;
    b->wait_ns = b->wait_ns < BREAKER_WAIT_MAX_NS / 2 ? b->wait_ns * 2 : BREAKER_WAIT_MAX_NS;
}

bool breaker_failed(struct breaker *b, uint64_t now_ns)
{
    if (b->open || ++b->failures < BREAKER_FAILURES)
        return false;
    b->open = true;
    put_off(b, now_ns);
    return true;
}

void breaker_worked(struct breaker *b)
{
    if (!b->open)
        breaker_init(b);
}

bool breaker_probe_due(const struct breaker *b, uint64_t now_ns)
{
    return b->open && now_ns >= b->probe_at_ns;
}

void breaker_probed(struct breaker *b, bool worked, uint64_t now_ns)
{
    if (worked) {
        b->open = false;
        b->failures = 0;
    } else {
        put_off(b, now_ns);
    }
}
