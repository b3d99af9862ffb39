/* config.c -- settings from flags, environment and defaults.
 *
 * One table (config.def) declares them all; every function here walks it. --print-config writes lines that
 * systemd's EnvironmentFile= and `docker run --env-file` take as they are. These two disagree about quotes
 * and backslashes, so no setting may have them. What holds a secret is neither printed nor repeated when it
 * is wrong. Nothing is kept: the caller owns the result. Threads: one, at the start. */
#include "server/config.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/describe.h"
#include "api/sign.h"
#include "api/text.h"
#include "renderer/base/attr.h"
#include "renderer/base/blob.h"
#include "server/forwarded.h"
#include "server/processors.h"
#include "server/store_redis.h"

enum kind {
    KIND_LISTEN,
    KIND_CHOICE,
    KIND_COUNT,
    KIND_BYTES,
    KIND_TEXT,
    KIND_REDIS,
    KIND_PROXIES,
    KIND_KEYS
};

struct setting {
    enum kind kind;
    size_t offset; /* of the field in struct config */
    const char *flag, *variable, *standard;
    int64_t least, most;
    const char *words, *help;
};

static const struct setting settings[] = {
#define SETTING(kind, field, flag, variable, standard, least, most, words, help)                             \
    {KIND_##kind, offsetof(struct config, field), flag, variable, standard, least, most, words, help},
#include "server/config.def"
#undef SETTING
};

bool config_address_parse(const char *text, struct config_address *ret_address)
{
    const char *colon = strrchr(text, ':');
    const char *host = text, *host_end = colon;
    struct config_address address = {.path = ""};
    if (strncmp(text, "unix:", 5) == 0) {
        size_t path_len = strlen(text + 5);
        if (text[5] != '/' || path_len >= sizeof(address.path))
            return false;
        memcpy(address.path, text + 5, path_len + 1);
        *ret_address = address;
        return true;
    }
    if (!colon)
        return false;
    if (text[0] == '[') {
        host = text + 1;
        host_end = strchr(text, ']');
        if (!host_end || host_end + 1 != colon)
            return false;
    } else if (memchr(text, ':', (size_t)(colon - text))) {
        return false; /* IPv6 without brackets: which colon ends the host? */
    }
    size_t host_len = (size_t)(host_end - host), port_len = strlen(colon + 1);
    if (host_len == 0 || host_len >= CONFIG_HOST_BYTES || port_len == 0 || port_len > 5)
        return false;
    if (strspn(colon + 1, "0123456789") != port_len || atoi(colon + 1) > 65535)
        return false;
    memcpy(address.host, host, host_len);
    memcpy(address.port, colon + 1, port_len + 1);
    *ret_address = address;
    return true;
}

/* What can be wrong with a value. */
enum flaw {
    FLAW_NONE,
    FLAW_KIND,      /* not what the setting allows */
    FLAW_CHARACTER, /* one that no setting may have */
    FLAW_LONG,
    FLAW_TWICE, /* an address that is there already */
    FLAW_MANY   /* an address too many */
};

/* Whether a value can stand in an env file of systemd and of docker as it is. */
static bool text_plain(const char *text)
{
    size_t len = strlen(text);
    for (const char *p = text; *p; p++)
        if ((unsigned char)*p < ' ' || strchr("\"'\\\177", *p))
            return false;
    return len == 0 || (text[0] != ' ' && text[len - 1] != ' ' && text_is_utf8(text, len));
}

/* Whether the list has this address. Port 0 is another port each time. */
static bool listen_has(const struct config_listen *list, const struct config_address *address)
{
    for (int i = 0; i < list->count; i++) {
        struct config_address other;
        if (!config_address_parse(list->text[i], &other) || strcmp(other.path, address->path) != 0)
            continue;
        if (other.path[0] || (strcasecmp(other.host, address->host) == 0 &&
                              atoi(other.port) == atoi(address->port) && atoi(other.port) != 0))
            return true;
    }
    return false;
}

/* Adds one address or several with commas. */
static enum flaw listen_add(struct config_listen *list, const char *text)
{
    while (*text) {
        size_t len = strcspn(text, ",");
        struct config_address address;
        char copy[CONFIG_TEXT_BYTES];
        if (len >= sizeof(copy))
            return FLAW_KIND;
        memcpy(copy, text, len);
        copy[len] = '\0';
        if (!config_address_parse(copy, &address))
            return FLAW_KIND;
        if (listen_has(list, &address))
            return FLAW_TWICE;
        if (list->count == CONFIG_LISTEN_MAX)
            return FLAW_MANY;
        memcpy(list->text[list->count++], copy, len + 1);
        text += len;
        if (*text == ',')
            text++;
    }
    return FLAW_NONE;
}

static bool word_in(const char *words, const char *word)
{
    for (;;) {
        size_t len = strcspn(words, "|");
        if (strlen(word) == len && memcmp(word, words, len) == 0)
            return true;
        if (words[len] == '\0')
            return false;
        words += len + 1;
    }
}

static bool number_parse(const struct setting *s, const char *text, int64_t *ret_number)
{
    char *end;
    if (text[0] < '0' || text[0] > '9')
        return false; /* strtoll would take blanks and signs */
    errno = 0;
    long long n = strtoll(text, &end, 10);
    int shift = 0;
    if (s->kind == KIND_BYTES && *end != '\0') {
        const char *units = "KMGkmg", *unit = strchr(units, *end);
        if (!unit)
            return false;
        shift = 10 * (int)((unit - units) % 3 + 1);
        end++;
    }
    if (errno || *end || n < 0 || n > (s->most >> shift))
        return false;
    n <<= shift;
    if (n < s->least)
        return false;
    *ret_number = n;
    return true;
}

static bool follows_processors(const struct setting *s)
{
    return strcmp(s->standard, "processors") == 0;
}

static bool is_secret(const struct setting *s)
{
    return s->kind == KIND_KEYS || s->kind == KIND_REDIS;
}

static size_t text_room(const struct setting *s)
{
    return s->kind == KIND_PROXIES || s->kind == KIND_KEYS ? CONFIG_LONG_TEXT_BYTES : CONFIG_TEXT_BYTES;
}

static bool text_valid(enum kind kind, const char *text)
{
    struct forwarded_proxies proxies = {0};
    struct sign_keys keys;
    bool valid = true;
    if (kind == KIND_REDIS)
        valid = *text == '\0' || store_redis_url_valid(text);
    else if (kind == KIND_PROXIES)
        valid = forwarded_proxies_parse(text, &proxies);
    else if (kind == KIND_KEYS)
        valid = sign_keys_parse(text, &keys);
    if (kind == KIND_KEYS)
        explicit_bzero(&keys, sizeof(keys));
    return valid;
}

/* Writes a text, or adds it to a list behind a comma. */
static enum flaw text_set(const struct setting *s, const char *text, bool adds, char *field)
{
    char whole[CONFIG_LONG_TEXT_BYTES];
    const char *before = adds && *field && *text ? field : "";
    int n = snprintf(whole, sizeof(whole), "%s%s%s", before, *before ? "," : "", text);
    if (n < 0 || (size_t)n >= text_room(s))
        return FLAW_LONG;
    if (!text_valid(s->kind, text) || !text_valid(s->kind, whole))
        return FLAW_KIND;
    memcpy(field, whole, (size_t)n + 1);
    return FLAW_NONE;
}

/* Writes `text` to the setting's field. `fresh` empties a list first. */
static enum flaw setting_set(const struct setting *s, const char *text, bool fresh, struct config *c)
{
    void *field = (char *)c + s->offset;
    if (!text_plain(text))
        return FLAW_CHARACTER;
    switch (s->kind) {
    case KIND_LISTEN:
        if (fresh)
            ((struct config_listen *)field)->count = 0;
        if (!*text && *s->standard)
            return FLAW_KIND; /* a service that listens nowhere */
        return listen_add(field, text);
    case KIND_CHOICE:
        if (!word_in(s->words, text))
            return FLAW_KIND;
        memcpy(field, text, strlen(text) + 1);
        return FLAW_NONE;
    case KIND_COUNT:
        if (follows_processors(s) && strcmp(text, s->standard) == 0) {
            int64_t n = processors_usable("");
            *(int64_t *)field = n > s->most ? s->most : n;
            return FLAW_NONE;
        }
        return number_parse(s, text, field) ? FLAW_NONE : FLAW_KIND;
    case KIND_BYTES:
        return number_parse(s, text, field) ? FLAW_NONE : FLAW_KIND;
    case KIND_TEXT:
    case KIND_REDIS:
        return text_set(s, text, false, field);
    case KIND_PROXIES:
    case KIND_KEYS:
        return text_set(s, text, !fresh, field);
    }
    return FLAW_KIND;
}

void config_allowed(int i, char ret_text[CONFIG_ALLOWED_BYTES])
{
    const struct setting *s = &settings[i];
    const char *words = s->words ? s->words : "";
    switch (s->kind) {
    case KIND_LISTEN:
        snprintf(ret_text, CONFIG_ALLOWED_BYTES,
                 "HOST:PORT, such as 127.0.0.1:8080 or [::1]:8080, or unix:/path of at most %d bytes%s",
                 CONFIG_PATH_BYTES - 1, s->standard[0] ? "" : "; empty = none");
        return;
    case KIND_CHOICE:
        snprintf(ret_text, CONFIG_ALLOWED_BYTES, "one of %s", words[0] == '|' ? words + 1 : words);
        return;
    case KIND_COUNT:
        snprintf(ret_text, CONFIG_ALLOWED_BYTES, "a whole number from %lld to %lld%s", (long long)s->least,
                 (long long)s->most, follows_processors(s) ? ", or the word processors" : "");
        return;
    case KIND_BYTES:
        snprintf(ret_text, CONFIG_ALLOWED_BYTES,
                 "a whole number from %lld to %lldG, in bytes or with K, M or G (1024, 1024^2, 1024^3)",
                 (long long)s->least, (long long)s->most >> 30);
        return;
    case KIND_TEXT:
        snprintf(ret_text, CONFIG_ALLOWED_BYTES, "a text of at most %d bytes", CONFIG_TEXT_BYTES - 1);
        return;
    case KIND_REDIS:
        snprintf(ret_text, CONFIG_ALLOWED_BYTES,
                 "redis://[user[:password]@]host[:port][/database] or unix:///path");
        return;
    case KIND_PROXIES:
        snprintf(ret_text, CONFIG_ALLOWED_BYTES,
                 "up to %d addresses, networks such as 10.0.0.0/8 or fd00::/8, or the word unix, with commas "
                 "between",
                 FORWARDED_PROXIES_MAX);
        return;
    case KIND_KEYS:
        snprintf(ret_text, CONFIG_ALLOWED_BYTES,
                 "up to %d keys of %d to %d bytes as hex digits, with commas between", SIGN_KEYS_MAX,
                 SIGN_KEY_MIN_BYTES, SIGN_KEY_MAX_BYTES);
        return;
    }
}

bool config_variable_known(const char *name, size_t len, const char **ret_nearest)
{
    const size_t prefix = sizeof("PLANETD_") - 1; /* all have it, so it says nothing */
    size_t own = len > prefix ? len - prefix : 0;
    int best = 1 + (int)own / 3; /* more slips than that is another word */
    *ret_nearest = NULL;
    for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
        const char *known = settings[i].variable;
        if (strlen(known) == len && memcmp(known, name, len) == 0)
            return true;
        if (own == 0 || own > TEXT_DISTANCE_MAX)
            continue;
        int distance = text_distance(name + prefix, own, known + prefix, strlen(known + prefix));
        if (distance < best || (distance == best && !*ret_nearest)) {
            best = distance;
            *ret_nearest = known;
        }
    }
    return false;
}

/* Writes a client's or user's text so that a terminal survives it. */
static void put_quoted(FILE *to, const char *text, size_t len)
{
    fputc('\'', to);
    for (size_t i = 0; i < len && i < 100 && text[i]; i++)
        fputc((unsigned char)text[i] < 32 || text[i] == 127 ? '?' : text[i], to);
    fputc('\'', to);
}

static void complain(FILE *to, const struct setting *s, const char *where, const char *text, enum flaw flaw)
{
    char allowed[CONFIG_ALLOWED_BYTES];
    fprintf(to, "planetd: %s: ", where);
    if (is_secret(s))
        fputs("the value (not shown)", to);
    else
        put_quoted(to, text, strlen(text));
    switch (flaw) {
    case FLAW_NONE:
    case FLAW_KIND:
        config_allowed((int)(s - settings), allowed);
        fprintf(to, " is not %s\n", allowed);
        return;
    case FLAW_CHARACTER:
        fputs(" has a control character, a quote, a backslash, a blank at an end, or is not UTF-8\n", to);
        return;
    case FLAW_LONG:
        fprintf(to, " is too long; %zu bytes fit\n", text_room(s) - 1);
        return;
    case FLAW_TWICE:
        fprintf(to, " %s\n", strchr(text, ',') ? "has an address that is given twice" : "is given twice");
        return;
    case FLAW_MANY:
        fprintf(to, " is too much; %d addresses can be listened on\n", CONFIG_LISTEN_MAX);
        return;
    }
}

/* What --help puts behind a flag. */
static const char *placeholder(const struct setting *s)
{
    switch (s->kind) {
    case KIND_LISTEN:
        return "HOST:PORT|unix:/PATH";
    case KIND_CHOICE:
        return s->words[0] == '|' ? s->words + 1 : s->words;
    case KIND_COUNT:
        return "N";
    case KIND_BYTES:
        return "BYTES";
    case KIND_TEXT:
        return "TEXT";
    case KIND_REDIS:
        return "URL";
    case KIND_PROXIES:
        return "NETWORKS";
    case KIND_KEYS:
        return "KEYS";
    }
    return "";
}

static void print_help(FILE *out)
{
    fputs("planetd draws procedural planets over HTTP.\n\nusage: planetd [--flag value]...\n\n", out);
    for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
        const struct setting *s = &settings[i];
        char allowed[CONFIG_ALLOWED_BYTES];
        fprintf(out, "  --%s %s\n      %s\n", s->flag, placeholder(s), s->help);
        config_allowed((int)i, allowed);
        if (s->kind != KIND_CHOICE) /* there the flag says it */
            fprintf(out, "      %s\n", allowed);
        fprintf(out, "      default: %s, environment: %s\n", s->standard[0] ? s->standard : "empty",
                s->variable);
    }
    fputs("  --print-config\n      writes the settings in force and ends\n"
          "  --version\n      writes name, version, revision and libraries and ends\n"
          "  --help, -h\n      writes this and ends\n",
          out);
}

/* A URL with a password is shown without it, as a comment: a line that was loaded would lack it. A login
 * stands between
 * "://" and the last '@' before the path, whatever the scheme. */
static void print_redis(FILE *out, const struct setting *s, const char *url)
{
    const char *user = strstr(url, "://");
    user = user ? user + 3 : url;
    const char *at = memrchr(user, '@', strcspn(user, "/"));
    if (!at) {
        fprintf(out, "%s=%s\n", s->variable, url);
        return;
    }
    size_t user_len = strcspn(user, ":@");
    if (user[user_len] == '@') /* just one word: some mean a password by it */
        user_len = 0;
    fprintf(out, "# %s=%.*s%.*s%s***%s has a password that is not shown\n", s->variable, (int)(user - url),
            url, (int)user_len, user, user_len ? ":" : "", at);
}

static void print_config(FILE *out, const struct config *c)
{
    for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
        const struct setting *s = &settings[i];
        const void *field = (const char *)c + s->offset;
        const struct config_listen *list = field;
        switch (s->kind) {
        case KIND_LISTEN:
            fprintf(out, "%s=", s->variable);
            for (int k = 0; k < list->count; k++)
                fprintf(out, "%s%s", k ? "," : "", list->text[k]);
            fputc('\n', out);
            break;
        case KIND_COUNT:
        case KIND_BYTES:
            fprintf(out, "%s=%lld\n", s->variable, (long long)*(const int64_t *)field);
            break;
        case KIND_CHOICE:
        case KIND_TEXT:
        case KIND_PROXIES:
            fprintf(out, "%s=%s\n", s->variable, (const char *)field);
            break;
        case KIND_REDIS:
            print_redis(out, s, field);
            break;
        case KIND_KEYS:
            fprintf(out, *(const char *)field ? "# %s is set and not shown\n" : "%s=\n", s->variable);
            break;
        }
    }
}

static enum config_outcome print_version(FILE *out)
{
    struct blob text = {0};
    if (describe_version(&text))
        return CONFIG_WRONG;
    fwrite(text.data, 1, text.len, out);
    fputc('\n', out);
    blob_free(&text);
    return CONFIG_DONE;
}

static bool read_defaults(struct config *c)
{
    for (size_t i = 0; i < ARRAY_LEN(settings); i++)
        if (setting_set(&settings[i], settings[i].standard, true, c))
            return false;
    return true;
}

static const struct setting *setting_find(const char *flag, size_t len)
{
    for (size_t i = 0; i < ARRAY_LEN(settings); i++)
        if (strlen(settings[i].flag) == len && memcmp(settings[i].flag, flag, len) == 0)
            return &settings[i];
    return NULL;
}

/* Reads `--flag value` or `--flag=value` at argv[*at] and moves *at to its last word. */
static enum config_outcome read_flag(int argc, char *const *argv, int *at, bool *seen, FILE *complaints,
                                     struct config *c)
{
    const char *word = argv[*at];
    const struct setting *s = NULL;
    size_t len = strncmp(word, "--", 2) ? 0 : strcspn(word + 2, "=");
    if (len)
        s = setting_find(word + 2, len);
    if (!s && word[0] != '-') { /* it may be the second half of a secret */
        fprintf(complaints, "planetd: argument %d is no flag (they begin with --) and no value of one\n",
                *at);
        return CONFIG_WRONG;
    }
    if (!s) {
        fputs("planetd: there is no flag ", complaints);
        put_quoted(complaints, word, strcspn(word, "="));
        fputs("; --help lists them\n", complaints);
        return CONFIG_WRONG;
    }
    const char *text = word[2 + len] == '=' ? word + 3 + len : NULL;
    if (!text) {
        if (*at + 1 >= argc) {
            fprintf(complaints, "planetd: --%s needs a value\n", s->flag);
            return CONFIG_WRONG;
        }
        text = argv[++*at];
    }
    bool *before = &seen[s - settings];
    enum flaw flaw = setting_set(s, text, !*before, c);
    if (flaw) {
        char where[64];
        snprintf(where, sizeof(where), "--%s", s->flag);
        complain(complaints, s, where, text, flaw);
        return CONFIG_WRONG;
    }
    *before = true;
    c->listen_given = c->listen_given || s->offset == offsetof(struct config, listen);
    return CONFIG_RUN;
}

enum config_outcome config_read(int argc, char *const *argv, const char *(*environment)(const char *name),
                                FILE *out, FILE *complaints, struct config *ret_config)
{
    struct config c = {0};
    bool seen[ARRAY_LEN(settings)] = {false}, print = false;
    if (!read_defaults(&c)) {
        fputs("planetd: a default of config.def is wrong\n", complaints);
        return CONFIG_WRONG;
    }
    for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
        const char *text = environment(settings[i].variable);
        enum flaw flaw = text && *text ? setting_set(&settings[i], text, true, &c) : FLAW_NONE;
        if (flaw) {
            complain(complaints, &settings[i], settings[i].variable, text, flaw);
            return CONFIG_WRONG;
        }
        if (text && *text && settings[i].offset == offsetof(struct config, listen))
            c.listen_given = true;
    }
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            print_help(out);
            return CONFIG_DONE;
        }
        if (strcmp(argv[i], "--version") == 0)
            return print_version(out);
        if (strcmp(argv[i], "--print-config") == 0) {
            print = true;
            continue;
        }
        enum config_outcome outcome = read_flag(argc, argv, &i, seen, complaints, &c);
        if (outcome != CONFIG_RUN)
            return outcome;
    }
    if (print) {
        print_config(out, &c);
        return CONFIG_DONE;
    }
    *ret_config = c;
    return CONFIG_RUN;
}
