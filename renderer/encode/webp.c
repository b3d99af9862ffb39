/* webp.c -- stills and animations as lossless WebP.
 *
 * libwebp compresses each frame; the container (RFC 9649: VP8X, ANIM, ANMF) is written here, because it is a
 * few numbers, and because the key then comes before the first pixel, where metadata may stand, so that the
 * head of a file is enough to read it.
 *
 * A frame is cropped to what changes and replaces what was there, alpha and all: nothing that vanishes stays
 * behind. Frames stand on even pixels, so the crop grows to them. A delay is a whole number of milliseconds;
 * each frame begins at its rounded time, so the error of a delay never adds up.
 *
 * Threads: any number at once. */
#ifdef WITH_libwebp

#include <stdlib.h>
#include <string.h>
#include <webp/encode.h>

#include "renderer/encode/area.h"
#include "renderer/encode/formats.h"
#include "renderer/encode/webp_exif.h"

#define LEVEL      3 /* of 0..9: 0 makes files a fifth larger, 6 takes time and makes them no smaller */
#define RIFF_HEAD  12
#define CHUNK_HEAD 8
#define FRAME_HEAD 16

/* Bits of VP8X and of ANMF. */
#define HAS_ANIMATION 0x02
#define HAS_EXIF      0x08
#define HAS_ALPHA     0x10
#define NO_BLEND      0x02

static void put_le(uint8_t *to, uint32_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        to[i] = (uint8_t)(v >> (8 * i));
}

static enum err add_head(struct blob *out, const char name[4], size_t len)
{
    uint8_t head[CHUNK_HEAD];
    memcpy(head, name, 4);
    put_le(head + 4, (uint32_t)len, 4);
    return blob_append(out, head, sizeof head);
}

static enum err add_padding(struct blob *out, size_t len)
{
    return len & 1 ? blob_append(out, "", 1) : ERR_NONE;
}

static enum err add_exif(struct blob *out, const char *key)
{
    static const uint8_t head[] = WEBP_EXIF_HEAD;
    uint8_t rest[WEBP_EXIF_REST] = {0};
    size_t text = strlen(key) + 1;
    size_t len = sizeof head + sizeof rest + text;
    put_le(rest, (uint32_t)text, 4);
    put_le(rest + 4, WEBP_EXIF_TEXT, 4);
    enum err err = add_head(out, "EXIF", len);
    if (!err)
        err = blob_append(out, head, sizeof head);
    if (!err)
        err = blob_append(out, rest, sizeof rest);
    if (!err)
        err = blob_append(out, key, text);
    return err ? err : add_padding(out, len);
}

/* Everything before the first frame. */
static enum err add_start(const struct frame_set *set, const struct encode_desc *desc, struct blob *out)
{
    uint8_t extended[10] = {HAS_EXIF}, animation[6] = {0}; /* clear background */
    uint32_t side_px = (uint32_t)(set->side * desc->zoom);
    for (int c = 0; c < set->color_count; c++)
        extended[0] |= RGBA_A(set->colors[c]) == 255 ? 0 : HAS_ALPHA;
    extended[0] |= set->frames > 1 ? HAS_ANIMATION : 0;
    put_le(extended + 4, side_px - 1, 3);
    put_le(extended + 7, side_px - 1, 3);
    put_le(animation + 4, (uint32_t)desc->loops, 2);
    enum err err = blob_append(out, "RIFF\0\0\0\0WEBP", RIFF_HEAD);
    if (!err)
        err = add_head(out, "VP8X", sizeof extended);
    if (!err)
        err = blob_append(out, extended, sizeof extended);
    if (!err && set->frames > 1)
        err = add_head(out, "ANIM", sizeof animation);
    if (!err && set->frames > 1)
        err = blob_append(out, animation, sizeof animation);
    return err ? err : add_exif(out, desc->key);
}

static void paint(const struct frame_set *set, const uint16_t *frame, const struct area *a, int zoom,
                  WebPPicture *picture)
{
    for (int y = 0; y < picture->height; y++) {
        const uint16_t *row = frame + (size_t)(a->top + y / zoom) * (size_t)set->side + a->left;
        uint32_t *to = picture->argb + (size_t)y * (size_t)picture->argb_stride;
        for (int x = 0; x < a->width; x++) {
            uint32_t c = set->colors[row[x]];
            uint32_t argb =
                (uint32_t)RGBA_A(c) << 24 | (uint32_t)RGBA_R(c) << 16 | (uint32_t)RGBA_G(c) << 8 | RGBA_B(c);
            for (int z = 0; z < zoom; z++)
                *to++ = argb;
        }
    }
}

/* A WebP file of one picture: RIFF head and a VP8L chunk. The caller clears *ret_file, whatever is returned.
 */
static enum err squeeze(const struct frame_set *set, const uint16_t *frame, const struct area *a, int zoom,
                        WebPMemoryWriter *ret_file)
{
    WebPConfig config;
    WebPPicture picture;
    WebPMemoryWriterInit(ret_file);
    if (!WebPConfigInit(&config) || !WebPConfigLosslessPreset(&config, LEVEL) || !WebPPictureInit(&picture))
        return ERR_ENCODE; /* headers of another library */
    config.exact = 1;      /* clear pixels too keep what they are */
    picture.use_argb = 1;
    picture.width = a->width * zoom;
    picture.height = a->height * zoom;
    picture.writer = WebPMemoryWrite;
    picture.custom_ptr = ret_file;
    if (!WebPPictureAlloc(&picture))
        return ERR_OOM;
    paint(set, frame, a, zoom, &picture);
    bool done = WebPEncode(&config, &picture) != 0;
    bool memory = picture.error_code == VP8_ENC_ERROR_OUT_OF_MEMORY ||
                  picture.error_code == VP8_ENC_ERROR_BITSTREAM_OUT_OF_MEMORY;
    WebPPictureFree(&picture);
    if (!done)
        return memory ? ERR_OOM : ERR_ENCODE;
    bool simple = ret_file->size > RIFF_HEAD + CHUNK_HEAD && !memcmp(ret_file->mem + RIFF_HEAD, "VP8L", 4);
    return simple ? ERR_NONE : ERR_ENCODE;
}

static uint32_t starts_ms(int frame, int fps)
{
    return ((uint32_t)frame * 2000 + (uint32_t)fps) / (2 * (uint32_t)fps);
}

static enum err add_frame_head(const struct encode_desc *desc, const struct area *a, int i, size_t len,
                               struct blob *out)
{
    uint8_t head[FRAME_HEAD];
    uint32_t zoom = (uint32_t)desc->zoom;
    put_le(head, (uint32_t)a->left * zoom / 2, 3);
    put_le(head + 3, (uint32_t)a->top * zoom / 2, 3);
    put_le(head + 6, (uint32_t)a->width * zoom - 1, 3);
    put_le(head + 9, (uint32_t)a->height * zoom - 1, 3);
    put_le(head + 12, starts_ms(i + 1, desc->fps) - starts_ms(i, desc->fps), 3);
    head[15] = NO_BLEND;
    enum err err = add_head(out, "ANMF", sizeof head + len);
    return err ? err : blob_append(out, head, sizeof head);
}

static struct area even(struct area a)
{
    int left = a.left & ~1, top = a.top & ~1;
    return (struct area){left, top, a.width + a.left - left, a.height + a.top - top};
}

static enum err add_frame(const struct frame_set *set, const struct encode_desc *desc, int i,
                          struct blob *out)
{
    size_t pixels = (size_t)set->side * (size_t)set->side;
    const uint16_t *frame = set->index + (size_t)i * pixels;
    struct area area = {0, 0, set->side, set->side};
    if (i)
        area = even(area_changed(frame - pixels, frame, set->side));
    WebPMemoryWriter file;
    enum err err = squeeze(set, frame, &area, desc->zoom, &file);
    size_t len = file.size - (err ? 0 : RIFF_HEAD); /* padded already */
    if (!err && set->frames > 1)
        err = add_frame_head(desc, &area, i, len, out);
    if (!err)
        err = blob_append(out, file.mem + RIFF_HEAD, len);
    WebPMemoryWriterClear(&file);
    return err;
}

enum err webp_encode(const struct frame_set *frames, const struct encode_desc *desc,
                     const atomic_bool *cancel, struct blob *out)
{
    enum err err = encode_check(frames, desc);
    if (!err)
        err = encode_check_time(desc);
    if (!err && frames->side * desc->zoom > WEBP_MAX_DIMENSION)
        err = ERR_ENCODE;
    if (!err)
        err = add_start(frames, desc, out);
    for (int i = 0; i < frames->frames && !err; i++)
        err = encode_cancelled(cancel) ? ERR_CANCELLED : add_frame(frames, desc, i, out);
    if (!err)
        put_le(out->data + 4, (uint32_t)(out->len - CHUNK_HEAD), 4);
    return err;
}

#endif
