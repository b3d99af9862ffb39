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
    const char *const mega[] = {"5m", "5M", "5120k", "5120K", "5242880"};
    for (size_t i = 0; i < sizeof(mega) / sizeof(mega[0]); i++) {
        assert_int_equal(READ(&c, "--cache-memory", mega[i]), CONFIG_RUN);
        assert_int_equal(c.cache_memory, 5 << 20);
    }
    assert_int_equal(READ(&c, "--cache-memory", "2g"), CONFIG_RUN);
    assert_int_equal(c.cache_memory, (int64_t)2 << 30);
    assert_int_equal(READ(&c, "--cache-memory", "many"), CONFIG_WRONG);
    assert_non_null(strstr(said, "'many' is not a whole number from 0 to 1024G, in bytes or with K, M or G"));
    assert_int_equal(READ(&c, "--cache-memory", "0"), CONFIG_RUN);
    assert_int_equal(c.cache_memory, 0);
    const char *const wrong[] = {"9223372036854775807K",
                                 "18446744073709551616",
                                 "-1",
                                 "+1",
                                 " 1",
                                 "1kB",
                                 "1KB",
                                 "1T",
                                 "K",
                                 "1025G",
                                 "",
                                 "0x10"};
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

static void help_shows_ranges_and_defaults_and_has_a_short_flag(void **state)
{
    (void)state;
    struct config c;
    assert_int_equal(READ(&c, "-h"), CONFIG_DONE);
    assert_non_null(strstr(said, "a whole number from 1 to 64\n"));
    assert_non_null(strstr(said, "with K, M or G"));
    assert_non_null(strstr(said, "default: 256M, environment: PLANETD_CACHE_MEMORY"));
    assert_non_null(strstr(said, "null draws flat squares, for tests"));
    assert_non_null(strstr(said, "-h"));
}

static void an_empty_variable_counts_as_not_set(void **state)
{
    (void)state;
    static const char *const names[] = {
#define SETTING(kind, field, flag, variable, standard, least, most, words, help) variable,
#include "server/config.def"
#undef SETTING
    };
    struct config plain, c;
    memset(&plain, 0, sizeof(plain));
    assert_int_equal(read_words(&plain, 0, NULL), CONFIG_RUN);
    variable_value = "";
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        variable_name = names[i];
        memset(&c, 0, sizeof(c));
        assert_int_equal(read_words(&c, 0, NULL), CONFIG_RUN);
        assert_memory_equal(&c, &plain, sizeof(c));
    }
}

static void an_address_given_twice_is_said_to_be_given_twice(void **state)
{
    (void)state;
    struct config c;
    assert_int_equal(READ(&c, "--listen", "a:1", "--listen", "a:1"), CONFIG_WRONG);
    assert_string_equal(said, "planetd: --listen: 'a:1' is given twice\n");
    assert_int_equal(READ(&c, "--listen", "[::1]:80,[::1]:080"), CONFIG_WRONG);
    assert_non_null(strstr(said, "given twice"));
    assert_int_equal(READ(&c, "--listen", "Host:1", "--listen", "b:1", "--listen", "hOST:1"), CONFIG_WRONG);
    assert_int_equal(READ(&c, "--listen", "a:1", "--listen", "a:2", "--listen", "b:1"), CONFIG_RUN);
    assert_int_equal(c.listen.count, 3);
    assert_int_equal(READ(&c, "--listen", "a:0", "--listen", "a:0"), CONFIG_RUN); /* two ports in fact */
    assert_int_equal(READ(&c, "--listen", "0.0.0.0:8080"), CONFIG_RUN);           /* the default gave way */
}

static void what_is_no_address_and_what_is_one_too_many_are_told_apart(void **state)
{
    (void)state;
    struct config c;
    assert_int_equal(READ(&c, "--listen", "foo"), CONFIG_WRONG);
    assert_string_equal(said,
                        "planetd: --listen: 'foo' is not HOST:PORT, such as 127.0.0.1:8080 or [::1]:8080\n");
    char many[16 * CONFIG_LISTEN_MAX + 16] = "";
    for (int i = 1; i <= CONFIG_LISTEN_MAX + 1; i++) {
        snprintf(many + strlen(many), sizeof(many) - strlen(many), "%sa:%d", i > 1 ? "," : "", i);
        assert_int_equal(READ(&c, "--listen", many), i > CONFIG_LISTEN_MAX ? CONFIG_WRONG : CONFIG_RUN);
    }
    assert_non_null(strstr(said, "16 addresses can be listened on"));
    assert_null(strstr(said, "HOST:PORT"));
}

static const char *nearest_to(const char *name)
{
    const char *nearest = "unset";
    assert_false(config_variable_known(name, strlen(name), &nearest));
    return nearest;
}

static void a_misspelt_variable_is_told_from_a_known_one(void **state)
{
    (void)state;
    const char *nearest;
    assert_true(config_variable_known("PLANETD_QUEUE=5", 13, &nearest));
    assert_string_equal(nearest_to("PLANETD_QUEU"), "PLANETD_QUEUE");
    assert_string_equal(nearest_to("PLANETD_CACHE_MEM"), "PLANETD_CACHE_MEMORY");
    assert_string_equal(nearest_to("PLANETD_LOGLEVEL"), "PLANETD_LOG_LEVEL");
    assert_null(nearest_to("PLANETD_WIBBLE"));
    assert_null(nearest_to("PLANETD_"));
    char longest[200];
    memset(longest, 'A', sizeof(longest));
    memcpy(longest, "PLANETD_", 8);
    longest[sizeof(longest) - 1] = '\0';
    assert_null(nearest_to(longest));
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
        cmocka_unit_test_setup(help_shows_ranges_and_defaults_and_has_a_short_flag, reset),
        cmocka_unit_test_setup(an_empty_variable_counts_as_not_set, reset),
        cmocka_unit_test_setup(an_address_given_twice_is_said_to_be_given_twice, reset),
        cmocka_unit_test_setup(what_is_no_address_and_what_is_one_too_many_are_told_apart, reset),
        cmocka_unit_test_setup(a_misspelt_variable_is_told_from_a_known_one, reset),
        cmocka_unit_test_setup(addresses_are_cut_at_the_right_colon, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
