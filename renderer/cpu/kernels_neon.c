/* kernels_neon.c -- the kernels, 4 lanes wide. */
#define LANES      4
#define KERNEL_SET neon
#include "renderer/cpu/kernels.inc"
