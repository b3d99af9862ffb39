/* fuzz_config.c -- settings: each line is a word of the command line or, with PLANETD_ at its front, a
 * variable. What is wrong is told in one clean line; what is right can be printed, read back and printed
 * again; and secrets are never shown. An input that begins with '@' has a password besides the key, one with
 * '!' has both and they are malformed. */
#include "renderer/base/attr.h"
#include "server/config.h"
#include "server/processors.h"
#include "tests/fuzz/fuzz.h"

#define LINES_MAX 24
#define SECRET    "5ec4e75ec4e75ec4e75ec4e75ec4e75ec4e7"

/* In place of the real one, which reads a dozen files. */
int processors_usable(const char *root)
{
    (void)root;
    return 2;
}

static char secrets; /* '@', '!' or 0 */
static char *variables[LINES_MAX * 2];
static int variable_count;

static const char *environment(const char *name)
{
    size_t len = strlen(name);
    for (int i = 0; i < variable_count; i++)
        if (strncmp(variables[i], name, len) == 0 && variables[i][len] == '=')
            return variables[i] + len + 1;
    if (strcmp(name, "PLANETD_REDIS") == 0 && secrets)
        return secrets == '!' ? "redis://user:" SECRET "@host:port" : "redis://user:" SECRET "@host";
    if (strcmp(name, "PLANETD_SIGN_KEYS") == 0)
        return secrets == '!' ? SECRET "," SECRET "z" : SECRET;
    return NULL;
}

/* One config_read(). *ret_said is what it wrote, freed by the caller. */
static enum config_outcome read_config(int argc, char **argv, char **ret_said)
{
    struct config c;
    char *said = NULL, *complaint = NULL;
    size_t said_len, complaint_len;
    FILE *out = open_memstream(&said, &said_len), *complaints = open_memstream(&complaint, &complaint_len);
    CHECK(out && complaints);
    enum config_outcome outcome = config_read(argc, argv, environment, out, complaints, &c);
    fclose(out);
    fclose(complaints);
    CHECK(outcome == CONFIG_RUN || outcome == CONFIG_DONE || outcome == CONFIG_WRONG);
    CHECK((outcome == CONFIG_DONE) == (said_len > 0));
    CHECK((outcome == CONFIG_WRONG) == (complaint_len > 0));
    CHECK(!strstr(said, SECRET) && !strstr(complaint, SECRET));
    if (outcome == CONFIG_WRONG) {
        CHECK(strncmp(complaint, "planetd: ", 9) == 0);
        CHECK(strlen(complaint) == complaint_len);
        for (const char *p = complaint; *p; p++)
            CHECK(((unsigned char)*p >= 32 && *p != 127) || (*p == '\n' && p[1] == '\0'));
        CHECK(complaint[complaint_len - 1] == '\n');
    }
    if (outcome == CONFIG_RUN) {
        CHECK(c.listen.count >= 0 && c.listen.count <= CONFIG_LISTEN_MAX);
        CHECK(c.http_threads >= 1 && c.http_threads <= 64);
        CHECK(memchr(c.sign_keys, '\0', sizeof(c.sign_keys)) && memchr(c.redis, '\0', sizeof(c.redis)));
    }
    free(complaint);
    *ret_said = said;
    return outcome;
}

/* Prints the settings, takes what was printed for the environment, and prints them again. */
static void check_print(int argc, char **argv)
{
    char *first, *second, *rest = NULL;
    char *bare[] = {argv[0], argv[argc - 1]};
    CHECK(read_config(argc, argv, &first) == CONFIG_DONE);
    char *lines = fuzz_text(first, strlen(first));
    variable_count = 0;
    for (char *line = strtok_r(lines, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        CHECK(variable_count < (int)ARRAY_LEN(variables));
        if (line[0] != '#')
            variables[variable_count++] = line;
    }
    if (strncmp(first, "# PLANETD_REDIS", 15) != 0 && !strstr(first, "\n# PLANETD_REDIS")) {
        CHECK(read_config(ARRAY_LEN(bare), bare, &second) == CONFIG_DONE);
        CHECK(strcmp(first, second) == 0);
        free(second);
    }
    free(lines);
    free(first);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char name[] = "planetd", print[] = "--print-config";
    char *argv[LINES_MAX + 3] = {name}, *said, *rest = NULL;
    int argc = 1;
    secrets = 0;
    if (size && (data[0] == '@' || data[0] == '!')) {
        secrets = (char)data[0];
        data++;
        size--;
    }
    char *text = fuzz_text(data, size);
    variable_count = 0;
    if (!strstr(text, SECRET)) {
        for (char *line = strtok_r(text, "\n", &rest); line && argc + variable_count < LINES_MAX;
             line = strtok_r(NULL, "\n", &rest)) {
            if (strncmp(line, "PLANETD_", 8) == 0)
                variables[variable_count++] = line;
            else
                argv[argc++] = line;
        }
        enum config_outcome outcome = read_config(argc, argv, &said);
        free(said);
        if (outcome == CONFIG_RUN) {
            argv[argc++] = print;
            check_print(argc, argv);
        }
    }
    free(text);
    return 0;
}
