/* Fewer colours. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "renderer/base/attr.h"
#include "renderer/base/err.h"

/* Leaves at most `most` (1 or more) of the colours that are not clear: again and again the one whose loss
 * moves the fewest pixels the least goes, to the colour that looks nearest. What is left keeps its order;
 * `index` is written anew. Threads: any, pure. ERR_OOM. */
MUST_USE enum err palette_reduce(uint32_t *colors, int *count, int most, uint16_t *index, size_t pixels);
