/* bench_kernels.c -- nanoseconds per pixel of the frame, for each body and each way to draw it, on one
 * thread. The ways take turns in each round, so that a machine that slows down slows them all; the median of
 * the rounds counts. usage: bench_kernels [SIDE [FRAMES]] (default 256 1) */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "renderer/bodies.h"
#include "renderer/renderer_impl.h"

#define ROUNDS   25
#define WAYS_MAX 6

struct way {
    const char *name;
    struct backend *backend;
    double ns[ROUNDS];
};

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *v)
{
    qsort(v, ROUNDS, sizeof *v, compare);
    return v[ROUNDS / 2];
}

static int open_ways(struct way *ways)
{
    static const char *const masks[] = {"sse2", "avx2", "avx512", "neon"};
    char reason[256];
    int count = 0;
    for (size_t i = 0; i < ARRAY_LEN(masks); i++) {
        ways[count].name = masks[i];
        if (!cpu_backend_open(masks[i], NULL, &ways[count].backend, reason))
            count++;
    }
    setenv("LP_NUM_THREADS", "1", 1); /* llvmpipe on one thread, as the others are */
    ways[count].name = "gl-software";
    if (!gl_backend_open(&(struct gl_backend_desc){.software = true}, &ways[count].backend, reason))
        count++;
    else
        printf("# no gl-software: %s\n", reason);
    ways[count].name = "gl";
    if (!gl_backend_open(&(struct gl_backend_desc){.software = false}, &ways[count].backend, reason))
        count++;
    else
        printf("# no gl: %s\n", reason);
    return count;
}

static void bench_body(const struct planet_desc *desc, struct way *ways, int count)
{
    struct scene scene;
    struct scene_turn turns[FRAMES_MAX];
    size_t pixels = (size_t)desc->pixels * (size_t)desc->pixels * (size_t)desc->frames;
    uint32_t *codes = malloc(pixels * sizeof *codes);
    scene_make(desc, &scene);
    for (int i = 0; i < desc->frames; i++)
        turns[i] = scene_turn_make(desc, i);
    for (int round = -1; round < ROUNDS; round++) /* the first warms up */
        for (int w = 0; w < count; w++) {
            struct backend *b = ways[w].backend;
            double begin = now_ns();
            if (b->impl->draw(b, &scene, turns, desc->frames, NULL, codes))
                exit((puts("draw failed"), 1));
            if (round >= 0)
                ways[w].ns[round] = (now_ns() - begin) / (double)pixels;
        }
    printf("%-12s", bodies[desc->body].name);
    for (int w = 0; w < count; w++)
        printf(" %12.3f", median(ways[w].ns));
    printf("\n");
    free(codes);
}

int main(int argc, char **argv)
{
    struct way ways[WAYS_MAX] = {0};
    int side = argc > 1 ? atoi(argv[1]) : 256, frames = argc > 2 ? atoi(argv[2]) : 1;
    if (side < 8 || side > PIXELS_MAX || frames < 1 || frames > FRAMES_MAX)
        return 2;
    int count = open_ways(ways);
    printf("# ns per pixel, %d x %d x %d, one thread, median of %d interleaved rounds\n# %-10s", side, side,
           frames, ROUNDS, "body");
    for (int w = 0; w < count; w++)
        printf(" %12s", ways[w].name);
    printf("\n");
    for (int body = 0; body < BODY_COUNT; body++) {
        struct planet_desc desc = {
            .seed = 42,
            .body = body,
            .pixels = side,
            .frames = frames,
            .turns = 1,
            .light_azimuth_decideg = 1350,
            .light_elevation_decideg = 450,
            .shade_steps = 3,
            .scale_centi = bodies[body].scale_centi,
            .sea_level_milli = bodies[body].sea_level_milli,
            .rivers_milli = bodies[body].rivers_milli,
            .cloud_cover_milli = bodies[body].cloud_cover_milli,
            .cloud_stretch_centi = 170,
            .cloud_ratio = 2,
            .ice_caps_milli = bodies[body].ice_caps_milli,
            .tilt_decideg = 170,
            .ring_open_milli = 300,
            .atmosphere = COLOR_AUTO,
            .background = COLOR_NONE,
            .outline = COLOR_NONE,
        };
        bench_body(&desc, ways, count);
    }
    for (int w = 0; w < count; w++) {
        printf("# %-12s %s\n", ways[w].name, ways[w].backend->device);
        ways[w].backend->impl->destroy(ways[w].backend);
    }
    return 0;
}
