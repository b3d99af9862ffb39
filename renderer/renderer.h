/* Description in, frames out. Chooses a backend, makes it prove itself, moves work to another if it fails. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "renderer/base/attr.h"
#include "renderer/base/err.h"
#include "renderer/desc.h"
#include "renderer/frame_set.h"

/* Changes only when a released picture changes. It is part of every key. */
#define RENDERER_REVISION 1

struct pool;
struct renderer;

/* Told what happens while a backend is chosen or lost; one sentence, no newline. May be called from any
 * thread. */
typedef void renderer_note(void *ctx, const char *sentence);

struct renderer_desc {
    const char *backend;  /* "auto", "cpu", "gl", "gl-software", "null" or "fault"    (default "auto") */
    const char *cpu_mask; /* "", "sse2", "avx2", "avx512", "neon": nothing wider (default "")  */
    struct pool *pool;    /* lends idle threads to a draw; NULL = none; outlives the renderer   */
    renderer_note *note;  /* may be NULL */
    void *note_ctx;
};
extern const struct renderer_desc renderer_desc_default;

/* A snapshot for /readyz and logs. The texts are NUL-terminated copies. */
struct renderer_status {
    char backend[32];  /* the one that draws: "cpu", "gl", ... */
    char device[128];  /* instruction set, or GL renderer and version */
    char reason[256];  /* why it is not the one that was asked for first; "" if it is */
    bool self_test_ok; /* false: nothing can be drawn */
    uint64_t self_test_hash;
    unsigned device_losses; /* contexts lost since the start */
};

/* "auto" takes a hardware GPU that passes the self-test, else cpu. A named backend never falls back:
 * ERR_BACKEND_UNKNOWN, ERR_NO_DEVICE or ERR_SELF_TEST says why it can't be had. ERR_CONFIG: an unknown
 * cpu_mask, or one this processor lacks. Free with renderer_close(). */
MUST_USE enum err renderer_open(const struct renderer_desc *desc, struct renderer **ret_renderer);
void renderer_close(struct renderer *r); /* accepts NULL; no draw may be running */

/* Draws all frames. `cancel` (may be NULL) is looked at between frames; when it reads true the result is
 * ERR_CANCELLED. On success the caller frees *ret_frames with frame_set_finish(). ERR_OOM, ERR_DEVICE_LOST.
 * Threads: any number at once. */
MUST_USE enum err renderer_draw(struct renderer *r, const struct planet_desc *desc, const atomic_bool *cancel,
                                struct frame_set *ret_frames);

void renderer_status(struct renderer *r, struct renderer_status *ret_status); /* Threads: any */
