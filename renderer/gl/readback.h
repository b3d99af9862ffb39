/* The buffer that kernels write codes into and the processor reads them from. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <GLES3/gl32.h>

#include <GLES2/gl2ext.h> /* needs the types of the one above */

#include "renderer/gl/egl.h"

/* Belongs to the thread of its context. */
struct readback {
    PFNGLBUFFERSTORAGEEXTPROC storage; /* NULL: the driver has no persistent mapping */
    GLuint buffer;
    size_t size_bytes;
    const void *mapped; /* for as long as the buffer lives, if `storage` */
};

/* In the current context; takes no memory yet. */
void readback_init(struct readback *rb, const struct egl *egl);

/* Frees what it holds. Accepts a zeroed one. */
void readback_finish(struct readback *rb);

/* Makes the buffer at least `bytes` long and binds it to storage binding 0. False: the driver has no memory.
 */
bool readback_reserve(struct readback *rb, size_t bytes);

/* Waits until all commands so far are done. False: the device is lost or hangs. */
bool readback_wait(const struct readback *rb);

/* After readback_wait(): copies the first `bytes` out. False: they are lost. */
bool readback_copy(const struct readback *rb, void *to, size_t bytes);
