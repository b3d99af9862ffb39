/* metrics.c -- counts and times. Threads: any. */
#include "server/metrics.h"

void metrics_answer(int route, int status)
{
    (void)route;
    (void)status;
}

void metrics_in_flight(int change)
{
    (void)change;
}

void metrics_time(enum metric_time which, const char *backend, int body, int format, uint64_t ns)
{
    (void)which;
    (void)backend;
    (void)body;
    (void)format;
    (void)ns;
}
