/* test_key.c -- keys lead to themselves, do not depend on spelling, and fit; entity tags and file names. */
#include "tests/unit/ask.h"
#include "tests/unit/random_request.h"

#include <inttypes.h>

#include "renderer/base/attr.h"
#include "renderer/bodies.h"

#define RANDOM_REQUESTS 20000

static void a_key_is_a_query_that_leads_to_itself(void **state)
{
    (void)state;
    random_state = 1;
    for (int n = 0; n < RANDOM_REQUESTS; n++) {
        struct pairs q;
        struct asked a = random_request(&q), again = ask(a.key.text);
        if (again.err)
            fail_msg("%s: %s", a.key.text, again.fault.detail);
        assert_string_equal(again.key.text, a.key.text);
        assert_int_equal(again.key.len, strlen(a.key.text));
        assert_true(again.key.hash == a.key.hash);
        again.request.given = a.request.given; /* everything else, down to the last byte */
        assert_memory_equal(&again.request, &a.request, sizeof a.request);
    }
}

static void order_escapes_and_spelled_out_defaults_do_not_change_the_key(void **state)
{
    (void)state;
    random_state = 2;
    for (int n = 0; n < RANDOM_REQUESTS; n++) {
        static char query[QUERY_BYTES];
        struct pairs q;
        struct asked a = random_request(&q);
        for (int i = 0; i < param_count; i++) {
            char text[VALUE_BYTES] = "auto";
            if (gives(&q, i) || random_below(2))
                continue;
            if (params[i].kind == PARAM_SEED)
                snprintf(text, sizeof text, "%s", params[i].default_text);
            else if (params[i].kind == PARAM_SWEEP) /* nothing is its default, and can't be said */
                continue;
            else if (params[i].kind != PARAM_PALETTE)
                param_text(i, param_default(i, &a.request), text);
            give(&q, i, text);
        }
        shuffle(&q);
        write_query(&q, query);
        struct asked b = ask(query);
        if (b.err || strcmp(a.key.text, b.key.text) != 0)
            fail_msg("%s\n%s\n%s %s", query, a.key.text, b.key.text, b.fault.detail);
    }
}

static bool draws_the_same(const struct request *a, const struct request *b)
{
    /* request_init() clears the padding too. NOLINTNEXTLINE(bugprone-suspicious-memory-comparison) */
    return !memcmp(&a->planet, &b->planet, sizeof a->planet) && a->format == b->format &&
           a->zoom == b->zoom && a->fps == b->fps && a->loops == b->loops && a->columns == b->columns &&
           a->margin == b->margin && a->spacing == b->spacing && a->atlas == b->atlas &&
           a->layers == b->layers && !strcmp(a->seeds, b->seeds) && !strcmp(a->sweep_x, b->sweep_x) &&
           !strcmp(a->sweep_y, b->sweep_y) && a->count == b->count && a->from == b->from &&
           a->ocean == b->ocean && a->land == b->land && a->caps == b->caps && a->clouds == b->clouds &&
           a->rings == b->rings;
}

/* Changes one value of a request and looks whether key and picture agree about it. */
static void keys_are_equal_exactly_when_what_is_drawn_is(void **state)
{
    (void)state;
    random_state = 3;
    int equal = 0, different = 0;
    for (int n = 0; n < RANDOM_REQUESTS; n++) {
        static char query[QUERY_BYTES];
        struct pairs q;
        struct asked a = random_request(&q);
        if (!q.count)
            continue;
        struct pair *changed = &q.pair[random_below((uint32_t)q.count)];
        random_value(changed->row, changed->value);
        write_query(&q, query);
        struct asked b = ask(query);
        if (b.err)
            continue;
        bool same = draws_the_same(&a.request, &b.request);
        assert_int_equal(!strcmp(a.key.text, b.key.text), same);
        equal += same;
        different += !same;
    }
    assert_true(equal > RANDOM_REQUESTS / 20 && different > RANDOM_REQUESTS / 5);
}

static void keys_read_as_documented(void **state)
{
    (void)state;
    static const struct {
        const char *query, *key;
    } cases[] = {
        {"type=gas&seed=3", "rev=1&type=gas&seed=3&format=png"},
        {"", "rev=1&type=terrestrial&seed=1&format=png"},
        {"seed=a%20b%2fc", "rev=1&type=terrestrial&seed=a%20b%2Fc&format=png"},
        {"seed=%C3%A9~._-", "rev=1&type=terrestrial&seed=%C3%A9~._-&format=png"},
        {"tilt=-23.40&cloud_cover=0.75&pixels=128",
         "rev=1&type=terrestrial&seed=1&format=png&pixels=128&cloud_cover=0.75&tilt=-23.4"},
        {"format=gif&fps=30&rings=on", "rev=1&type=terrestrial&seed=1&format=gif&fps=30&rings=on"},
        {"background=%23FFF&palette=000,FF8800&layer=depth",
         "rev=1&type=terrestrial&seed=1&format=png&background=ffffff&palette=000000,ff8800&layer=depth"},
    };
    for (size_t k = 0; k < ARRAY_LEN(cases); k++)
        assert_string_equal(ask(cases[k].query).key.text, cases[k].key);
}

static size_t longest_text(int row, int32_t *ret_value)
{
    const struct param *p = &params[row];
    int32_t first = 0, last = 0;
    if (p->kind == PARAM_NUMBER) { /* the longest stand next to the ends, or in the middle */
        first = p->minimum;
        last = p->maximum;
    } else if (p->kind == PARAM_CHOICE) {
        for (last = 0; p->words[last + 1];)
            last++;
    } else if (p->kind == PARAM_SPAN) {
        first = last = SPAN_OF(10, 100);
    } else {
        last = 0xffffff;
    }
    size_t longest = 0;
    for (int32_t v = first; v <= last; v += p->kind == PARAM_COLOR ? last : 1) {
        char text[PARAM_TEXT_BYTES];
        size_t len = param_text(row, v, text);
        if (len > longest) {
            longest = len;
            *ret_value = v;
        }
    }
    return longest;
}

/* Each row at its longest text, whether or not they go together: no key is longer. */
static void the_longest_key_fits(void **state)
{
    (void)state;
    struct asked a = ask("type=terrestrial&format=gif&rings=on");
    struct request *r = &a.request;
    for (int i = 0; i < param_count; i++)
        if (params[i].kind == PARAM_SWEEP) {
            memset(param_sweep(i, r), 'a', SWEEP_BYTES - 1);
        } else if (param_has_number(i) && i != PARAM_ROW_type) {
            int32_t value = 0;
            size_t longest = longest_text(i, &value);
            assert_true(longest > 0 && longest < PARAM_TEXT_BYTES - 1);
            param_put(i, r, value);
        }
    for (int i = 0; i < SEED_MAX_BYTES; i += 2)
        memcpy(r->seed + i, "\xc3\xa9", 2);
    r->seed_len = SEED_MAX_BYTES;
    r->planet.palette_count = PALETTE_MAX;
    struct key key;
    key_make(r, &key);
    assert_int_equal(key.len, strlen(key.text));
    print_message("longest key: %zu of %d bytes\n", key.len, KEY_MAX_BYTES);
    assert_true(key.len < KEY_MAX_BYTES - 128); /* room for rows to come */
    int names = 0, defaults = 0;                /* rows whose longest text is the default may be absent */
    for (const char *s = key.text; *s; s++)
        names += *s == '=';
    for (int i = 0; i < param_count; i++)
        defaults += param_has_number(i) && param_get(i, r) == param_default(i, r);
    assert_true(names >= param_count - defaults);
}

static void etags_are_quoted_and_differ_with_the_key(void **state)
{
    (void)state;
    static char tags[1000][ETAG_BYTES];
    for (int n = 0; n < 1000; n++) {
        char query[32], again[ETAG_BYTES];
        snprintf(query, sizeof query, "seed=%d", n);
        struct asked a = ask(query);
        key_etag(&a.key, tags[n]);
        key_etag(&a.key, again);
        assert_string_equal(tags[n], again);
        assert_int_equal(strlen(tags[n]), 34);
        assert_int_equal(tags[n][0], '"');
        assert_int_equal(tags[n][33], '"');
        assert_int_equal(strspn(tags[n] + 1, "0123456789abcdef"), 32);
        for (int m = 0; m < n; m++)
            assert_string_not_equal(tags[n], tags[m]);
    }
}

static void file_name_of(const char *query, char name[FILE_NAME_BYTES])
{
    struct asked a = ask(query);
    assert_string_equal(a.err ? a.fault.detail : "", "");
    key_file_name(&a.request, &a.key, name);
}

static void file_names_tell_what_is_inside(void **state)
{
    (void)state;
    char name[FILE_NAME_BYTES], other[FILE_NAME_BYTES];
    file_name_of("type=gas&seed=3", name);
    assert_string_equal(name, "gas-3.png");
    file_name_of("type=gas&seed=3&format=gif", name);
    assert_string_equal(name, "gas-3.gif");
    file_name_of("seed=7&rings=on&format=gif", name);
    assert_string_equal(name, "terrestrial-7-rings.gif");
    file_name_of("type=gas&seed=3&pixels=32", name);
    assert_int_equal(strlen(name), strlen("gas-3-9f2c41.png"));
    assert_memory_equal(name, "gas-3-", 6);
    assert_string_equal(name + 12, ".png");
    snprintf(other, sizeof other, "gas-3-%06x.png",
             (unsigned)(ask("type=gas&seed=3&pixels=32").key.hash >> 40));
    assert_string_equal(name, other);
    file_name_of("type=gas&seed=3&palette=000,fff", name);
    assert_int_equal(strlen(name), strlen("gas-3-9f2c41.png"));
    file_name_of("seed=Ab", name);
    file_name_of("seed=ab", other);
    assert_memory_equal(name, "terrestrial-ab-", 15);
    assert_string_equal(other, "terrestrial-ab.png");
    file_name_of("type=ice&seed=%E6%97%A5", name);
    assert_memory_equal(name, "ice-", 4);
    assert_int_equal(strlen(name), strlen("ice-9f2c41.png"));
}

static void file_names_are_safe_whatever_the_seed_is(void **state)
{
    (void)state;
    random_state = 4;
    for (int n = 0; n < 5000; n++) {
        struct pairs q;
        struct asked a = random_request(&q);
        char name[FILE_NAME_BYTES];
        key_file_name(&a.request, &a.key, name);
        assert_int_equal(strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789._-"), strlen(name));
        assert_true(strlen(name) < FILE_NAME_BYTES - 1 && name[0] != '.');
    }
    char name[FILE_NAME_BYTES];
    file_name_of("rings=on&seed=..%2F..%2Fetc%2Fpasswd", name);
    assert_null(strchr(name, '/'));
    file_name_of("rings=on&pixels=9&seed=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
                 name);
    assert_true(strlen(name) < 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_is_a_query_that_leads_to_itself),
        cmocka_unit_test(order_escapes_and_spelled_out_defaults_do_not_change_the_key),
        cmocka_unit_test(keys_are_equal_exactly_when_what_is_drawn_is),
        cmocka_unit_test(keys_read_as_documented),
        cmocka_unit_test(the_longest_key_fits),
        cmocka_unit_test(etags_are_quoted_and_differ_with_the_key),
        cmocka_unit_test(file_names_tell_what_is_inside),
        cmocka_unit_test(file_names_are_safe_whatever_the_seed_is),
    };
    return cmocka_run_group_tests_name("key", tests, NULL, NULL);
}
