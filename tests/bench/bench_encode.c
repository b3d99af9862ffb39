/* bench_encode.c -- time and bytes of the encoders on real pictures, beside what others make of the same
 * pixels. usage: bench_encode [SECONDS for each measurement, default 0.3] PNG: the six bodies at 64 and 96
 * pixels, beside libpng at levels 6 and 9, and what each libdeflate level would take. GIF: 96 x 96 x 120,
 * beside the simple rules for unchanged pixels and beside `gifsicle -O3`, run on our file and on one whose
 * frames are whole. Times are processor time of one thread, the best of many runs; gifsicle's include its
 * start. Threads: one. */
#include <gif_lib.h>
#include <libdeflate.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "api/request.h"
#include "renderer/bodies.h"
#include "renderer/encode/encoder.h"
#include "renderer/encode/gif_colors.h"
#include "renderer/encode/gif_frames.h"
#include "renderer/encode/png_pack.h"
#include "renderer/renderer.h"

#define KEY "rev=1&type=terrestrial&seed=1&format=png"

static double limit_s = 0.3;

static void die(const char *what, enum err err)
{
    fprintf(stderr, "bench_encode: %s: %s\n", what, err_words(err));
    exit(1);
}

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Best time of one call, in microseconds. The call returns the bytes it made. */
static double best_us(size_t (*call)(void *ctx), void *ctx, size_t *ret_bytes)
{
    double best = 1e9, end = cpu_s() + limit_s;
    for (int i = 0; i < 3 || cpu_s() < end; i++) {
        double start = cpu_s();
        *ret_bytes = call(ctx);
        double took = cpu_s() - start;
        best = took < best ? took : best;
    }
    return best * 1e6;
}

static struct frame_set draw(struct renderer *renderer, const char *query)
{
    struct request r;
    struct request_fault fault = {0};
    struct frame_set set = {0};
    request_init(&r);
    enum err err = request_set_query(&r, query, strlen(query), &fault);
    if (!err)
        err = request_finish(&r, &fault);
    if (!err)
        err = renderer_draw(renderer, &r.planet, NULL, &set);
    if (err)
        die(query, err);
    return set;
}

struct job {
    const struct frame_set *set;
    enum format format;
    int level;
    struct libdeflate_compressor *compressor;
    struct png_plan plan;
    uint8_t *packed, *room;
    size_t room_bytes;
};

static size_t job_encode(void *ctx)
{
    struct job *job = ctx;
    struct blob out = {0};
    struct encode_desc desc = {.zoom = 1, .fps = 15, .loops = 0, .key = KEY};
    enum err err = encoders[job->format].encode(job->set, &desc, NULL, &out);
    if (err)
        die("encode", err);
    size_t bytes = out.len;
    blob_free(&out);
    return bytes;
}

static void blob_write(png_structp png, png_bytep bytes, size_t len)
{
    if (blob_append(png_get_io_ptr(png), bytes, len))
        png_error(png, "memory");
}

static void blob_flush(png_structp png)
{
    (void)png;
}

/* The same picture, palette and text through libpng alone. */
static size_t job_libpng(void *ctx)
{
    struct job *job = ctx;
    const struct png_plan *plan = &job->plan;
    int side = job->set->side;
    struct blob out = {0};
    png_color colors[PNG_PALETTE_MAX];
    png_byte alphas[PNG_PALETTE_MAX];
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    if (!png || !info || setjmp(png_jmpbuf(png)))
        die("libpng", ERR_ENCODE);
    png_set_write_fn(png, &out, blob_write, blob_flush);
    png_set_compression_level(png, job->level);
    png_set_filter(png, 0, PNG_FILTER_NONE);
    png_set_IHDR(png, info, (png_uint_32)side, (png_uint_32)side, plan->depth, PNG_COLOR_TYPE_PALETTE,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    for (int i = 0; i < plan->palette_count; i++) {
        uint32_t c = plan->palette[i];
        colors[i] = (png_color){RGBA_R(c), RGBA_G(c), RGBA_B(c)};
        alphas[i] = RGBA_A(c);
    }
    png_set_PLTE(png, info, colors, plan->palette_count);
    png_set_tRNS(png, info, alphas, plan->clear_count, NULL);
    png_set_sRGB(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
    char name[] = "planetd:key", key[] = KEY;
    png_text text = {.compression = PNG_ITXT_COMPRESSION_NONE};
    text.key = name;
    text.text = key;
    text.itxt_length = strlen(key);
    png_set_text(png, info, &text, 1);
    png_write_info(png, info);
    size_t row_bytes = png_packed_bytes(plan, side, side) / (size_t)side; /* with the filter byte */
    for (int y = 0; y < side; y++)
        png_write_row(png, job->packed + (size_t)y * row_bytes + 1);
    png_write_end(png, NULL);
    png_destroy_write_struct(&png, &info);
    size_t bytes = out.len;
    blob_free(&out);
    return bytes;
}

static size_t job_deflate(void *ctx)
{
    struct job *job = ctx;
    return libdeflate_zlib_compress(job->compressor, job->packed,
                                    png_packed_bytes(&job->plan, job->set->side, job->set->side), job->room,
                                    job->room_bytes);
}

/* Sums over all bodies. */
struct sums {
    double us[3], level_us[13];
    size_t bytes[3], level_bytes[13];
    int colors;
};

static void bench_png_picture(const struct frame_set *set, struct sums *sums)
{
    struct job job = {.set = set, .format = FORMAT_PNG};
    size_t bytes = 0;
    enum err err = png_plan_make(set, PNG_CLEAR_UNASKED, &job.plan);
    if (err)
        die("plan", err);
    const struct png_rect whole = {set->index, (size_t)set->side, set->side, set->side};
    size_t packed_bytes = png_packed_bytes(&job.plan, set->side, set->side);
    job.packed = malloc(packed_bytes);
    job.room_bytes = packed_bytes + 1024;
    job.room = malloc(job.room_bytes);
    if (!job.packed || !job.room || png_pack(&job.plan, &whole, 1, NULL, job.packed))
        die("pack", ERR_OOM);
    sums->colors += set->color_count;
    sums->us[0] += best_us(job_encode, &job, &bytes);
    sums->bytes[0] += bytes;
    for (int i = 1; i <= 2; i++) {
        job.level = i == 1 ? 6 : 9;
        sums->us[i] += best_us(job_libpng, &job, &bytes);
        sums->bytes[i] += bytes;
    }
    for (int level = 1; level <= 12; level++) {
        job.compressor = libdeflate_alloc_compressor(level);
        if (!job.compressor)
            die("libdeflate", ERR_OOM);
        sums->level_us[level] += best_us(job_deflate, &job, &bytes);
        sums->level_bytes[level] += bytes;
        libdeflate_free_compressor(job.compressor);
    }
    free(job.packed);
    free(job.room);
    png_plan_finish(&job.plan);
}

static void bench_png(struct renderer *renderer, int side)
{
    struct sums sums = {0};
    static const char *const names[3] = {"planetd", "libpng level 6", "libpng level 9"};
    for (int body = 0; body < BODY_COUNT; body++) {
        char query[128];
        snprintf(query, sizeof(query), "type=%s&seed=%d&pixels=%d", bodies[body].name, body + 1, side);
        struct frame_set set = draw(renderer, query);
        bench_png_picture(&set, &sums);
        frame_set_finish(&set);
    }
    printf("png %d x %d, mean of %d bodies, %d colours\n", side, side, BODY_COUNT, sums.colors / BODY_COUNT);
    for (int i = 0; i < 3; i++)
        printf("  %-20s %8.0f ns %8zu bytes\n", names[i], sums.us[i] * 1000 / BODY_COUNT,
               sums.bytes[i] / BODY_COUNT);
    for (int level = 1; level <= 12; level++)
        printf("  libdeflate level %-3d %8.0f ns %8zu bytes (image data alone)\n", level,
               sums.level_us[level] * 1000 / BODY_COUNT, sums.level_bytes[level] / BODY_COUNT);
}

static int append(GifFileType *gif, const GifByteType *bytes, int len)
{
    return blob_append(gif->UserData, bytes, (size_t)len) ? 0 : len;
}

enum rule { WHOLE_FRAMES, DRAW_ALL, SKIP_ALL };

static void put_frame(GifFileType *gif, const struct gif_step *step, const uint8_t *canvas, uint8_t *frame,
                      int side, int hole, enum rule rule, uint8_t *plain, uint8_t *other)
{
    struct gif_step whole = {.rect = {0, 0, side, side}, .clear = true};
    const struct gif_step *s = rule == WHOLE_FRAMES ? &whole : step;
    gif_frames_cut(canvas, frame, side, hole, s, 1, plain, other);
    GraphicsControlBlock control = {.DisposalMode = s->clear ? DISPOSE_BACKGROUND : DISPOSE_DO_NOT,
                                    .DelayTime = 7,
                                    .TransparentColor = hole};
    GifByteType bytes[4];
    size_t len = EGifGCBToExtension(&control, bytes);
    EGifPutExtension(gif, GRAPHICS_EXT_FUNC_CODE, (int)len, bytes);
    EGifPutImageDesc(gif, s->rect.left, s->rect.top, s->rect.width, s->rect.height, false, NULL);
    EGifPutLine(gif, rule == SKIP_ALL ? other : plain, s->rect.width * s->rect.height);
}

/* The animation by one simple rule for all frames. */
static struct blob gif_by_rule(const struct frame_set *set, enum rule rule)
{
    struct gif_colors colors = {0};
    struct blob out = {0};
    int side = set->side;
    size_t pixels = (size_t)side * (size_t)side;
    uint8_t *planes = malloc(pixels * (size_t)(set->frames + 3));
    GifColorType table[GIF_TABLE_MAX];
    GifFileType *gif = EGifOpen(&out, append, NULL);
    if (!planes || !gif || gif_colors_make(set, &colors))
        die("gif", ERR_OOM);
    for (int i = 0; i < GIF_TABLE_MAX; i++)
        table[i] = (GifColorType){(GifByteType)(colors.rgb[i] >> 16), (GifByteType)(colors.rgb[i] >> 8),
                                  (GifByteType)colors.rgb[i]};
    ColorMapObject *map = GifMakeMapObject(1 << colors.bits, table);
    EGifSetGifVersion(gif, true);
    EGifPutScreenDesc(gif, side, side, 8, 0, map);
    GifFreeMapObject(map);
    for (size_t i = 0; i < pixels * (size_t)set->frames; i++)
        planes[i] = colors.map[set->index[i]];
    uint8_t *canvas = planes + pixels * (size_t)set->frames, *plain = canvas + pixels,
            *other = plain + pixels;
    for (int f = 0; f < set->frames; f++) {
        uint8_t *frame = planes + pixels * (size_t)f,
                *next = planes + pixels * (size_t)((f + 1) % set->frames);
        struct gif_step step;
        gif_frames_plan(f ? canvas : NULL, frame, next, side, colors.transparent, &step);
        put_frame(gif, &step, f ? canvas : NULL, frame, side, colors.transparent, rule, plain, other);
        gif_frames_advance(canvas, frame, side, colors.transparent, &step);
    }
    EGifCloseFile(gif, NULL);
    gif_colors_finish(&colors);
    free(planes);
    return out;
}

/* Runs gifsicle -O3; false when it can't be run. */
static bool gifsicle(const struct blob *file, double *ret_ms, size_t *ret_bytes)
{
    char in[] = "/tmp/bench-encode-XXXXXX", out[] = "/tmp/bench-encode-XXXXXX";
    int in_fd = mkstemp(in), out_fd = mkstemp(out);
    bool ok = in_fd >= 0 && out_fd >= 0 && write(in_fd, file->data, file->len) == (ssize_t)file->len;
    struct rusage before, after;
    getrusage(RUSAGE_CHILDREN, &before);
    pid_t pid = ok ? fork() : -1;
    if (pid == 0) {
        execlp("gifsicle", "gifsicle", "-O3", in, "-o", out, (char *)NULL);
        _exit(127);
    }
    int status = 1;
    ok = pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
    getrusage(RUSAGE_CHILDREN, &after);
    *ret_ms = (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec) * 1e3 +
              (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec) / 1e3;
    FILE *made = ok ? fopen(out, "rb") : NULL;
    if (made && fseek(made, 0, SEEK_END) == 0)
        *ret_bytes = (size_t)ftell(made);
    if (made)
        fclose(made);
    if (in_fd >= 0) {
        close(in_fd);
        unlink(in);
    }
    if (out_fd >= 0) {
        close(out_fd);
        unlink(out);
    }
    return ok;
}

static void bench_gifsicle(const char *name, const struct blob *file)
{
    double ms = 0;
    size_t bytes = 0;
    if (gifsicle(file, &ms, &bytes))
        printf("  %-34s %7.1f ms %8zu bytes\n", name, ms, bytes);
    else
        printf("  %-34s not run: no gifsicle\n", name);
}

static void bench_gif(struct renderer *renderer, const char *query)
{
    struct frame_set set = draw(renderer, query);
    struct job job = {.set = &set, .format = FORMAT_GIF};
    struct blob ours = {0};
    struct encode_desc desc = {.zoom = 1, .fps = 15, .loops = 0, .key = KEY};
    size_t bytes = 0;
    double us = best_us(job_encode, &job, &bytes);
    enum err err = encoders[FORMAT_GIF].encode(&set, &desc, NULL, &ours);
    if (err)
        die("gif", err);
    printf("gif %d x %d x %d, %s, %d colours\n", set.side, set.side, set.frames, query, set.color_count);
    printf("  %-34s %7.1f ms %8zu bytes\n", "planetd", us / 1000, bytes);
    struct blob whole = gif_by_rule(&set, WHOLE_FRAMES), drawn = gif_by_rule(&set, DRAW_ALL),
                skipped = gif_by_rule(&set, SKIP_ALL);
    bench_gifsicle("gifsicle -O3 of our file", &ours);
    bench_gifsicle("gifsicle -O3 of whole frames", &whole);
    printf("  %-34s %7s    %8zu bytes\n", "whole frames", "", whole.len);
    printf("  %-34s %7s    %8zu bytes\n", "cropped, unchanged pixels drawn", "", drawn.len);
    printf("  %-34s %7s    %8zu bytes\n", "cropped, unchanged pixels skipped", "", skipped.len);
    blob_free(&ours);
    blob_free(&whole);
    blob_free(&drawn);
    blob_free(&skipped);
    frame_set_finish(&set);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        limit_s = atof(argv[1]);
    struct renderer_desc desc = renderer_desc_default;
    struct renderer *renderer = NULL;
    desc.backend = "cpu";
    enum err err = renderer_open(&desc, &renderer);
    if (err)
        die("cpu backend", err);
    printf("%s\n", encoder_libraries());
    bench_png(renderer, 64);
    bench_png(renderer, 96);
    for (int body = 0; body < BODY_COUNT; body++) {
        char query[128];
        snprintf(query, sizeof(query), "format=gif&pixels=96&type=%s&seed=%d", bodies[body].name, body + 1);
        bench_gif(renderer, query);
    }
    bench_gif(renderer, "format=gif&pixels=96&type=terrestrial&seed=7&rings=on&tilt=20");
    renderer_close(renderer);
    return 0;
}
