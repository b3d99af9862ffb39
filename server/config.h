/* The settings of the process, from the command line, the environment and the table config.def. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define CONFIG_LISTEN_MAX      16 /* --listen given more often than this is a mistake */
#define CONFIG_TEXT_BYTES      256
#define CONFIG_LONG_TEXT_BYTES 2048 /* eight keys, sixty networks */

/* After config_read() each field is within the range of its row in config.def. Texts are NUL-terminated, and
 * none has control characters, quotes or backslashes: they fit into every env file as they are. */
struct config {
    struct config_listen {
        int count;
        char text[CONFIG_LISTEN_MAX][CONFIG_TEXT_BYTES]; /* HOST:PORT or unix:/path */
    } listen;
    bool listen_given; /* by a flag or the environment: `listen` is not the default */
    char backend[CONFIG_TEXT_BYTES];
    char cpu_mask[CONFIG_TEXT_BYTES];
    char log_level[CONFIG_TEXT_BYTES];
    int64_t http_threads, render_threads;
    int64_t cache_memory;              /* bytes */
    char cache_dir[CONFIG_TEXT_BYTES]; /* "" = none; so below */
    int64_t cache_disk;                /* bytes */
    char redis[CONFIG_TEXT_BYTES];     /* URL, maybe with a password: never to be shown */
    int64_t redis_timeout;             /* ms */
    int64_t redis_ttl;                 /* seconds */
    int64_t connections_per_address;
    int64_t queue_seconds;
    int64_t client_share;                       /* percent */
    char trusted_proxy[CONFIG_LONG_TEXT_BYTES]; /* what forwarded_proxies_parse() takes */
    char sign_keys[CONFIG_LONG_TEXT_BYTES];     /* what sign_keys_parse() takes: never to be shown */
    char log_format[CONFIG_TEXT_BYTES], log_requests[CONFIG_TEXT_BYTES];
    struct config_listen metrics_listen; /* count 0 = none */
    char sandbox[CONFIG_TEXT_BYTES];
    int64_t idle_seconds, request_seconds, drain_seconds;
};

enum config_outcome {
    CONFIG_RUN,   /* go on */
    CONFIG_DONE,  /* --help, --version or --print-config was answered: end with 0 */
    CONFIG_WRONG, /* a setting is wrong and `complaints` says which: end with 2 */
};

/* Reads defaults, then environment, then argv. A variable that is empty counts as not set. `out` gets what
 * --help and the like print, `complaints` one line that names the wrong setting. Neither ever gets a key or a
 * password. `environment` stands for getenv(), so that tests can give their own. Threads: one. */
enum config_outcome config_read(int argc, char *const *argv, const char *(*environment)(const char *name),
                                FILE *out, FILE *complaints, struct config *ret_config);

/* Writes what row `i` of config.def allows: "one of a|b", "a whole number from 1 to 64", ... NUL-terminated.
 */
#define CONFIG_ALLOWED_BYTES 192
void config_allowed(int i, char ret_text[CONFIG_ALLOWED_BYTES]);

/* Whether a setting has this environment variable. If not, *ret_nearest is the one that was probably meant,
 * or NULL. `name` need not be terminated. */
bool config_variable_known(const char *name, size_t len, const char **ret_nearest);

/* Cuts HOST:PORT or [HOST]:PORT in two, or takes the path of unix:/path. False when it is none of them, the
 * port is not 0..65535, or the path is not absolute or longer than the kernel takes. */
#define CONFIG_HOST_BYTES 240
#define CONFIG_PATH_BYTES 108 /* sizeof(sun_path) */
struct config_address {
    char host[CONFIG_HOST_BYTES]; /* "" for a unix socket */
    char port[8];                 /* likewise */
    char path[CONFIG_PATH_BYTES]; /* "" else */
};
bool config_address_parse(const char *text, struct config_address *ret_address);
