/* replay.c -- runs a fuzz target on files, without libFuzzer. usage: replay_TARGET FOLDER...
 * Each file is one input. Its name is written before it runs, so that the last one in the log is the one that
 * failed. Files of a folder are taken in the order of their names. Threads: one. */
#include <dirent.h>
#include <errno.h>

#include "tests/fuzz/fuzz.h"

#define INPUT_BYTES ((size_t)1 << 20)

static int replay_file(const char *path)
{
    static uint8_t bytes[INPUT_BYTES];
    FILE *file = fopen(path, "rb");
    if (!file) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return -1;
    }
    size_t len = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    puts(path);
    LLVMFuzzerTestOneInput(bytes, len);
    return 0;
}

/* Returns how many inputs the folder has, or -1. A folder that is not there has none. */
static int replay_folder(const char *folder)
{
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, NULL, alphasort), inputs = 0;
    for (int i = 0; i < count; i++) {
        char path[4096];
        snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.' && inputs >= 0)
            inputs = replay_file(path) ? -1 : inputs + 1;
        free(entries[i]);
    }
    free(entries);
    return inputs;
}

int main(int argc, char **argv)
{
    int inputs = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 1; i < argc; i++) {
        int more = replay_folder(argv[i]);
        if (more < 0)
            return 1;
        inputs += more;
    }
    printf("%d inputs\n", inputs);
    return inputs ? 0 : 1; /* a corpus that got lost would go unnoticed */
}
