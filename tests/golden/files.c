/* files.c -- the bytes of files: draws and encodes each request of files.tsv and compares the hash of the
 * whole file. usage: files [-u] FILE. The first line of FILE names the libraries that wrote the bytes; with
 * others the pictures are the same but the compressed bytes need not be, so then it skips. Last line: "N
 * passed, N failed". */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "api/file.h"
#include "api/key.h"
#include "api/request.h"
#include "renderer/renderer.h"

#define LINES_MAX 200

struct drawer {
    struct file_artist artist;
    struct renderer *renderer;
};

static enum err drawer_draw(struct file_artist *self, const struct planet_desc *desc,
                            struct frame_set *ret_frames)
{
    return renderer_draw(((struct drawer *)self)->renderer, desc, self->cancel, ret_frames);
}

static bool file_hash(struct renderer *r, const char *query, char ret_hash[17])
{
    struct request req;
    struct request_fault fault = {0};
    struct blob file = {0};
    struct key key;
    request_init(&req);
    if (request_set_query(&req, query, strlen(query), &fault) || request_finish(&req, &fault)) {
        printf("FAIL %s: %s\n", query, fault.detail);
        return false;
    }
    key_make(&req, &key);
    struct drawer d = {{drawer_draw, NULL}, r};
    enum err err = file_make(&req, &key, &d.artist, &file);
    snprintf(ret_hash, 17, "%016" PRIx64, (uint64_t)XXH3_64bits(file.data, file.len));
    blob_free(&file);
    return !err;
}

int main(int argc, char **argv)
{
    bool update = argc == 3 && !strcmp(argv[1], "-u");
    if (argc != 2 + update)
        return 2;
    const char *path = argv[argc - 1];
    static char queries[LINES_MAX][KEY_MAX_BYTES], hashes[LINES_MAX][17];
    char text[KEY_MAX_BYTES + 64], libraries[256] = "";
    int count = 0, passed = 0;
    FILE *f = fopen(path, "r");
    if (!f)
        return perror(path), 2;
    while (count < LINES_MAX && fgets(text, sizeof text, f))
        if (text[0] == '#')
            sscanf(text, "# %255[^\n]", libraries);
        else if (sscanf(text, "%2047s %16s", queries[count], hashes[count]) >= 1)
            count++;
    fclose(f);
    if (!update && strcmp(libraries, encoder_libraries()) != 0) {
        printf("SKIP files: written by %s, here are %s\n", libraries, encoder_libraries());
        return 77;
    }
    struct renderer_desc desc = renderer_desc_default;
    struct renderer *r = NULL;
    desc.backend = "cpu";
    if (renderer_open(&desc, &r))
        return 1;
    for (int i = 0; i < count; i++) {
        char hash[17] = "";
        bool drawn = file_hash(r, queries[i], hash);
        if (update)
            memcpy(hashes[i], hash, sizeof hash);
        if (drawn && !strcmp(hash, hashes[i]))
            passed++;
        else
            printf("FAIL %s: %s, expected %s\n", queries[i], hash, hashes[i]);
    }
    renderer_close(r);
    if (update && (f = fopen(path, "w"))) {
        fprintf(f, "# %s\n", encoder_libraries());
        for (int i = 0; i < count; i++)
            fprintf(f, "%s\t%s\n", queries[i], hashes[i]);
        fclose(f);
    }
    printf("%d passed, %d failed\n", passed, count - passed);
    return passed == count && count > 0 ? 0 : 1;
}
