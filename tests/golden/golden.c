/* golden.c -- draws each request of golden.tsv and compares the hash of its pixels with the one that stands
 * there. usage: golden [-b BACKEND] [-m CPU_MASK] [-u] FILE Without -u the file is only read. With -u it is
 * written anew with the hashes that this run gives: only do that with a reason, and say it in the commit.
 * Links no library but EGL and GLES, so it runs on any machine that a build can be carried to. Last line: "N
 * passed, N failed". */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xxhash.h>

#include "api/key.h"
#include "api/request.h"
#include "renderer/renderer.h"

#define LINES_MAX 2000
#define SKIPPED   77 /* no such backend on this machine */

struct line {
    char query[KEY_MAX_BYTES];
    char hash[17];
};

/* Side, frames, then RGBA of every pixel: what a decoder would see, whatever the order of the palette. */
static uint64_t pixels_hash(const struct frame_set *f)
{
    size_t count = (size_t)f->side * (size_t)f->side;
    uint32_t *rgba = malloc(count * sizeof *rgba);
    XXH3_state_t *state = XXH3_createState();
    const int head[2] = {f->side, f->frames};
    if (!rgba || !state)
        exit(1);
    XXH3_64bits_reset(state);
    XXH3_64bits_update(state, head, sizeof head);
    for (int frame = 0; frame < f->frames; frame++) {
        for (size_t i = 0; i < count; i++)
            rgba[i] = f->colors[f->index[(size_t)frame * count + i]];
        XXH3_64bits_update(state, rgba, count * sizeof *rgba);
    }
    uint64_t hash = XXH3_64bits_digest(state);
    XXH3_freeState(state);
    free(rgba);
    return hash;
}

/* The hash as text; false, with the reason printed, when the request can't be drawn. */
static bool hash_of(struct renderer *r, const char *query, char ret_hash[17])
{
    struct request req;
    struct request_fault fault = {0};
    struct frame_set set;
    request_init(&req);
    enum err err = request_set_query(&req, query, strlen(query), &fault);
    if (!err)
        err = request_finish(&req, &fault);
    if (!err)
        err = renderer_draw(r, &req.planet, NULL, &set);
    if (err) {
        printf("FAIL %s: %s %s\n", query, err_words(err), fault.detail);
        return false;
    }
    snprintf(ret_hash, 17, "%016" PRIx64, pixels_hash(&set));
    frame_set_finish(&set);
    return true;
}

static int read_lines(const char *path, struct line *lines)
{
    FILE *f = fopen(path, "r");
    char text[KEY_MAX_BYTES + 64];
    int count = 0;
    if (!f) {
        perror(path);
        exit(2);
    }
    while (count < LINES_MAX && fgets(text, sizeof text, f)) {
        struct line *l = &lines[count];
        l->hash[0] = '\0';
        if (text[0] != '#' && sscanf(text, "%2047s %16s", l->query, l->hash) >= 1)
            count++;
    }
    fclose(f);
    return count;
}

static void write_lines(const char *path, const struct line *lines, int count)
{
    FILE *f = fopen(path, "w");
    if (!f) {
        perror(path);
        exit(2);
    }
    fprintf(f, "# request<TAB>XXH3 of side, frames and RGBA pixels; see golden.c. Revision %d.\n",
            RENDERER_REVISION);
    for (int i = 0; i < count; i++)
        fprintf(f, "%s\t%s\n", lines[i].query, lines[i].hash);
    fclose(f);
}

static void say(void *ctx, const char *sentence)
{
    (void)ctx;
    printf("# %s\n", sentence);
}

int main(int argc, char **argv)
{
    struct renderer_desc desc = renderer_desc_default;
    bool update = false;
    desc.backend = "cpu";
    desc.note = say;
    for (int c; (c = getopt(argc, argv, "b:m:u")) != -1;) {
        switch (c) {
        case 'b':
            desc.backend = optarg;
            break;
        case 'm':
            desc.cpu_mask = optarg;
            break;
        case 'u':
            update = true;
            break;
        default:
            return 2;
        }
    }
    if (optind + 1 != argc)
        return 2;
    struct line *lines = calloc(LINES_MAX, sizeof *lines);
    int count = read_lines(argv[optind], lines), passed = 0;
    struct renderer *r = NULL;
    enum err err = renderer_open(&desc, &r);
    if (err) {
        printf("%s %s %s: %s\n", err == ERR_SELF_TEST ? "FAIL" : "SKIP", desc.backend, desc.cpu_mask,
               err_words(err));
        free(lines);
        return err == ERR_SELF_TEST ? 1 : SKIPPED;
    }
    for (int i = 0; i < count; i++) {
        char hash[17] = "";
        if (!hash_of(r, lines[i].query, hash))
            continue;
        if (update)
            memcpy(lines[i].hash, hash, sizeof hash);
        if (!strcmp(hash, lines[i].hash))
            passed++;
        else
            printf("FAIL %s: %s, expected %s\n", lines[i].query, hash, lines[i].hash);
    }
    if (update)
        write_lines(argv[optind], lines, count);
    renderer_close(r);
    free(lines);
    printf("%d passed, %d failed\n", passed, count - passed);
    return passed == count && count > 0 ? 0 : 1;
}
