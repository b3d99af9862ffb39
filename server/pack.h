/* Many files in one stream: a ZIP archive or a multipart body. For each file a head comes before its bytes,
 * and after the last file an end; the bytes themselves are never copied. Nothing depends on time, so equal
 * files give equal streams.
 *
 * ZIP as in PKWARE's APPNOTE.TXT 6.3: files are stored (4.4.5, method 0) with sizes and CRC-32 before the
 * bytes (4.3.7), names in UTF-8 (4.4.4, bit 11), dated 1980-01-01, where its calendar begins; a central
 * directory (4.3.12) and its end (4.3.16) without the ZIP64 extensions. Multipart as in RFC 2046,
 * section 5.1. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "api/batch.h"
#include "renderer/base/attr.h"
#include "renderer/base/blob.h"
#include "renderer/base/err.h"

#define PACK_BOUNDARY_BYTES 48
#define PACK_NAME_MAX       200

/* Texts are ASCII without control characters or quotes; NULL: there is none (`name` and `type` always are).
 */
struct pack_file {
    const char *name; /* at most PACK_NAME_MAX bytes; each of a stream has its own */
    const char *type, *location, *etag;
    const uint8_t *bytes;
    size_t len;
};

/* Threads: one at a time. */
struct pack {
    enum batch_container container;
    char boundary[PACK_BOUNDARY_BYTES]; /* multipart */
    uint64_t offset;                    /* bytes of the stream so far */
    unsigned count;                     /* files so far */
    struct blob directory;              /* ZIP: of the files so far */
};

/* `name` makes the boundary: the same one, the same boundary. It must not be guessed by who chooses the bytes
 * of a file. */
void pack_init(struct pack *p, enum batch_container container, uint64_t name_high, uint64_t name_low);
void pack_finish(struct pack *p);

/* Appends to *out what comes before the file's bytes, which then are to be sent. ERR_ENCODE: the archive
 * would have 4 GiB or more; ERR_OOM. After a failure only pack_finish() makes sense. */
MUST_USE enum err pack_head(struct pack *p, const struct pack_file *file, struct blob *out);

/* Appends what comes after all files. ERR_OOM. */
MUST_USE enum err pack_end(struct pack *p, struct blob *out);
