/* Worker threads that run whole jobs, and lend a hand inside a job when idle.
 *
 * A job is one picture. When all workers have pictures to draw, each draws its own: that gives the best
 * throughput. When some are idle, pool_for() lets them take rows or frames of a picture that another worker
 * is drawing: that gives the best latency. Both kinds of work share the same threads, so the machine is never
 * asked to run more threads than it was told to. */
#pragma once

#include <stdint.h>

#include "renderer/base/attr.h"
#include "renderer/base/err.h"

struct pool;

/* Starts `threads` (1..POOL_THREADS_MAX, else ERR_CONFIG) workers. ERR_OOM when a thread can't be made. */
#define POOL_THREADS_MAX 256
MUST_USE enum err pool_create(int threads, struct pool **ret_pool);

/* As pool_create(), with workers that give way to other threads of this process and machine: `nice` is added
 * to what the calling thread has (see setpriority(2)). Where the system can't do that they are like any. */
MUST_USE enum err pool_create_nice(int threads, int nice, struct pool **ret_pool);

/* Waits for all queued jobs, then ends the workers. Accepts NULL. */
void pool_destroy(struct pool *pool);

/* Queues job(ctx), first in first out. Never blocks on the job itself. Threads: any. */
MUST_USE enum err pool_submit(struct pool *pool, void (*job)(void *ctx), void *ctx);

/* Calls part(ctx, i) once for each i in 0..count-1, on the calling thread and on idle workers, in no order;
 * returns when all have returned. pool NULL = the calling thread alone. Threads: any, nesting allowed. */
void pool_for(struct pool *pool, int count, void (*part)(void *ctx, int i), void *ctx);

/* Workers. Threads: any. */
int pool_threads(const struct pool *pool);

/* Time that idle workers have put into pool_for() calls of the calling thread, all together. A caller takes
 * the difference: what a picture cost is its own time and this. Threads: any, each has its own. */
uint64_t pool_helped_ns(void);
