/* What is in a picture, without the picture: the document of format=json. */
#pragma once

#include "api/request.h"
#include "renderer/base/blob.h"
#include "renderer/frame_set.h"

#define FACTS_COLORS_MAX 64 /* listed at most: a picture has a few dozen, the grid layer thousands */
#define FACTS_ALT_BYTES  320

/* JSON about the first frame of the finished request: request, key, pictures (URL and key in
 * each format), body, size, loop, disc, rings, light, shares, colours, alt. The same input gives the same
 * bytes. Appends to *out. ERR_OOM. Threads: any. */
MUST_USE enum err facts_write(const struct request *r, const struct frame_set *frames, struct blob *out);

/* One sentence for those who can't see the picture. NUL-terminated. */
void facts_alt(const struct request *r, const struct frame_set *frames, char ret_alt[FACTS_ALT_BYTES]);

/* Every parameter of a finished request by name, as /planet takes them in a body: a new JSON object, or NULL
 * without memory. */
struct json_t *facts_request(const struct request *r);

/* What `census` counted in a drawing of the finished request, as parts of 1: of the body's pixels, but for
 * the body's own share, which is of the frame. A new JSON object, or NULL without memory. */
struct census;
struct json_t *facts_shares(const struct request *r, const struct census *census);

/* The request for the same body as a picture of another format: a still where that has one frame. `r` is
 * finished, and so is the result. */
struct request facts_picture(const struct request *r, enum format format);
