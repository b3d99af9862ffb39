/* encoder.c -- the table of file formats, and what all of them check first.
 *
 * The text of encoder_libraries() is put together by the preprocessor: giflib and libdeflate can't be asked
 * for their version at run time, so the headers that we were built with speak for those. Our own
 * choices (compression level, palette order, how a frame is cropped) shape the bytes as much as a library
 * does; ENCODER_REVISION stands for them.
 *
 * Threads: any; what is not constant is made once. */
#include "renderer/encode/encoder.h"

#include <gif_lib.h>
#include <libdeflate.h>
#include <png.h>
#include <pthread.h>
#include <stdio.h>
#ifdef WITH_libwebp
#include <webp/encode.h>
#endif

#include "renderer/desc.h"
#include "renderer/encode/formats.h"

/* To be raised when the same frame set becomes other bytes than before. */
#define ENCODER_REVISION 1

#define TEXT_OF(x) #x
#define TEXT(x)    TEXT_OF(x)

const struct encoder encoders[FORMAT_COUNT] = {
    [FORMAT_PNG] =
        {.name = "png", .mime = "image/png", .extension = "png", .animated = false, .encode = png_encode},
    [FORMAT_GIF] =
        {.name = "gif", .mime = "image/gif", .extension = "gif", .animated = true, .encode = gif_encode},
    [FORMAT_APNG] = {.name = "apng",
                     .mime = "image/apng",
                     .extension = "apng",
                     .animated = true,
                     .encode = apng_encode,
                     .choice = CHOICE_NAMED},
    [FORMAT_SHEET] = {.name = "sheet",
                      .mime = "image/png",
                      .extension = "png",
                      .animated = true,
                      .encode = sheet_encode,
                      .choice = CHOICE_NONE,
                      .address = "/sheet.png",
                      .suffix = "-sheet"},
    [FORMAT_ATLAS] = {.name = "atlas",
                      .mime = "application/json",
                      .extension = "json",
                      .animated = true,
                      .choice = CHOICE_NONE,
                      .address = "/sheet.json",
                      .suffix = "-sheet"},
    [FORMAT_JSON] = {.name = "json",
                     .mime = "application/json",
                     .extension = "json",
                     .animated = true,
                     .choice = CHOICE_NONE},
#ifdef WITH_libwebp
    [FORMAT_WEBP] = {.name = "webp",
                     .mime = "image/webp",
                     .extension = "webp",
                     .animated = true,
                     .encode = webp_encode,
                     .choice = CHOICE_NAMED},
#else
    [FORMAT_WEBP] = {.name = "webp",
                     .mime = "image/webp",
                     .extension = "webp",
                     .animated = true,
                     .choice = CHOICE_NONE,
                     .lacks = "libwebp"},
#endif
    [FORMAT_PALETTE] = {.name = "palette",
                        .mime = "image/png",
                        .extension = "png",
                        .animated = true,
                        .choice = CHOICE_NONE,
                        .address = "/palette.png",
                        .suffix = "-palette"},
    [FORMAT_GPL] = {.name = "gpl",
                    .mime = "text/plain; charset=utf-8",
                    .extension = "gpl",
                    .animated = true,
                    .choice = CHOICE_NONE},
    [FORMAT_HEX] = {.name = "hex",
                    .mime = "text/plain; charset=utf-8",
                    .extension = "hex",
                    .animated = true,
                    .choice = CHOICE_NONE},
    [FORMAT_CONTACT] = {.name = "contact",
                        .mime = "image/png",
                        .extension = "png",
                        .animated = false,
                        .choice = CHOICE_NONE,
                        .address = "/contact.png",
                        .suffix = "-contact"},
    [FORMAT_FIND] = {.name = "find",
                     .mime = "application/json",
                     .extension = "json",
                     .animated = false,
                     .choice = CHOICE_NONE,
                     .address = "/find",
                     .suffix = "-find"},
};

#define BUILT_WITH                                                                                           \
    "libpng " PNG_LIBPNG_VER_STRING ", libdeflate " LIBDEFLATE_VERSION_STRING ", giflib " TEXT(              \
        GIFLIB_MAJOR) "." TEXT(GIFLIB_MINOR) "." TEXT(GIFLIB_RELEASE) ", encoders " TEXT(ENCODER_REVISION)

/* libwebp's header has only the version of its ABI, and the program may find another build of the library
 * than it was compiled beside: the library itself is asked, once. */
#ifdef WITH_libwebp
static char libraries[160];
static pthread_once_t libraries_once = PTHREAD_ONCE_INIT;

static void libraries_write(void)
{
    int v = WebPGetEncoderVersion();
    snprintf(libraries, sizeof libraries, "%s, libwebp %d.%d.%d", BUILT_WITH, v >> 16, v >> 8 & 255, v & 255);
}

const char *encoder_libraries(void)
{
    pthread_once(&libraries_once, libraries_write);
    return libraries;
}
#else
const char *encoder_libraries(void)
{
    return BUILT_WITH;
}
#endif

enum err encode_check(const struct frame_set *frames, const struct encode_desc *desc)
{
    if (!frames->index || !frames->colors || !desc->key)
        return ERR_ENCODE;
    if (frames->side < 1 || frames->side > PIXELS_MAX || frames->frames < 1 ||
        frames->frames > FRAMES_MAX * encode_groups(desc))
        return ERR_ENCODE;
    if (frames->color_count < 1 || frames->color_count > FRAME_SET_COLORS_MAX)
        return ERR_ENCODE;
    if (desc->zoom < 1 || desc->zoom > ENCODE_ZOOM_MAX)
        return ERR_ENCODE;
    return ERR_NONE;
}

enum err encode_check_time(const struct encode_desc *desc)
{
    bool good = desc->fps >= 1 && desc->fps <= 50 && desc->loops >= 0 && desc->loops <= 65535;
    return good ? ERR_NONE : ERR_ENCODE;
}
