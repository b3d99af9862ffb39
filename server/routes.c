/* routes.c -- the table of paths. A table and a loop: twenty rows need no tree. Threads: any. */
#include "server/routes.h"

#include <string.h>

#include "server/metrics.h"

#define READ       (HTTP_GET | HTTP_HEAD)
#define READ_ALLOW "GET, HEAD, OPTIONS"
#define BOTH       (ROUTES_PUBLIC | ROUTES_METRICS)

/* The first row that fits wins; the busiest come first. */
static const struct route routes[] = {
    {"/planet", false, READ | HTTP_POST, handle_planet, "GET, HEAD, POST, OPTIONS", ROUTES_PUBLIC},
    {"/planet.", true, READ, handle_planet, READ_ALLOW, ROUTES_PUBLIC},
    {"/planet/", true, READ, handle_planet, READ_ALLOW, ROUTES_PUBLIC},
    {"/sheet.png", false, READ, handle_planet, READ_ALLOW, ROUTES_PUBLIC},
    {"/contact.png", false, READ, handle_planet, READ_ALLOW, ROUTES_PUBLIC},
    {"/contact", false, READ, handle_planet, READ_ALLOW, ROUTES_PUBLIC},
    {"/find", false, READ, handle_planet, READ_ALLOW, ROUTES_PUBLIC},
    {"/palette.png", false, READ, handle_planet, READ_ALLOW, ROUTES_PUBLIC},
    {"/sheet.json", false, READ, handle_planet, READ_ALLOW, ROUTES_PUBLIC},
    {"/", false, READ, handle_index, READ_ALLOW, ROUTES_PUBLIC},
    {"/viewer/", true, READ, handle_page, READ_ALLOW, ROUTES_PUBLIC},
    {"/shaders/", true, READ, handle_page, READ_ALLOW, ROUTES_PUBLIC},
    {"/healthz", false, READ, handle_health, READ_ALLOW, BOTH | ROUTES_PROBE},
    {"/readyz", false, READ, handle_ready, READ_ALLOW, BOTH | ROUTES_PROBE},
    {"/types", false, READ, handle_types, READ_ALLOW, ROUTES_PUBLIC},
    {"/batch", false, HTTP_POST, handle_batch, "POST, OPTIONS", ROUTES_PUBLIC},
    {"/recipe", false, HTTP_POST, handle_recipe, "POST, OPTIONS", ROUTES_PUBLIC | ROUTES_FILE},
    {"/version", false, READ, handle_version, READ_ALLOW, ROUTES_PUBLIC},
    {"/openapi.json", false, READ, handle_openapi, READ_ALLOW, ROUTES_PUBLIC},
    {"/metrics", false, READ, handle_metrics, READ_ALLOW, ROUTES_METRICS | ROUTES_PROBE},
};
_Static_assert(ARRAY_LEN(routes) <= METRICS_ROUTES_MAX, "each route has counts of its own");

int route_count(void)
{
    return (int)ARRAY_LEN(routes);
}

const struct route *route_at(int i)
{
    return &routes[i];
}

int route_index(const struct route *route)
{
    return (int)(route - routes);
}

enum err route_find(enum route_set set, const char *path, size_t path_len, enum http_method method,
                    const struct route **ret_route)
{
    for (size_t i = 0; i < ARRAY_LEN(routes); i++) {
        const struct route *r = &routes[i];
        size_t len = strlen(r->path);
        if (path_len < len || memcmp(path, r->path, len) != 0 || (path_len > len && !r->prefix) ||
            !(r->sets & set))
            continue;
        *ret_route = r;
        return (method & (r->methods | HTTP_OPTIONS)) ? ERR_NONE : ERR_METHOD;
    }
    return ERR_NOT_FOUND;
}
