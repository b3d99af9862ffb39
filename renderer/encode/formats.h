/* The encoders behind the table, each with the contract of struct encoder.encode. Only encoder.c and tests
 * name them. */
#pragma once

#include "renderer/encode/encoder.h"

/* Still pictures: a set of more than one frame is ERR_ENCODE. */
MUST_USE enum err png_encode(const struct frame_set *frames, const struct encode_desc *desc,
                             const atomic_bool *cancel, struct blob *out);

/* One colour table for all frames. A GIF knows no partial alpha: alpha 0 is transparent, every other colour
 * is laid over black and opaque, so that a rim of air reads as on the night sky. */
MUST_USE enum err gif_encode(const struct frame_set *frames, const struct encode_desc *desc,
                             const atomic_bool *cancel, struct blob *out);

/* Exact: every colour and alpha as it is. The first frame is the still that other viewers show. */
MUST_USE enum err apng_encode(const struct frame_set *frames, const struct encode_desc *desc,
                              const atomic_bool *cancel, struct blob *out);

/* Lossless and exact, like APNG. One frame is a still. Only in a binary with libwebp. */
MUST_USE enum err webp_encode(const struct frame_set *frames, const struct encode_desc *desc,
                              const atomic_bool *cancel, struct blob *out);

/* All frames in one PNG, by sheet_layout.h. */
MUST_USE enum err sheet_encode(const struct frame_set *frames, const struct encode_desc *desc,
                               const atomic_bool *cancel, struct blob *out);

#define ENCODE_ZOOM_MAX 32 /* the range of encode_desc.zoom */

static inline int encode_groups(const struct encode_desc *desc)
{
    return desc->groups > 1 ? desc->groups : 1;
}

/* What every encoder asks of its input before it trusts it: ERR_ENCODE when a number is out of its documented
 * range. */
MUST_USE enum err encode_check(const struct frame_set *frames, const struct encode_desc *desc);

/* The same for the numbers that only animated formats read. */
MUST_USE enum err encode_check_time(const struct encode_desc *desc);

/* True when the caller no longer wants the result. `cancel` may be NULL. */
static inline bool encode_cancelled(const atomic_bool *cancel)
{
    return cancel && atomic_load_explicit(cancel, memory_order_relaxed);
}
