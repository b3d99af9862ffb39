/* png_file.c -- the bytes of PNG files: libpng frames the chunks, libdeflate compresses the pictures.
 *
 * zlib is the slow part of libpng, and small pictures spend most of their time in setting it up; libdeflate
 * takes the whole picture in one call and needs half the time for files that are 1.4 % larger. So pictures
 * are packed by png_pack.c, compressed here, and given to libpng as finished chunks. A compressor is a
 * megabyte of tables that can be used again, so each thread keeps one until it ends.
 *
 * libpng reports errors by longjmp; write_chunks() is the one function where it can land.
 *
 * Threads: any number at once. */
#include "renderer/encode/png_file.h"

#include <libdeflate.h>
#include <png.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Of libdeflate's 1..12, by tests/bench/bench_encode.c. For a planet of 64 pixels 6 takes 30 us and comes
 * within 0.3 % of 7, 8 and 9, which take up to four times as long; 10 makes it 9 % smaller in twelve times
 * the time, which is more than drawing the planet takes. */
#define LEVEL 6

static pthread_once_t compressor_once = PTHREAD_ONCE_INIT;
static pthread_key_t compressor_key;
static bool compressor_key_ok;

static void compressor_end(void *compressor)
{
    libdeflate_free_compressor(compressor);
}

static void compressor_key_make(void)
{
    compressor_key_ok = pthread_key_create(&compressor_key, compressor_end) == 0;
}

/* This thread's own, borrowed until the thread ends. NULL when memory or keys are used up. */
static struct libdeflate_compressor *compressor_get(void)
{
    pthread_once(&compressor_once, compressor_key_make);
    if (!compressor_key_ok)
        return NULL;
    struct libdeflate_compressor *c = pthread_getspecific(compressor_key);
    if (c)
        return c;
    c = libdeflate_alloc_compressor(LEVEL);
    if (c && pthread_setspecific(compressor_key, c) != 0) {
        libdeflate_free_compressor(c);
        return NULL;
    }
    return c;
}

/* What the callbacks see. */
struct sink {
    struct blob *out;
    enum err err;
};

static void sink_write(png_structp png, png_bytep bytes, size_t len)
{
    struct sink *sink = png_get_io_ptr(png);
    sink->err = blob_append(sink->out, bytes, len);
    if (sink->err)
        png_error(png, "no room");
}

static void sink_flush(png_structp png)
{
    (void)png;
}

static void on_error(png_structp png, png_const_charp words)
{
    (void)words;
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp words)
{
    (void)png;
    (void)words;
}

static void set_palette(png_structp png, png_infop info, const struct png_plan *plan)
{
    png_color colors[PNG_PALETTE_MAX];
    png_byte alphas[PNG_PALETTE_MAX];
    for (int i = 0; i < plan->palette_count; i++) {
        uint32_t c = plan->palette[i];
        colors[i] = (png_color){.red = RGBA_R(c), .green = RGBA_G(c), .blue = RGBA_B(c)};
        alphas[i] = RGBA_A(c);
    }
    png_set_PLTE(png, info, colors, plan->palette_count);
    if (plan->clear_count)
        png_set_tRNS(png, info, alphas, plan->clear_count, NULL);
}

static void set_key(png_structp png, png_infop info, const char *key)
{
    char name[] = "planetd:key";
    png_text text = {.compression = PNG_ITXT_COMPRESSION_NONE, .key = name, .itxt_length = strlen(key)};
    text.text = (png_charp)key; /* libpng copies it, though its type does not say so */
    png_set_text(png, info, &text, 1);
}

/* All chunks. longjmp lands here; nothing that it would need is changed after setjmp. */
static enum err write_chunks(png_structp png, png_infop info, const struct png_file *file)
{
    static const int color_types[] = {[PNG_INDEXED] = PNG_COLOR_TYPE_PALETTE,
                                      [PNG_RGB] = PNG_COLOR_TYPE_RGB,
                                      [PNG_RGBA] = PNG_COLOR_TYPE_RGB_ALPHA};
    const struct sink *sink = png_get_io_ptr(png);
    if (setjmp(png_jmpbuf(png)))
        return sink->err ? sink->err : ERR_ENCODE;
    png_set_IHDR(png, info, (png_uint_32)file->width_px, (png_uint_32)file->height_px, file->plan->depth,
                 color_types[file->plan->kind], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_set_sRGB(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
    if (file->plan->kind == PNG_INDEXED)
        set_palette(png, info, file->plan);
    set_key(png, info, file->key);
    png_write_info(png, info);
    for (int i = 0; i < file->chunk_count; i++) {
        const struct png_chunk *c = &file->chunks[i];
        png_write_chunk(png, (png_const_bytep)c->name, c->bytes, c->len);
    }
    png_write_chunk(png, (png_const_bytep) "IEND", NULL,
                    0); /* png_write_end() would miss the IDAT it did not make */
    return ERR_NONE;
}

enum err png_file_write(const struct png_file *file, struct blob *out)
{
    struct sink sink = {.out = out};
    png_infop info = NULL;
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, on_error, on_warning);
    enum err err = ERR_OOM;
    if (!png)
        goto done;
    info = png_create_info_struct(png);
    if (!info)
        goto done;
    png_set_write_fn(png, &sink, sink_write, sink_flush);
    err = write_chunks(png, info, file);
done:
    png_destroy_write_struct(&png, &info);
    return err;
}

enum err png_compress(const uint8_t *packed, size_t len, size_t lead, uint8_t **ret_bytes, size_t *ret_len)
{
    struct libdeflate_compressor *c = compressor_get();
    if (!c)
        return ERR_OOM;
    size_t room = libdeflate_zlib_compress_bound(c, len);
    if (lead + room > PNG_UINT_31_MAX)
        return ERR_ENCODE;
    uint8_t *bytes = malloc(lead + room);
    if (!bytes)
        return ERR_OOM;
    size_t done = libdeflate_zlib_compress(c, packed, len, bytes + lead, room);
    if (done == 0) {
        free(bytes);
        return ERR_ENCODE;
    }
    *ret_bytes = bytes;
    *ret_len = lead + done;
    return ERR_NONE;
}
