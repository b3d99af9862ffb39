/* bodies.c -- the table of bodies, from bodies.def. */
#include "renderer/bodies.h"

#define ROCKY (BODY_HAS_HEIGHT | BODY_HAS_CLOUDS | BODY_HAS_CAPS | BODY_HAS_AIR)

const struct body_info bodies[BODY_COUNT] = {
#define BODY(id, word, ...) [BODY_##id] = {.name = #word, __VA_ARGS__},
#include "renderer/bodies.def"
#undef BODY
};
