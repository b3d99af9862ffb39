/* kernels_avx2.c -- the kernels, 8 lanes wide. */
#define LANES      8
#define KERNEL_SET avx2
#include "renderer/cpu/kernels.inc"
