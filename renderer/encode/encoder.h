/* The table of file formats. A frame set goes in, a file comes out. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "renderer/base/attr.h"
#include "renderer/base/blob.h"
#include "renderer/base/err.h"
#include "renderer/frame_set.h"

enum format {
    FORMAT_PNG,
    FORMAT_GIF,
    FORMAT_APNG,
    FORMAT_SHEET,
    FORMAT_ATLAS,
    FORMAT_JSON,
    FORMAT_WEBP,
    FORMAT_PALETTE,
    FORMAT_GPL,
    FORMAT_HEX,
    FORMAT_CONTACT,
    FORMAT_FIND,
    FORMAT_COUNT
};

/* How frames become a file. */
struct encode_desc {
    int zoom;        /* each pixel becomes zoom x zoom, 1..32 */
    int fps;         /* frames a second, 1..50; animated formats only */
    int loops;       /* times the animation plays, 0 = for ever; animated formats only */
    const char *key; /* ASCII text that names the result, written into the file as metadata; never NULL */
    int columns;     /* frames in a row, 1..frames, 0 = nearest to square; sheets only, as are these: */
    int margin_px;   /* around all frames, 0..64, not zoomed */
    int spacing_px;  /* between frames, 0..64, not zoomed */
    int groups;      /* the frames are so many loops one after the other, each begins a row; 0 = 1 */
};

/* What an Accept header can do. Browsers name formats for every image of a page, and a page that asks for
 * /planet means a still. */
enum encoder_choice {
    CHOICE_FREE,  /* choose it */
    CHOICE_NAMED, /* choose it by its name where it allows none of those */
    CHOICE_NONE,  /* never choose it */
};

struct encoder {
    const char *name;      /* the value of the parameter `format` */
    const char *mime;      /* Content-Type, exact */
    const char *extension; /* without the dot */
    bool animated;         /* takes more than one frame */
    /* NULL: api/file.c makes the file in its own way.
     * Writes the whole file to *out, which is empty before. `cancel` may be NULL; it is looked at between
     * frames and gives ERR_CANCELLED. ERR_OOM, ERR_ENCODE. On failure *out holds no promise but must be
     * freed. Same input, same libraries: same bytes. Threads: any number at once. */
    enum err (*encode)(const struct frame_set *frames, const struct encode_desc *desc,
                       const atomic_bool *cancel, struct blob *out);
    enum encoder_choice choice;
    const char *address; /* path of its own; NULL: /planet.NAME and /planet/{type}/{seed}.NAME */
    const char *suffix;  /* of file names, before the dot; NULL = none */
    const char *lacks;   /* the library that this binary was built without: the format is refused, and no list
                          * has it; NULL */
};

extern const struct encoder encoders[FORMAT_COUNT];

/* The libraries that decide the bytes of files, with their versions ("libpng 1.6.39, libdeflate 1.14,
 * giflib 5.2.1"). Part of each ETag. Threads: any. */
const char *encoder_libraries(void);
