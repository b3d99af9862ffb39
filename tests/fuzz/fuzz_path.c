/* fuzz_path.c -- what follows "/planet", and the query behind it as in a URL. */
#include "tests/fuzz/fuzz_request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct request r;
    struct request_fault fault = {.detail = ""};
    struct key key;
    const uint8_t *mark = size ? memchr(data, '?', size) : NULL;
    size_t path_len = mark ? (size_t)(mark - data) : size, query_len = mark ? size - path_len - 1 : 0;
    char *path = fuzz_copy(data, path_len), *query = fuzz_copy(data + size - query_len, query_len);
    request_init(&r);
    enum err err = request_set_path(&r, path, path_len, &fault);
    if (!err && mark)
        err = request_set_query(&r, query, query_len, &fault);
    if (err)
        fuzz_check_fault(err, &fault);
    else if (fuzz_finish(&r, &key) && path_len > 1)
        CHECK(request_has(&r, "format")); /* each path but the bare one names it */
    free(path);
    free(query);
    return 0;
}
