/* frame_set.c -- the life of a frame set. Backends and the palette stage fill one, encoders read it; only its
 * end is common to all. Threads: see frame_set.h. */
#include "renderer/frame_set.h"

#include <stdlib.h>
#include <string.h>

void frame_set_finish(struct frame_set *set)
{
    free(set->index);
    free(set->colors);
    free(set->codes);
    memset(set, 0, sizeof(*set));
}
