/* json_out.c -- writes a JSON document into a blob. Threads: any. */
#include "api/json_out.h"

#define REAL_DIGITS 10 /* steps of a millionth need 7 */

static int take(const char *bytes, size_t len, void *ctx)
{
    return blob_append(ctx, bytes, len) ? -1 : 0;
}

json_t *json_steps(int32_t steps, int decimals)
{
    double one = 1;
    for (int d = 0; d < decimals; d++)
        one *= 10;
    return decimals ? json_real(steps / one) : json_integer(steps);
}

enum err json_out(json_t *root, struct blob *out)
{
    int failed =
        !root || json_dump_callback(root, take, out, JSON_COMPACT | JSON_REAL_PRECISION(REAL_DIGITS));
    json_decref(root);
    if (failed)
        return ERR_OOM;
    return blob_append(out, "\n", 1);
}
