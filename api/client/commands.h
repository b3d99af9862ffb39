/* The subcommands of `planet`. Each gets its own name as argv[0] and returns the exit status: 0,
 * COMMAND_FAILED (a file can't be read, no memory) or COMMAND_USAGE (what was asked for makes no sense).
 * Threads: one. */
#pragma once

#define COMMAND_FAILED 1
#define COMMAND_USAGE  2

int command_sign(int argc, char **argv); /* sign.c */
