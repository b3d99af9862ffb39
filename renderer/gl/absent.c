/* absent.c -- stands in for the rest of this folder in builds without EGL (WITHOUT_GL defined, the other
 * files left out): there is no GL, and that is said. Threads: any. */
#include "renderer/renderer_impl.h"

#ifdef WITHOUT_GL

#include <stdio.h>

enum err gl_backend_open(const struct gl_backend_desc *desc, struct backend **ret_backend, char *ret_reason)
{
    (void)desc;
    (void)ret_backend;
    snprintf(ret_reason, 256, "built without EGL");
    return ERR_NO_DEVICE;
}

void gl_backend_lose(struct backend *b, int draws)
{
    (void)b;
    (void)draws;
}

#endif
