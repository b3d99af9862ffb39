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
#include "server/processors.h"

static const char *variable_name, *variable_value;

static const char *environment(const char *name)
{
    return variable_name && strcmp(name, variable_name) == 0 ? variable_value : NULL;
}

static char said[32768]; /* what the last call wrote to either stream */

static enum config_outcome read_words(struct config *c, int count, const char *const *words)
{
    char program[] = "planetd", *argv[20] = {program};
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
    assert_int_equal(c.queue_seconds, 10);
    assert_int_equal(c.drain_seconds, 20);
    assert_true(c.http_threads >= 1 && c.render_threads >= 1);
    assert_string_equal(c.cache_dir, "");
    assert_string_equal(c.redis, "");
    assert_string_equal(c.trusted_proxy, "");
    assert_string_equal(c.sign_keys, "");
    assert_int_equal(c.metrics_listen.count, 0);
    assert_false(c.listen_given);
}

static void a_flag_beats_the_environment(void **state)
{
    (void)state;
    struct config c;
    variable_name = "PLANETD_QUEUE_SECONDS";
    variable_value = "7";
    assert_int_equal(read_words(&c, 0, NULL), CONFIG_RUN);
    assert_int_equal(c.queue_seconds, 7);
    assert_int_equal(READ(&c, "--queue-seconds", "9"), CONFIG_RUN);
    assert_int_equal(c.queue_seconds, 9);
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
    assert_int_equal(READ(&c, "--queue-seconds", "many"), CONFIG_WRONG);
    assert_non_null(strstr(said, "--queue-seconds"));
    assert_non_null(strstr(said, "'many'"));
    assert_int_equal(READ(&c, "--backend", "vulkan"), CONFIG_WRONG);
    assert_non_null(strstr(said, "auto|cpu|gl|gl-software|null"));
    assert_int_equal(READ(&c, "--nonsense"), CONFIG_WRONG);
    assert_non_null(strstr(said, "--nonsense"));
    assert_int_equal(READ(&c, "queue"), CONFIG_WRONG);
    assert_int_equal(READ(&c, "--queue-seconds"), CONFIG_WRONG);
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
    assert_int_equal(READ(&c, "--queue-seconds", "1\x1b[31m\n2"), CONFIG_WRONG);
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
    assert_non_null(strstr(said, "a whole number from 1 to 64, or the word processors\n"));
    assert_non_null(strstr(said, "with K, M or G"));
    assert_non_null(strstr(said, "default: 256M, environment: PLANETD_CACHE_MEMORY"));
    assert_non_null(strstr(said, "null draws flat squares"));
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
    assert_string_equal(said, "planetd: --listen: 'foo' is not HOST:PORT, such as 127.0.0.1:8080 or "
                              "[::1]:8080, or unix:/path of at most 107 bytes\n");
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
    assert_true(config_variable_known("PLANETD_BACKEND=5", 15, &nearest));
    assert_string_equal(nearest_to("PLANETD_QUEUE_SECOND"), "PLANETD_QUEUE_SECONDS");
    assert_string_equal(nearest_to("PLANETD_CACHE_MEMOR"), "PLANETD_CACHE_MEMORY");
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

static void unix_sockets_are_absolute_paths_that_the_kernel_takes(void **state)
{
    (void)state;
    struct config c;
    struct config_address a;
    char path[CONFIG_PATH_BYTES + 8];
    assert_int_equal(READ(&c, "--listen", "unix:/run/p.sock,a:1", "--metrics-listen", "unix:/run/m.sock"),
                     CONFIG_RUN);
    assert_int_equal(c.listen.count, 2);
    assert_string_equal(c.listen.text[0], "unix:/run/p.sock");
    assert_true(config_address_parse(c.listen.text[0], &a));
    assert_string_equal(a.path, "/run/p.sock");
    assert_string_equal(a.host, "");
    assert_true(config_address_parse("a:1", &a));
    assert_string_equal(a.path, "");
    snprintf(path, sizeof(path), "unix:/%0*d", CONFIG_PATH_BYTES - 2, 0);
    assert_int_equal(READ(&c, "--listen", path), CONFIG_RUN);
    snprintf(path, sizeof(path), "unix:/%0*d", CONFIG_PATH_BYTES - 1, 0);
    assert_int_equal(READ(&c, "--listen", path), CONFIG_WRONG);
    assert_non_null(strstr(said, "unix:/path of at most 107 bytes"));
    assert_int_equal(READ(&c, "--listen", "unix:run/p.sock"), CONFIG_WRONG);
    assert_int_equal(READ(&c, "--listen", "unix:"), CONFIG_WRONG);
    assert_int_equal(READ(&c, "--listen", "unix:/a", "--listen", "unix:/a"), CONFIG_WRONG);
    assert_non_null(strstr(said, "given twice"));
    assert_int_equal(READ(&c, "--listen", "unix:/a,unix:/A"), CONFIG_RUN);
}

static void only_the_metrics_address_may_be_empty(void **state)
{
    (void)state;
    struct config c;
    assert_int_equal(READ(&c, "--listen", ""), CONFIG_WRONG);
    variable_name = "PLANETD_METRICS_LISTEN";
    variable_value = "127.0.0.1:9090";
    assert_int_equal(read_words(&c, 0, NULL), CONFIG_RUN);
    assert_int_equal(c.metrics_listen.count, 1);
    assert_int_equal(READ(&c, "--metrics-listen", ""), CONFIG_RUN);
    assert_int_equal(c.metrics_listen.count, 0);
}

static void whether_an_address_was_asked_for_is_known(void **state)
{
    (void)state;
    struct config c;
    assert_int_equal(READ(&c, "--metrics-listen", "a:1"), CONFIG_RUN);
    assert_false(c.listen_given);
    assert_int_equal(READ(&c, "--listen", "0.0.0.0:8080"), CONFIG_RUN);
    assert_true(c.listen_given);
    variable_name = "PLANETD_LISTEN";
    variable_value = "a:1";
    assert_int_equal(read_words(&c, 0, NULL), CONFIG_RUN);
    assert_true(c.listen_given);
    variable_value = "";
    assert_int_equal(read_words(&c, 0, NULL), CONFIG_RUN);
    assert_false(c.listen_given);
}

static void a_text_that_does_not_fit_is_refused_not_cut(void **state)
{
    (void)state;
    struct config c;
    char text[CONFIG_LONG_TEXT_BYTES + 1];
    memset(text, 'a', sizeof(text));
    text[0] = '/';
    text[CONFIG_TEXT_BYTES - 1] = '\0';
    assert_int_equal(READ(&c, "--cache-dir", text), CONFIG_RUN);
    assert_string_equal(c.cache_dir, text);
    text[CONFIG_TEXT_BYTES - 1] = 'a';
    text[CONFIG_TEXT_BYTES] = '\0';
    assert_int_equal(READ(&c, "--cache-dir", text), CONFIG_WRONG);
    assert_non_null(strstr(said, "too long; 255 bytes fit"));
    memcpy(text, "redis://h/0", 11);
    assert_int_equal(READ(&c, "--redis", text), CONFIG_WRONG);
    text[CONFIG_TEXT_BYTES] = 'a';
    text[CONFIG_LONG_TEXT_BYTES] = '\0';
    assert_int_equal(READ(&c, "--sign-keys", text), CONFIG_WRONG);
    assert_non_null(strstr(said, "too long; 2047 bytes fit"));
}

static void characters_that_env_files_read_differently_are_refused(void **state)
{
    (void)state;
    struct config c;
    static const char *const wrong[] = {"/a\"b", "/a'b",  "/a\\b",  " /a",   "/a ",
                                        "/a\nb", "/a\tb", "/a\x7f", "/\xff", "\x1b[31m"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_equal(READ(&c, "--cache-dir", wrong[i]), CONFIG_WRONG);
        assert_non_null(strstr(said, "--cache-dir"));
        assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1);
    }
    assert_int_equal(READ(&c, "--cache-dir", "/var/cache/my planets/\xc3\xa4#$%"), CONFIG_RUN);
    assert_int_equal(READ(&c, "--listen", "a\"b:1"), CONFIG_WRONG);
}

#define KEY_A "00112233445566778899aabbccddeeff"
#define KEY_B "ffeeddccbbaa99887766554433221100"

static void networks_and_keys_are_checked_and_repeated_flags_add_up(void **state)
{
    (void)state;
    struct config c;
    assert_int_equal(READ(&c, "--trusted-proxy", "10.0.0.0/8, unix", "--trusted-proxy=fd00::/8"), CONFIG_RUN);
    assert_string_equal(c.trusted_proxy, "10.0.0.0/8, unix,fd00::/8");
    assert_int_equal(READ(&c, "--trusted-proxy", "10.0.0.0/8", "--trusted-proxy", "10.0.0.0/33"),
                     CONFIG_WRONG);
    assert_non_null(strstr(said, "--trusted-proxy: '10.0.0.0/33' is not up to 64 addresses, networks"));
    assert_int_equal(READ(&c, "--sign-keys", KEY_A, "--sign-keys", KEY_B), CONFIG_RUN);
    assert_string_equal(c.sign_keys, KEY_A "," KEY_B);
    variable_name = "PLANETD_TRUSTED_PROXY";
    variable_value = "192.0.2.1";
    assert_int_equal(READ(&c, "--trusted-proxy", "192.0.2.2"), CONFIG_RUN);
    assert_string_equal(c.trusted_proxy, "192.0.2.2"); /* a flag beats the environment */
    assert_int_equal(READ(&c, "--trusted-proxy", ""), CONFIG_RUN);
    assert_string_equal(c.trusted_proxy, "");
}

static void a_wrong_secret_is_named_but_never_repeated(void **state)
{
    (void)state;
    struct config c;
    static const char *const words[][3] = {
        {"--sign-keys", "hunter2", NULL},           {"--sign-keys=hunter2", NULL, NULL},
        {"--sign-keys", KEY_A, "hunter2"},          {"--sign-keys", KEY_A ",hunter2", NULL},
        {"--sign-keys", "hunter2\n", NULL},         {"--sign-key=hunter2", NULL, NULL},
        {"--redis", "http://:hunter2@h", NULL},     {"--redis", "redis://u:hunter2@h:port", NULL},
        {"--redis", "redis://u:\"hunter2@h", NULL},
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        int count = words[i][2] ? 3 : words[i][1] ? 2 : 1;
        assert_int_equal(read_words(&c, count, words[i]), CONFIG_WRONG);
        if (strstr(said, "hunter2"))
            fail_msg("shown: %s", said);
        assert_true(strlen(said) > 20);
    }
    variable_name = "PLANETD_SIGN_KEYS";
    variable_value = "hunter2";
    assert_int_equal(read_words(&c, 0, NULL), CONFIG_WRONG);
    assert_string_equal(said,
                        "planetd: PLANETD_SIGN_KEYS: the value (not shown) is not up to 8 keys of 16 to 64 "
                        "bytes as hex digits, with commas between\n");
}

static void print_config_shows_no_secret(void **state)
{
    (void)state;
    struct config c;
    assert_int_equal(
        READ(&c, "--sign-keys", KEY_A, "--redis", "redis://u:hunter2@h:6380/2", "--print-config"),
        CONFIG_DONE);
    assert_null(strstr(said, KEY_A));
    assert_null(strstr(said, "hunter2"));
    assert_non_null(strstr(said, "\n# PLANETD_SIGN_KEYS is set and not shown\n"));
    assert_non_null(
        strstr(said, "\n# PLANETD_REDIS=redis://u:***@h:6380/2 has a password that is not shown\n"));
    assert_int_equal(READ(&c, "--redis", "redis://:hunter2@h", "--print-config"), CONFIG_DONE);
    assert_non_null(strstr(said, "\n# PLANETD_REDIS=redis://***@h has"));
    assert_int_equal(READ(&c, "--redis", "redis://h:1/2", "--print-config"), CONFIG_DONE);
    assert_non_null(strstr(said, "\nPLANETD_REDIS=redis://h:1/2\n"));
    assert_non_null(strstr(said, "\nPLANETD_SIGN_KEYS=\n"));
    assert_int_equal(READ(&c, "--redis", "unix:///run/redis@1.sock", "--print-config"), CONFIG_DONE);
    assert_non_null(strstr(said, "\nPLANETD_REDIS=unix:///run/redis@1.sock\n"));
    assert_int_equal(READ(&c, "--redis", "unix://u:hunter2@/run/r@1.sock", "--print-config"), CONFIG_DONE);
    assert_null(strstr(said, "hunter2"));
    assert_non_null(strstr(said, "\n# PLANETD_REDIS=unix://u:***@/run/r@1.sock has a password"));
}

/* An environment as the last --print-config wrote it. */
static const char *printed_value(const char *name)
{
    static char value[CONFIG_LONG_TEXT_BYTES];
    size_t len = strlen(name);
    for (const char *line = said; *line; line += strcspn(line, "\n") + 1)
        if (strncmp(line, name, len) == 0 && line[len] == '=') {
            const char *from = line + len + 1;
            snprintf(value, sizeof(value), "%.*s", (int)strcspn(from, "\n"), from);
            return value;
        }
    return NULL;
}

static void what_print_config_writes_gives_the_same_settings_again(void **state)
{
    (void)state;
    struct config c, again;
    char program[] = "planetd", *argv[] = {program, NULL};
    static const char *const words[] = {
        "--listen",       "[::1]:0",       "--listen",        "unix:/run/my planets.sock",
        "--cache-dir",    "/c d/#$",       "--trusted-proxy", "10.0.0.0/8, unix",
        "--redis",        "redis://h:1/2", "--cache-disk",    "5G",
        "--http-threads", "processors",    "--print-config",
    };
    memset(&c, 0, sizeof(c));
    memset(&again, 0, sizeof(again));
    assert_int_equal(read_words(&c, 14, words), CONFIG_RUN);
    assert_int_equal(read_words(&c, 15, words), CONFIG_DONE);
    FILE *nowhere = fopen("/dev/null", "w");
    assert_non_null(nowhere);
    assert_int_equal(config_read(1, argv, printed_value, nowhere, nowhere, &again), CONFIG_RUN);
    fclose(nowhere);
    assert_memory_equal(&c, &again, sizeof(c));
}

static void the_word_processors_stands_for_their_number(void **state)
{
    (void)state;
    struct config c;
    assert_int_equal(READ(&c, "--http-threads", "7", "--render-threads", "processors"), CONFIG_RUN);
    assert_int_equal(c.http_threads, 7);
    int n = processors_usable("");
    assert_int_equal(c.render_threads, n > 256 ? 256 : n);
    assert_int_equal(READ(&c, "--queue-seconds", "processors"), CONFIG_WRONG);
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
        cmocka_unit_test_setup(unix_sockets_are_absolute_paths_that_the_kernel_takes, reset),
        cmocka_unit_test_setup(only_the_metrics_address_may_be_empty, reset),
        cmocka_unit_test_setup(whether_an_address_was_asked_for_is_known, reset),
        cmocka_unit_test_setup(a_text_that_does_not_fit_is_refused_not_cut, reset),
        cmocka_unit_test_setup(characters_that_env_files_read_differently_are_refused, reset),
        cmocka_unit_test_setup(networks_and_keys_are_checked_and_repeated_flags_add_up, reset),
        cmocka_unit_test_setup(a_wrong_secret_is_named_but_never_repeated, reset),
        cmocka_unit_test_setup(print_config_shows_no_secret, reset),
        cmocka_unit_test_setup(what_print_config_writes_gives_the_same_settings_again, reset),
        cmocka_unit_test_setup(the_word_processors_stands_for_their_number, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
