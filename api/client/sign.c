/* sign.c -- `planet sign`: prints each URL with its signature.
 *
 * Works without a server. The key comes from an option, a file or the environment and is never printed, not
 * even in part in a complaint. What is printed has been checked by the server's own reader. Threads: one. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/client/commands.h"
#include "api/sign.h"
#include "renderer/base/blob.h"

#define KEYS_VARIABLE  "PLANETD_SIGN_KEYS"
#define FILE_MAX_BYTES ((size_t)16 << 20) /* no body that a planetd reads is a hundredth of it */

static const char help[] =
    "usage: planet sign [OPTION]... [URL]...\n"
    "\n"
    "Prints each URL with the signature that a planetd with --sign-keys asks for, one a line.\n"
    "A URL has a scheme and a host, or is a path: /planet?type=gas&seed=3. Without any,\n"
    "they are read from standard input, one a line.\n"
    "\n"
    "  --key HEX             key of 16 to 64 bytes; other users may see it in the list of processes\n"
    "  --key-file FILE       file that holds it\n"
    "                        without either, " KEYS_VARIABLE "; of several keys the first one signs\n"
    "  --expires-in SECONDS  the URL is good for so long\n"
    "  --expires UNIX        the URL is good until then, seconds since 1970\n"
    "  --body FILE           what will be posted, byte for byte; - is standard input\n"
    "  --help                this\n";

struct job {
    struct sign_keys keys; /* one */
    uint64_t expires;
    bool has_expires;
    struct blob body;
};

static int complain(int status, const char *what, const char *about)
{
    fprintf(stderr, "planet sign: %s%s%s\n", about, *about ? ": " : "", what);
    return status;
}

/* ---- Options
 * ------------------------------------------------------------------------------------------------- */

static int read_file(const char *name, struct blob *out)
{
    bool from_stdin = !strcmp(name, "-");
    FILE *file = from_stdin ? stdin : fopen(name, "rb");
    if (!file)
        return complain(COMMAND_FAILED, strerror(errno), name);
    int status = 0;
    uint8_t part[16384];
    size_t n;
    out->max_bytes = FILE_MAX_BYTES;
    while (!status && (n = fread(part, 1, sizeof(part), file)) > 0)
        if (blob_append(out, part, n))
            status = complain(COMMAND_FAILED, "too large", name);
    if (!status && ferror(file))
        status = complain(COMMAND_FAILED, "cannot be read", name);
    if (!from_stdin)
        (void)fclose(file);
    return status;
}

/* The first key of a list. `where` names the list in a complaint, which must not hold the key. */
static int take_key(const char *text, const char *where, struct job *job)
{
    struct sign_keys keys;
    if (!sign_keys_parse(text, &keys) || !keys.count)
        return complain(COMMAND_USAGE, "a key is hex of 16 to 64 bytes, several have commas between them",
                        where);
    job->keys.keys[0] = keys.keys[0];
    job->keys.count = 1;
    return 0;
}

static int take_key_file(const char *name, struct job *job)
{
    struct blob text = {0};
    int status = read_file(name, &text);
    while (text.len && strchr(" \t\r\n", text.data[text.len - 1]))
        text.len--;
    if (!status && blob_append(&text, "", 1))
        status = complain(COMMAND_FAILED, "out of memory", name);
    if (!status)
        status = take_key((const char *)text.data, name, job);
    if (text.data)
        explicit_bzero(text.data, text.len);
    blob_free(&text);
    return status;
}

static bool whole_number(const char *text, uint64_t most, uint64_t *ret_number)
{
    size_t digits = strspn(text, "0123456789");
    if (!digits || text[digits] || digits > 16)
        return false;
    *ret_number = strtoull(text, NULL, 10);
    return *ret_number <= most;
}

static int take_expires(const char *text, bool from_now, struct job *job)
{
    uint64_t now = from_now ? (uint64_t)time(NULL) : 0, number;
    if (job->has_expires)
        return complain(COMMAND_USAGE, "only one of --expires and --expires-in", "");
    if (!whole_number(text, SIGN_EXPIRES_MAX - now, &number))
        return complain(COMMAND_USAGE, "must be a whole number of seconds up to 2^53",
                        from_now ? "--expires-in" : "--expires");
    job->has_expires = true;
    job->expires = now + number;
    return 0;
}

/* ---- One URL
 * --------------------------------------------------------------------------------------------------- */

struct parts {
    int origin_len; /* scheme and host, or nothing */
    const char *path;
    size_t path_len;
    const char *query;
    size_t query_len;
};

static const char *cut_url(const char *url, struct parts *ret_parts)
{
    struct parts p = {.path = url};
    if (strchr(url, '#'))
        return "what follows a # is never sent; as a part of a value write %23";
    const char *colon = strstr(url, "://");
    if (url[0] != '/' || url[1] == '/') {
        if (!colon || colon == url || colon > url + strcspn(url, "/?"))
            return "is neither a path, which starts with /, nor a URL, which starts with http://";
        p.path = colon + 3 + strcspn(colon + 3, "/?");
        if (p.path == colon + 3)
            return "has no host";
    }
    p.origin_len = (int)(p.path - url);
    p.path_len = strcspn(p.path, "?");
    p.query = p.path + p.path_len + (p.path[p.path_len] == '?');
    p.query_len = strlen(p.query);
    if (!p.path_len) { /* what a client then asks for */
        p.path = "/";
        p.path_len = 1;
    }
    *ret_parts = p;
    return NULL;
}

/* Adds what the server will see behind the '?'. */
static bool add_pair(struct blob *query, const char *name, const char *value)
{
    bool apart = !query->len || query->data[query->len - 1] == '&';
    return (apart || !blob_append(query, "&", 1)) && !blob_append(query, name, strlen(name)) &&
           !blob_append(query, "=", 1) && !blob_append(query, value, strlen(value));
}

static int out_of_memory(const char *url)
{
    return complain(COMMAND_FAILED, "out of memory", url);
}

static int sign_parts(const struct job *job, const char *url, const struct parts *p, struct blob *query)
{
    char end[24], signature[SIGN_TEXT_BYTES];
    uint64_t expires;
    snprintf(end, sizeof(end), "%" PRIu64, job->expires);
    if (blob_append(query, p->query, p->query_len) || (job->has_expires && !add_pair(query, "expires", end)))
        return out_of_memory(url);
    enum err err = sign_make(&job->keys.keys[0], p->path, p->path_len, (const char *)query->data, query->len,
                             job->body.data, job->body.len, signature);
    if (err == ERR_TEXT_ENCODING)
        return complain(
            COMMAND_USAGE,
            "is not what a client would send: blanks and what is not ASCII are written %XX, and a % has "
            "two hex digits behind it",
            url);
    if (err || !add_pair(query, "signature", signature))
        return out_of_memory(url);
    err = sign_check(&job->keys, p->path, p->path_len, (const char *)query->data, query->len, job->body.data,
                     job->body.len, 0, &expires);
    if (err)
        return complain(COMMAND_USAGE, "`expires` must be a whole number of seconds up to 2^53, once", url);
    printf("%.*s%.*s?%.*s\n", p->origin_len, url, (int)p->path_len, p->path, (int)query->len,
           (const char *)query->data);
    return 0;
}

static int sign_url(const struct job *job, const char *url)
{
    struct parts p;
    const char *wrong = cut_url(url, &p);
    if (wrong)
        return complain(COMMAND_USAGE, wrong, url);
    if (sign_count(p.query, p.query_len, "signature"))
        return complain(COMMAND_USAGE, "is signed already", url);
    if (job->has_expires && sign_count(p.query, p.query_len, "expires"))
        return complain(COMMAND_USAGE, "has an `expires` already", url);
    struct blob query = {0};
    int status = sign_parts(job, url, &p, &query);
    blob_free(&query);
    return status;
}

static int sign_lines(const struct job *job, FILE *from)
{
    char *line = NULL;
    size_t room = 0;
    int status = 0;
    ssize_t len;
    while (!status && (len = getline(&line, &room, from)) >= 0) {
        while (len && (line[len - 1] == '\n' || line[len - 1] == '\r'))
            line[--len] = '\0';
        if (strlen(line) != (size_t)len)
            status = complain(COMMAND_USAGE, "a line of standard input holds a NUL byte", "");
        else if (len)
            status = sign_url(job, line);
    }
    free(line);
    return status;
}

/* ---- The command
 * ----------------------------------------------------------------------------------------------- */

static int take_options(int argc, char **argv, struct job *job, const char **ret_body, bool *ret_done)
{
    static const struct option options[] = {{"key", required_argument, NULL, 'k'},
                                            {"key-file", required_argument, NULL, 'f'},
                                            {"expires-in", required_argument, NULL, 'i'},
                                            {"expires", required_argument, NULL, 'e'},
                                            {"body", required_argument, NULL, 'b'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    int option, status = 0;
    optind = 1;
    while (!status && (option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
        if ((option == 'k' || option == 'f') && job->keys.count)
            return complain(COMMAND_USAGE, "only one of --key and --key-file", "");
        switch (option) {
        case 'k':
            status = take_key(optarg, "--key", job);
            break;
        case 'f':
            status = take_key_file(optarg, job);
            break;
        case 'i':
        case 'e':
            status = take_expires(optarg, option == 'i', job);
            break;
        case 'b':
            *ret_body = optarg;
            break;
        case 'h':
            fputs(help, stdout);
            *ret_done = true;
            return 0;
        default: /* getopt has said what is wrong */
            fputs("`planet sign --help` lists the options.\n", stderr);
            return COMMAND_USAGE;
        }
    }
    return status;
}

static int run(int argc, char **argv, struct job *job)
{
    const char *body = NULL, *listed = getenv(KEYS_VARIABLE);
    bool done = false;
    int status = take_options(argc, argv, job, &body, &done);
    if (status || done)
        return status;
    if (!job->keys.count && (!listed || !*listed))
        return complain(COMMAND_USAGE, "no key: give --key-file or --key, or set " KEYS_VARIABLE, "");
    if (!job->keys.count && (status = take_key(listed, KEYS_VARIABLE, job)))
        return status;
    if (body && !strcmp(body, "-") && optind == argc)
        return complain(COMMAND_USAGE, "standard input is the body or the list of URLs, not both", "");
    if (body && (status = read_file(body, &job->body)))
        return status;
    if (optind == argc)
        status = sign_lines(job, stdin);
    for (int i = optind; i < argc && !status; i++)
        status = sign_url(job, argv[i]);
    if (fflush(stdout) || ferror(stdout))
        return complain(COMMAND_FAILED, "cannot write", "");
    return status;
}

int command_sign(int argc, char **argv)
{
    static char name[] = "planet sign";
    struct job job = {0};
    argv[0] = name; /* for getopt's complaints */
    int status = run(argc, argv, &job);
    explicit_bzero(&job.keys, sizeof(job.keys));
    blob_free(&job.body);
    return status;
}
