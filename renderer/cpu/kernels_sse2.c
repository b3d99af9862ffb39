/* kernels_sse2.c -- the kernels, 4 lanes wide. */
#define LANES      4
#define KERNEL_SET sse2
#include "renderer/cpu/kernels.inc"
