/* What the page asks of the server's C: see engine.c. Numbers and places in memory only, for JavaScript. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "renderer/scene.h"

#define EXPORT(name) __attribute__((export_name(#name)))

/* The longest query that the server takes, and the longest answer. server/viewer/engine.js knows it, too. */
#define TEXT_BYTES 32768

/* The buffer through which text goes: TEXT_BYTES of them. */
EXPORT(engine_text) char *engine_text(void);

/* Takes the query (no '?') of `len` bytes in the buffer; the answer, lines of text, takes its place:
 * "problem", parameter, detail; or "ok", key, code, values as a query, names of what can change this picture,
 * colours of the ground. Returns its length. */
EXPORT(engine_ask) size_t engine_ask(size_t len);

/* Writes the names of the files of shaders/ that the kernel of `body` is made of, a line each, in their
 * order; with the number of bodies, the kernel of the layers. The first line is the name of the function that
 * draws. */
EXPORT(engine_program) size_t engine_program(int body);

/* Which kernel draws the request: of a body, or, BODY_COUNT, that of the layers. */
EXPORT(engine_kernel) int engine_kernel(void);

/* The uniform block, the same for all frames of a request. */
EXPORT(engine_scene) const struct scene *engine_scene(void);

EXPORT(engine_scene_bytes) size_t engine_scene_bytes(void);

/* Turns to frame `frame` of the request, moved on by `micro` millionths of a loop (0..1000000). The vectors
 * of shaders/turn.glsl, four of four floats. */
EXPORT(engine_turn) const struct scene_turn *engine_turn(int frame, int micro);

/* Where the codes of the frame go: pixels * pixels of them. NULL without memory. */
EXPORT(engine_codes) uint32_t *engine_codes(void);

/* The codes of the frame become its pixels in place, R G B A bytes. False without memory. */
EXPORT(engine_color) int engine_color(void);

/* With colors=N the colours of one frame depend on all: give each frame's codes once, in order, then ask for
 * any with engine_color_of(). False without memory. */
EXPORT(engine_collect) int engine_collect(void);

/* Puts the pixels of a frame in the codes' place. False before all frames were collected. */
EXPORT(engine_color_of) int engine_color_of(int frame);
