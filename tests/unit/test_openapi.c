/* test_openapi.c -- the OpenAPI document against the tables: parameters, addresses, statuses. What it
 * promises is asked for in tests/http/test_openapi.py. */
#include "tests/unit/ask.h"

#include <jansson.h>
#include <stdlib.h>

#include "api/openapi.h"
#include "api/problem.h"
#include "server/routes.h"

static json_t *root;

static int read_document(void **state)
{
    (void)state;
    struct blob text = {0};
    json_error_t error;
    if (openapi_write(&text))
        return -1;
    root = json_loadb((const char *)text.data, text.len, JSON_REJECT_DUPLICATES, &error);
    blob_free(&text);
    return root ? 0 : -1;
}

static int free_document(void **state)
{
    (void)state;
    json_decref(root);
    return 0;
}

/* The member that a chain of names leads to; fails the test when there is none. */
static const json_t *at(const json_t *from, const char *first, const char *second, const char *third)
{
    const char *names[] = {first, second, third};
    for (size_t i = 0; i < ARRAY_LEN(names) && names[i]; i++) {
        from = json_object_get(from, names[i]);
        if (!from)
            fail_msg("no %s in %s %s %s", names[i], first, second ? second : "", third ? third : "");
    }
    return from;
}

static const char *text_at(const json_t *from, const char *name)
{
    return json_string_value(at(from, name, NULL, NULL));
}

static void the_same_bytes_every_time_and_those_that_are_committed(void **state)
{
    (void)state;
    struct blob a = {0}, b = {0}, file = {0};
    assert_int_equal(blob_append(&b, "old", 3), ERR_NONE); /* is replaced */
    assert_int_equal(openapi_write(&a), ERR_NONE);
    assert_int_equal(openapi_write(&b), ERR_NONE);
    assert_int_equal(a.len, b.len);
    assert_memory_equal(a.data, b.data, a.len);
    assert_memory_equal(a.data, "{\n  \"openapi\": \"3.1.", 20);
    assert_memory_equal(a.data + a.len - 3, "\n}\n", 3);
    char part[4096];
    size_t n;
    FILE *committed = fopen("api/openapi.json", "rb");
    assert_non_null(committed);
    while ((n = fread(part, 1, sizeof part, committed)) > 0)
        assert_int_equal(blob_append(&file, part, n), ERR_NONE);
    fclose(committed);
    if (file.len != a.len || !file.data || memcmp(file.data, a.data, a.len) != 0)
        fail_msg("api/openapi.json is not what the tables say: make docs");
    blob_free(&a);
    blob_free(&b);
    blob_free(&file);
}

static void without_room_nothing_is_written(void **state)
{
    (void)state;
    struct blob small = {.max_bytes = 1000};
    assert_int_equal(blob_append(&small, "kept", 4), ERR_NONE);
    assert_int_equal(openapi_write(&small), ERR_OOM);
    assert_int_equal(small.len, 4);
    assert_memory_equal(small.data, "kept", 4);
    blob_free(&small);
}

/* Whether the number is that many steps, but for the last bit. */
static bool same_number(const json_t *number, int32_t steps, int decimals)
{
    double one = 1;
    for (int d = 0; d < decimals; d++)
        one *= 10;
    double off = json_number_value(number) * one - steps;
    return off < 1e-6 && off > -1e-6;
}

static void check_number(const struct param *p, const json_t *schema)
{
    assert_string_equal(text_at(schema, "type"), p->decimals ? "number" : "integer");
    assert_true(same_number(at(schema, "minimum", NULL, NULL), p->minimum, p->decimals));
    assert_true(same_number(at(schema, "maximum", NULL, NULL), p->maximum, p->decimals));
    if (p->decimals)
        assert_true(same_number(at(schema, "x-step", NULL, NULL), 1, p->decimals));
    else
        assert_null(json_object_get(schema, "x-step"));
}

static void check_words(const struct param *p, const json_t *schema)
{
    const json_t *words = at(schema, "enum", NULL, NULL);
    size_t count = 0;
    for (; p->words[count]; count++)
        assert_string_equal(json_string_value(json_array_get(words, count)), p->words[count]);
    assert_int_equal(json_array_size(words), count);
}

static void every_parameter_is_described_as_the_table_has_it(void **state)
{
    (void)state;
    const json_t *schemas = at(root, "components", "schemas", NULL);
    const json_t *body = at(schemas, "PlanetRequest", "properties", NULL);
    assert_int_equal(json_object_size(body), param_count + 1); /* and code */
    assert_int_equal(json_object_size(at(root, "components", "parameters", NULL)),
                     param_count + 2); /* and code, If-None-Match */
    for (int i = 0; i < param_count; i++) {
        const struct param *p = &params[i];
        const json_t *schema = at(schemas, p->name, NULL, NULL);
        const json_t *parameter = at(root, "components", "parameters", p->name);
        assert_string_equal(text_at(parameter, "name"), p->name);
        assert_string_equal(text_at(parameter, "in"), "query");
        assert_non_null(strstr(text_at(parameter, "description"), p->help));
        assert_true(json_object_size(at(parameter, "examples", NULL, NULL)) > 0);
        at(body, p->name, NULL, NULL);
        if (p->kind == PARAM_NUMBER)
            check_number(p, schema);
        else
            assert_string_equal(text_at(schema, "type"), "string");
        if (p->kind == PARAM_CHOICE)
            check_words(p, schema);
        if (p->kind == PARAM_SEED)
            assert_int_equal(json_integer_value(at(schema, "maxLength", NULL, NULL)), SEED_MAX_BYTES);
    }
}

/* A default that depends on other parameters is told in words, not as a value that would often be wrong. */
static void a_default_is_a_value_just_where_it_always_holds(void **state)
{
    (void)state;
    const json_t *schemas = at(root, "components", "schemas", NULL);
    assert_true(json_number_value(at(schemas, "tilt", "default", NULL)) == 17);
    assert_int_equal(json_integer_value(at(schemas, "fps", "default", NULL)), 15);
    assert_string_equal(json_string_value(at(schemas, "outline", "default", NULL)), "none");
    static const char *const depends[] = {"pixels",      "frames",   "scale", "sea_level",
                                          "cloud_cover", "ice_caps", "roll"};
    for (size_t k = 0; k < ARRAY_LEN(depends); k++) {
        assert_null(json_object_get(at(schemas, depends[k], NULL, NULL), "default"));
        assert_non_null(strstr(text_at(at(schemas, depends[k], NULL, NULL), "description"), "Default: "));
    }
}

static const struct {
    const char *name;
    enum http_method method;
} methods[] = {{"get", HTTP_GET}, {"head", HTTP_HEAD}, {"post", HTTP_POST}};

static void every_address_of_the_document_is_served_with_just_these_methods(void **state)
{
    (void)state;
    const char *path;
    const json_t *operations;
    json_object_foreach((json_t *)at(root, "paths", NULL, NULL), path, operations)
    {
        for (size_t m = 0; m < ARRAY_LEN(methods); m++) {
            const struct route *route;
            enum err err = route_find(ROUTES_PUBLIC, path, strlen(path), methods[m].method, &route);
            if (err != (json_object_get(operations, methods[m].name) ? ERR_NONE : ERR_METHOD))
                fail_msg("%s %s", methods[m].name, path);
        }
        assert_in_range(json_object_size(operations), 1, ARRAY_LEN(methods));
    }
}

static void every_public_address_is_in_the_document(void **state)
{
    (void)state;
    const json_t *paths = at(root, "paths", NULL, NULL);
    for (int i = 0; i < route_count(); i++) {
        const struct route *r = route_at(i);
        const char *path;
        const json_t *operations;
        int found = 0;
        json_object_foreach((json_t *)paths, path, operations)
        {
            const struct route *fits;
            if (route_find(ROUTES_PUBLIC, path, strlen(path), HTTP_GET, &fits) != ERR_NOT_FOUND && fits == r)
                found++;
        }
        if ((found > 0) != ((r->sets & ROUTES_PUBLIC) != 0) || (!r->prefix && found > 1))
            fail_msg("%s is there %d times", r->path, found);
    }
}

static void every_cause_is_named_under_its_status(void **state)
{
    (void)state;
    static const enum err never[] = {ERR_CONFIG, ERR_BACKEND_UNKNOWN,
                                     ERR_CANCELLED}; /* no answer can say so */
    for (int e = 1; e < ERR_COUNT; e++) {
        char name[16], quoted[64];
        bool told = true;
        for (size_t k = 0; k < ARRAY_LEN(never); k++)
            told = told && never[k] != (enum err)e;
        snprintf(name, sizeof name, "Problem%d", problem_status((enum err)e));
        snprintf(quoted, sizeof quoted, "`%s`: ", err_name((enum err)e));
        const char *words = text_at(at(root, "components", "responses", name), "description");
        if ((strstr(words, quoted) != NULL) != told)
            fail_msg("%s in %s", quoted, name);
    }
}

static void each_operation_has_the_statuses_that_it_can_answer(void **state)
{
    (void)state;
    static const struct {
        const char *path, *method, *has, *has_not;
    } rows[] = {
        {"/planet", "get", "200 304 400 403 404 406 414 429 431 500 503", "413 415 405"},
        {"/planet", "head", "200 304 400 403 404 406 414 429 431 500 503", "413 415 405"},
        {"/planet", "post", "200 400 403 404 406 413 414 415 429 431 500 503", "304 405"},
        {"/planet.png", "get", "200 304 400 403 404 414 429 431 500 503", "406 413 415"},
        {"/planet/{type}/{seed}.gif", "head", "200 304 400 403 404 414 429 431 500 503", "406 413 415"},
        {"/healthz", "get", "200 400 414 431 503", "403 404 406 429 500"},
        {"/readyz", "get", "200 400 414 431 503", "403 404 406 429 500"},
        {"/", "get", "200 304 400 414 431 503", "403 404 406 429 500"},
        {"/viewer/{file}", "get", "200 304 400 404 414 431 503", "403 406 429 500"},
        {"/shaders/bodies/{body}", "head", "200 304 400 404 414 431 503", "403 406 429 500"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const json_t *responses =
            at(at(root, "paths", rows[i].path, rows[i].method), "responses", NULL, NULL);
        for (int status = 200; status < 600; status++) {
            char text[8];
            snprintf(text, sizeof text, "%d", status);
            bool there = json_object_get(responses, text);
            if ((strstr(rows[i].has, text) && !there) || (strstr(rows[i].has_not, text) && there))
                fail_msg("%s of %s %s", text, rows[i].method, rows[i].path);
        }
    }
}

static void follow(const json_t *value)
{
    const char *name;
    const json_t *member;
    size_t i;
    json_array_foreach(value, i, member)
    {
        follow(member);
    }
    json_object_foreach((json_t *)value, name, member)
    {
        const char *to = json_string_value(member);
        char path[128], *rest = path;
        const json_t *found = root;
        follow(member);
        if (strcmp(name, "$ref") != 0 || !to)
            continue;
        assert_memory_equal(to, "#/", 2);
        snprintf(path, sizeof path, "%s", to + 2);
        while (found && rest)
            found = json_object_get(found, strsep(&rest, "/"));
        if (!found)
            fail_msg("nothing at %s", to);
    }
}

static void every_reference_leads_somewhere(void **state)
{
    (void)state;
    follow(root);
}

static void signed_urls_are_described(void **state)
{
    (void)state;
    const json_t *schemes = at(root, "components", "securitySchemes", NULL);
    assert_string_equal(text_at(at(schemes, "signature", NULL, NULL), "name"), "signature");
    assert_string_equal(text_at(at(schemes, "expires", NULL, NULL), "in"), "query");
    assert_int_equal(json_array_size(at(at(root, "paths", "/planet", "post"), "security", NULL, NULL)), 3);
    assert_int_equal(json_array_size(at(at(root, "paths", "/types", "get"), "security", NULL, NULL)), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_bytes_every_time_and_those_that_are_committed),
        cmocka_unit_test(without_room_nothing_is_written),
        cmocka_unit_test(every_parameter_is_described_as_the_table_has_it),
        cmocka_unit_test(a_default_is_a_value_just_where_it_always_holds),
        cmocka_unit_test(every_address_of_the_document_is_served_with_just_these_methods),
        cmocka_unit_test(every_public_address_is_in_the_document),
        cmocka_unit_test(every_cause_is_named_under_its_status),
        cmocka_unit_test(each_operation_has_the_statuses_that_it_can_answer),
        cmocka_unit_test(every_reference_leads_somewhere),
        cmocka_unit_test(signed_urls_are_described),
    };
    return cmocka_run_group_tests(tests, read_document, free_document);
}
