/* kernels_avx512.c -- the kernels, 16 lanes wide. */
#define LANES      16
#define KERNEL_SET avx512
#include "renderer/cpu/kernels.inc"
