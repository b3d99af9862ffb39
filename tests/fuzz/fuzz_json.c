/* fuzz_json.c -- a request's JSON body. */
#include "tests/fuzz/fuzz_request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct request r;
    struct request_fault fault = {.detail = ""};
    struct key key;
    char *body = fuzz_copy(data, size);
    request_init(&r);
    enum err err = request_set_json(&r, body, size, &fault);
    if (err)
        fuzz_check_fault(err, &fault);
    else
        fuzz_finish(&r, &key);
    free(body);
    return 0;
}
