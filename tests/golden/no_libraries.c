/* no_libraries.c -- stands in for what needs a library (renderer/gl, renderer/encode) where the golden
 * program is built without any, for an emulator. Golden pictures are compared before they are encoded, so the
 * table of formats only has to say what request_finish() asks of it. */
#include <stdio.h>

#include "renderer/encode/encoder.h"
#include "renderer/renderer_impl.h"

const struct encoder encoders[FORMAT_COUNT] = {
    [FORMAT_PNG] = {.name = "png", .extension = "png", .animated = false},
    [FORMAT_GIF] = {.name = "gif", .extension = "gif", .animated = true},
};

const char *encoder_libraries(void)
{
    return "none";
}

enum err gl_backend_open(const struct gl_backend_desc *desc, struct backend **ret_backend, char *ret_reason)
{
    (void)desc;
    (void)ret_backend;
    snprintf(ret_reason, 256, "built without GL");
    return ERR_NO_DEVICE;
}
