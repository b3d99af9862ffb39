/* Prepared answers of one HTTP loop, by entry. Threads: the loop alone, so that each of its clients can have
 * a header of its own put into the same answer. */
#pragma once

#include <stdint.h>

#include "renderer/base/attr.h"
#include "renderer/base/err.h"

#define HTTP_REPLIES_SLOTS    1024 /* about 1.5 MB when all are taken; whoever misses one costs 1.5 us more */
#define HTTP_REPLIES_VARIANTS 8    /* of one entry: two statuses, pinned or not, negotiated or not */

struct http_replies;

/* `destroy` frees an answer. ERR_OOM. */
MUST_USE enum err http_replies_create(void (*destroy)(void *reply), struct http_replies **ret_replies);
void http_replies_destroy(struct http_replies *r); /* accepts NULL */

/* The answer that was kept for entry.serial and variant 0..HTTP_REPLIES_VARIANTS-1, or NULL. */
void *http_replies_find(const struct http_replies *r, uint64_t serial, int variant);

/* Takes `reply`; what had its place is destroyed. */
void http_replies_keep(struct http_replies *r, uint64_t serial, int variant, void *reply);
