/* Frame sets made up for the tests and benchmarks of encoders: they look like planets where that matters, and
 * are cruel where a mistake would hide otherwise. Static functions, so that each program needs nothing else.
 * Threads: any. */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "renderer/frame_set.h"

#define SAMPLE_UNUSED __attribute__((unused))

static inline uint32_t sample_hash(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

/* A set from RGBA pixels (packed as in frame_set); alpha-0 pixels become 0. Ends the program when memory is
 * short. */
static inline SAMPLE_UNUSED struct frame_set sample_from_rgba(const uint32_t *rgba, int side, int frames)
{
    size_t count = (size_t)side * (size_t)side * (size_t)frames;
    struct frame_set set = {.side = side, .frames = frames};
    int32_t *slots = malloc((size_t)262144 * sizeof(*slots)); /* colour -> index, open addressing */
    set.index = malloc(count * sizeof(*set.index));
    set.colors = malloc((size_t)FRAME_SET_COLORS_MAX * sizeof(*set.colors));
    if (!slots || !set.index || !set.colors)
        abort();
    memset(slots, 0xff, (size_t)262144 * sizeof(*slots));
    for (size_t i = 0; i < count; i++) {
        uint32_t c = RGBA_A(rgba[i]) ? rgba[i] : 0;
        uint32_t at = sample_hash(c) % 262144;
        while (slots[at] >= 0 && set.colors[slots[at]] != c)
            at = (at + 1) % 262144;
        if (slots[at] < 0) {
            if (set.color_count == FRAME_SET_COLORS_MAX)
                abort();
            slots[at] = set.color_count;
            set.colors[set.color_count++] = c;
        }
        set.index[i] = (uint16_t)slots[at];
    }
    free(slots);
    return set;
}

static inline double sample_noise(double x, double y, double z, uint32_t seed)
{
    double fx = floor(x), fy = floor(y), fz = floor(z), sum = 0;
    for (int i = 0; i < 8; i++) {
        int dx = i & 1, dy = i >> 1 & 1, dz = i >> 2;
        double wx = x - fx, wy = y - fy, wz = z - fz;
        wx = wx * wx * (3 - 2 * wx);
        wy = wy * wy * (3 - 2 * wy);
        wz = wz * wz * (3 - 2 * wz);
        uint32_t h = sample_hash((uint32_t)((int)fx + dx) * 73856093u ^ (uint32_t)((int)fy + dy) * 19349663u ^
                                 (uint32_t)((int)fz + dz) * 83492791u ^ seed);
        sum += (dx ? wx : 1 - wx) * (dy ? wy : 1 - wy) * (dz ? wz : 1 - wz) * (h & 0xffff) / 65535.0;
    }
    return sum;
}

static inline double sample_fbm(double x, double y, double z, uint32_t seed)
{
    double sum = 0, size = 0.5;
    for (int i = 0; i < 4; i++, size /= 2) {
        sum += size * sample_noise(x + 40, y + 40, z + 40, seed + (uint32_t)i);
        x = x * 2.03 + 11.7;
        y = y * 2.03 + 11.7;
        z = z * 2.03 + 11.7;
    }
    return sum / 0.9375;
}

static inline uint32_t sample_shade(uint32_t rgb, double light, uint32_t alpha)
{
    double r = (rgb >> 16 & 255) * light, g = (rgb >> 8 & 255) * light, b = (rgb & 255) * light;
    return RGBA((uint32_t)fmin(r, 255), (uint32_t)fmin(g, 255), (uint32_t)fmin(b, 255), alpha);
}

/* One pixel of a turning planet: six ground steps, two cloud tones, `bands` of light, a limb and a half-clear
 * rim. */
static inline uint32_t sample_planet_pixel(int px, int py, int side, double turn, int bands, uint32_t seed)
{
    static const uint32_t ramp[6] = {0x1b3a6b, 0x2a5c9a, 0xd9c48a, 0x5b9a3c, 0x2f6b2f, 0x8a7a6a};
    double x = (px + 0.5) / side * 2.1 - 1.05, y = 1.05 - (py + 0.5) / side * 2.1, rr = x * x + y * y;
    double z = rr < 1 ? sqrt(1 - rr) : 0, light = -0.45 * x + 0.55 * y + 0.7 * z;
    if (rr > 1)
        return rr < 1.07 && light > 0.15 ? RGBA(0x6a, 0xa8, 0xff, 140) : 0;
    double a = 6.283185307179586 * turn, gx = x * cos(a) + z * sin(a), gz = z * cos(a) - x * sin(a);
    double h = sample_fbm(gx * 2, y * 2, gz * 2, seed);
    double cx = x * cos(2 * a) + z * sin(2 * a), cz = z * cos(2 * a) - x * sin(2 * a);
    double cloud = sample_fbm(cx * 3, y * 5.1, cz * 3, seed + 99);
    int step = (int)((h - 0.3) / 0.4 * 6);
    uint32_t rgb = ramp[step < 0 ? 0 : step > 5 ? 5 : step];
    if (cloud > 0.58)
        rgb = cloud > 0.65 ? 0xffffff : 0xc8d4e8;
    int band = (int)floor(light * bands);
    band = band < 0 ? 0 : band >= bands ? bands - 1 : band;
    double bright = 0.48 + 0.6 * band / (bands > 1 ? bands - 1 : 1);
    return sample_shade(rgb, rr > 0.82 ? bright * 0.55 : bright, 255);
}

static inline SAMPLE_UNUSED struct frame_set sample_planet(int side, int frames, int bands, uint32_t seed)
{
    size_t pixels = (size_t)side * (size_t)side;
    uint32_t *rgba = malloc(pixels * (size_t)frames * sizeof(*rgba));
    if (!rgba)
        abort();
    for (int f = 0; f < frames; f++)
        for (int y = 0; y < side; y++)
            for (int x = 0; x < side; x++)
                rgba[(size_t)f * pixels + (size_t)(y * side + x)] =
                    sample_planet_pixel(x, y, side, (double)f / frames, bands, seed);
    struct frame_set set = sample_from_rgba(rgba, side, frames);
    free(rgba);
    return set;
}

/* Every pixel its own draw from `colors` (1..65536) random colours; each is clear with `clear_percent`, and
 * half-clear with the same chance. With `stay_percent` a pixel keeps what it had in the frame before. */
static inline SAMPLE_UNUSED struct frame_set sample_random(int side, int frames, int colors,
                                                           int clear_percent, int stay_percent, uint32_t seed)
{
    size_t pixels = (size_t)side * (size_t)side;
    uint32_t *rgba = malloc(pixels * (size_t)frames * sizeof(*rgba)), state = seed;
    if (!rgba)
        abort();
    for (size_t i = 0; i < pixels * (size_t)frames; i++) {
        state = sample_hash(state + 0x9e3779b9u);
        uint32_t pick = state, dice = sample_hash(state ^ 0x55555555u);
        uint32_t color = sample_hash(pick % (uint32_t)colors * 2654435761u + seed);
        /* The low bits number the colour, so that no two are the same. */
        color = ((color & 0xff0000u) | pick % (uint32_t)colors) & 0xffffffu;
        uint32_t alpha = (int)(dice % 100) < clear_percent       ? 0
                         : (int)(dice % 100) < 2 * clear_percent ? 128
                                                                 : 255;
        bool stays = i >= pixels && (int)(dice / 128 % 100) < stay_percent;
        rgba[i] = stays ? rgba[i - pixels] : alpha ? color | alpha << 24 : 0;
    }
    struct frame_set set = sample_from_rgba(rgba, side, frames);
    free(rgba);
    return set;
}

/* A square that walks across an empty frame and comes back: every step leaves pixels that must vanish. */
static inline SAMPLE_UNUSED struct frame_set sample_walker(int side, int frames)
{
    size_t pixels = (size_t)side * (size_t)side;
    uint32_t *rgba = calloc(pixels * (size_t)frames, sizeof(*rgba));
    if (!rgba)
        abort();
    int size = side / 4 > 0 ? side / 4 : 1;
    for (int f = 0; f < frames; f++) {
        int at = (side - size) * f / (frames > 1 ? frames - 1 : 1);
        for (int y = at; y < at + size; y++)
            for (int x = at; x < at + size; x++)
                rgba[(size_t)f * pixels + (size_t)(y * side + x)] =
                    RGBA(200, (x - at) * 10 % 256, (y - at) * 10 % 256, 255);
    }
    struct frame_set set = sample_from_rgba(rgba, side, frames);
    free(rgba);
    return set;
}

/* Like a set of `frames` equal frames of a planet. */
static inline SAMPLE_UNUSED struct frame_set sample_frozen(int side, int frames, uint32_t seed)
{
    struct frame_set one = sample_planet(side, 1, 3, seed);
    size_t pixels = (size_t)side * (size_t)side;
    uint16_t *all = malloc(pixels * (size_t)frames * sizeof(*all));
    if (!all)
        abort();
    for (int f = 0; f < frames; f++)
        memcpy(all + (size_t)f * pixels, one.index, pixels * sizeof(*all));
    free(one.index);
    one.index = all;
    one.frames = frames;
    return one;
}

/* The RGBA of one pixel. */
static inline SAMPLE_UNUSED uint32_t sample_at(const struct frame_set *set, size_t i)
{
    return set->colors[set->index[i]];
}
