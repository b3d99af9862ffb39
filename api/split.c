/* split.c -- the layers of one request as one frame set. Threads: any. */
#include "api/split.h"

#include <stdlib.h>

#define SLOTS 131072 /* twice the most colours, a power of two */

const enum layer split_layers[SPLIT_LAYERS] = {LAYER_COLOR, LAYER_NORMAL, LAYER_EMISSION, LAYER_MASK};

struct joiner {
    struct frame_set set;
    uint32_t *slots; /* number of a colour of the set + 1, 0 = free; open addressing */
};

/* The number of a colour in the joined set, or -1 when there are too many. */
static int number_of(struct joiner *j, uint32_t color)
{
    uint32_t at = (color * 0x9e3779b1u >> 8) & (SLOTS - 1);
    while (j->slots[at] && j->set.colors[j->slots[at] - 1] != color)
        at = (at + 1) & (SLOTS - 1);
    if (!j->slots[at]) {
        if (j->set.color_count == FRAME_SET_COLORS_MAX)
            return -1;
        j->set.colors[j->set.color_count++] = color;
        j->slots[at] = (uint32_t)j->set.color_count;
    }
    return (int)j->slots[at] - 1;
}

/* Adds the frames of one layer behind those that are there. */
static enum err join(struct joiner *j, const struct frame_set *layer)
{
    size_t pixels = (size_t)layer->side * (size_t)layer->side;
    uint16_t *to = j->set.index + pixels * (size_t)j->set.frames;
    uint16_t *map = malloc((size_t)layer->color_count * sizeof *map);
    enum err err = map ? ERR_NONE : ERR_OOM;
    for (int c = 0; c < layer->color_count && !err; c++) {
        int number = number_of(j, layer->colors[c]);
        map[c] = (uint16_t)number;
        err = number < 0 ? ERR_ENCODE : ERR_NONE;
    }
    for (size_t i = 0; i < pixels * (size_t)layer->frames && !err; i++)
        to[i] = map[layer->index[i]];
    j->set.frames += layer->frames;
    free(map);
    return err;
}

enum err split_draw(const struct request *r, struct file_artist *artist, struct frame_set *ret_frames)
{
    size_t pixels = (size_t)r->planet.pixels * (size_t)r->planet.pixels;
    struct joiner j = {.set = {.side = r->planet.pixels}};
    j.set.index = malloc(pixels * (size_t)r->planet.frames * SPLIT_LAYERS * sizeof *j.set.index);
    j.set.colors = malloc(FRAME_SET_COLORS_MAX * sizeof *j.set.colors);
    j.slots = calloc(SLOTS, sizeof *j.slots);
    enum err err = j.set.index && j.set.colors && j.slots ? ERR_NONE : ERR_OOM;
    for (int i = 0; i < SPLIT_LAYERS && !err; i++) {
        struct planet_desc desc = r->planet;
        struct frame_set layer;
        desc.layer = split_layers[i];
        if (desc.layer == LAYER_NORMAL || desc.layer == LAYER_MASK) /* as a request for it alone has it */
            desc.colors = 0;
        err = artist->draw(artist, &desc, &layer);
        if (!err) {
            err = join(&j, &layer);
            frame_set_finish(&layer);
        }
    }
    free(j.slots);
    if (err)
        frame_set_finish(&j.set);
    else
        *ret_frames = j.set;
    return err;
}
