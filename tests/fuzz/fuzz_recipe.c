/* fuzz_recipe.c -- a file that says it is a picture. Whatever is found in it is a good request, whose answer
 * is JSON. */
#include <jansson.h>

#include "api/recipe.h"
#include "tests/fuzz/fuzz_request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct request r, again;
    struct request_fault fault = {.detail = ""};
    struct blob text = {0};
    struct key key;
    uint8_t *file = fuzz_copy(data, size);
    enum err err = recipe_read(file, size, &r, &fault);
    if (err) {
        CHECK(err == ERR_RECIPE || err == ERR_REVISION);
        fuzz_check_fault(err, &fault);
    } else {
        CHECK(recipe_write(&r, &text) == ERR_NONE);
        json_t *root = json_loadb((const char *)text.data, text.len, 0, NULL);
        const char *found = json_string_value(json_object_get(root, "key"));
        CHECK(found);
        request_init(&again);
        CHECK(request_set_query(&again, found, strlen(found), &fault) == ERR_NONE &&
              fuzz_finish(&again, &key));
        CHECK(!strcmp(key.text, found));
        json_decref(root);
    }
    blob_free(&text);
    free(file);
    return 0;
}
