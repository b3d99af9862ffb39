/* A GL context that can compute, without a window, on the first device that fits. */
#pragma once

#include <stdbool.h>

#include <EGL/egl.h>

#include "renderer/base/attr.h"
#include "renderer/base/err.h"

#define EGL_REASON_BYTES 256

/* Zeroed it is empty. */
struct egl {
    EGLDisplay display;
    EGLContext context;
    bool es;          /* OpenGL ES, else desktop GL */
    int version;      /* 10 * major + minor: 31, 32, 43, ... */
    bool hardware;    /* a real GPU */
    char device[128]; /* GL renderer and version */
};

/* Opens a context, current on the calling thread: OpenGL ES 3.1 or later, else GL 4.3 or later. `software`:
 * on a software GL and nothing else; otherwise on hardware and nothing else. ERR_NO_DEVICE:
 * ret_reason[EGL_REASON_BYTES] tells what was found on each device and why it is not used. Threads: any,
 * several at once. */
MUST_USE enum err egl_open(bool software, struct egl *ret_egl, char *ret_reason);

/* By the thread that opened it. Accepts a zeroed one. */
void egl_close(struct egl *egl);

/* Of the current context. */
bool egl_has_gl_extension(const char *name);
