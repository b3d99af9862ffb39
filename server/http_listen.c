/* http_listen.c -- listening sockets.
 *
 * SO_REUSEPORT lets threads share a port without sharing a socket, so none wakes for another's client. It
 * would also let a second planetd slip onto the port and take half of the clients. So the first socket binds
 * without it, which fails if anybody listens there, and gets the option afterwards; that also settles which
 * port "any" is before the others bind.
 *
 * Unix sockets have no such option, and one that was passed on is bound already: there all threads share one
 * socket, each by a descriptor of its own. All may wake for a client, and all but one find nothing (EAGAIN).
 * The file of a unix socket outlives its process. Whether anybody is behind it is found out by connecting;
 * that and the bind are done under a lock on the folder, so that of two that start at once one loses.
 * Threads: one, at the start. */
#include "server/http_listen.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "server/http.h"
#include "server/log.h"

#define BACKLOG      1024 /* a burst of new clients must fit; the kernel's own limit is 4096 */
#define PASSED_FIRST 3    /* sd_listen_fds(3) */
#define LOCK_TRIES   100  /* of 10 ms: whoever starts holds the lock for less */
#define NOT_A_SOCKET -1   /* in place of an errno */
#define QUOTED_BYTES 512

_Static_assert(sizeof(((struct sockaddr_un *)NULL)->sun_path) == CONFIG_PATH_BYTES,
               "a path that was checked fits");

static int option_set(int fd, int level, int name)
{
    int one = 1;
    return setsockopt(fd, level, name, &one, sizeof(one));
}

static int option_get(int fd, int name)
{
    int value = -1;
    socklen_t len = sizeof(value);
    return getsockopt(fd, SOL_SOCKET, name, &value, &len) ? -1 : value;
}

static void fds_close(int *fds, int count)
{
    int why = errno;
    while (count > 0)
        close(fds[--count]);
    errno = why;
}

/* Fills the others with descriptors of fds[0]'s socket. Closes all when it fails. */
static int fds_share(int *fds, int count)
{
    for (int i = 1; i < count; i++) {
        fds[i] = fcntl(fds[0], F_DUPFD_CLOEXEC, 0);
        if (fds[i] < 0) {
            fds_close(fds, i);
            return -1;
        }
    }
    return 0;
}

static void log_failure(const char *address, int why)
{
    char quoted[QUOTED_BYTES];
    const char *reason = why == NOT_A_SOCKET ? "there is a file that is no socket" : strerror(why);
    const char *more =
        why == EADDRINUSE ? ": another process listens there, or another --listen covers it" : "";
    log_error("event=listen_failed address=%s reason=\"%s%s\"",
              log_quote(address, strlen(address), quoted, sizeof(quoted)), reason, more);
}

/* ---- TCP ---- */

/* Returns a socket bound to `at`, or -1 with errno. `shares` = SO_REUSEPORT before the bind. */
static int tcp_bound(const struct sockaddr *at, socklen_t at_len, bool shares)
{
    int fd = socket(at->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    if (option_set(fd, SOL_SOCKET, SO_REUSEADDR) ||
        (at->sa_family == AF_INET6 && option_set(fd, IPPROTO_IPV6, IPV6_V6ONLY)) ||
        (shares && option_set(fd, SOL_SOCKET, SO_REUSEPORT)) || bind(fd, at, at_len)) {
        fds_close(&fd, 1);
        return -1;
    }
    return fd;
}

/* Opens `count` sockets on one address. -1 with errno. */
static int tcp_open(const struct addrinfo *info, int count, int *fds)
{
    struct sockaddr_storage at = {0};
    socklen_t at_len = sizeof(at);
    int opened = 0;
    fds[0] = tcp_bound(info->ai_addr, info->ai_addrlen, false);
    if (fds[0] < 0)
        return -1;
    opened = 1;
    if (getsockname(fds[0], (struct sockaddr *)&at, &at_len) ||
        option_set(fds[0], SOL_SOCKET, SO_REUSEPORT) || listen(fds[0], BACKLOG))
        goto fail;
    for (; opened < count; opened++) {
        fds[opened] = tcp_bound((const struct sockaddr *)&at, at_len, true);
        if (fds[opened] < 0)
            goto fail;
        if (listen(fds[opened], BACKLOG)) {
            opened++;
            goto fail;
        }
    }
    return 0;
fail:
    fds_close(fds, opened);
    return -1;
}

/* ---- Unix sockets ---- */

/* Locks the folder of `path`, unless others hold the lock for long or it can't be had: then the bind, or
 * luck, decides. Returns its descriptor or -1. */
static int folder_lock(const char *path)
{
    char folder[CONFIG_PATH_BYTES];
    size_t len = (size_t)(strrchr(path, '/') - path);
    const struct timespec nap = {.tv_nsec = 10000000};
    snprintf(folder, sizeof(folder), "%.*s", len ? (int)len : 1, path);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; fd >= 0 && i < LOCK_TRIES && flock(fd, LOCK_EX | LOCK_NB); i++)
        nanosleep(&nap, NULL);
    return fd;
}

/* Removes a socket's file that nobody listens behind. 0 when the path is free then, else an errno. */
static int stale_remove(const struct sockaddr_un *at)
{
    struct stat s;
    if (lstat(at->sun_path, &s))
        return errno == ENOENT ? 0 : errno;
    if (!S_ISSOCK(s.st_mode))
        return NOT_A_SOCKET;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return errno;
    int why = connect(fd, (const struct sockaddr *)at, sizeof(*at)) ? errno : 0;
    close(fd);
    if (why == ECONNREFUSED)
        return unlink(at->sun_path) ? errno : 0;
    return why == 0 || why == EAGAIN || why == EPROTOTYPE ? EADDRINUSE : why;
}

/* Returns 0 or what log_failure() takes. */
static int unix_open(const char *path, int count, struct http_listener *l)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    struct stat s;
    snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
    int lock = folder_lock(path);
    int why = stale_remove(&at);
    if (why)
        goto done;
    l->fds[0] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (l->fds[0] < 0) {
        why = errno;
        goto done;
    }
    /* Nobody can connect before listen(), so the mode is right in time. */
    if (bind(l->fds[0], (const struct sockaddr *)&at, sizeof(at))) {
        why = errno;
        close(l->fds[0]);
        goto done;
    }
    if (chmod(path, 0660) || lstat(path, &s) || listen(l->fds[0], BACKLOG)) {
        why = errno;
        unlink(path);
        close(l->fds[0]);
    } else if (fds_share(l->fds, count)) {
        why = errno;
        unlink(path);
    } else {
        snprintf(l->path, sizeof(l->path), "%s", path);
        l->device = s.st_dev;
        l->inode = s.st_ino;
    }
done:
    if (lock >= 0)
        close(lock);
    return why;
}

void http_listen_unlink(struct http_listeners *listeners)
{
    for (int i = 0; i < listeners->count; i++) {
        struct http_listener *l = &listeners->all[i];
        struct stat s;
        if (l->path[0] && lstat(l->path, &s) == 0 && s.st_dev == l->device && s.st_ino == l->inode)
            unlink(l->path);
        l->path[0] = '\0';
    }
}

/* ---- Sockets that were passed on ---- */

/* What is wrong with a descriptor, or NULL. */
static const char *passed_flaw(int fd)
{
    if (option_get(fd, SO_TYPE) < 0)
        return errno == EBADF ? "it is not open" : "it is no socket";
    int domain = option_get(fd, SO_DOMAIN);
    if (option_get(fd, SO_TYPE) != SOCK_STREAM ||
        (domain != AF_INET && domain != AF_INET6 && domain != AF_UNIX))
        return "it is neither TCP nor a unix stream socket";
    return option_get(fd, SO_ACCEPTCONN) == 1 ? NULL : "it does not listen (Accept=yes can't be served)";
}

/* The number of sockets for this process; -1 when it is none. */
static int passed_count(void)
{
    const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
    char *end;
    if (!pid || !count)
        return 0;
    long number = strtol(pid, &end, 10);
    if (!*pid || *end || number <= 0)
        return -1;
    if (number != (long)getpid())
        return 0; /* a parent's, which did not clean up */
    number = strtol(count, &end, 10);
    return !*count || *end || number < 0 || number > 1000000 ? -1 : (int)number;
}

static bool name_is_metrics(const char *names, int index)
{
    while (names && index-- > 0) {
        names = strchr(names, ':');
        names = names ? names + 1 : NULL;
    }
    return names && strcspn(names, ":") == 7 && memcmp(names, "metrics", 7) == 0;
}

static enum err passed_take(int count, const char *names, struct http_listen_inherited *ret_inherited)
{
    for (int i = 0; i < count; i++) {
        int fd = PASSED_FIRST + i;
        const char *flaw = passed_flaw(fd);
        if (flaw) {
            log_error("event=listen_failed descriptor=%d reason=\"%s\" message=\"LISTEN_FDS says that it was "
                      "passed on\"",
                      fd, flaw);
            return ERR_CONFIG;
        }
        int flags = fcntl(fd, F_GETFL);
        if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) || fcntl(fd, F_SETFD, FD_CLOEXEC)) {
            log_error("event=listen_failed descriptor=%d reason=\"%s\"", fd, strerror(errno));
            return ERR_CONFIG;
        }
        ret_inherited->sockets[i] =
            (struct http_listen_passed){.fd = fd, .metrics = name_is_metrics(names, i)};
    }
    ret_inherited->count = count;
    return ERR_NONE;
}

enum err http_listen_inherit(struct http_listen_inherited *ret_inherited)
{
    struct http_listen_inherited inherited = {0};
    int count = passed_count();
    enum err err = ERR_NONE;
    if (count < 0 || count > CONFIG_LISTEN_MAX) {
        log_error(
            "event=listen_failed reason=\"LISTEN_PID or LISTEN_FDS is no number, or there are more than %d\"",
            CONFIG_LISTEN_MAX);
        err = ERR_CONFIG;
    } else {
        err = passed_take(count, getenv("LISTEN_FDNAMES"), &inherited);
    }
    unsetenv("LISTEN_PID"); /* a child would take them for its own */
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_FDNAMES");
    if (!err)
        *ret_inherited = inherited;
    return err;
}

int http_listen_inherited_count(const struct http_listen_inherited *inherited, bool metrics)
{
    int n = 0;
    for (int i = 0; inherited && i < inherited->count; i++)
        n += inherited->sockets[i].metrics == metrics;
    return n;
}

/* ---- All of them ---- */

/* The socket's own idea of its address. */
static void url_make(struct http_listener *l)
{
    union {
        struct sockaddr any;
        struct sockaddr_un local;
        struct sockaddr_storage room;
    } at = {.room = {0}};
    char host[64] = "", port[8] = "";
    socklen_t len = sizeof(at);
    if (getsockname(l->fds[0], &at.any, &len))
        len = 0;
    if (at.any.sa_family == AF_UNIX) {
        size_t head = offsetof(struct sockaddr_un, sun_path), path_len = len > head ? len - head : 0;
        snprintf(l->url, sizeof(l->url), "unix:%.*s", (int)path_len, at.local.sun_path);
        return;
    }
    getnameinfo(&at.any, len, host, sizeof(host), port, sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV);
    snprintf(l->url, sizeof(l->url), at.any.sa_family == AF_INET6 ? "http://[%s]:%s" : "http://%s:%s", host,
             port);
}

/* The next free place, or NULL when there is none. */
static struct http_listener *listener_next(struct http_listeners *all, const char *address)
{
    if (all->count < CONFIG_LISTEN_MAX)
        return &all->all[all->count];
    log_error("event=listen_failed address=\"%s\" reason=\"more than %d addresses\"", address,
              CONFIG_LISTEN_MAX);
    return NULL;
}

static void listener_done(struct http_listeners *all, const char *how)
{
    char quoted[QUOTED_BYTES], text[LISTEN_URL_BYTES + 64];
    struct http_listener *l = &all->all[all->count++];
    url_make(l);
    int n = snprintf(text, sizeof(text), "listening on %s%s", l->url, how);
    log_info("event=listening message=%s", log_quote(text, (size_t)n, quoted, sizeof(quoted)));
}

static bool address_repeated(const struct addrinfo *first, const struct addrinfo *info)
{
    for (; first != info; first = first->ai_next)
        if (first->ai_addrlen == info->ai_addrlen &&
            memcmp(first->ai_addr, info->ai_addr, info->ai_addrlen) == 0)
            return true;
    return false;
}

/* Listens on all addresses of a host. One that this machine does not have (a hosts file names ::1 where there
 * is no IPv6) is left out as long as there is another. */
static enum err host_open(const char *address, const struct config_address *parts, int threads,
                          struct http_listeners *all)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    struct addrinfo *first = NULL;
    int before = all->count, missing = 0;
    int failure = getaddrinfo(parts->host, parts->port, &hints, &first);
    if (failure) {
        log_error("event=listen_failed address=\"%s\" reason=\"%s\"", address, gai_strerror(failure));
        return ERR_IO; /* a name that is not known may be known when the network is up: worth another start */
    }
    enum err err = ERR_NONE;
    for (struct addrinfo *info = first; info && !err; info = info->ai_next) {
        if (address_repeated(first, info))
            continue;
        struct http_listener *l = listener_next(all, address);
        if (!l) {
            err = ERR_CONFIG;
        } else if (tcp_open(info, threads, l->fds) == 0) {
            listener_done(all, "");
        } else if (errno == EADDRNOTAVAIL || errno == EAFNOSUPPORT) {
            missing = errno;
        } else {
            log_failure(address, errno);
            err = ERR_IO;
        }
    }
    if (!err && all->count == before) {
        log_failure(address, missing);
        err = ERR_IO;
    } else if (!err && missing) {
        log_warn("event=address_left_out address=\"%s\" reason=\"%s\"", address, strerror(missing));
    }
    freeaddrinfo(first);
    return err;
}

static enum err address_open(const char *address, int threads, struct http_listeners *all)
{
    struct config_address parts;
    if (!config_address_parse(address, &parts)) {
        log_error("event=listen_failed address=\"%s\" reason=\"neither HOST:PORT nor unix:/path\"", address);
        return ERR_CONFIG;
    }
    if (!parts.path[0])
        return host_open(address, &parts, threads, all);
    struct http_listener *l = listener_next(all, address);
    if (!l)
        return ERR_CONFIG;
    int why = unix_open(parts.path, threads, l);
    if (why) {
        log_failure(address, why);
        return ERR_IO;
    }
    listener_done(all, "");
    return ERR_NONE;
}

static enum err inherited_open(const struct http_server_desc *desc, struct http_listeners *all)
{
    const struct http_listen_inherited *from = desc->inherited;
    bool metrics = desc->routes == ROUTES_METRICS;
    for (int i = 0; from && i < from->count; i++) {
        if (from->sockets[i].metrics != metrics)
            continue;
        struct http_listener *l = listener_next(all, "LISTEN_FDS");
        if (!l)
            return ERR_CONFIG;
        l->fds[0] = from->sockets[i].fd;
        if (fds_share(l->fds, desc->threads)) {
            log_failure("LISTEN_FDS", errno);
            return ERR_IO;
        }
        listener_done(all, " (passed on)");
    }
    return ERR_NONE;
}

enum err http_listen_open(const struct http_server_desc *desc, struct http_listeners *ret_listeners)
{
    struct http_listeners *all = ret_listeners;
    memset(all, 0, sizeof(*all));
    enum err err = inherited_open(desc, all);
    bool left_out = all->count > 0 && desc->listen_is_default;
    if (!err && left_out && desc->listen_count > 0)
        log_info("event=listen_left_out message=\"sockets were passed on, so the default of --listen is not "
                 "used\"");
    for (int i = 0; i < desc->listen_count && !err && !left_out; i++)
        err = address_open(desc->listen[i], desc->threads, all);
    if (!err && all->count == 0) {
        log_error("event=listen_failed reason=\"there is no address to listen on\"");
        err = ERR_CONFIG;
    }
    if (err) {
        http_listen_unlink(all);
        for (int i = 0; i < all->count; i++)
            fds_close(all->all[i].fds, desc->threads);
        all->count = 0;
    }
    return err;
}
