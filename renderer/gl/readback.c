/* readback.c -- from the device's memory to ours.
 *
 * With buffer storage the buffer stays mapped for good: a draw costs a fence and a copy. Without it, it is
 * mapped for each draw. It grows in powers of two and never shrinks: the renderer's batches bound it.
 * Threads: the owner of the context. */
#include "renderer/gl/readback.h"

#include <string.h>

#define SIZE_START_BYTES ((size_t)1 << 18) /* sixteen planets of 64 pixels */

/* A software GL on a busy machine draws the largest batch in a few seconds; what takes longer than this never
 * ends. */
#define WAIT_S    60
#define SECOND_NS 1000000000u

void readback_init(struct readback *rb, const struct egl *egl)
{
    *rb = (struct readback){0};
    const char *name = NULL;
    if (egl->es && egl_has_gl_extension("GL_EXT_buffer_storage"))
        name = "glBufferStorageEXT";
    else if (!egl->es && (egl->version >= 44 || egl_has_gl_extension("GL_ARB_buffer_storage")))
        name = "glBufferStorage";
    if (name)
        rb->storage = (PFNGLBUFFERSTORAGEEXTPROC)eglGetProcAddress(name);
}

void readback_finish(struct readback *rb)
{
    if (rb->buffer)
        glDeleteBuffers(1, &rb->buffer); /* unmaps it */
    rb->buffer = 0;
    rb->size_bytes = 0;
    rb->mapped = NULL;
}

/* Gives the bound buffer its memory. */
static bool allocate(struct readback *rb, size_t bytes)
{
    if (!rb->storage) {
        glBufferData(GL_SHADER_STORAGE_BUFFER, (GLsizeiptr)bytes, NULL, GL_STREAM_READ);
        return glGetError() == GL_NO_ERROR;
    }
    GLbitfield access = GL_MAP_READ_BIT | GL_MAP_PERSISTENT_BIT_EXT | GL_MAP_COHERENT_BIT_EXT;
    rb->storage(GL_SHADER_STORAGE_BUFFER, (GLsizeiptr)bytes, NULL, access | GL_CLIENT_STORAGE_BIT_EXT);
    rb->mapped = glMapBufferRange(GL_SHADER_STORAGE_BUFFER, 0, (GLsizeiptr)bytes, access);
    return rb->mapped && glGetError() == GL_NO_ERROR;
}

bool readback_reserve(struct readback *rb, size_t bytes)
{
    if (bytes <= rb->size_bytes)
        return true;
    size_t size = SIZE_START_BYTES;
    while (size < bytes)
        size *= 2;
    readback_finish(rb); /* storage can't change its size */
    glGenBuffers(1, &rb->buffer);
    glBindBuffer(GL_SHADER_STORAGE_BUFFER, rb->buffer);
    if (!allocate(rb, size)) {
        readback_finish(rb);
        return false;
    }
    rb->size_bytes = size;
    glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, rb->buffer);
    return true;
}

bool readback_wait(const struct readback *rb)
{
    glMemoryBarrier(rb->storage ? GL_CLIENT_MAPPED_BUFFER_BARRIER_BIT_EXT : GL_BUFFER_UPDATE_BARRIER_BIT);
    GLsync fence = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
    if (!fence)
        return false;
    GLenum state = GL_TIMEOUT_EXPIRED;
    for (int s = 0; s < WAIT_S && state == GL_TIMEOUT_EXPIRED; s++)
        state = glClientWaitSync(fence, GL_SYNC_FLUSH_COMMANDS_BIT, SECOND_NS);
    glDeleteSync(fence);
    return state == GL_ALREADY_SIGNALED || state == GL_CONDITION_SATISFIED;
}

bool readback_copy(const struct readback *rb, void *to, size_t bytes)
{
    if (rb->mapped) {
        memcpy(to, rb->mapped, bytes);
        return true;
    }
    const void *from = glMapBufferRange(GL_SHADER_STORAGE_BUFFER, 0, (GLsizeiptr)bytes, GL_MAP_READ_BIT);
    if (!from)
        return false;
    memcpy(to, from, bytes);
    return glUnmapBuffer(GL_SHADER_STORAGE_BUFFER); /* false: the contents were lost meanwhile */
}
