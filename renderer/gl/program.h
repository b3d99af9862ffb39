/* The kernels as GL programs: one for each body, one for the layers. */
#pragma once

#include <GLES3/gl32.h>

#include "renderer/base/attr.h"
#include "renderer/base/err.h"
#include "renderer/desc.h"
#include "renderer/gl/egl.h"

#define PROGRAM_GROUP_PX 8 /* side of a work group, as shaders/main.glsl says */

/* Zeroed it is empty. Belongs to the thread of its context. */
struct program_set {
    GLuint body[BODY_COUNT];
    GLuint layer;
};

/* Compiles all of them in the current context. ERR_NO_DEVICE: ret_reason[EGL_REASON_BYTES] has the compiler's
 * words. */
MUST_USE enum err program_set_build(const struct egl *egl, struct program_set *ret_set, char *ret_reason);

/* In the context that built it. Accepts a zeroed one. */
void program_set_finish(struct program_set *set);
