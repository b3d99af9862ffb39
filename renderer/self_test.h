/* The scenes that a backend draws before it may draw anything else, and what must come out. */
#pragma once

#include <stdint.h>

#include "renderer/renderer_impl.h"

/* How many times the self-test draws: each body with and without rings, each layer, each dither, each number
 * of moons. */
#define SELF_TEST_DRAWS (2 * BODY_COUNT + LAYER_COUNT - 1 + DITHER_COUNT + MOONS_MAX)

/* XXH3 of all codes of all self-test scenes. Changes with REVISION; `make golden` prints it. */
#define SELF_TEST_HASH 0xebb9f506384963deu

/* Draws them. ERR_OOM or what the backend reports. Threads: as the backend's draw. */
MUST_USE enum err self_test_hash(struct backend *b, uint64_t *ret_hash);
