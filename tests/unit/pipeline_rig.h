/* pipeline_rig.h -- a pipeline under test, with a renderer and an encoder that the test holds in its hand.
 *
 * The fakes stand here under the real names, so that the linker has no need of the real ones. Include it once
 * in a program. */
#pragma once

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "renderer/base/pool.h"
#include "renderer/encode/encoder.h"
#include "renderer/frame_set.h"
#include "renderer/renderer.h"
#include "server/pipeline.h"
#include "server/work.h"

#define WAIT_MS  10000 /* far more than a loaded machine needs; only a failing test waits so long */
#define KEYS_MAX 20000

/* ---- fakes ---- */

struct renderer {
    atomic_bool blocked;         /* draws wait ... */
    atomic_bool long_blocked;    /* ... or only those of long ones do ... */
    atomic_bool deaf;            /* ... and don't look at `cancel` meanwhile */
    atomic_int draw_err;         /* what draws return */
    atomic_int encode_err;       /* what the encoder returns */
    atomic_int fail_one_in;      /* draws of seeds that are multiples of this fail; 0 = none */
    atomic_int draw_ms;          /* how long a draw takes */
    atomic_int active;           /* draws that run now */
    atomic_int draws;            /* begun so far */
    atomic_int was_cancelled;    /* draws that saw their cancel flag */
    atomic_int frame_sets;       /* made and not finished */
    atomic_int of_key[KEYS_MAX]; /* draws by seed */
    atomic_int order[KEYS_MAX];  /* by seed: as which one it was last drawn, from 1 */
};

static struct renderer fake;

static void sleep_ms(int ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
    nanosleep(&t, NULL);
}

static bool fake_wait(struct renderer *r, bool is_long, const atomic_bool *cancel)
{
    while (atomic_load(&r->blocked) || (is_long && atomic_load(&r->long_blocked))) {
        if (!atomic_load(&r->deaf) && atomic_load(cancel))
            break;
        sleep_ms(1);
    }
    if (atomic_load(&r->draw_ms))
        sleep_ms(atomic_load(&r->draw_ms));
    return !atomic_load(cancel) || atomic_load(&r->deaf);
}

enum err renderer_draw(struct renderer *r, const struct planet_desc *desc, const atomic_bool *cancel,
                       struct frame_set *ret_frames)
{
    atomic_store(&r->order[desc->seed], 1 + atomic_fetch_add(&r->draws, 1));
    atomic_fetch_add(&r->of_key[desc->seed], 1);
    atomic_fetch_add(&r->active, 1);
    bool go_on = fake_wait(r, desc->frames > 1, cancel);
    int one_in = atomic_load(&r->fail_one_in);
    enum err err = (enum err)atomic_load(&r->draw_err);
    if (!go_on) {
        atomic_fetch_add(&r->was_cancelled, 1);
        err = ERR_CANCELLED;
    } else if (one_in && desc->seed % (uint64_t)one_in == 0) {
        err = ERR_DEVICE_LOST;
    }
    if (!err) {
        uint32_t *colors = malloc(sizeof(*colors));
        if (colors)
            *colors = (uint32_t)desc->seed;
        atomic_fetch_add(&r->frame_sets, 1);
        *ret_frames = (struct frame_set){.colors = colors, .color_count = 1, .side = 8, .frames = 1};
    }
    atomic_fetch_sub(&r->active, 1);
    return err;
}

void renderer_status(struct renderer *r, struct renderer_status *ret_status)
{
    (void)r;
    *ret_status = (struct renderer_status){.backend = "fake", .self_test_ok = true};
}

void frame_set_finish(struct frame_set *set)
{
    if (set->colors)
        atomic_fetch_sub(&fake.frame_sets, 1);
    free(set->colors);
    memset(set, 0, sizeof(*set));
}

/* The file is the colour and the key. */
static enum err fake_encode(const struct frame_set *frames, const struct encode_desc *desc,
                            const atomic_bool *cancel, struct blob *out)
{
    (void)cancel;
    enum err err = blob_append(out, frames->colors, sizeof(frames->colors[0]));
    if (!err)
        err = blob_append(out, desc->key, strlen(desc->key));
    return atomic_load(&fake.encode_err) ? (enum err)atomic_load(&fake.encode_err) : err;
}

const struct encoder encoders[FORMAT_COUNT] = {
    [FORMAT_PNG] = {"png", "image/png", "png", false, fake_encode, CHOICE_FREE, NULL, NULL, NULL},
    [FORMAT_GIF] = {"gif", "image/gif", "gif", true, fake_encode, CHOICE_FREE, NULL, NULL, NULL},
    [FORMAT_APNG] = {"apng", "image/apng", "apng", true, fake_encode, CHOICE_NAMED, NULL, NULL, NULL},
    [FORMAT_SHEET] = {"sheet", "image/png", "png", true, fake_encode, CHOICE_NONE, "/sheet.png", NULL, NULL},
    [FORMAT_ATLAS] = {"atlas", "application/json", "json", true, NULL, CHOICE_NONE, "/sheet.json", NULL,
                      NULL},
};

const char *encoder_libraries(void)
{
    return "fake";
}

/* ---- a pipeline under test ---- */

struct rig {
    struct pool *pool, *lookup_pool;
    struct pipeline *pipeline;
};

/* What of pipeline_desc is not said gets a value here. */
static struct rig rig_open_desc(int threads, struct pipeline_desc desc)
{
    memset(&fake, 0, sizeof(fake));
    struct rig rig = {0};
    assert_int_equal(pool_create(threads, &rig.pool), ERR_NONE);
    desc.renderer = &fake;
    desc.pool = rig.pool;
    rig.lookup_pool = desc.lookup_pool;
    if (!desc.client_share_percent)
        desc.client_share_percent = 100;
    assert_int_equal(pipeline_create(&desc, &rig.pipeline), ERR_NONE);
    return rig;
}

/* `queue_max`: so many requests of make_request() may wait; divisible by threads. */
static inline struct rig rig_open(int threads, size_t cache_bytes, int queue_max)
{
    uint64_t work_ns = (uint64_t)queue_max * WORK_LEAST_NS / (uint64_t)threads;
    return rig_open_desc(threads,
                         (struct pipeline_desc){.cache_bytes = cache_bytes, .queue_work_ns = work_ns});
}

static void rig_close(struct rig *rig)
{
    pipeline_destroy(rig->pipeline);
    pool_destroy(rig->pool);
    pool_destroy(rig->lookup_pool);
    assert_int_equal(atomic_load(&fake.active), 0);
    assert_int_equal(atomic_load(&fake.frame_sets), 0);
}

static struct pipeline_stats rig_stats(const struct rig *rig)
{
    struct pipeline_stats stats;
    pipeline_stats(rig->pipeline, &stats);
    return stats;
}

static bool wait_for(atomic_int *value, int at_least)
{
    for (int i = 0; i < WAIT_MS && atomic_load(value) < at_least; i++)
        sleep_ms(1);
    return atomic_load(value) >= at_least;
}

/* A waiter that counts its calls. */
struct client {
    struct pipeline_waiter waiter; /* first, so that done() finds the rest */
    atomic_int done;
};

static void client_done(struct pipeline_waiter *w)
{
    atomic_fetch_add(&((struct client *)w)->done, 1);
}

static void make_request(uint64_t n, struct request *r, struct key *key)
{
    memset(r, 0, sizeof(*r));
    memset(key, 0, sizeof(*key));
    r->planet.seed = n;
    r->planet.frames = 1;
    r->format = FORMAT_PNG;
    r->zoom = r->fps = 1;
    r->rev = RENDERER_REVISION;
    r->seed_len = (size_t)snprintf(r->seed, sizeof(r->seed), "%llu", (unsigned long long)n);
    key->len = (size_t)snprintf(key->text, sizeof(key->text), "rev=1&seed=%llu", (unsigned long long)n);
    key->hash = n * 0x9e3779b97f4a7c15u;
}

/* What is asked for, and by whom. */
struct wish {
    uint64_t n;
    bool is_long;
    uint64_t client;
};

static bool fetch_wish(const struct rig *rig, struct wish wish, struct client *client)
{
    struct request request;
    struct key key;
    make_request(wish.n, &request, &key);
    if (wish.is_long) {
        request.planet.pixels = 512;
        request.planet.frames = 30;
    }
    memset(client, 0, sizeof(*client));
    client->waiter.done = client_done;
    client->waiter.client = wish.client;
    return pipeline_fetch(rig->pipeline, &request, &key, &client->waiter);
}

static bool fetch(const struct rig *rig, uint64_t n, struct client *client)
{
    return fetch_wish(rig, (struct wish){.n = n}, client);
}

/* True if the waiter got the file of key n, which is given back. */
static bool got_file(struct client *client, uint64_t n)
{
    struct request request;
    struct key key;
    make_request(n, &request, &key);
    struct entry *e = client->waiter.entry;
    uint32_t color = (uint32_t)n;
    bool right = client->waiter.err == ERR_NONE && e && e->body.len == sizeof(color) + key.len &&
                 memcmp(e->body.data, &color, sizeof(color)) == 0 &&
                 memcmp(e->body.data + sizeof(color), key.text, key.len) == 0;
    entry_unref(e);
    client->waiter.entry = NULL;
    return right;
}
