/* handle_batch.c -- /batch: many requests in, their pictures out in one stream. All are read and checked
 * before the first is fetched, so what is wrong with one of them is still an error of HTTP. Threads: that of
 * the exchange. */
#include "api/batch.h"
#include "server/asker.h"
#include "server/batch_stream.h"
#include "server/respond.h"
#include "server/routes.h"

/* The query must be empty, as where one picture is posted. */
static enum err read_batch(struct http_exchange *x, struct batch_list *ret_list,
                           enum batch_container *ret_container, struct request_fault *fault)
{
    const struct http_request *in = &x->in;
    if (in->query_len)
        return respond_fault(fault, ERR_PARAM_COMBINATION,
                             "/batch takes its requests from the JSON body alone; the query must be empty.");
    if (batch_accept(in->accept, ret_container))
        return respond_fault(fault, ERR_NOT_ACCEPTABLE,
                             "Accept allows neither application/zip nor multipart/mixed.");
    return batch_read(in->body_len ? (const char *)in->body : "", in->body_len, ret_list, fault);
}

enum http_verdict handle_batch(struct http_exchange *x, struct service *s)
{
    struct batch_list list = {0};
    struct request_fault fault = {0};
    struct http_stream *stream = NULL;
    enum batch_container container = BATCH_ZIP;
    enum err err = asker_check(x, s->sign_keys);
    if (!err) {
        x->negotiated = true;
        err = read_batch(x, &list, &container, &fault);
    }
    if (!err)
        err = batch_stream_create(x, s, &list, container, &stream);
    batch_list_finish(&list);
    if (err)
        respond_problem(x, err, &fault, NULL, 0);
    else
        respond_stream(x, batch_stream_type(stream), container == BATCH_ZIP ? "planets.zip" : NULL, stream);
    return HTTP_ANSWERED;
}
