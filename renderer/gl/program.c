/* program.c -- puts the parts of shaders/ together as compute shaders and compiles them.
 *
 * A program has the parts that all kernels share, its body, and main.glsl around the kernel that DRAW names.
 * All are built when the backend opens: its self-test draws with each of them anyway, and so a driver that
 * can't compile one is found out with the compiler's words. Threads: the owner of the context. */
#include "renderer/gl/program.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "renderer/bodies.h"

#include "shaders_embedded.h"

static const char *const shared_parts[] = {
#define PART(name) shader_##name,
#include "renderer/shader_parts.def"
#undef PART
};

static const char *const body_parts[BODY_COUNT] = {
#define BODY(id, word, ...) shader_##word,
#include "renderer/bodies.def"
#undef BODY
};

#define PARTS_MAX (2 + ARRAY_LEN(shared_parts) + BODY_COUNT + 2)

static const char *version_line(const struct egl *egl)
{
    if (!egl->es)
        return "#version 430 core\n";
    /* `precise` is of 3.2. */
    return egl->version >= 32 ? "#version 320 es\n"
                              : "#version 310 es\n#extension GL_EXT_gpu_shader5 : require\n";
}

/* One line of the compiler's, so that it fits a log line. */
static void tell_failure(const char *draw, const char *step, char *log, char *ret_reason)
{
    log[strcspn(log, "\r\n")] = '\0';
    snprintf(ret_reason, EGL_REASON_BYTES, "kernel of %s does not %s: %s", draw, step,
             log[0] ? log : "no reason given");
}

/* The texts of a kernel after the version: a body's, or with `body` BODY_COUNT the layers', which look into
 * all bodies. Returns their number. */
static GLsizei collect_parts(int body, const char **parts)
{
    GLsizei n = 0;
    for (size_t i = 0; i < ARRAY_LEN(shared_parts); i++)
        parts[n++] = shared_parts[i];
    for (int i = 0; i < BODY_COUNT; i++)
        if (body == BODY_COUNT || body == i)
            parts[n++] = body_parts[i];
    if (body == BODY_COUNT)
        parts[n++] = shader_layers;
    parts[n++] = shader_main;
    return n;
}

static enum err program_build(const struct egl *egl, int body, GLuint *ret_program, char *ret_reason)
{
    const char *draw = body == BODY_COUNT ? "layer" : bodies[body].name;
    char define[96], log[200] = "";
    const char *texts[PARTS_MAX] = {version_line(egl), define};
    snprintf(define, sizeof define, "#define DRAW draw_%s\n#define TURNS_MAX %d\n", draw, FRAMES_MAX);
    GLsizei text_count = 2 + collect_parts(body, texts + 2);

    GLint done = GL_FALSE;
    enum err err = ERR_NONE;
    GLuint program = glCreateProgram();
    GLuint shader = glCreateShader(GL_COMPUTE_SHADER);
    glShaderSource(shader, text_count, texts, NULL);
    glCompileShader(shader);
    glGetShaderiv(shader, GL_COMPILE_STATUS, &done);
    if (!done) {
        glGetShaderInfoLog(shader, sizeof log, NULL, log);
        tell_failure(draw, "compile", log, ret_reason);
        err = ERR_NO_DEVICE;
        goto finish;
    }
    glAttachShader(program, shader);
    glLinkProgram(program);
    glGetProgramiv(program, GL_LINK_STATUS, &done);
    if (!done) {
        glGetProgramInfoLog(program, sizeof log, NULL, log);
        tell_failure(draw, "link", log, ret_reason);
        err = ERR_NO_DEVICE;
        goto finish;
    }
    *ret_program = program;
    program = 0;
finish:
    glDeleteShader(shader);
    glDeleteProgram(program);
    return err;
}

enum err program_set_build(const struct egl *egl, struct program_set *ret_set, char *ret_reason)
{
    struct program_set set = {0};
    enum err err = ERR_NONE;
    for (int i = 0; i < BODY_COUNT && !err; i++)
        err = program_build(egl, i, &set.body[i], ret_reason);
    if (!err)
        err = program_build(egl, BODY_COUNT, &set.layer, ret_reason);
    if (err)
        program_set_finish(&set);
    else
        *ret_set = set;
    return err;
}

void program_set_finish(struct program_set *set)
{
    for (int i = 0; i < BODY_COUNT; i++)
        if (set->body[i])
            glDeleteProgram(set->body[i]);
    if (set->layer)
        glDeleteProgram(set->layer);
    *set = (struct program_set){0};
}
