/* Which handler answers which path. */
#pragma once

#include "server/http.h"

struct route {
    const char *path;
    bool prefix;      /* anything may follow */
    unsigned methods; /* enum http_method; OPTIONS is answered for each path */
    http_handler *handler;
    const char *allow; /* the same methods as text, for Allow */
    unsigned sets;     /* enum route_set: where it is served, ROUTES_PROBE */
};

int route_count(void);
const struct route *route_at(int i); /* 0..route_count()-1 */
int route_index(const struct route *route);

/* Sets *ret_route when the path is known, even when the method is not: ERR_METHOD. ERR_NOT_FOUND. Threads:
 * any. */
MUST_USE enum err route_find(enum route_set set, const char *path, size_t path_len, enum http_method method,
                             const struct route **ret_route);

struct pipeline_stats;
struct renderer_status;

/* The rule of /readyz: why no more work should be sent here; "" when it may be. In handle_meta.c. Threads:
 * any. */
const char *ready_reason(const struct renderer_status *r, const struct pipeline_stats *p, bool draining);

http_handler handle_planet;  /* /planet, /sheet.png, ..., handle_planet.c */
http_handler handle_batch;   /* /batch, handle_batch.c */
http_handler handle_recipe;  /* /recipe, handle_recipe.c */
http_handler handle_index;   /* / for browsers, handle_page.c */
http_handler handle_page;    /* /viewer/..., /shaders/... */
http_handler handle_help;    /* / for all others, handle_meta.c, like all below */
http_handler handle_health;  /* /healthz */
http_handler handle_ready;   /* /readyz */
http_handler handle_types;   /* /types */
http_handler handle_version; /* /version */
http_handler handle_openapi; /* /openapi.json */
http_handler handle_metrics; /* /metrics, handle_metrics.c */
