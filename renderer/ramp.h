/* Tones of a material in light and shadow (shading=ramp). */
#pragma once

#include <stdint.h>

#define RAMP_CLOUD 'c' /* besides the letters of struct body_info.roles */

/* The tone of 0xRRGGBB at `light`: 0 in the dark, 1 in full light; somewhat beyond both for hollows and rims.
 * Threads: any. */
uint32_t ramp_tone(uint32_t rgb, char role, double light);
