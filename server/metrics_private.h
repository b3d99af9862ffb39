/* What metrics.c (counting), metrics_process.c (what the kernel counts) and metrics_text.c (writing) share.
 * Nobody else includes it, but tests. */
#pragma once

#include <stdint.h>

#include "renderer/desc.h"
#include "renderer/encode/encoder.h"
#include "server/metrics.h"

#define METRICS_STATUSES 17 /* those that have a count of their own; the last is for all others */
#define METRICS_BACKENDS 6  /* the last is for all others */
#define METRICS_BOUNDS   18

/* Sums over all threads at about one moment. */
struct metrics_counts {
    uint64_t answers[METRICS_ROUTES_MAX + 1][METRICS_STATUSES]; /* the last row: no route */
    uint64_t in_flight, connections, refused;
};
void metrics_counts(struct metrics_counts *ret_counts);

/* The status in column `i`; 0 for the last. */
int metrics_status_at(int i);

/* The name of backend slot `i`. */
const char *metrics_backend_at(int i);

/* Upper bound of bucket `i`, included. */
struct metrics_bound {
    uint64_t ns;
    const char *le; /* the same in seconds, as the label has it */
};
extern const struct metrics_bound metrics_bounds[METRICS_BOUNDS];

struct metrics_histogram {
    uint64_t counts[METRICS_BOUNDS + 1]; /* of each bucket alone; the last: above all bounds */
    uint64_t sum_ns;
};
/* METRIC_LOOKUP lies at 0, 0, 0. */
void metrics_histogram(enum metric_time which, int backend, int body, int format,
                       struct metrics_histogram *ret_histogram);

/* What the kernel knows of this process. 0 = could not be had. */
struct metrics_process {
    uint64_t start_ns; /* since 1970 */
    uint64_t cpu_ns;
    uint64_t resident_bytes;
    uint64_t open_fds, max_fds;
};
void metrics_process(struct metrics_process *ret_process);
