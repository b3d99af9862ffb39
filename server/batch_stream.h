/* The answer to a batch while it is sent: its results in order, each fetched from the pipeline under its own
 * key a few places ahead of the one that is being sent.
 *
 * Memory: of results that are ready, or will be, before the client has taken those before them, at most
 * BATCH_AHEAD - 1, and no more than BATCH_AHEAD_PIXELS in their files together (a larger one is not fetched
 * ahead); and about 2 KB for each request. A client that stops reading holds these and no thread. */
#pragma once

#include "api/batch.h"
#include "server/http.h"

#define BATCH_AHEAD        4
#define BATCH_AHEAD_PIXELS (PICTURE_PIXELS_MAX / 4)

/* Takes *list on success. Begins to fetch at once; *ret_stream is to go into x->out. ERR_OOM. Threads: that
 * of the exchange. */
MUST_USE enum err batch_stream_create(struct http_exchange *x, struct service *s, struct batch_list *list,
                                      enum batch_container container, struct http_stream **ret_stream);

/* Content-Type of the stream's body; lives as long as the stream. */
const char *batch_stream_type(const struct http_stream *stream);
