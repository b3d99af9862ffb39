/* planet.c -- the command: makes signed URLs. Threads: one. */
#include <stdio.h>

int main(void)
{
    fputs("usage: planet sign ...\n", stderr);
    return 2;
}
