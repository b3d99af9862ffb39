/* A small font of our own for labels: ASCII, each letter as wide as it needs. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define GLYPH_HIGH_PX 9 /* 7 over the base line, 2 under it */
#define GLYPH_BASE_PX 7
#define GLYPH_WIDE_PX 5 /* the widest */

/* Columns of the letter, 1..GLYPH_WIDE_PX. What is no ASCII letter that we know is an empty box. */
int glyph_width(char c);

/* Whether the letter has ink there: x 0..width-1 from the left, y 0..GLYPH_HIGH_PX-1 from the top. */
bool glyph_ink(char c, int x, int y);

/* Pixels of a text in one line, a column between letters. */
int glyph_text_width(const char *text, size_t len);

/* How many bytes of the text fit into so many pixels. */
size_t glyph_text_fit(const char *text, size_t len, int room_px);
/* Threads: any, all pure. */
