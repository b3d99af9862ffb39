/* Chunks of a PNG, compressed and put in a file. For the encoders whose files are PNGs. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "renderer/base/attr.h"
#include "renderer/base/blob.h"
#include "renderer/base/err.h"
#include "renderer/encode/png_pack.h"

/* What stands between the head and IEND. */
struct png_chunk {
    char name[5]; /* four letters, NUL-terminated */
    uint8_t *bytes;
    size_t len;
};

struct png_file {
    const struct png_plan *plan;
    int width_px, height_px;
    const char *key; /* written as iTXt */
    const struct png_chunk *chunks;
    int chunk_count;
};

/* Compresses what png_pack.h made. The first `lead` bytes of the result are left for the caller to fill.
 * *ret_bytes is freed with free(). ERR_OOM, ERR_ENCODE. Threads: any. */
MUST_USE enum err png_compress(const uint8_t *packed, size_t len, size_t lead, uint8_t **ret_bytes,
                               size_t *ret_len);

/* Appends the whole file. ERR_OOM, ERR_ENCODE. Threads: any. */
MUST_USE enum err png_file_write(const struct png_file *file, struct blob *out);
