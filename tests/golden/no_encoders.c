/* no_encoders.c -- stands in for renderer/encode in the golden program, which then links no library. Golden
 * pictures are compared before they are encoded, so the table of formats only has to say what
 * request_finish() asks of it. */
#include "renderer/encode/encoder.h"

const struct encoder encoders[FORMAT_COUNT] = {
    [FORMAT_PNG] = {.name = "png", .extension = "png", .animated = false},
    [FORMAT_GIF] = {.name = "gif", .extension = "gif", .animated = true},
    [FORMAT_APNG] = {.name = "apng", .extension = "apng", .animated = true},
    [FORMAT_SHEET] = {.name = "sheet", .extension = "png", .animated = true, .address = "/sheet.png"},
    [FORMAT_ATLAS] = {.name = "atlas", .extension = "json", .animated = true, .address = "/sheet.json"},
    [FORMAT_JSON] = {.name = "json", .extension = "json", .animated = true},
    [FORMAT_PALETTE] = {.name = "palette", .extension = "png", .animated = true, .address = "/palette.png"},
    [FORMAT_GPL] = {.name = "gpl", .extension = "gpl", .animated = true},
    [FORMAT_HEX] = {.name = "hex", .extension = "hex", .animated = true},
    [FORMAT_CONTACT] = {.name = "contact", .extension = "png", .address = "/contact.png"},
    [FORMAT_FIND] = {.name = "find", .extension = "json", .address = "/find"},
    [FORMAT_WEBP] = {.name = "webp", .extension = "webp", .animated = true},
};

const char *encoder_libraries(void)
{
    return "none";
}
