/* metrics.c -- counts answers and times.
 *
 * Answers come a hundred thousand times a second from all HTTP threads, so each thread counts in a shard of
 * its own and no two of them write to one cache line; a reader adds the shards up. Shards are a fixed array:
 * should more threads come than there are shards, some share one, which is slower and still right. Times come
 * once for each render, which takes ten thousand times as long as a count, so they have no shards.
 *
 * This file needs no other part of the server, so that what counts here can be tested without all that is
 * counted; metrics_text.c puts names to the numbers. Threads: any. */
#include "server/metrics.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "server/metrics_private.h"

#define SHARDS      64  /* as many HTTP threads as can be asked for */
#define SHARD_ALIGN 128 /* processors fetch cache lines in pairs */

/* What planetd answers, the most frequent first since they are looked for from the start. */
static const int statuses[METRICS_STATUSES - 1] = {200, 304, 503, 429, 400, 403, 404, 204,
                                                   405, 406, 413, 414, 415, 422, 431, 500};

static const char *const backends[METRICS_BACKENDS] = {"cpu", "gl", "gl-software", "null", "fault", "other"};

const struct metrics_bound metrics_bounds[METRICS_BOUNDS] = {
    {50000, "0.00005"},    {100000, "0.0001"},    {250000, "0.00025"}, {500000, "0.0005"},
    {1000000, "0.001"},    {2500000, "0.0025"},   {5000000, "0.005"},  {10000000, "0.01"},
    {25000000, "0.025"},   {50000000, "0.05"},    {100000000, "0.1"},  {250000000, "0.25"},
    {500000000, "0.5"},    {1000000000, "1.0"},   {2500000000, "2.5"}, {5000000000, "5.0"},
    {10000000000, "10.0"}, {30000000000, "30.0"},
};

struct shard {
    _Alignas(SHARD_ALIGN) atomic_uint_fast64_t answers[METRICS_ROUTES_MAX + 1][METRICS_STATUSES];
    atomic_int_fast64_t in_flight, connections;
    atomic_uint_fast64_t refused;
};

struct histogram {
    atomic_uint_fast64_t counts[METRICS_BOUNDS + 1];
    atomic_uint_fast64_t sum_ns;
};

static struct shard shards[SHARDS];
static struct histogram histograms[METRIC_TIMES][METRICS_BACKENDS][BODY_COUNT][FORMAT_COUNT];

/* The calling thread's shard; it takes one the first time. */
static struct shard *shard_mine(void)
{
    static atomic_uint taken;
    static _Thread_local struct shard *mine;
    if (!mine)
        mine = &shards[atomic_fetch_add_explicit(&taken, 1, memory_order_relaxed) % SHARDS];
    return mine;
}

static void add(atomic_uint_fast64_t *count, uint64_t n)
{
    atomic_fetch_add_explicit(count, n, memory_order_relaxed);
}

static uint64_t get(const atomic_uint_fast64_t *count)
{
    return atomic_load_explicit(count, memory_order_relaxed);
}

void metrics_answer(int route, int status)
{
    int row = route >= 0 && route < METRICS_ROUTES_MAX ? route : METRICS_ROUTES_MAX;
    int column = 0;
    while (column < METRICS_STATUSES - 1 && statuses[column] != status)
        column++;
    add(&shard_mine()->answers[row][column], 1);
}

void metrics_in_flight(int change)
{
    atomic_fetch_add_explicit(&shard_mine()->in_flight, change, memory_order_relaxed);
}

void metrics_refused(void)
{
    atomic_fetch_add_explicit(&shard_mine()->refused, 1, memory_order_relaxed);
}

void metrics_connections(int change)
{
    atomic_fetch_add_explicit(&shard_mine()->connections, change, memory_order_relaxed);
}

void metrics_time(enum metric_time which, const char *backend, int body, int format, uint64_t ns)
{
    int slot = 0, bucket = 0;
    if (which == METRIC_LOOKUP)
        body = format = 0;
    else
        while (slot < METRICS_BACKENDS - 1 && strcmp(backends[slot], backend) != 0)
            slot++;
    if (body < 0 || body >= BODY_COUNT || format < 0 || format >= FORMAT_COUNT)
        return; /* no series has this name */
    while (bucket < METRICS_BOUNDS && ns > metrics_bounds[bucket].ns)
        bucket++;
    struct histogram *h = &histograms[which][slot][body][format];
    add(&h->sum_ns, ns);
    add(&h->counts[bucket], 1);
}

int metrics_status_at(int i)
{
    return i < METRICS_STATUSES - 1 ? statuses[i] : 0;
}

const char *metrics_backend_at(int i)
{
    return backends[i];
}

void metrics_counts(struct metrics_counts *ret_counts)
{
    int_fast64_t in_flight = 0, connections = 0;
    memset(ret_counts, 0, sizeof(*ret_counts));
    for (int i = 0; i < SHARDS; i++) {
        for (int row = 0; row <= METRICS_ROUTES_MAX; row++)
            for (int column = 0; column < METRICS_STATUSES; column++)
                ret_counts->answers[row][column] += get(&shards[i].answers[row][column]);
        ret_counts->refused += get(&shards[i].refused);
        in_flight += atomic_load_explicit(&shards[i].in_flight, memory_order_relaxed);
        connections += atomic_load_explicit(&shards[i].connections, memory_order_relaxed);
    }
    ret_counts->in_flight = in_flight > 0 ? (uint64_t)in_flight : 0;
    ret_counts->connections = connections > 0 ? (uint64_t)connections : 0;
}

void metrics_histogram(enum metric_time which, int backend, int body, int format,
                       struct metrics_histogram *ret_histogram)
{
    const struct histogram *h = &histograms[which][backend][body][format];
    for (int i = 0; i <= METRICS_BOUNDS; i++)
        ret_histogram->counts[i] = get(&h->counts[i]);
    ret_histogram->sum_ns = get(&h->sum_ns);
}
