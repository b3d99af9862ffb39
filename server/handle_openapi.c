/* handle_openapi.c -- /openapi.json. The document never changes while the process lives, and making it takes
 * a hundred times as long as sending it, so it is made for the first who asks and kept. Threads: that of the
 * exchange; the kept one is only ever set once. */
#include <stdatomic.h>

#include "api/openapi.h"
#include "server/respond.h"
#include "server/routes.h"

/* The text, NUL-terminated, for the life of the process; NULL without memory. */
static const char *kept_text(void)
{
    static _Atomic(char *) kept;
    char *text = atomic_load_explicit(&kept, memory_order_acquire);
    struct blob made = {0};
    if (text)
        return text;
    if (openapi_write(&made) || blob_append(&made, "", 1)) {
        blob_free(&made);
        return NULL;
    }
    if (atomic_compare_exchange_strong(&kept, &text, (char *)made.data))
        return (const char *)made.data;
    blob_free(&made); /* another thread was faster */
    return text;
}

enum http_verdict handle_openapi(struct http_exchange *x, struct service *s)
{
    (void)s;
    const char *text = kept_text();
    if (text)
        respond_text(x, 200, "application/json", "public, max-age=3600", text);
    else
        respond_problem(x, ERR_OOM, NULL, NULL, 0);
    return HTTP_ANSWERED;
}
