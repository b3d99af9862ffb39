/* The kernel language for C; shaders/prelude.glsl is the same for GLSL. LANES is 4, 8 or 16.
 *
 * real, word and flag are vectors of LANES floats, unsigned integers and truth values (all bits set = true).
 * Only operations that IEEE 754 fixes are here, so every build gives the same bits; the intrinsics below are
 * shorter ways to the same results. */
#pragma once

#include <stdint.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

typedef float real __attribute__((vector_size(LANES * 4)));
typedef uint32_t word __attribute__((vector_size(LANES * 4)));
typedef int32_t flag __attribute__((vector_size(LANES * 4)));
typedef struct point {
    real x, y, z;
} point;
typedef struct scene scene;

#define lane_fn             static inline __attribute__((always_inline, unused))
#define fn_real             lane_fn real
#define fn_word             lane_fn word
#define fn_flag             lane_fn flag
#define fn_point            lane_fn point
#define make_point(x, y, z) ((point){(x), (y), (z)})
#define to_float(x)         ((float)(x))
#define to_uint(x)          ((uint)(x))
#define both(a, b)          ((a) & (b))
#define either(a, b)        ((a) | (b))

fn_real all_real(float x)
{
    return (real){0} + x;
}
fn_word all_word(uint x)
{
    return (word){0} + x;
}
fn_word to_word(real x)
{
    return (word) __builtin_convertvector(x, flag);
}
fn_real to_real(word x)
{
    return __builtin_convertvector((flag)x, real);
}
fn_real as_real(word x)
{
    return (real)x;
}
fn_word as_word(real x)
{
    return (word)x;
}
fn_word choose_word(flag c, word a, word b)
{
    return ((word)c & a) | (~(word)c & b);
}
fn_real choose_real(flag c, real a, real b)
{
    return (real)choose_word(c, (word)a, (word)b);
}
#define choose(c, a, b) _Generic((a), real : choose_real, word : choose_word)(c, a, b)

fn_real floor(real x)
{
#if LANES == 16
    return (real)_mm512_floor_ps((__m512)x);
#elif LANES == 8
    return (real)_mm256_floor_ps((__m256)x);
#else
    real t = __builtin_convertvector(__builtin_convertvector(x, flag), real);
    return t + __builtin_convertvector((flag)(t > x), real); /* a true lane is -1 */
#endif
}
fn_real max(real a, real b)
{
    return choose_real(a > b, a, b);
}
fn_real min(real a, real b)
{
    return choose_real(a < b, a, b);
}

/* Whether a branch pays: true if any lane is. Never changes a result, since what it guards is chosen lane by
 * lane. */
lane_fn int any_lane(flag c)
{
#if LANES == 16
    return _mm512_movepi32_mask((__m512i)c) != 0;
#elif LANES == 8
    return _mm256_movemask_ps((__m256)c) != 0;
#elif defined(__SSE2__)
    return _mm_movemask_ps((__m128)c) != 0;
#else
    uint64_t half[2];
    __builtin_memcpy(half, &c, sizeof half);
    return (half[0] | half[1]) != 0;
#endif
}
