/* png.c -- stills as PNG files. png_pack.c makes the rows, png_file.c the file. Threads: any number at once.
 */
#include <stdlib.h>

#include "renderer/encode/formats.h"
#include "renderer/encode/png_file.h"
#include "renderer/encode/png_pack.h"

enum err png_encode(const struct frame_set *frames, const struct encode_desc *desc, const atomic_bool *cancel,
                    struct blob *out)
{
    enum err err = encode_check(frames, desc);
    if (err)
        return err;
    if (frames->frames != 1)
        return ERR_ENCODE;
    struct png_plan plan = {0};
    struct png_chunk idat = {.name = "IDAT"};
    uint8_t *packed = NULL;
    int side_px = frames->side * desc->zoom;
    const struct png_rect whole = {frames->index, (size_t)frames->side, frames->side, frames->side};
    err = png_plan_make(frames, PNG_CLEAR_UNASKED, &plan);
    if (err)
        return err;
    size_t len = png_packed_bytes(&plan, side_px, side_px);
    if (len > PNG_PACKED_MAX_BYTES) {
        err = ERR_ENCODE;
        goto done;
    }
    err = ERR_OOM;
    packed = malloc(len);
    if (!packed)
        goto done;
    err = png_pack(&plan, &whole, desc->zoom, cancel, packed);
    if (!err)
        err = png_compress(packed, len, 0, &idat.bytes, &idat.len);
    if (!err && encode_cancelled(cancel))
        err = ERR_CANCELLED;
    if (!err)
        err = png_file_write(&(struct png_file){&plan, side_px, side_px, desc->key, &idat, 1}, out);
done:
    free(packed);
    free(idat.bytes);
    png_plan_finish(&plan);
    return err;
}
