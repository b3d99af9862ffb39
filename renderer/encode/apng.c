/* apng.c -- animations as PNG files (APNG: acTL, fcTL, fdAT).
 *
 * A frame is cropped to what changes and replaces what was there, alpha and all, so nothing that vanishes can
 * stay behind as a ghost and nothing ever has to be cleared. Where all that changes becomes opaque there is a
 * second way: to leave out what stays and lay the rest over the canvas. Which of the two is shorter can't be
 * told beforehand, so both are compressed. The first frame is the whole picture: viewers that know no APNG
 * show it.
 *
 * A delay is a fraction, 1 / fps, so time is exact. Threads: any number at once. */
#include <stdlib.h>
#include <string.h>

#include "renderer/encode/area.h"
#include "renderer/encode/formats.h"
#include "renderer/encode/png_file.h"
#include "renderer/encode/png_pack.h"

#define DISPOSE_NONE 0
#define BLEND_SOURCE 0
#define BLEND_OVER   1
#define SEQUENCE     4 /* bytes of the number that an fdAT begins with */

struct apng_writer {
    const struct frame_set *set;
    const struct encode_desc *desc;
    struct png_plan plan;
    struct png_chunk *chunks;
    int chunk_count;
    uint32_t sequence;
    uint16_t *over;  /* a frame's rectangle without what stays */
    uint8_t *packed; /* room for a whole frame */
};

static void put_u32(uint8_t *to, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(v >> (24 - 8 * i));
}

static void put_u16(uint8_t *to, unsigned v)
{
    to[0] = (uint8_t)(v >> 8);
    to[1] = (uint8_t)v;
}

static const uint16_t *frame_at(const struct apng_writer *w, int i)
{
    return w->set->index + (size_t)i * (size_t)w->set->side * (size_t)w->set->side;
}

/* Takes `bytes`. */
static void add_chunk(struct apng_writer *w, const char name[5], uint8_t *bytes, size_t len)
{
    struct png_chunk *c = &w->chunks[w->chunk_count++];
    memcpy(c->name, name, sizeof(c->name));
    c->bytes = bytes;
    c->len = len;
}

/* Fills w->over. False when a pixel that changes does not become opaque, or no colour shows nothing. */
static bool leave_out(struct apng_writer *w, const uint16_t *shown, const uint16_t *frame,
                      const struct area *a)
{
    if (w->plan.clear == PNG_NO_CLEAR)
        return false;
    uint16_t *to = w->over;
    for (int y = a->top; y < a->top + a->height; y++) {
        size_t at = (size_t)y * (size_t)w->set->side + (size_t)a->left;
        for (int x = 0; x < a->width; x++, at++) {
            bool stays = shown[at] == frame[at];
            if (!stays && RGBA_A(w->set->colors[frame[at]]) != 255)
                return false;
            *to++ = stays ? (uint16_t)w->plan.clear : frame[at];
        }
    }
    return true;
}

static enum err squeeze(struct apng_writer *w, const struct png_rect *rect, size_t lead,
                        const atomic_bool *cancel, uint8_t **ret_bytes, size_t *ret_len)
{
    int zoom = w->desc->zoom;
    size_t len = png_packed_bytes(&w->plan, rect->width * zoom, rect->height * zoom);
    enum err err = png_pack(&w->plan, rect, zoom, cancel, w->packed);
    return err ? err : png_compress(w->packed, len, lead, ret_bytes, ret_len);
}

static enum err add_control(struct apng_writer *w, const struct area *a, int blend)
{
    uint32_t zoom = (uint32_t)w->desc->zoom;
    uint8_t *bytes = malloc(26);
    if (!bytes)
        return ERR_OOM;
    put_u32(bytes, w->sequence++);
    put_u32(bytes + 4, (uint32_t)a->width * zoom);
    put_u32(bytes + 8, (uint32_t)a->height * zoom);
    put_u32(bytes + 12, (uint32_t)a->left * zoom);
    put_u32(bytes + 16, (uint32_t)a->top * zoom);
    put_u16(bytes + 20, 1);
    put_u16(bytes + 22, (unsigned)w->desc->fps);
    bytes[24] = DISPOSE_NONE;
    bytes[25] = (uint8_t)blend;
    add_chunk(w, "fcTL", bytes, 26);
    return ERR_NONE;
}

static enum err add_frame(struct apng_writer *w, int i, const atomic_bool *cancel)
{
    const int side = w->set->side;
    const uint16_t *frame = frame_at(w, i), *shown = i ? frame_at(w, i - 1) : NULL;
    struct area area = shown ? area_changed(shown, frame, side) : (struct area){0, 0, side, side};
    const struct png_rect plain = {frame + (size_t)area.top * (size_t)side + area.left, (size_t)side,
                                   area.width, area.height};
    uint8_t *bytes = NULL, *other = NULL;
    size_t len = 0, other_len = 0, lead = shown ? SEQUENCE : 0;
    int blend = BLEND_SOURCE;
    enum err err = squeeze(w, &plain, lead, cancel, &bytes, &len);
    if (!err && shown && leave_out(w, shown, frame, &area)) {
        const struct png_rect over = {w->over, (size_t)area.width, area.width, area.height};
        err = squeeze(w, &over, lead, cancel, &other, &other_len);
    }
    if (!err && other && other_len < len) {
        free(bytes);
        bytes = other;
        other = NULL;
        len = other_len;
        blend = BLEND_OVER;
    }
    if (!err)
        err = add_control(w, &area, blend);
    free(other);
    if (err) {
        free(bytes);
        return err;
    }
    if (shown)
        put_u32(bytes, w->sequence++);
    add_chunk(w, shown ? "fdAT" : "IDAT", bytes, len);
    return ERR_NONE;
}

static enum err writer_init(struct apng_writer *w)
{
    size_t plane = (size_t)w->set->side * (size_t)w->set->side;
    int side_px = w->set->side * w->desc->zoom;
    enum err err = png_plan_make(w->set, PNG_CLEAR_CHEAP, &w->plan);
    if (err)
        return err;
    size_t len = png_packed_bytes(&w->plan, side_px, side_px);
    if (len > PNG_PACKED_MAX_BYTES)
        return ERR_ENCODE;
    w->packed = malloc(len);
    w->over = malloc(plane * sizeof(*w->over));
    w->chunks = calloc(1 + 2 * (size_t)w->set->frames, sizeof(*w->chunks));
    uint8_t *control = malloc(8);
    if (!w->packed || !w->over || !w->chunks || !control) {
        free(control);
        return ERR_OOM;
    }
    put_u32(control, (uint32_t)w->set->frames);
    put_u32(control + 4, (uint32_t)w->desc->loops);
    add_chunk(w, "acTL", control, 8);
    return ERR_NONE;
}

static void writer_finish(struct apng_writer *w)
{
    for (int i = 0; i < w->chunk_count; i++)
        free(w->chunks[i].bytes);
    free(w->chunks);
    free(w->packed);
    free(w->over);
    png_plan_finish(&w->plan);
}

enum err apng_encode(const struct frame_set *frames, const struct encode_desc *desc,
                     const atomic_bool *cancel, struct blob *out)
{
    enum err err = encode_check(frames, desc);
    if (!err)
        err = encode_check_time(desc);
    if (err)
        return err;
    struct apng_writer w = {.set = frames, .desc = desc};
    int side_px = frames->side * desc->zoom;
    err = writer_init(&w);
    for (int i = 0; i < frames->frames && !err; i++)
        err = encode_cancelled(cancel) ? ERR_CANCELLED : add_frame(&w, i, cancel);
    if (!err)
        err = png_file_write(
            &(struct png_file){&w.plan, side_px, side_px, desc->key, w.chunks, w.chunk_count}, out);
    writer_finish(&w);
    return err;
}
