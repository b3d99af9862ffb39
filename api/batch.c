/* batch.c -- reads what is posted to /batch. Every item goes the way of a single request, so that a batch has
 * no rules of its own but how many there may be. Threads: any, all pure. */
#include "api/batch.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "api/fault.h"
#include "api/request_json.h"

static enum err take_text(struct request *r, const char *text, size_t len, struct request_fault *fault)
{
    const char *query = memchr(text, '?', len);
    if (len && text[0] == '/') { /* an address */
        size_t path_len = query ? (size_t)(query - text) : len;
        enum err err = request_set_address(r, text, path_len, fault);
        return err || !query ? err : request_set_query(r, query + 1, len - path_len - 1, fault);
    }
    if (len && !memchr(text, '=', len))
        return request_set(r, "code", 4, text, len, fault);
    return request_set_query(r, text, len, fault);
}

static enum err take_item(struct batch_part *part, const json_t *item, struct request_fault *fault)
{
    struct request *r = &part->request;
    enum err err;
    request_init(r);
    if (json_is_object(item))
        err = request_set_object(r, item, fault);
    else if (json_is_string(item))
        err = take_text(r, json_string_value(item), json_string_length(item), fault);
    else
        err =
            fault_set(fault, ERR_BODY_SYNTAX, NULL,
                      "a request is a JSON object, or a query string, an address or a share code in quotes");
    if (err == ERR_NOT_FOUND)
        fault_set(fault, err, NULL, "no picture has this address");
    if (!err)
        err = request_finish(r, fault);
    if (!err)
        key_make(r, &part->key);
    return err;
}

static enum err take_all(const json_t *items, struct batch_list *list, struct request_fault *fault)
{
    int64_t pixels = 0;
    for (size_t i = 0; i < list->count; i++) {
        enum err err = take_item(&list->parts[i], json_array_get(items, i), fault);
        if (err) {
            fault->item = (int)i + 1;
            return err;
        }
        struct request_size size = request_size(&list->parts[i].request);
        pixels += size.drawn_pixels > size.file_pixels ? size.drawn_pixels : size.file_pixels;
    }
    if (pixels > BATCH_PIXELS_MAX)
        return fault_set(fault, ERR_PICTURE_SIZE, NULL,
                         "all pictures of a batch may have %lld pixels together; these have %lld",
                         (long long)BATCH_PIXELS_MAX, (long long)pixels);
    return ERR_NONE;
}

enum err batch_read(const char *body, size_t len, struct batch_list *ret_list,
                    struct request_fault *ret_fault)
{
    enum err err;
    json_t *root = request_json_load(body, len, ret_fault, &err);
    if (!root)
        return err;
    const json_t *items = root;
    if (json_is_object(root) && json_object_size(root) == 1)
        items = json_object_get(root, "requests");
    struct batch_list list = {.count = json_array_size(items)}; /* 0 for what is no array */
    if (!json_is_array(items) || !list.count || list.count > BATCH_MAX)
        err = fault_set(ret_fault, ERR_BODY_SYNTAX, NULL,
                        "a JSON array of 1 to %d requests is expected, or {\"requests\": [...]}", BATCH_MAX);
    else if (!(list.parts = calloc(list.count, sizeof(*list.parts))))
        err = fault_set(ret_fault, ERR_OOM, NULL, "out of memory");
    else
        err = take_all(items, &list, ret_fault);
    json_decref(root);
    if (err)
        batch_list_finish(&list);
    else
        *ret_list = list;
    return err;
}

void batch_list_finish(struct batch_list *list)
{
    free(list->parts);
    *list = (struct batch_list){0};
}
