/* handle_metrics.c -- /metrics: the numbers of metrics.h for Prometheus. It is served on the address for
 * metrics alone, which is not the one that strangers reach. Threads: that of the exchange. */
#include "server/metrics.h"
#include "server/respond.h"
#include "server/routes.h"

enum http_verdict handle_metrics(struct http_exchange *x, struct service *s)
{
    struct blob text = {0};
    enum err err = metrics_write(s, &text);
    if (err)
        respond_problem(x, err, NULL, NULL, 0);
    else
        respond_blob(x, 200, "text/plain; version=0.0.4; charset=utf-8", "no-store", &text);
    blob_free(&text);
    return HTTP_ANSWERED;
}
