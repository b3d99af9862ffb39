/* The files of the web page and the kernels that it draws with, from the program itself. Threads: any. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "renderer/base/attr.h"
#include "renderer/base/err.h"

#define PAGE_INDEX     "/viewer/index.html"
#define PAGE_TAG_BYTES 40 /* 32 hex digits, a letter, quotes, NUL */

struct page_file {
    const char *address; /* "/viewer/..." or "/shaders/...", as it must be asked for */
    const char *type;    /* Content-Type */
    const uint8_t *bytes, *end;
};

/* A file as it is sent. All lives as long as the process. */
struct page_copy {
    const uint8_t *bytes;
    size_t len;
    const char *etag; /* of this encoding */
    bool gzip;
};

int page_count(void);
const struct page_file *page_at(int i); /* 0..page_count()-1, in the order of addresses */

/* The file with just this address, undecoded; NULL = none. */
const struct page_file *page_find(const char *address, size_t len);

/* How to send a file of the table to a client that takes gzip, or that does not; one that gzip makes no
 * shorter is sent as it is. The first call for a file makes its tags and its gzip. ERR_OOM. */
MUST_USE enum err page_copy_get(const struct page_file *file, bool takes_gzip, struct page_copy *ret_copy);
