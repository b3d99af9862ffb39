/* request_encode.c -- what the renderer is told of a request: what to draw, and how it becomes a file. It
 * stands apart from the rest of request.h because facts need JSON, which parsing and keys don't. Threads:
 * any, all pure. */
#include "api/facts.h"
#include "api/request.h"

struct encode_desc request_encode_desc(const struct request *r, const char *key)
{
    bool document = encoders[r->format].document;
    return (struct encode_desc){.zoom = r->zoom,
                                .fps = r->fps,
                                .loops = r->loops,
                                .key = key,
                                .columns = r->columns,
                                .margin_px = r->margin,
                                .spacing_px = r->spacing,
                                .document = document ? facts_write : NULL,
                                .about = r};
}
