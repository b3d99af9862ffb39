/* processors.c -- how many processors this process may use.
 *
 * A container with two CPUs on a host with 64 sees 64 in its affinity mask: the limit is a quota of its
 * control group. With more threads than that, all of them are throttled at once for the rest of each period,
 * and latency jumps. Groups are nested, and each level may have its own quota. /proc/self/cgroup names the
 * group, /proc/self/mountinfo says where its hierarchy is mounted, and from which group on it is visible.
 * Both versions may be there at once. Threads: any. */
#define _GNU_SOURCE /* sched_getaffinity(), CPU_ALLOC() */
#include "server/processors.h"

#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_BYTES     4096
#define LINE_BYTES     8192  /* of mountinfo: two paths and options */
#define AFFINITY_MOST  65536 /* processors; the kernel's own limit is lower */
#define MOUNTINFO_ROOT 3     /* field numbers, see proc(5) */
#define MOUNTINFO_AT   4

/* A hierarchy of groups. */
struct hierarchy {
    bool v2;
    char group[PATH_BYTES]; /* of this process, as /proc/self/cgroup names it */
    char root[PATH_BYTES];  /* the group that is mounted */
    char at[PATH_BYTES];    /* where */
};

static FILE *file_open(const char *root, const char *path)
{
    char whole[3 * PATH_BYTES];
    int n = snprintf(whole, sizeof(whole), "%s%s", root, path);
    return n > 0 && (size_t)n < sizeof(whole) ? fopen(whole, "re") : NULL;
}

static bool word_in_list(const char *list, const char *word)
{
    size_t len = strlen(word);
    while (*list) {
        size_t n = strcspn(list, ",");
        if (n == len && memcmp(list, word, len) == 0)
            return true;
        list += n + (list[n] == ',');
    }
    return false;
}

static bool text_keep(const char *text, char ret_copy[PATH_BYTES])
{
    size_t len = strlen(text);
    if (len >= PATH_BYTES)
        return false;
    memcpy(ret_copy, text, len + 1);
    return true;
}

/* Finds the line "N:controllers:group" of this process. */
static bool group_find(const char *root, struct hierarchy *h)
{
    char line[LINE_BYTES];
    bool found = false;
    FILE *f = file_open(root, "/proc/self/cgroup");
    while (f && !found && fgets(line, sizeof(line), f)) {
        char *controllers = strchr(line, ':');
        char *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group)
            continue;
        *controllers++ = '\0';
        *group++ = '\0';
        group[strcspn(group, "\n")] = '\0';
        bool fits = h->v2 ? strcmp(line, "0") == 0 && *controllers == '\0' : word_in_list(controllers, "cpu");
        found = fits && group[0] == '/' && text_keep(group, h->group);
    }
    if (f)
        fclose(f);
    return found;
}

/* Blanks and the like in a path are written as \ooo. */
static void octal_decode(char *text)
{
    char *to = text;
    for (const char *p = text; *p; to++) {
        if (p[0] == '\\' && strspn(p + 1, "01234567") >= 3) {
            *to = (char)((p[1] - '0') * 64 + (p[2] - '0') * 8 + (p[3] - '0'));
            p += 4;
        } else {
            *to = *p++;
        }
    }
    *to = '\0';
}

/* Finds where the hierarchy is mounted. */
static bool mount_find(const char *root, struct hierarchy *h)
{
    char line[LINE_BYTES];
    bool found = false;
    FILE *f = file_open(root, "/proc/self/mountinfo");
    while (f && !found && fgets(line, sizeof(line), f)) {
        line[strcspn(line, "\n")] = '\0';
        char *kind = strstr(line, " - "), *rest = NULL;
        const char *fields[MOUNTINFO_AT + 1] = {NULL};
        if (!kind)
            continue;
        *kind = '\0';
        kind = strtok_r(kind + 3, " ", &rest);
        const char *device = strtok_r(NULL, " ", &rest), *options = strtok_r(NULL, " ", &rest);
        if (!kind || !device || strcmp(kind, h->v2 ? "cgroup2" : "cgroup") != 0 ||
            (!h->v2 && !(options && word_in_list(options, "cpu"))))
            continue;
        rest = NULL;
        for (int i = 0; i <= MOUNTINFO_AT; i++) {
            char *field = strtok_r(i ? NULL : line, " ", &rest);
            if (field && i >= MOUNTINFO_ROOT)
                octal_decode(field);
            fields[i] = field;
        }
        found = fields[MOUNTINFO_AT] && text_keep(fields[MOUNTINFO_ROOT], h->root) &&
                text_keep(fields[MOUNTINFO_AT], h->at);
    }
    if (f)
        fclose(f);
    return found;
}

/* Reads one number, or -1 when there is none. */
static int64_t number_read(const char **text)
{
    char *end;
    if (**text < '0' || **text > '9')
        return -1;
    long long n = strtoll(*text, &end, 10);
    if (*end && *end != ' ' && *end != '\n')
        return -1;
    *text = end + strspn(end, " ");
    return n;
}

static bool line_read(const char *root, const char *folder, const char *name, char *ret_line, int room)
{
    char path[2 * PATH_BYTES + 32];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *f = file_open(root, path);
    bool ok = f && fgets(ret_line, room, f);
    if (f)
        fclose(f);
    return ok;
}

/* The quota of one group, in processors, rounded up; 0 = none. */
static int quota_read(const char *root, const char *folder, bool v2)
{
    char text[64], period_text[64];
    const char *at = text, *period_at = period_text;
    int64_t quota, period;
    if (!line_read(root, folder, v2 ? "cpu.max" : "cpu.cfs_quota_us", text, sizeof(text)))
        return 0;
    quota = number_read(&at); /* "max" and -1 are none */
    if (v2)
        period = quota < 0 ? -1 : number_read(&at);
    else if (line_read(root, folder, "cpu.cfs_period_us", period_text, sizeof(period_text)))
        period = number_read(&period_at);
    else
        period = -1;
    if (quota <= 0 || period <= 0)
        return 0;
    int64_t n = quota / period + (quota % period != 0);
    return n > INT_MAX ? INT_MAX : (int)n;
}

/* The part of the group's path that lies below the mount: "" when the mount shows the group itself, or
 * doesn't show where it is (another namespace). */
static const char *group_below(const struct hierarchy *h)
{
    size_t len = strcmp(h->root, "/") == 0 ? 0 : strlen(h->root);
    if (strncmp(h->group, h->root, len) != 0 || h->group[len] != '/' || strstr(h->group, "/.."))
        return "";
    return h->group + len;
}

static int hierarchy_quota(const char *root, bool v2)
{
    struct hierarchy h = {.v2 = v2};
    char folder[2 * PATH_BYTES];
    int least = 0;
    if (!group_find(root, &h) || !mount_find(root, &h))
        return 0;
    size_t shortest = strlen(h.at);
    size_t len = (size_t)snprintf(folder, sizeof(folder), "%s%s", h.at, group_below(&h));
    if (len >= PATH_BYTES)
        return 0;
    for (;;) {
        int quota = quota_read(root, folder, v2);
        if (quota && (!least || quota < least))
            least = quota;
        while (len > shortest && folder[len - 1] != '/') /* up to the group above */
            len--;
        if (len <= shortest)
            return least;
        folder[--len] = '\0';
    }
}

int processors_quota(const char *root)
{
    int v1 = hierarchy_quota(root, false), v2 = hierarchy_quota(root, true);
    return !v1 ? v2 : !v2 ? v1 : v1 < v2 ? v1 : v2;
}

static int affinity(void)
{
    for (int most = 1024; most <= AFFINITY_MOST; most *= 2) { /* too small a mask is an error */
        cpu_set_t *set = CPU_ALLOC((size_t)most);
        size_t bytes = CPU_ALLOC_SIZE((size_t)most);
        int n = set && sched_getaffinity(0, bytes, set) == 0 ? CPU_COUNT_S(bytes, set) : 0;
        CPU_FREE(set);
        if (n > 0)
            return n;
    }
    return 1;
}

int processors_usable(const char *root)
{
    int quota = processors_quota(root), most = affinity();
    return quota && quota < most ? quota : most;
}
