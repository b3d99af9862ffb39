/* test_problem.c -- errors as HTTP says them, and the descriptions made from the tables. */
#include "tests/unit/ask.h"

#include <jansson.h>
#include <stdlib.h>

#include "api/describe.h"
#include "api/problem.h"
#include "api/version.h"
#include "renderer/bodies.h"
#include "renderer/renderer.h"

static json_t *parsed(struct blob *b)
{
    json_error_t error;
    json_t *root = json_loadb((const char *)b->data, b->len, JSON_REJECT_DUPLICATES, &error);
    if (!root)
        fail_msg("%s: %.*s", error.text, (int)b->len, (const char *)b->data);
    blob_free(b);
    return root;
}

static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "(absent)";
}

static void each_cause_has_a_status_and_a_title(void **state)
{
    (void)state;
    static const struct {
        enum err err;
        int status;
    } expected[] = {
        {ERR_PARAM_UNKNOWN, 400}, {ERR_PARAM_REPEATED, 400},
        {ERR_PARAM_SYNTAX, 400},  {ERR_PARAM_RANGE, 400},
        {ERR_PICTURE_SIZE, 400},  {ERR_TEXT_ENCODING, 400},
        {ERR_BODY_SYNTAX, 400},   {ERR_PARAM_COMBINATION, 400},
        {ERR_BODY_TYPE, 415},     {ERR_BODY_SIZE, 413},
        {ERR_URL_SIZE, 414},      {ERR_HEADER_SIZE, 431},
        {ERR_NOT_FOUND, 404},     {ERR_REVISION, 404},
        {ERR_METHOD, 405},        {ERR_NOT_ACCEPTABLE, 406},
        {ERR_BUSY, 503},          {ERR_DRAINING, 503},
        {ERR_RECIPE, 422},
    };
    for (size_t k = 0; k < ARRAY_LEN(expected); k++)
        assert_int_equal(problem_status(expected[k].err), expected[k].status);
    for (int e = 1; e < ERR_COUNT; e++) {
        assert_in_range(problem_status((enum err)e), 400, 503);
        assert_true(strlen(problem_title((enum err)e)) > 3);
        assert_string_not_equal(problem_title((enum err)e), "Unknown error");
    }
}

static void document_names_cause_parameter_and_request(void **state)
{
    (void)state;
    struct asked a = ask("pixels=5000");
    struct blob b = {0};
    assert_int_equal(problem_write(a.err, &a.fault, "req-7", &b), ERR_NONE);
    json_t *root = parsed(&b);
    assert_string_equal(text_of(root, "type"), "urn:planetd:problem:param-range");
    assert_string_equal(text_of(root, "title"), "Value out of range");
    assert_int_equal(json_integer_value(json_object_get(root, "status")), 400);
    assert_string_equal(text_of(root, "detail"),
                        "pixels must be a whole number from 8 to 1024; \"5000\" is not");
    assert_string_equal(text_of(root, "parameter"), "pixels");
    assert_string_equal(text_of(root, "instance"), "req-7");
    json_decref(root);
}

static void document_without_a_fault_has_no_parameter(void **state)
{
    (void)state;
    struct blob b = {0};
    assert_int_equal(problem_write(ERR_BUSY, NULL, "1", &b), ERR_NONE);
    json_t *root = parsed(&b);
    assert_null(json_object_get(root, "parameter"));
    assert_string_equal(text_of(root, "detail"), "the render queue is full");
    assert_string_equal(text_of(root, "type"), "urn:planetd:problem:busy");
    json_decref(root);
}

static void document_beyond_the_limit_of_its_blob_is_out_of_memory(void **state)
{
    (void)state;
    struct blob b = {.max_bytes = 20};
    assert_int_equal(problem_write(ERR_BUSY, NULL, "1", &b), ERR_OOM);
    blob_free(&b);
}

/* Client text goes into a detail only in printable form, so each document is good JSON whatever was sent. */
static void any_bad_name_or_value_gives_a_good_document(void **state)
{
    (void)state;
    for (int c = 1; c < 256; c++) {
        char query[16];
        for (int as_name = 0; as_name < 2; as_name++) {
            snprintf(query, sizeof query, as_name ? "x%%%02x=1" : "pixels=x%%%02x", (unsigned)c);
            struct asked a = ask(query);
            struct blob b = {0};
            assert_int_not_equal(a.err, ERR_NONE);
            for (const char *s = a.fault.detail; *s; s++)
                assert_true(*s >= 0x20 && *s < 0x7f);
            assert_int_equal(problem_write(a.err, &a.fault, "1", &b), ERR_NONE);
            json_decref(parsed(&b));
        }
    }
}

static const json_t *named(const json_t *array, const char *name)
{
    for (size_t i = 0; i < json_array_size(array); i++)
        if (!strcmp(text_of(json_array_get(array, i), "name"), name))
            return json_array_get(array, i);
    fail_msg("no %s", name);
    return NULL;
}

static bool has_text(const json_t *array, const char *text)
{
    for (size_t i = 0; i < json_array_size(array); i++)
        if (!strcmp(json_string_value(json_array_get(array, i)), text))
            return true;
    return false;
}

static void types_list_every_body_and_parameter(void **state)
{
    (void)state;
    struct blob b = {0};
    assert_int_equal(describe_types(&b), ERR_NONE);
    json_t *root = parsed(&b);
    const json_t *types = json_object_get(root, "bodies"), *rows = json_object_get(root, "parameters");
    assert_int_equal(json_array_size(types), BODY_COUNT);
    assert_int_equal(json_array_size(rows), param_count);
    for (int i = 0; i < BODY_COUNT; i++) {
        const json_t *body = named(types, bodies[i].name);
        assert_int_equal(json_array_size(json_object_get(body, "palette")), bodies[i].steps);
        const json_t *pixels = json_object_get(json_object_get(body, "defaults"), "pixels");
        assert_true(json_is_integer(pixels));
        assert_int_equal(json_integer_value(pixels), 64);
    }
    const json_t *cover = named(rows, "cloud_cover");
    assert_true(json_real_value(json_object_get(cover, "step")) == 0.001);
    assert_true(json_real_value(json_object_get(cover, "maximum")) == 1);
    assert_true(has_text(json_object_get(cover, "bodies"), "terrestrial"));
    assert_false(has_text(json_object_get(cover, "bodies"), "moon"));
    assert_true(has_text(json_object_get(named(rows, "ring_open"), "bodies"), "moon"));
    assert_true(has_text(json_object_get(named(rows, "fps"), "bodies"), "gas"));
    assert_true(json_is_true(json_object_get(named(rows, "scale"), "default_by_body")));
    assert_true(has_text(json_object_get(named(rows, "layer"), "words"), "craters"));
    assert_true(json_is_integer(json_object_get(named(rows, "pixels"), "maximum")));
    assert_int_equal(json_integer_value(json_object_get(json_object_get(root, "limits"), "picture_pixels")),
                     PICTURE_PIXELS_MAX);
    json_decref(root);
}

static void defaults_in_types_are_numbers_and_notes_say_the_rest(void **state)
{
    (void)state;
    struct blob b = {0};
    assert_int_equal(describe_types(&b), ERR_NONE);
    json_t *root = parsed(&b);
    const json_t *rows = json_object_get(root, "parameters");
    for (int i = 0; i < param_count; i++) {
        const json_t *row = named(rows, params[i].name), *value = json_object_get(row, "default");
        if (params[i].kind != PARAM_NUMBER)
            assert_true(json_is_string(value));
        else if (params[i].decimals)
            assert_true(json_is_real(value));
        else
            assert_true(json_is_integer(value));
        assert_true(json_is_string(json_object_get(row, "default_note")));
    }
    assert_int_equal(json_integer_value(json_object_get(named(rows, "pixels"), "default")), 64);
    assert_string_equal(text_of(named(rows, "pixels"), "default_note"), "64, 96 with rings or moons");
    assert_true(json_real_value(json_object_get(named(rows, "scale"), "default")) == 2.0);
    assert_string_equal(text_of(named(rows, "scale"), "default_note"), "by body");
    assert_true(json_real_value(json_object_get(named(rows, "cloud_stretch"), "default")) == 1.7);
    assert_string_equal(text_of(named(rows, "cloud_stretch"), "default_note"), "");
    assert_string_equal(text_of(named(rows, "type"), "default"), "terrestrial");
    assert_string_equal(text_of(named(rows, "seed"), "default"), "1");
    assert_string_equal(text_of(named(rows, "rings"), "default_note"), "");
    assert_string_equal(text_of(named(rows, "atmosphere"), "default"), "auto");
    assert_int_equal(json_integer_value(json_object_get(named(rows, "rev"), "default")), RENDERER_REVISION);
    json_decref(root);
}

/* Each default of a body, asked for, is the plain picture; each parameter that is left out changes nothing.
 */
static void a_body_in_types_has_just_the_parameters_that_matter(void **state)
{
    (void)state;
    struct blob b = {0};
    assert_int_equal(describe_types(&b), ERR_NONE);
    json_t *root = parsed(&b);
    for (int body = 0; body < BODY_COUNT; body++) {
        const json_t *described = named(json_object_get(root, "bodies"), bodies[body].name);
        const json_t *defaults = json_object_get(described, "defaults");
        bool clouds = bodies[body].traits & BODY_HAS_CLOUDS;
        assert_int_equal(json_object_get(defaults, "sea_level") != NULL,
                         (bodies[body].traits & BODY_HAS_HEIGHT) != 0);
        assert_int_equal(json_object_get(defaults, "cloud_cover") != NULL, clouds);
        assert_int_equal(json_object_get(defaults, "cloud_ratio") != NULL, clouds);
        assert_int_equal(json_object_get(defaults, "ice_caps") != NULL,
                         (bodies[body].traits & BODY_HAS_CAPS) != 0);
        assert_non_null(json_object_get(defaults, "tilt"));
        assert_non_null(json_object_get(defaults, "ring_open"));
        assert_non_null(json_object_get(defaults, "fps"));
        assert_null(json_object_get(defaults, "type"));
        for (int i = 0; i < param_count; i++) {
            const json_t *matters =
                json_object_get(named(json_object_get(root, "parameters"), params[i].name), "bodies");
            bool free_of_type = i == PARAM_ROW_type || i == PARAM_ROW_seed || params[i].kind == PARAM_SWEEP;
            assert_int_equal(json_object_get(defaults, params[i].name) != NULL,
                             !free_of_type && has_text(matters, bodies[body].name));
        }
        json_t *copy = json_deep_copy(defaults);
        json_object_set_new(copy, "type", json_string(bodies[body].name));
        char *text = json_dumps(copy, JSON_REAL_PRECISION(10)), query[64];
        struct asked plain, said = {0};
        snprintf(query, sizeof query, "type=%s", bodies[body].name);
        plain = ask(query);
        request_init(&said.request);
        said.err = request_set_json(&said.request, text, strlen(text), &said.fault);
        asked_finish(&said);
        assert_string_equal(said.fault.detail, "");
        assert_string_equal(said.key.text, plain.key.text);
        free(text);
        json_decref(copy);
    }
    json_decref(root);
}

static void a_body_in_types_lists_the_layers_that_it_can_be_asked_for(void **state)
{
    (void)state;
    struct blob b = {0};
    assert_int_equal(describe_types(&b), ERR_NONE);
    json_t *root = parsed(&b);
    for (int body = 0; body < BODY_COUNT; body++) {
        const json_t *layers =
            json_object_get(named(json_object_get(root, "bodies"), bodies[body].name), "layers");
        size_t listed = 0;
        for (int layer = 0; layer < LAYER_COUNT; layer++) {
            char query[64];
            const char *word = params[PARAM_ROW_layer].words[layer];
            snprintf(query, sizeof query, "type=%s&layer=%s&rings=on", bodies[body].name, word);
            bool taken = ask(query).err == ERR_NONE;
            assert_int_equal(has_text(layers, word), taken);
            listed += taken;
        }
        assert_int_equal(json_array_size(layers), listed);
    }
    json_decref(root);
}

static void version_names_program_revision_and_libraries(void **state)
{
    (void)state;
    struct blob b = {0};
    assert_int_equal(describe_version(&b), ERR_NONE);
    json_t *root = parsed(&b);
    assert_string_equal(text_of(root, "name"), "planetd");
    assert_string_equal(text_of(root, "version"), PLANETD_VERSION);
    assert_int_equal(json_integer_value(json_object_get(root, "revision")), RENDERER_REVISION);
    assert_string_equal(text_of(root, "libraries"), encoder_libraries());
    json_decref(root);
}

static void markdown_has_a_row_of_four_cells_for_each_parameter(void **state)
{
    (void)state;
    struct blob b = {0};
    assert_int_equal(describe_markdown(&b), ERR_NONE);
    assert_int_equal(blob_append(&b, "", 1), ERR_NONE);
    int lines = 0, bars = 0;
    for (const char *s = (const char *)b.data; *s; s++) {
        bars += *s == '|';
        if (*s == '\n') {
            assert_int_equal(bars, 5);
            bars = 0;
            lines++;
        }
    }
    assert_int_equal(lines, param_count + 2);
    for (int i = 0; i < param_count; i++) {
        char cell[48];
        snprintf(cell, sizeof cell, "\n| `%s` | ", params[i].name);
        assert_non_null(strstr((const char *)b.data, cell));
    }
    blob_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_cause_has_a_status_and_a_title),
        cmocka_unit_test(document_names_cause_parameter_and_request),
        cmocka_unit_test(document_without_a_fault_has_no_parameter),
        cmocka_unit_test(document_beyond_the_limit_of_its_blob_is_out_of_memory),
        cmocka_unit_test(any_bad_name_or_value_gives_a_good_document),
        cmocka_unit_test(types_list_every_body_and_parameter),
        cmocka_unit_test(defaults_in_types_are_numbers_and_notes_say_the_rest),
        cmocka_unit_test(a_body_in_types_has_just_the_parameters_that_matter),
        cmocka_unit_test(a_body_in_types_lists_the_layers_that_it_can_be_asked_for),
        cmocka_unit_test(version_names_program_revision_and_libraries),
        cmocka_unit_test(markdown_has_a_row_of_four_cells_for_each_parameter),
    };
    return cmocka_run_group_tests_name("problem", tests, NULL, NULL);
}
