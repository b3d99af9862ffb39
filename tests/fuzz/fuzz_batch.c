/* fuzz_batch.c -- the body of POST /batch. Each request in a good one is good by itself. */
#include "api/batch.h"
#include "tests/fuzz/fuzz_request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct batch_list list;
    struct request_fault fault = {.detail = ""};
    char *body = fuzz_copy(data, size);
    enum err err = batch_read(body, size, &list, &fault);
    if (err) {
        fuzz_check_fault(err, &fault);
        CHECK(fault.item >= 0 && fault.item <= BATCH_MAX);
    } else {
        CHECK(list.count >= 1 && list.count <= BATCH_MAX);
        for (size_t i = 0; i < list.count; i++) {
            struct request again;
            struct key key;
            request_init(&again);
            CHECK(request_set_query(&again, list.parts[i].key.text, list.parts[i].key.len, &fault) ==
                  ERR_NONE);
            CHECK(fuzz_finish(&again, &key));
            CHECK(!strcmp(key.text, list.parts[i].key.text));
        }
        batch_list_finish(&list);
    }
    free(body);
    return 0;
}
