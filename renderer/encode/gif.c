/* gif.c -- writes GIF files through giflib.
 *
 * Work is split: gif_colors.c finds the table, gif_frames.c plans each frame, gif_spell.c decides which
 * unchanged pixels to skip; here they are put in the order of the file and handed to giflib, which does LZW
 * and all framing.
 *
 * A GIF has little to say about looping: the NETSCAPE block counts how often to play *again* (0 = for
 * ever), as browsers read it, so n plays are n - 1, and a single play has no block at all. A still has
 * neither block nor delay.
 *
 * Threads: any number at once; nothing is kept between calls. */
#include <gif_lib.h>
#include <stdlib.h>
#include <string.h>

#include "renderer/encode/formats.h"
#include "renderer/encode/gif_colors.h"
#include "renderer/encode/gif_frames.h"
#include "renderer/encode/gif_spell.h"

#define GIF_SIDE_MAX   65535              /* the format's 16 bits */
#define GIF_PIXELS_MAX ((size_t)64 << 20) /* of one frame, zoom included: two bytes each are held at once */

struct gif_writer {
    const struct frame_set *set;
    const struct encode_desc *desc;
    struct gif_colors colors;
    GifFileType *file;
    struct blob *out;
    enum err err;      /* what the sink met; giflib only says that a write failed */
    uint8_t *plane[3]; /* side * side indices: the canvas, this frame, the next */
    uint8_t *plain;    /* a frame's rectangle in both spellings */
    uint8_t *other;
    struct gif_speller *speller;
};

static int sink(GifFileType *file, const GifByteType *bytes, int len)
{
    struct gif_writer *w = file->UserData;
    if (!w->err)
        w->err = blob_append(w->out, bytes, (size_t)len);
    return w->err ? 0 : len;
}

/* giflib's answer as ours. */
static enum err said(const struct gif_writer *w, int status)
{
    if (status == GIF_OK && !w->err)
        return ERR_NONE;
    if (w->err)
        return w->err;
    return w->file && w->file->Error == E_GIF_ERR_NOT_ENOUGH_MEM ? ERR_OOM : ERR_ENCODE;
}

static enum err write_screen(struct gif_writer *w)
{
    const struct gif_colors *c = &w->colors;
    GifColorType table[GIF_TABLE_MAX];
    for (int i = 0; i < GIF_TABLE_MAX; i++)
        table[i] = (GifColorType){(GifByteType)(c->rgb[i] >> 16), (GifByteType)(c->rgb[i] >> 8),
                                  (GifByteType)c->rgb[i]};
    ColorMapObject *map = GifMakeMapObject(1 << c->bits, table);
    if (!map)
        return ERR_OOM;
    int side = w->set->side * w->desc->zoom;
    EGifSetGifVersion(w->file, true);
    int status =
        EGifPutScreenDesc(w->file, side, side, 8, c->transparent == GIF_OPAQUE ? 0 : c->transparent, map);
    GifFreeMapObject(map);
    return said(w, status);
}

static enum err write_loop(struct gif_writer *w)
{
    int again = w->desc->loops > 1 ? w->desc->loops - 1 : 0;
    const GifByteType count[3] = {1, (GifByteType)again, (GifByteType)(again >> 8)};
    if (EGifPutExtensionLeader(w->file, APPLICATION_EXT_FUNC_CODE) != GIF_OK ||
        EGifPutExtensionBlock(w->file, 11, "NETSCAPE2.0") != GIF_OK ||
        EGifPutExtensionBlock(w->file, sizeof(count), count) != GIF_OK)
        return said(w, GIF_ERROR);
    return said(w, EGifPutExtensionTrailer(w->file));
}

static enum err write_head(struct gif_writer *w)
{
    enum err err = write_screen(w);
    if (!err && w->set->frames > 1 && w->desc->loops != 1)
        err = write_loop(w);
    if (!err &&
        w->desc->key[0]) /* giflib cuts it into blocks of 255; an empty one would end the file early */
        err = said(w, EGifPutComment(w->file, w->desc->key));
    return err;
}

/* What is shown before the frame, for how long, and what to do with it afterwards. */
static enum err write_control(struct gif_writer *w, int i, const struct gif_step *step)
{
    bool still = w->set->frames == 1;
    if (still && w->colors.transparent == GIF_OPAQUE)
        return ERR_NONE;
    GraphicsControlBlock control = {
        .DisposalMode = still         ? DISPOSAL_UNSPECIFIED
                        : step->clear ? DISPOSE_BACKGROUND
                                      : DISPOSE_DO_NOT,
        .UserInputFlag = false,
        .DelayTime = still ? 0 : gif_frames_delay_cs(i, w->desc->fps),
        .TransparentColor =
            w->colors.transparent == GIF_OPAQUE ? NO_TRANSPARENT_COLOR : w->colors.transparent,
    };
    GifByteType bytes[4];
    size_t len = EGifGCBToExtension(&control, bytes);
    return said(w, EGifPutExtension(w->file, GRAPHICS_EXT_FUNC_CODE, (int)len, bytes));
}

static enum err write_frame(struct gif_writer *w, int i, const uint8_t *canvas, const struct gif_step *step)
{
    int zoom = w->desc->zoom;
    const struct gif_rect *r = &step->rect;
    size_t pixels = (size_t)(r->width * zoom) * (size_t)(r->height * zoom);
    gif_frames_cut(canvas, w->plane[1], w->set->side, w->colors.transparent, step, zoom, w->plain, w->other);
    if (canvas && w->colors.transparent != GIF_OPAQUE)
        gif_spell(w->speller, w->plain, w->other, pixels);
    enum err err = write_control(w, i, step);
    if (!err)
        err = said(w, EGifPutImageDesc(w->file, r->left * zoom, r->top * zoom, r->width * zoom,
                                       r->height * zoom, false, NULL));
    if (!err) /* giflib does not mind where lines end, and one call is much faster than one for each */
        err = said(w, EGifPutLine(w->file, w->plain, (int)pixels));
    return err;
}

static void load_plane(const struct gif_writer *w, int frame, uint8_t *plane)
{
    size_t pixels = (size_t)w->set->side * (size_t)w->set->side;
    const uint16_t *index = w->set->index + (size_t)frame * pixels;
    for (size_t i = 0; i < pixels; i++)
        plane[i] = w->colors.map[index[i]];
}

static enum err write_frames(struct gif_writer *w, const atomic_bool *cancel)
{
    const int count = w->set->frames, side = w->set->side, transparent = w->colors.transparent;
    load_plane(w, 0, w->plane[1]);
    for (int i = 0; i < count; i++) {
        if (encode_cancelled(cancel))
            return ERR_CANCELLED;
        /* The first frame follows the last: not every viewer starts a new round on an empty canvas. */
        bool followed = count > 1 && (i + 1 < count || w->desc->loops != 1);
        if (followed)
            load_plane(w, (i + 1) % count, w->plane[2]);
        const uint8_t *canvas = i ? w->plane[0] : NULL;
        struct gif_step step;
        gif_frames_plan(canvas, w->plane[1], followed ? w->plane[2] : NULL, side, transparent, &step);
        enum err err = write_frame(w, i, canvas, &step);
        if (err)
            return err;
        gif_frames_advance(w->plane[0], w->plane[1], side, transparent, &step);
        uint8_t *shown = w->plane[1];
        w->plane[1] = w->plane[2];
        w->plane[2] = shown;
    }
    return ERR_NONE;
}

static enum err writer_init(struct gif_writer *w)
{
    size_t plane = (size_t)w->set->side * (size_t)w->set->side;
    size_t pixels = plane * (size_t)w->desc->zoom * (size_t)w->desc->zoom;
    if (w->set->side * w->desc->zoom > GIF_SIDE_MAX || pixels > GIF_PIXELS_MAX)
        return ERR_ENCODE;
    enum err err = gif_colors_make(w->set, &w->colors);
    if (err)
        return err;
    for (int i = 0; i < 3; i++)
        w->plane[i] = malloc(plane);
    w->plain = malloc(pixels);
    w->other = malloc(pixels);
    w->speller = gif_speller_create(w->colors.bits < 2 ? 2 : w->colors.bits); /* LZW knows no 1-bit codes */
    if (!w->plane[0] || !w->plane[1] || !w->plane[2] || !w->plain || !w->other || !w->speller)
        return ERR_OOM;
    w->file = EGifOpen(w, sink, NULL);
    return w->file ? ERR_NONE : ERR_OOM;
}

static void writer_finish(struct gif_writer *w)
{
    gif_colors_finish(&w->colors);
    for (int i = 0; i < 3; i++)
        free(w->plane[i]);
    free(w->plain);
    free(w->other);
    free(w->speller);
}

enum err gif_encode(const struct frame_set *frames, const struct encode_desc *desc, const atomic_bool *cancel,
                    struct blob *out)
{
    enum err err = encode_check(frames, desc);
    if (err)
        return err;
    if (frames->frames > 1)
        err = encode_check_time(desc);
    if (err)
        return err;
    struct gif_writer w = {.set = frames, .desc = desc, .out = out};
    err = writer_init(&w);
    if (!err)
        err = write_head(&w);
    if (!err)
        err = write_frames(&w, cancel);
    if (w.file) { /* this writes the last byte, and its status does not say if that went well */
        int status = EGifCloseFile(w.file, NULL);
        w.file = NULL;
        if (!err)
            err = said(&w, status);
    }
    writer_finish(&w);
    return err;
}
