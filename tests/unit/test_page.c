/* test_page.c -- the files of the page as they lie in the program, their tags and their gzip. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <libdeflate.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/page.h"

#define THREADS 8

static void each_file_has_the_bytes_of_the_checkout(void **state)
{
    (void)state;
    static const char *const names[] = {PAGE_INDEX, "/shaders/noise.glsl", "/shaders/bodies/gas.glsl"};
    for (size_t k = 0; k < ARRAY_LEN(names); k++) {
        const struct page_file *file = page_find(names[k], strlen(names[k]));
        char path[64];
        assert_non_null(file);
        snprintf(path, sizeof path, "%s%s", k == 0 ? "server" : ".", names[k]);
        size_t len = (size_t)(file->end - file->bytes), n;
        uint8_t *bytes = malloc(len + 1);
        FILE *in = fopen(path, "rb");
        assert_non_null(bytes);
        assert_non_null(in);
        n = fread(bytes, 1, len + 1, in);
        fclose(in);
        assert_int_equal(n, len);
        assert_memory_equal(bytes, file->bytes, len);
        free(bytes);
    }
}

static void a_file_is_found_by_its_whole_address_alone(void **state)
{
    (void)state;
    for (int i = 0; i < page_count(); i++) {
        const struct page_file *file = page_at(i);
        size_t len = strlen(file->address);
        assert_ptr_equal(page_find(file->address, len), file);
        assert_null(page_find(file->address, len - 1));
        assert_null(page_find(file->address, len + 1));
        assert_null(page_find(file->address + 1, len - 1));
        if (i)
            assert_true(strcmp(page_at(i - 1)->address, file->address) < 0);
    }
    assert_null(page_find("", 0));
    assert_null(page_find("/viewer/../main.c", 17));
}

static void gzip_of_each_file_is_shorter_and_the_same_inside(void **state)
{
    (void)state;
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    assert_non_null(d);
    for (int i = 0; i < page_count(); i++) {
        const struct page_file *file = page_at(i);
        size_t len = (size_t)(file->end - file->bytes), got;
        struct page_copy plain, packed;
        assert_int_equal(page_copy_get(file, false, &plain), ERR_NONE);
        assert_int_equal(page_copy_get(file, true, &packed), ERR_NONE);
        assert_false(plain.gzip);
        assert_ptr_equal(plain.bytes, file->bytes);
        assert_int_equal(plain.len, len);
        if (!packed.gzip) {
            assert_string_equal(plain.etag, packed.etag);
            continue;
        }
        assert_string_not_equal(plain.etag, packed.etag);
        assert_true(packed.len < len);
        uint8_t *bytes = malloc(len);
        assert_non_null(bytes);
        assert_int_equal(libdeflate_gzip_decompress(d, packed.bytes, packed.len, bytes, len, &got),
                         LIBDEFLATE_SUCCESS);
        assert_int_equal(got, len);
        assert_memory_equal(bytes, file->bytes, len);
        free(bytes);
    }
    libdeflate_free_decompressor(d);
}

static void *ask(void *arg)
{
    struct page_copy *copies = arg;
    for (int i = 0; i < page_count(); i++)
        if (page_copy_get(page_at(i), true, &copies[i]))
            copies[i] = (struct page_copy){0};
    return NULL;
}

static void threads_that_ask_at_once_get_the_same_copy(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    size_t count = (size_t)page_count();
    struct page_copy *copies = calloc(THREADS * count, sizeof(*copies));
    assert_non_null(copies);
    for (size_t t = 0; t < THREADS; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, ask, copies + t * count), 0);
    for (size_t t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    for (size_t i = 0; i < THREADS * count; i++) {
        assert_non_null(copies[i].bytes);
        assert_ptr_equal(copies[i].bytes, copies[i % count].bytes);
        assert_ptr_equal(copies[i].etag, copies[i % count].etag);
    }
    free(copies);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_that_ask_at_once_get_the_same_copy), /* first: nothing is made yet */
        cmocka_unit_test(each_file_has_the_bytes_of_the_checkout),
        cmocka_unit_test(a_file_is_found_by_its_whole_address_alone),
        cmocka_unit_test(gzip_of_each_file_is_shorter_and_the_same_inside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
