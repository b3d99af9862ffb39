/* What is behind the planet: stars, or a nebula with stars. */
#pragma once

#include <stdint.h>

#include "renderer/base/err.h"
#include "renderer/desc.h"

#define SKY_TONES 12 /* tones of CODE_SKY: 0 the dark, 1..6 gas, 7..11 stars, the brightest last */

/* Codes (CODE_SKY | tone) of desc->pixels squared pixels, the same in every frame; the seed chooses. Opposite
 * edges fit together, so that copies side by side show no seam. ERR_OOM; NULL where desc->background is no
 * sky. The caller frees *ret_sky. Threads: any. */
enum err sky_make(const struct planet_desc *desc, uint32_t **ret_sky);

/* Puts it behind a frame's codes: where nothing is, and through the halo. Threads: any. */
void sky_apply(const struct planet_desc *desc, const uint32_t *sky, uint32_t *codes);

/* 0xRRGGBB of a tone. Threads: any. */
uint32_t sky_color(const struct planet_desc *desc, int tone);
