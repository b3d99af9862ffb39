/* The colours of a picture as a file for other programs. */
#pragma once

#include "api/key.h"
#include "api/request.h"
#include "renderer/base/attr.h"
#include "renderer/base/blob.h"
#include "renderer/base/err.h"
#include "renderer/frame_set.h"

/* Of a finished request for FORMAT_PALETTE (a PNG, a square for each colour), FORMAT_GPL (GIMP) or FORMAT_HEX
 * (rrggbb, one a line): every colour of all its frames once, whatever its alpha, and none beside; what is
 * wholly clear is no colour. Ordered by what it is the colour of (void, sea, ground, cap, cloud, ring, air,
 * light), and then from dark to light. Each is what the first frame has in that colour, or in the nearest
 * one. Appends to *out. ERR_OOM, ERR_ENCODE. Threads: any. */
MUST_USE enum err palette_file_write(const struct request *r, const struct key *key,
                                     const struct frame_set *frames, struct blob *out);
