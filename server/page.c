/* page.c -- the files of the web page, inside the program.
 *
 * The assembler copies each file as it is, so the compiler never reads half a megabyte of digits. Tags and
 * gzip are made for the first who asks and kept: most processes serve pictures alone and never need them.
 * Threads: any; what is kept is only ever set once. */
#include "server/page.h"

#include <inttypes.h>
#include <libdeflate.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* Of libdeflate's 1..12. Others wait on the thread that does it: 300 KB take it 7 ms, at level 9 24 ms for
 * 0.5 % less. */
#define LEVEL 6

/* The bytes of file n are from page_file_<n> up to page_file_<n>_end, which is no file's first byte. */
#define PAGE_FILE(n, address, type, file)                                                                    \
    __asm__(".pushsection .rodata\n"                                                                         \
            "page_file_" #n ":\n"                                                                            \
            ".incbin \"" file "\"\n"                                                                         \
            "page_file_" #n "_end:\n"                                                                        \
            ".byte 0\n"                                                                                      \
            ".popsection");                                                                                  \
    extern const uint8_t page_file_##n[], page_file_##n##_end[];
#include "page_files.def"
#undef PAGE_FILE

static const struct page_file files[] = {
#define PAGE_FILE(n, address, type, file) {address, type, page_file_##n, page_file_##n##_end},
#include "page_files.def"
#undef PAGE_FILE
};

/* What is made of a file. */
struct made {
    char etag[PAGE_TAG_BYTES], gzip_etag[PAGE_TAG_BYTES];
    size_t gzip_len; /* 0: gzip makes it no shorter */
    uint8_t gzip[];  /* has room for the whole file; what is not written takes no memory */
};

int page_count(void)
{
    return (int)ARRAY_LEN(files);
}

const struct page_file *page_at(int i)
{
    return &files[i];
}

const struct page_file *page_find(const char *address, size_t len)
{
    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        if (strlen(files[i].address) == len && memcmp(files[i].address, address, len) == 0)
            return &files[i];
    return NULL;
}

static struct made *make(const uint8_t *bytes, size_t len)
{
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(LEVEL);
    struct made *made = malloc(sizeof(*made) + len);
    if (!compressor || !made) {
        libdeflate_free_compressor(compressor);
        free(made);
        return NULL;
    }
    XXH128_hash_t hash = XXH3_128bits(bytes, len);
    uint64_t high = hash.high64, low = hash.low64;
    snprintf(made->etag, PAGE_TAG_BYTES, "\"%016" PRIx64 "%016" PRIx64 "\"", high, low);
    snprintf(made->gzip_etag, PAGE_TAG_BYTES, "\"%016" PRIx64 "%016" PRIx64 "g\"", high, low);
    made->gzip_len = len ? libdeflate_gzip_compress(compressor, bytes, len, made->gzip, len - 1) : 0;
    libdeflate_free_compressor(compressor);
    return made;
}

/* Of files[i]; NULL without memory. */
static const struct made *made_of(size_t i)
{
    static _Atomic(struct made *) kept[ARRAY_LEN(files)];
    struct made *made = atomic_load_explicit(&kept[i], memory_order_acquire);
    if (made)
        return made;
    struct made *ours = make(files[i].bytes, (size_t)(files[i].end - files[i].bytes));
    if (!ours || atomic_compare_exchange_strong(&kept[i], &made, ours))
        return ours;
    free(ours); /* another thread was faster */
    return made;
}

enum err page_copy_get(const struct page_file *file, bool takes_gzip, struct page_copy *ret_copy)
{
    const struct made *made = made_of((size_t)(file - files));
    if (!made)
        return ERR_OOM;
    if (takes_gzip && made->gzip_len)
        *ret_copy = (struct page_copy){made->gzip, made->gzip_len, made->gzip_etag, true};
    else
        *ret_copy = (struct page_copy){file->bytes, (size_t)(file->end - file->bytes), made->etag, false};
    return ERR_NONE;
}
