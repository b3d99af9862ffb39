/* test_batch.c -- what is posted to /batch: which request is wrong, and how many there may be. */
#include "tests/unit/ask.h"

#include <stdlib.h>

#include "api/batch.h"

/* The body in memory of its own, not a byte to spare, for sanitizers. */
static enum err read_copy(const char *body, size_t len, struct batch_list *list, struct request_fault *fault)
{
    char *copy = malloc(len ? len : 1);
    assert_non_null(copy);
    memcpy(copy, body, len);
    enum err err = batch_read(copy, len, list, fault);
    free(copy);
    return err;
}

static void every_form_of_a_request_comes_to_its_key(void **state)
{
    (void)state;
    static const char body[] =
        "{\"requests\": [{\"type\": \"gas\", \"seed\": 3}, \"type=gas&seed=3\", \"11400rcgjn\", "
        "\"/planet.gif?seed=4\", \"/planet/ice/5.png\", \"\"]}";
    static const char *const queries[] = {"type=gas&seed=3",   "type=gas&seed=3", "code=11400rcgjn",
                                          "seed=4&format=gif", "type=ice&seed=5", ""};
    struct batch_list list;
    struct request_fault fault = {0};
    if (read_copy(body, strlen(body), &list, &fault))
        fail_msg("%s", fault.detail);
    assert_int_equal(list.count, ARRAY_LEN(queries));
    for (size_t i = 0; i < list.count; i++)
        assert_string_equal(list.parts[i].key.text, ask_bytes(queries[i], strlen(queries[i])).key.text);
    batch_list_finish(&list);
    assert_null(list.parts);
}

static void the_wrong_one_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *item, *param;
        enum err err;
    } wrong[] = {{"\"pixels=1\"", "pixels", ERR_PARAM_RANGE},
                 {"{\"pixels\": 1}", "pixels", ERR_PARAM_RANGE},
                 {"\"nocode\"", "code", ERR_PARAM_SYNTAX},
                 {"\"/elsewhere\"", "", ERR_NOT_FOUND},
                 {"\"/\"", "", ERR_NOT_FOUND},
                 {"\"/planet.gif?frames=0\"", "frames", ERR_PARAM_RANGE},
                 {"\"?seed=1\"", "?seed", ERR_PARAM_UNKNOWN},
                 {"3", "", ERR_BODY_SYNTAX},
                 {"null", "", ERR_BODY_SYNTAX}};
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        char body[128];
        struct batch_list list;
        struct request_fault fault = {0};
        snprintf(body, sizeof(body), "[\"seed=1\", %s, 3]", wrong[i].item);
        enum err err = read_copy(body, strlen(body), &list, &fault);
        if (err != wrong[i].err || fault.item != 2)
            fail_msg("%s: %s, item %d", wrong[i].item, err_name(err), fault.item);
        if (wrong[i].param[0] != '?')
            assert_string_equal(fault.param, wrong[i].param);
        assert_true(fault.detail[0]);
    }
}

static void what_is_no_list_names_no_request(void **state)
{
    (void)state;
    static const char *const bodies[] = {"",
                                         " ",
                                         "[]",
                                         "{}",
                                         "{\"requests\": []}",
                                         "{\"requests\": 3}",
                                         "[1",
                                         "\"seed=1\"",
                                         "{\"requests\": [\"seed=1\"], \"x\": 1}"};
    for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
        struct batch_list list;
        struct request_fault fault = {.item = 7};
        assert_int_equal(read_copy(bodies[i], strlen(bodies[i]), &list, &fault), ERR_BODY_SYNTAX);
        assert_int_equal(fault.item, 0);
    }
}

static void all_pictures_together_have_a_limit(void **state)
{
    (void)state;
    for (int count = 8; count <= 9; count++) { /* of the largest there is */
        char body[1024] = "[";
        struct batch_list list;
        struct request_fault fault = {0};
        size_t len = 1;
        for (int i = 0; i < count; i++)
            len +=
                (size_t)snprintf(body + len, sizeof(body) - len, "%s\"pixels=1024&frames=32&format=gif\"%s",
                                 i ? "," : "", i == count - 1 ? "]" : "");
        enum err err = read_copy(body, strlen(body), &list, &fault);
        assert_int_equal(err, count == 8 ? ERR_NONE : ERR_PICTURE_SIZE);
        assert_int_equal(fault.item, 0);
        if (!err)
            batch_list_finish(&list);
    }
}

static void accept_chooses_the_container(void **state)
{
    (void)state;
    static const struct {
        const char *accept;
        int container; /* -1: none */
    } table[] = {{NULL, BATCH_ZIP},
                 {"", BATCH_ZIP},
                 {"*/*", BATCH_ZIP},
                 {"multipart/mixed", BATCH_MULTIPART},
                 {"application/zip;q=0.1", BATCH_ZIP},
                 {"application/zip;q=0, */*", BATCH_MULTIPART},
                 {"image/png", -1},
                 {"multipart/mixed;q=0", -1}};
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        enum batch_container container = BATCH_ZIP;
        enum err err = batch_accept(table[i].accept, &container);
        assert_int_equal(err, table[i].container < 0 ? ERR_NOT_ACCEPTABLE : ERR_NONE);
        if (!err)
            assert_int_equal(container, table[i].container);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_of_a_request_comes_to_its_key),
        cmocka_unit_test(the_wrong_one_is_named),
        cmocka_unit_test(what_is_no_list_names_no_request),
        cmocka_unit_test(all_pictures_together_have_a_limit),
        cmocka_unit_test(accept_chooses_the_container),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
