/* request_json.c -- takes a JSON object into a request.
 * Each member becomes text and goes through request_set(), so that JSON has no rules of its own. A file apart
 * from request.c, so that programs that read no JSON need not link jansson. Threads: one request by one
 * thread at a time. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/fault.h"
#include "api/params.h"
#include "api/request.h"
#include "api/request_json.h"

#define NUMBER_TEXT_BYTES 40

/* The shortest of 15 to 17 digits that is the same double: a client who wrote 0.1235 means that and not
 * 0.12349999999999999, which would be snapped to another step. */
static void real_text(double real, char ret_text[NUMBER_TEXT_BYTES])
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(ret_text, NUMBER_TEXT_BYTES, "%.*g", digits, real);
        if (strtod(ret_text, NULL) == real)
            return;
    }
}

/* Its spelling is lost, and the spelling is the seed: 3, 3.0 and 3e0 are three seeds. */
static enum err refuse_seed(int i, struct request_fault *fault)
{
    return fault_set(
        fault, ERR_PARAM_SYNTAX, params[i].name,
        "%s as a number must be an integer without point or exponent; send any other as text in quotes",
        params[i].name);
}

/* Whether row `i` knows this word. */
static bool has_word(int i, const char *word)
{
    const struct param *p = &params[i];
    for (int w = 0; p->kind == PARAM_CHOICE && p->words[w]; w++)
        if (!strcmp(p->words[w], word))
            return true;
    for (int w = 0; p->kind == PARAM_COLOR && w < COLOR_WORD_COUNT; w++)
        if (p->words[w] && !strcmp(p->words[w], word))
            return true;
    return false;
}

static enum err refuse_kind(int i, const char *what, struct request_fault *fault)
{
    char allowed[PARAM_ALLOWED_BYTES];
    param_allowed(i, allowed);
    return fault_set(fault, ERR_PARAM_SYNTAX, params[i].name, "%s must be %s; %s is not", params[i].name,
                     allowed, what);
}

static enum err set_array(struct request *r, int i, const json_t *array, struct request_fault *fault)
{
    char text[PALETTE_MAX * 8];
    size_t len = 0, count = json_array_size(array);
    if (params[i].kind != PARAM_PALETTE)
        return refuse_kind(i, "an array", fault);
    if (count < 2 || count > PALETTE_MAX) {
        refuse_kind(i, "an array of this length", fault);
        return ERR_PARAM_RANGE;
    }
    for (size_t k = 0; k < count; k++) {
        const json_t *color = json_array_get(array, k);
        size_t color_len = json_string_length(color); /* 0 for what is no string */
        if (!color_len || color_len > 7 || memchr(json_string_value(color), ',', color_len))
            return refuse_kind(i, "an array of something else", fault);
        if (k)
            text[len++] = ',';
        memcpy(text + len, json_string_value(color), color_len);
        len += color_len;
    }
    return request_set(r, params[i].name, strlen(params[i].name), text, len, fault);
}

/* The member as text; ERR_PARAM_SYNTAX for kinds of JSON values that row `i` does not take. */
static enum err set_member(struct request *r, int i, const json_t *member, struct request_fault *fault)
{
    const char *name = params[i].name;
    char text[NUMBER_TEXT_BYTES];
    switch (json_typeof(member)) {
    case JSON_STRING:
        return request_set(r, name, strlen(name), json_string_value(member), json_string_length(member),
                           fault);
    case JSON_INTEGER:
        snprintf(text, sizeof text, "%" JSON_INTEGER_FORMAT, json_integer_value(member));
        break;
    case JSON_REAL:
        if (params[i].kind == PARAM_SEED)
            return refuse_seed(i, fault);
        real_text(json_real_value(member), text);
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        snprintf(text, sizeof text, "%s", json_is_true(member) ? "on" : "off");
        if (!has_word(i, text))
            return refuse_kind(i, json_is_true(member) ? "true" : "false", fault);
        break;
    case JSON_ARRAY:
        return set_array(r, i, member, fault);
    case JSON_OBJECT:
        return refuse_kind(i, "an object", fault);
    case JSON_NULL:
        return refuse_kind(i, "null", fault);
    }
    return request_set(r, name, strlen(name), text, strlen(text), fault);
}

/* jansson's text holds what the client sent, so it is worded anew. */
static const char *json_words(const json_error_t *error)
{
    enum json_error_code code = json_error_code(error);
    if (code == json_error_premature_end_of_input)
        return "the JSON ends too early";
    if (code == json_error_end_of_input_expected)
        return "something follows the JSON object";
    if (code == json_error_stack_overflow)
        return "the JSON is nested too deeply";
    if (code == json_error_numeric_overflow)
        return strncmp(error->text, "too big", 7)
                   ? "a number is too large for any parameter"
                   : "an integer has more than 64 bits; send one of so many digits in quotes";
    return "the JSON is malformed";
}

/* jansson ends the message with the name as it was sent: duplicate object key near '"pixels"'. */
static enum err refuse_duplicate(const json_error_t *error, struct request_fault *fault)
{
    for (int i = 0; i < param_count; i++) {
        char quoted[48];
        snprintf(quoted, sizeof quoted, "\"%s\"", params[i].name);
        if (strstr(error->text, quoted))
            return fault_set(fault, ERR_PARAM_REPEATED, params[i].name,
                             "%s is given more than once (line %d, column %d)", params[i].name, error->line,
                             error->column);
    }
    return fault_set(fault, ERR_PARAM_REPEATED, NULL, "a name is given more than once (line %d, column %d)",
                     error->line, error->column);
}

static enum err refuse_json(const json_error_t *error, struct request_fault *fault)
{
    enum json_error_code code = json_error_code(error);
    if (code == json_error_out_of_memory)
        return fault_set(fault, ERR_OOM, NULL, "out of memory");
    if (code == json_error_duplicate_key)
        return refuse_duplicate(error, fault);
    if (code == json_error_invalid_utf8 || code == json_error_null_byte_in_key ||
        code == json_error_null_character)
        return fault_set(fault, ERR_TEXT_ENCODING, NULL, "%s (line %d, column %d)",
                         code == json_error_invalid_utf8 ? "the JSON is not UTF-8"
                                                         : "the JSON holds a NUL byte in a name",
                         error->line, error->column);
    return fault_set(fault, ERR_BODY_SYNTAX, NULL, "%s (line %d, column %d)", json_words(error), error->line,
                     error->column);
}

static bool is_blank(const char *body, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!body[i] || !strchr(" \t\r\n", body[i]))
            return false;
    return true;
}

json_t *request_json_load(const char *body, size_t len, struct request_fault *ret_fault, enum err *ret_err)
{
    json_error_t error;
    *ret_err = ERR_NONE;
    if (is_blank(body, len)) {
        *ret_err =
            fault_set(ret_fault, ERR_BODY_SYNTAX, NULL, "the body is empty; a JSON object is expected");
        return NULL;
    }
    json_t *root = json_loadb(body, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_ANY, &error);
    if (!root)
        *ret_err = refuse_json(&error, ret_fault);
    return root;
}

enum err request_set_object(struct request *r, const json_t *object, struct request_fault *ret_fault)
{
    enum err err = ERR_NONE;
    const char *name;
    json_t *member;
    /* jansson's iterators take no const, though they change nothing. */
    json_object_foreach((json_t *)(uintptr_t)object, name, member)
    {
        int i = param_find(name, strlen(name));
        if (!err && !strcmp(name, "code") && json_is_string(member))
            err = request_set(r, name, strlen(name), json_string_value(member), json_string_length(member),
                              ret_fault);
        else if (!err && i >= 0)
            err = set_member(r, i, member, ret_fault);
        else if (!err)
            err = request_set(r, name, strlen(name), "", 0, ret_fault);
    }
    return err;
}

enum err request_set_json(struct request *r, const char *body, size_t len, struct request_fault *ret_fault)
{
    enum err err;
    json_t *root = request_json_load(body, len, ret_fault, &err);
    if (!root)
        return err;
    if (json_is_object(root))
        err = request_set_object(r, root, ret_fault);
    else
        err = fault_set(
            ret_fault, ERR_BODY_SYNTAX, NULL,
            "a JSON object is expected, such as {\"type\": \"gas\", \"seed\": 3}; the body is another value");
    json_decref(root);
    return err;
}
