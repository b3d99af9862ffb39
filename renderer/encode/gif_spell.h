/* Chooses between the two spellings of each pixel of a GIF frame so that LZW makes it short. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct gif_speller;

/* Working memory for frames of an LZW code size of `bits` (2..8), up to 2 MiB. NULL when there is none. Free
 * with free(). Threads: one at a time. */
struct gif_speller *gif_speller_create(int bits);

/* Writes the choice for each of `count` pixels into plain[], which holds the first spelling before; other[]
 * holds the second. No pixel needs more than the speller's bits. Depends on nothing but the pixels. */
void gif_spell(struct gif_speller *s, uint8_t *plain, const uint8_t *other, size_t count);
