/* test_blob.c -- the growable run of bytes, and the words of errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "renderer/base/blob.h"
#include "renderer/base/err.h"

static void appended_bytes_stay_in_order_over_many_growths(void **state)
{
    (void)state;
    struct blob b = {0};
    for (unsigned i = 0; i < 100000; i++) {
        uint8_t byte = (uint8_t)(i * 7);
        assert_int_equal(blob_append(&b, &byte, 1), ERR_NONE);
    }
    assert_int_equal(b.len, 100000);
    assert_true(b.capacity >= b.len && b.capacity <= 2 * b.len);
    for (unsigned i = 0; i < 100000; i++)
        assert_int_equal(b.data[i], (uint8_t)(i * 7));
    blob_free(&b);
    assert_null(b.data);
    assert_int_equal(b.len, 0);
}

static void limit_is_kept_and_what_was_there_stays(void **state)
{
    (void)state;
    struct blob b = {.max_bytes = 10};
    assert_int_equal(blob_append(&b, "12345678", 8), ERR_NONE);
    assert_int_equal(blob_append(&b, "abc", 3), ERR_OOM);
    assert_int_equal(b.len, 8);
    assert_memory_equal(b.data, "12345678", 8);
    assert_int_equal(blob_append(&b, "ab", 2), ERR_NONE);
    assert_true(b.capacity <= 10);
    assert_int_equal(blob_append(&b, "c", 1), ERR_OOM);
    assert_int_equal(blob_append(&b, "c", 0), ERR_NONE);
    blob_free(&b);
}

static void sizes_that_would_wrap_are_refused(void **state)
{
    (void)state;
    struct blob b = {0};
    assert_int_equal(blob_append(&b, "x", 1), ERR_NONE);
    assert_int_equal(blob_reserve(&b, SIZE_MAX), ERR_OOM);
    assert_int_equal(blob_reserve(&b, BLOB_MAX_BYTES), ERR_OOM);
    assert_int_equal(b.len, 1);
    blob_free(&b);
}

static void reserve_makes_room_without_changing_the_length(void **state)
{
    (void)state;
    struct blob b = {0};
    assert_int_equal(blob_reserve(&b, 5000), ERR_NONE);
    assert_true(b.capacity >= 5000);
    assert_int_equal(b.len, 0);
    uint8_t *data = b.data;
    memset(b.data, 7, 5000);
    b.len = 4999;
    assert_int_equal(blob_append(&b, "y", 1), ERR_NONE);
    assert_ptr_equal(b.data, data);
    assert_int_equal(b.data[4998], 7);
    assert_int_equal(b.data[4999], 'y');
    blob_free(&b);
}

static void shrink_gives_back_what_is_unused(void **state)
{
    (void)state;
    struct blob b = {0};
    blob_shrink(&b);
    assert_null(b.data);
    assert_int_equal(blob_append(&b, "abc", 3), ERR_NONE);
    blob_shrink(&b);
    assert_int_equal(b.capacity, 3);
    assert_memory_equal(b.data, "abc", 3);
    b.len = 0;
    blob_shrink(&b);
    assert_null(b.data);
    assert_int_equal(b.capacity, 0);
    blob_free(&b);
}

static void take_moves_the_bytes_and_empties_the_source(void **state)
{
    (void)state;
    struct blob b = {.max_bytes = 100};
    assert_int_equal(blob_append(&b, "abc", 3), ERR_NONE);
    struct blob taken = blob_take(&b);
    assert_null(b.data);
    assert_int_equal(b.len, 0);
    assert_int_equal(b.capacity, 0);
    assert_int_equal(b.max_bytes, 100);
    assert_int_equal(taken.len, 3);
    assert_memory_equal(taken.data, "abc", 3);
    blob_free(&taken);
    blob_free(&b);
    blob_free(&b);
}

static void errors_have_words_and_names_of_their_own(void **state)
{
    (void)state;
    assert_string_equal(err_name(ERR_PARAM_RANGE), "param-range");
    assert_string_equal(err_name(ERR_NONE), "none");
    assert_string_equal(err_words(ERR_NONE), "no error");
    for (int a = 0; a < ERR_COUNT; a++) {
        assert_true(strlen(err_words((enum err)a)) > 5);
        for (int b = 0; b < a; b++) {
            assert_string_not_equal(err_name((enum err)a), err_name((enum err)b));
            assert_string_not_equal(err_words((enum err)a), err_words((enum err)b));
        }
    }
    assert_non_null(err_words((enum err)9999));
    assert_non_null(err_name((enum err)9999));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appended_bytes_stay_in_order_over_many_growths),
        cmocka_unit_test(limit_is_kept_and_what_was_there_stays),
        cmocka_unit_test(sizes_that_would_wrap_are_refused),
        cmocka_unit_test(reserve_makes_room_without_changing_the_length),
        cmocka_unit_test(shrink_gives_back_what_is_unused),
        cmocka_unit_test(take_moves_the_bytes_and_empties_the_source),
        cmocka_unit_test(errors_have_words_and_names_of_their_own),
    };
    return cmocka_run_group_tests_name("blob", tests, NULL, NULL);
}
