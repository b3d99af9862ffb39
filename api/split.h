/* A sheet of several layers: layers=split. */
#pragma once

#include "api/file.h"
#include "renderer/desc.h"
#include "renderer/frame_set.h"

/* The layers of a split sheet in their order, one group of frames each. */
#define SPLIT_LAYERS 4
extern const enum layer split_layers[SPLIT_LAYERS];

/* Draws them one after the other, as one set: all frames of the first layer, then of the next. Without codes.
 * The caller frees *ret_frames. Those of draw(), ERR_OOM, ERR_ENCODE (more than FRAME_SET_COLORS_MAX
 * colours). Threads: any. */
MUST_USE enum err split_draw(const struct request *r, struct file_artist *artist,
                             struct frame_set *ret_frames);
