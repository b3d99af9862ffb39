/* docs.c -- writes the README's tables from the tables of the code. usage: docs
 * parameters|settings|bodies|openapi */
#include <stdio.h>
#include <string.h>

#include "api/describe.h"
#include "api/openapi.h"
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

static const struct row {
    const char *flag, *environment, *fallback, *help;
    bool listen;
} rows[] = {
#define SETTING(kind, field, flag, environment, fallback, least, most, words, help)                          \
    {flag, environment, fallback, help, #kind[0] == 'L'},
#include "server/config.def"
#undef SETTING
};

static int settings(void)
{
    printf("| flag | environment | default | what it does |\n| --- | --- | --- | --- |\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *r = &rows[i];
        printf("| `--%s` | `%s` | %s | ", r->flag, r->environment, *r->fallback ? r->fallback : "empty");
        cell(r->help);
        if (!r->listen) { /* its help says it all */
            char allowed[CONFIG_ALLOWED_BYTES];
            config_allowed((int)i, allowed);
            printf("; ");
            cell(allowed);
        }
        printf(" |\n");
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
    fprintf(stderr, "usage: docs parameters|settings|bodies|openapi\n");
    return 2;
}
