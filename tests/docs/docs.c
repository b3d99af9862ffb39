/* docs.c -- writes the README's tables, api/openapi.json and deploy/planetd.env from the tables of the code.
 * usage: docs parameters|settings|bodies|openapi|env|problems */
#include <stdio.h>
#include <string.h>

#include "api/describe.h"
#include "api/openapi.h"
#include "api/problem.h"
#include "renderer/bodies.h"
#include "server/config.h"

static int made(enum err (*make)(struct blob *out))
{
    struct blob out = {0};
    if (make(&out))
        return 1;
    fwrite(out.data, 1, out.len, stdout);
    blob_free(&out);
    return 0;
}

/* '|' ends a cell. */
static void cell(const char *text)
{
    for (; *text; text++)
        printf("%s%c", *text == '|' ? "\\" : "", *text);
}

/* Every cause that a client can be told, by status. */
static int problems(void)
{
    printf("| status | type | means |\n| --- | --- | --- |\n");
    for (int status = 400; status < 600; status++)
        for (int i = ERR_NONE + 1; i < ERR_COUNT; i++)
            if (problem_status((enum err)i) == status)
                printf("| %d | `%s` | %s: %s |\n", status, err_name((enum err)i), problem_title((enum err)i),
                       err_words((enum err)i));
    return 0;
}

static const struct row {
    const char *flag, *environment, *fallback, *help;
} rows[] = {
#define SETTING(kind, field, flag, environment, fallback, least, most, words, help)                          \
    {flag, environment, fallback, help},
#include "server/config.def"
#undef SETTING
};

static int settings(void)
{
    printf("| flag | environment | default | what it does |\n| --- | --- | --- | --- |\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *r = &rows[i];
        char allowed[CONFIG_ALLOWED_BYTES];
        config_allowed((int)i, allowed);
        printf("| `--%s` | `%s` | %s | ", r->flag, r->environment, *r->fallback ? r->fallback : "empty");
        cell(r->help);
        printf("; ");
        cell(allowed);
        printf(" |\n");
    }
    return 0;
}

/* Both systemd's EnvironmentFile= and docker's --env-file read it. */
static int env_file(void)
{
    printf("# All settings of planetd, with their defaults. Take the # away from those that you change.\n"
           "# systemd: EnvironmentFile=/etc/planetd.env; docker: --env-file planetd.env. No quotes: docker "
           "keeps them.\n"
           "# `planetd --print-config` writes the settings in force in the same form. make docs writes this "
           "file.\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *r = &rows[i];
        char allowed[CONFIG_ALLOWED_BYTES];
        config_allowed((int)i, allowed);
        printf("\n# %s\n# %s\n#%s=%s\n", r->help, allowed, r->environment, r->fallback);
    }
    return 0;
}

static int body_list(void)
{
    for (int i = 0; i < BODY_COUNT; i++)
        printf("- `%s`: %s\n", bodies[i].name, bodies[i].summary);
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc == 2 ? argv[1] : "";
    if (!strcmp(what, "parameters"))
        return made(describe_markdown);
    if (!strcmp(what, "settings"))
        return settings();
    if (!strcmp(what, "bodies"))
        return body_list();
    if (!strcmp(what, "openapi"))
        return made(openapi_write);
    if (!strcmp(what, "env"))
        return env_file();
    if (!strcmp(what, "problems"))
        return problems();
    fprintf(stderr, "usage: docs parameters|settings|bodies|openapi|env|problems\n");
    return 2;
}
