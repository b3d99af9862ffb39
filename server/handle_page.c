/* handle_page.c -- / and the files of the web page: /viewer/... and /shaders/...
 *
 * They show nothing that a signature protects, so none is asked for; the pictures on the page need theirs.
 * Names are looked up as they were sent, in a table, and reach no file system. Threads: that of the exchange.
 */
#include "api/request.h"
#include "server/page.h"
#include "server/respond.h"
#include "server/routes.h"

static enum http_verdict answer(struct http_exchange *x, const struct page_file *file, const char *vary)
{
    struct page_copy copy;
    enum err err =
        file ? page_copy_get(file, request_accepts_gzip(x->in.accept_encoding), &copy) : ERR_NOT_FOUND;
    if (err)
        respond_problem(x, err, NULL, NULL, 0);
    else
        respond_page(x, file->type, vary, &copy);
    return HTTP_ANSWERED;
}

enum http_verdict handle_page(struct http_exchange *x, struct service *s)
{
    (void)s;
    return answer(x, page_find(x->in.path, x->in.path_len), "Accept-Encoding");
}

enum http_verdict handle_index(struct http_exchange *x, struct service *s)
{
    if (!request_accepts_html(x->in.accept))
        return handle_help(x, s);
    return answer(x, page_find(PAGE_INDEX, sizeof(PAGE_INDEX) - 1), "Accept, Accept-Encoding");
}
