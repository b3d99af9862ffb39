/* Sine and cosine that are the same on every machine: libm's differ in the last bit from version to version.
 */
#pragma once

#include <stdint.h>

/* Of `num` / `den` whole turns. den > 0, |num| and den below 2^59. The error is below 1e-15; multiples of an
 * eighth turn are exact up to the rounding of sqrt(1/2). Threads: any. */
void angle_sincos(int64_t num, int64_t den, double *ret_sin, double *ret_cos);
