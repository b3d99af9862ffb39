/* routes.c -- the table of paths. A table and a loop: seven rows need no tree. Threads: any. */
#include "server/routes.h"

#include <string.h>

#define READ       (HTTP_GET | HTTP_HEAD)
#define READ_ALLOW "GET, HEAD, OPTIONS"

/* The first row that fits wins; the busiest come first. */
static const struct route routes[] = {
    {"/planet", false, READ | HTTP_POST, handle_planet, "GET, HEAD, POST, OPTIONS"},
    {"/planet.", true, READ, handle_planet, READ_ALLOW},
    {"/planet/", true, READ, handle_planet, READ_ALLOW},
    {"/", false, READ, handle_index, READ_ALLOW},
    {"/healthz", false, READ, handle_health, READ_ALLOW},
    {"/readyz", false, READ, handle_ready, READ_ALLOW},
    {"/types", false, READ, handle_types, READ_ALLOW},
    {"/version", false, READ, handle_version, READ_ALLOW},
};

enum err route_find(const char *path, size_t path_len, enum http_method method,
                    const struct route **ret_route)
{
    for (size_t i = 0; i < ARRAY_LEN(routes); i++) {
        const struct route *r = &routes[i];
        size_t len = strlen(r->path);
        if (path_len < len || memcmp(path, r->path, len) != 0 || (path_len > len && !r->prefix))
            continue;
        *ret_route = r;
        return (method & (r->methods | HTTP_OPTIONS)) ? ERR_NONE : ERR_METHOD;
    }
    return ERR_NOT_FOUND;
}
