/* planet.c -- the command `planet`: finds the subcommand and hands over. A new one is a row of the table and
 * a file beside this one. Threads: one. */
#include <stdio.h>
#include <string.h>

#include "api/client/commands.h"
#include "api/version.h"
#include "renderer/base/attr.h"

static const struct command {
    const char *name, *help;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"sign", "sign URLs for a planetd that asks for it", command_sign},
};

static void usage(FILE *to)
{
    fputs("usage: planet COMMAND ...\n\n", to);
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        fprintf(to, "  %-8s %s\n", commands[i].name, commands[i].help);
    fputs("\n`planet COMMAND --help` says more, `planet --version` gives the version.\n", to);
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    if (!strcmp(name, "--help") || !strcmp(name, "-h")) {
        usage(stdout);
        return 0;
    }
    if (!strcmp(name, "--version")) {
        puts("planet " PLANETD_VERSION);
        return 0;
    }
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        if (!strcmp(name, commands[i].name))
            return commands[i].run(argc - 1, argv + 1);
    if (*name)
        fprintf(stderr, "planet: there is no command \"%s\"\n\n", name);
    usage(stderr);
    return COMMAND_USAGE;
}
