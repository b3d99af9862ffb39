/* Several requests in one body: what is posted to /batch. */
#pragma once

#include <stddef.h>

#include "api/key.h"
#include "api/request.h"
#include "renderer/base/attr.h"
#include "renderer/base/err.h"

#define BATCH_MAX 64
/* All pixels of a batch together, drawn or in files: eight times what one picture may have. At four bytes a
 * pixel it stays far below the 4 GiB that a ZIP without extensions holds. */
#define BATCH_PIXELS_MAX (8 * (int64_t)PICTURE_PIXELS_MAX)

struct batch_part {
    struct request request; /* finished */
    struct key key;
};

struct batch_list {
    struct batch_part *parts; /* batch_list_finish() frees them */
    size_t count;             /* 1..BATCH_MAX */
};

/* Takes a JSON array, or an object whose only member `requests` is one. Each item is an object (as POST
 * /planet takes), a query string, an address of a picture ("/planet.gif?seed=3"), or a share code. The format
 * is PNG unless named. Everything is checked before this returns. ERR_BODY_SYNTAX (no such JSON, none or more
 * than BATCH_MAX items), ERR_PICTURE_SIZE also for the whole, ERR_OOM, and those of api/request.h for one
 * item; then ret_fault->item says which. Nothing is to be freed on failure. Threads: any. */
MUST_USE enum err batch_read(const char *body, size_t len, struct batch_list *ret_list,
                             struct request_fault *ret_fault);
void batch_list_finish(struct batch_list *list);

enum batch_container { BATCH_ZIP, BATCH_MULTIPART };

/* What Accept chooses: application/zip, also without the header and for wildcards, or multipart/mixed.
 * ERR_NOT_ACCEPTABLE. Threads: any. */
MUST_USE enum err batch_accept(const char *accept, enum batch_container *ret_container);
