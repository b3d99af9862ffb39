/* Settings: precedence, ranges, what a wrong one is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/config.h"

static const char *variable_name, *variable_value;

static const char *environment(const char *name)
{
    return variable_name && strcmp(name, variable_name) == 0 ? variable_value : NULL;
}

static char said[16384]; /* what the last call wrote to either stream */

static enum config_outcome read_words(struct config *c, int count, const char *const *words)
{
    char program[] = "planetd", *argv[16] = {program};
    for (int i = 0; i < count; i++)
        argv[i + 1] = (char *)(uintptr_t)words[i];
    memset(said, 0, sizeof(said));
    FILE *to = fmemopen(said, sizeof(said) - 1, "w");
    assert_non_null(to);
    enum config_outcome outcome = config_read(count + 1, argv, environment, to, to, c);
    fclose(to);
    return outcome;
}

#define READ(c, ...)                                                                                         \
    read_words(c, (int)(sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)),                             \
               (const char *[]){__VA_ARGS__})

static int reset(void **state)
{
    (void)state;
    variable_name = NULL;
    return 0;
}

static void defaults_are_those_of_the_table(void **state)
{
    (void)state;
    struct config c;
    assert_int_equal(read_words(&c, 0, NULL), CONFIG_RUN);
    assert_int_equal(c.listen.count, 1);
    assert_string_equal(c.listen.text[0], "0.0.0.0:8080");
    assert_string_equal(c.backend, "auto");
    assert_string_equal(c.cpu_mask, "");
    assert_int_equal(c.cache_memory, 268435456);
    assert_int_equal(c.connections_per_address, 512);
    assert_int_equal(c.queue, 1024);
    assert_int_equal(c.drain_seconds, 20);
    assert_true(c.http_threads >= 1 && c.render_threads >= 1);
}

static void a_flag_beats_the_environment(void **state)
{
    (void)state;
    struct config c;
    variable_name = "PLANETD_QUEUE";
    variable_value = "7";
    assert_int_equal(read_words(&c, 0, NULL), CONFIG_RUN);
    assert_int_equal(c.queue, 7);
    assert_int_equal(READ(&c, "--queue", "9"), CONFIG_RUN);
    assert_int_equal(c.queue, 9);
}

static void listen_flags_replace_the_default_and_add_up(void **state)
{
    (void)state;
    struct config c;
    assert_int_equal(READ(&c, "--listen", "a:1", "--listen=[::]:2,b:0"), CONFIG_RUN);
    assert_int_equal(c.listen.count, 3);
    assert_string_equal(c.listen.text[0], "a:1");
    assert_string_equal(c.listen.text[1], "[::]:2");
    assert_string_equal(c.listen.text[2], "b:0");
}

static void byte_counts_take_units_and_overflow_is_seen(void **state)
{
    (void)state;
    struct config c;
    assert_int_equal(READ(&c, "--cache-memory", "3G"), CONFIG_RUN);
    assert_int_equal(c.cache_memory, (int64_t)3 << 30);
    assert_int_equal(READ(&c, "--cache-memory", "0"), CONFIG_RUN);
    assert_int_equal(c.cache_memory, 0);
    const char *const wrong[] = {
        "9223372036854775807K", "18446744073709551616", "-1", "+1", " 1", "1k", "1KB", "", "0x10"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_int_equal(READ(&c, "--cache-memory", wrong[i]), CONFIG_WRONG);
}

static void a_wrong_setting_is_named_and_nothing_is_returned(void **state)
{
    (void)state;
    struct config c;
    memset(&c, 0x55, sizeof(c));
    struct config before = c;
    assert_int_equal(READ(&c, "--queue", "many"), CONFIG_WRONG);
    assert_non_null(strstr(said, "--queue"));
    assert_non_null(strstr(said, "'many'"));
    assert_int_equal(READ(&c, "--backend", "vulkan"), CONFIG_WRONG);
    assert_non_null(strstr(said, "auto|cpu|gl|gl-software|null"));
    assert_int_equal(READ(&c, "--nonsense"), CONFIG_WRONG);
    assert_non_null(strstr(said, "--nonsense"));
    assert_int_equal(READ(&c, "queue"), CONFIG_WRONG);
    assert_int_equal(READ(&c, "--queue"), CONFIG_WRONG);
    variable_name = "PLANETD_DRAIN_SECONDS";
    variable_value = "soon";
    assert_int_equal(read_words(&c, 0, NULL), CONFIG_WRONG);
    assert_non_null(strstr(said, "PLANETD_DRAIN_SECONDS"));
    assert_memory_equal(&c, &before, sizeof(c));
}

static void control_characters_of_a_wrong_value_stay_out_of_the_message(void **state)
{
    (void)state;
    struct config c;
    assert_int_equal(READ(&c, "--queue", "1\x1b[31m\n2"), CONFIG_WRONG);
    assert_null(strchr(said, '\x1b'));
    assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1);
}

static void help_names_every_flag_and_print_config_every_variable(void **state)
{
    (void)state;
    struct config c;
    static const char *const names[][2] = {
#define SETTING(kind, field, flag, variable, standard, least, most, words, help) {"--" flag, variable "="},
#include "server/config.def"
#undef SETTING
    };
    for (int pass = 0; pass < 2; pass++) {
        assert_int_equal(READ(&c, pass ? "--print-config" : "--help"), CONFIG_DONE);
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
            assert_non_null(strstr(said, names[i][pass]));
    }
}

static void addresses_are_cut_at_the_right_colon(void **state)
{
    (void)state;
    struct config_address a;
    assert_true(config_address_parse("127.0.0.1:8080", &a));
    assert_string_equal(a.host, "127.0.0.1");
    assert_string_equal(a.port, "8080");
    assert_true(config_address_parse("[::1]:0", &a));
    assert_string_equal(a.host, "::1");
    const char *const wrong[] = {"8080", ":8080",   "::1:8080", "[::1]", "[::1]8080", "[]:1",
                                 "a:",   "a:65536", "a:-1",     "a:1x",  "a: 1",      ""};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_false(config_address_parse(wrong[i], &a));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(defaults_are_those_of_the_table, reset),
        cmocka_unit_test_setup(a_flag_beats_the_environment, reset),
        cmocka_unit_test_setup(listen_flags_replace_the_default_and_add_up, reset),
        cmocka_unit_test_setup(byte_counts_take_units_and_overflow_is_seen, reset),
        cmocka_unit_test_setup(a_wrong_setting_is_named_and_nothing_is_returned, reset),
        cmocka_unit_test_setup(control_characters_of_a_wrong_value_stay_out_of_the_message, reset),
        cmocka_unit_test_setup(help_names_every_flag_and_print_config_every_variable, reset),
        cmocka_unit_test_setup(addresses_are_cut_at_the_right_colon, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
