/* The scenes that a backend draws before it may draw anything else, and what must come out. */
#pragma once

#include <stdint.h>

#include "renderer/renderer_impl.h"

/* How many times the self-test draws: each body with and without rings, and each layer. */
#define SELF_TEST_DRAWS (2 * BODY_COUNT + LAYER_COUNT - 1)

/* XXH3 of all codes of all self-test scenes. Changes with REVISION; `make golden` prints it. */
#define SELF_TEST_HASH 0xe1a44645f10c5c05u

/* Draws them. ERR_OOM or what the backend reports. Threads: as the backend's draw. */
MUST_USE enum err self_test_hash(struct backend *b, uint64_t *ret_hash);
