/* From a finished request to the bytes of its answer: the one place that knows what each format is made of.
 */
#pragma once

#include <stdatomic.h>

#include "api/key.h"
#include "api/request.h"
#include "renderer/base/attr.h"
#include "renderer/base/blob.h"
#include "renderer/base/err.h"
#include "renderer/frame_set.h"

/* Whoever draws. A format asks for as many drawings as it needs, none to many, one after the other. */
struct file_artist {
    /* As renderer_draw(): the caller frees *ret_frames. `self` is this struct. */
    enum err (*draw)(struct file_artist *self, const struct planet_desc *desc, struct frame_set *ret_frames);
    const atomic_bool *cancel; /* looked at now and then: when true, ERR_CANCELLED; may be NULL */
};

/* Appends the file to *out. `key` is that of `r`. The same request gives the same bytes. On failure *out
 * holds a part. ERR_OOM, ERR_ENCODE, ERR_CANCELLED and those of draw(). Threads: any. */
MUST_USE enum err file_make(const struct request *r, const struct key *key, struct file_artist *artist,
                            struct blob *out);
