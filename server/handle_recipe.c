/* handle_recipe.c -- /recipe: a picture comes, its request goes back. Only the head of the file is there
 * (ROUTES_FILE), nothing is decoded or drawn, and so nothing is queued or signed. Threads: that of the
 * exchange. */
#include "api/recipe.h"
#include "server/respond.h"
#include "server/routes.h"

enum http_verdict handle_recipe(struct http_exchange *x, struct service *s)
{
    (void)s;
    struct request request;
    struct request_fault fault = {0};
    struct blob text = {0};
    enum err err =
        recipe_read(x->in.body_len ? x->in.body : (const uint8_t *)"", x->in.body_len, &request, &fault);
    if (!err)
        err = recipe_write(&request, &text);
    if (err)
        respond_problem(x, err, &fault, NULL, 0);
    else
        respond_blob(x, 200, "application/json", "no-store", &text);
    blob_free(&text);
    return HTTP_ANSWERED;
}
