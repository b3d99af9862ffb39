/* What is done to the codes of a finished frame, once, whatever drew it. */
#pragma once

#include <stdint.h>

#include "renderer/desc.h"

/* Cleans and outlines the frame as desc says: desc->pixels squared codes, in place. Threads: any. */
void touch_up(const struct planet_desc *desc, uint32_t *codes);
