/* test_sign.c -- signed URLs: the vectors of tests/vectors/sign.tsv, which another program computed, what no
 * vector can hold, and that no two different requests have one signature. */
#include "tests/unit/ask.h"

#include <stdlib.h>

#include "api/sign.h"

#define KEY     "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
#define VECTORS "tests/vectors/sign.tsv"

static struct sign_keys keys_of(const char *text)
{
    struct sign_keys keys = {0};
    assert_true(sign_keys_parse(text, &keys));
    return keys;
}

struct target {
    const char *path, *query;
    size_t path_len, query_len;
};

static struct target split(const char *text, size_t len)
{
    const char *mark = memchr(text, '?', len);
    size_t path_len = mark ? (size_t)(mark - text) : len;
    return (struct target){text, mark ? mark + 1 : NULL, path_len, mark ? len - path_len - 1 : 0};
}

static enum err make_bytes(const char *text, size_t len, const char *body, char ret[SIGN_TEXT_BYTES])
{
    struct sign_keys keys = keys_of(KEY);
    struct target t = split(text, len);
    return sign_make(&keys.keys[0], t.path, t.path_len, t.query, t.query_len, body, strlen(body), ret);
}

static enum err check_bytes(const char *keys_text, const char *text, size_t len, const char *body,
                            uint64_t now, uint64_t *ret_expires)
{
    struct sign_keys keys = keys_of(keys_text);
    struct target t = split(text, len);
    return sign_check(&keys, t.path, t.path_len, t.query, t.query_len, body, strlen(body), now, ret_expires);
}

/* ---- Vectors
 * ----------------------------------------------------------------------------------------------- */

enum { NAME, KEYS, NOW, TARGET, BODY, CANONICAL, VERDICT, COLUMNS };

static bool next_row(FILE *file, char *line, size_t room, char *ret_columns[COLUMNS])
{
    do {
        if (!fgets(line, (int)room, file))
            return false;
    } while (line[0] == '#');
    assert_non_null(strchr(line, '\n'));
    line[strcspn(line, "\n")] = '\0';
    for (int c = 0; c < COLUMNS; c++) {
        ret_columns[c] = strsep(&line, "\t");
        assert_non_null(ret_columns[c]);
    }
    if (!strcmp(ret_columns[BODY], "-"))
        ret_columns[BODY][0] = '\0';
    return true;
}

static const char *verdict_of(enum err err)
{
    return err == ERR_NONE        ? "ok"
           : err == ERR_SIGNATURE ? "signature"
           : err == ERR_EXPIRED   ? "expired"
                                  : "another error";
}

static int each_vector(void (*test)(char *columns[COLUMNS]))
{
    char line[4096], *columns[COLUMNS];
    FILE *file = fopen(VECTORS, "r");
    if (!file)
        fail_msg("no %s: run this from the root of the repository", VECTORS);
    int count = 0;
    for (; next_row(file, line, sizeof line, columns); count++)
        test(columns);
    fclose(file);
    return count;
}

static void verdict_is_right(char *columns[COLUMNS])
{
    uint64_t expires;
    enum err err = check_bytes(columns[KEYS], columns[TARGET], strlen(columns[TARGET]), columns[BODY],
                               strtoull(columns[NOW], NULL, 10), &expires);
    if (strcmp(verdict_of(err), columns[VERDICT]) != 0)
        fail_msg("%s: %s instead of %s", columns[NAME], verdict_of(err), columns[VERDICT]);
}

static void every_vector_gets_its_verdict(void **state)
{
    (void)state;
    assert_true(each_vector(verdict_is_right) > 80);
}

/* The form and the target are signed alike, and by a key that the row names. */
static void form_is_right(char *columns[COLUMNS])
{
    struct sign_keys keys = keys_of(columns[KEYS]);
    struct target sent = split(columns[TARGET], strlen(columns[TARGET]));
    struct target form = split(columns[CANONICAL], strlen(columns[CANONICAL]));
    const char *body = columns[BODY];
    char a[SIGN_TEXT_BYTES], b[SIGN_TEXT_BYTES];
    bool found = false, ok = !strcmp(columns[VERDICT], "ok");
    for (int k = 0; k < keys.count; k++) {
        enum err err = sign_make(&keys.keys[k], sent.path, sent.path_len, sent.query, sent.query_len, body,
                                 strlen(body), a);
        if (!strcmp(columns[CANONICAL], "-")) {
            assert_int_equal(err, ERR_TEXT_ENCODING);
            return;
        }
        assert_int_equal(err, ERR_NONE);
        assert_int_equal(sign_make(&keys.keys[k], form.path, form.path_len, form.query, form.query_len, body,
                                   strlen(body), b),
                         ERR_NONE);
        if (strcmp(a, b) != 0)
            fail_msg("%s: %s is not the form", columns[NAME], columns[CANONICAL]);
        found = found || strstr(columns[TARGET], a);
    }
    if (ok && !found)
        fail_msg("%s: another signature than %s", columns[NAME], a);
}

static void every_vector_is_signed_as_its_canonical_form(void **state)
{
    (void)state;
    each_vector(form_is_right);
}

/* ---- What no vector can hold
 * --------------------------------------------------------------------------------- */

static void a_byte_that_no_url_holds_is_never_signed(void **state)
{
    (void)state;
    char signature[SIGN_TEXT_BYTES];
    uint64_t expires;
    for (int c = 0; c < 256; c++) {
        bool fine = c > ' ' && c < 0x7f && c != '%';
        for (int at = 0; at < 2; at++) {
            char text[128] = "/planet/gas/3.png?seed=3&signature=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
            size_t len = strlen(text);
            text[at ? 23 : 12] = (char)c;
            assert_int_equal(make_bytes(text, len, "", signature), fine ? ERR_NONE : ERR_TEXT_ENCODING);
            assert_int_equal(check_bytes(KEY, text, len, "", 0, &expires), ERR_SIGNATURE);
        }
    }
}

static void a_path_with_a_question_mark_is_never_signed(void **state)
{
    (void)state;
    struct sign_keys keys = keys_of(KEY);
    char signature[SIGN_TEXT_BYTES];
    assert_int_equal(sign_make(&keys.keys[0], "/ab?c", 5, NULL, 0, NULL, 0, signature), ERR_TEXT_ENCODING);
    assert_int_equal(sign_make(&keys.keys[0], "/ab", 3, "c?", 2, NULL, 0, signature), ERR_NONE);
}

static void without_keys_nothing_is_right(void **state)
{
    (void)state;
    struct sign_keys none = {0};
    char signature[SIGN_TEXT_BYTES], query[64];
    uint64_t expires;
    assert_int_equal(make_bytes("/", 1, "", signature), ERR_NONE);
    size_t len = (size_t)snprintf(query, sizeof query, "signature=%s", signature);
    assert_int_equal(sign_check(&none, "/", 1, query, len, NULL, 0, 0, &expires), ERR_SIGNATURE);
}

static void the_end_is_told_and_only_on_success(void **state)
{
    (void)state;
    char signature[SIGN_TEXT_BYTES], text[128];
    uint64_t expires = 7;
    assert_int_equal(make_bytes("/?expires=100", 13, "", signature), ERR_NONE);
    size_t len = (size_t)snprintf(text, sizeof text, "/?expires=100&signature=%s", signature);
    assert_int_equal(check_bytes(KEY, text, len, "", 101, &expires), ERR_EXPIRED);
    assert_int_equal(check_bytes(KEY, text, len - 1, "", 0, &expires), ERR_SIGNATURE);
    assert_int_equal(expires, 7);
    assert_int_equal(check_bytes(KEY, text, len, "", 100, &expires), ERR_NONE);
    assert_int_equal(expires, 100);
    assert_int_equal(make_bytes("/", 1, "", signature), ERR_NONE);
    len = (size_t)snprintf(text, sizeof text, "/?signature=%s", signature);
    assert_int_equal(check_bytes(KEY, text, len, "", UINT64_MAX, &expires), ERR_NONE);
    assert_int_equal(expires, 0);
}

static void one_wrong_character_of_a_signature_is_enough(void **state)
{
    (void)state;
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/=. ";
    char signature[SIGN_TEXT_BYTES], text[128];
    uint64_t expires;
    assert_int_equal(make_bytes("/", 1, "", signature), ERR_NONE);
    int good = 0;
    for (int at = 0; at < SIGN_TEXT_BYTES - 1; at++)
        for (int d = 0; digits[d]; d++) {
            size_t len = (size_t)snprintf(text, sizeof text, "/?signature=%s", signature);
            text[len - 1 - (size_t)at] = digits[d];
            enum err err = check_bytes(KEY, text, len, "", 0, &expires);
            assert_int_equal(err,
                             digits[d] == signature[SIGN_TEXT_BYTES - 2 - at] ? ERR_NONE : ERR_SIGNATURE);
            good += err == ERR_NONE;
        }
    assert_int_equal(good, SIGN_TEXT_BYTES - 1);
}

/* ---- Keys
 * ---------------------------------------------------------------------------------------------------- */

static void keys_are_hex_of_16_to_64_bytes(void **state)
{
    (void)state;
    struct sign_keys keys = keys_of("00ff"
                                    "A0b1c2d3e4f5061728394a5B6c7d," KEY);
    assert_int_equal(keys.count, 2);
    assert_int_equal(keys.keys[0].len, 16);
    assert_int_equal(keys.keys[0].bytes[1], 0xff);
    assert_int_equal(keys.keys[0].bytes[2], 0xa0);
    assert_int_equal(keys.keys[1].len, 32);
    assert_int_equal(keys_of("").count, 0);
    char longest[2 * (SIGN_KEY_MAX_BYTES + 1) + 1];
    memset(longest, 'a', sizeof longest);
    longest[2 * SIGN_KEY_MAX_BYTES] = '\0';
    assert_int_equal(keys_of(longest).keys[0].len, SIGN_KEY_MAX_BYTES);
    memset(longest, 'a', sizeof longest);
    longest[2 * (SIGN_KEY_MAX_BYTES + 1)] = '\0';
    const char *wrong[] = {longest,
                           "00",
                           ",",
                           KEY ",",
                           "," KEY,
                           KEY ",," KEY,
                           KEY " ",
                           " " KEY,
                           KEY "0",
                           "0x" KEY,
                           "000102030405060708090a0b0c0d0e",
                           "g00102030405060708090a0b0c0d0e0f",
                           KEY "," KEY "g0"};
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        struct sign_keys kept = {.count = 5};
        if (sign_keys_parse(wrong[i], &kept))
            fail_msg("taken: %s", wrong[i]);
        assert_int_equal(kept.count, 5);
    }
}

static void eight_keys_are_taken_and_nine_are_not(void **state)
{
    (void)state;
    struct sign_keys keys;
#define TWICE(text) text "," text
    assert_true(sign_keys_parse(TWICE(TWICE(TWICE(KEY))), &keys));
    assert_int_equal(keys.count, SIGN_KEYS_MAX);
    assert_false(sign_keys_parse(TWICE(TWICE(TWICE(KEY))) "," KEY, &keys));
}

/* ---- Stripping
 * ------------------------------------------------------------------------------------------------- */

static void stripping_leaves_the_other_pairs_as_they_were_sent(void **state)
{
    (void)state;
    static const struct {
        const char *query, *left;
    } rows[] = {
        {"", ""},
        {"signature=x", ""},
        {"expires=1&signature=x", ""},
        {"seed=%7e+&signature=x&zoom=2&expires=1", "seed=%7e+&zoom=2"},
        {"signature=x&seed=1", "seed=1"},
        {"sign%61ture=x&%65xpires&seed=1", "seed=1"},
        {"signature=a&signature=b&a=b", "a=b"},
        {"&&seed=1&&", "seed=1"},
        {"signatures=1&xsignature=2&Signature=3&signature%3D=4&expires%=5",
         "signatures=1&xsignature=2&Signature=3&signature%3D=4&expires%=5"},
        {"a=signature=x&b=expires", "a=signature=x&b=expires"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char apart[128], in_place[128];
        size_t len = strlen(rows[i].query);
        assert_int_equal(sign_strip(rows[i].query, len, apart), strlen(rows[i].left));
        assert_string_equal(apart, rows[i].left);
        memcpy(in_place, rows[i].query, len + 1);
        assert_int_equal(sign_strip(in_place, len, in_place), strlen(rows[i].left));
        assert_string_equal(in_place, rows[i].left);
    }
    char empty[1] = "x";
    assert_int_equal(sign_strip(NULL, 0, empty), 0);
    assert_int_equal(empty[0], 0);
}

static void pairs_are_counted_by_name(void **state)
{
    (void)state;
    const char *query = "expires=1&&%65xpires&seed=expires&expires%=3";
    assert_int_equal(sign_count(query, strlen(query), "expires"), 2);
    assert_int_equal(sign_count(query, strlen(query), "signature"), 0);
    assert_int_equal(sign_count(NULL, 0, "signature"), 0);
}

/* ---- No two requests have one signature
 * ---------------------------------------------------------------------- */

static uint64_t random_state = 1;

static unsigned random_below(unsigned n)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(random_state >> 33) % n;
}

/* Pieces out of which mistakes are made: delimiters, their escapes, escapes of escapes, names and values. */
static const char *const pieces[] = {
    "&",     "=",   "+",      "%",      "%26",  "%3D",   "%3d",    "%2B",     "%20",      "%25",
    "%2526", "%7E", "~",      "%41",    "A",    "a",     "%61",    "%2F",     "%2f",      "/",
    ".",     "%2E", "?",      "%3F",    "seed", "seed=", "zoom=2", "&zoom=2", "type=gas", "&type=gas",
    "1",     "%31", "%C3%A9", "%c3%a9", "#",    "%23",   ";",      ":",       "&&",       "pixels=16"};

static size_t random_target(char *to, size_t room)
{
    static const char *const starts[] = {"/planet?", "/planet?seed=", "/planet.png?", "/planet/gas/",
                                         "/planet/lava/1.gif?"};
    static const char *const ends[] = {"", "", ".png", ".gif", "%2Epng", ".png?zoom=2"};
    size_t len = (size_t)snprintf(to, room, "%s", starts[random_below(ARRAY_LEN(starts))]);
    for (unsigned n = 1 + random_below(5); n--;)
        len += (size_t)snprintf(to + len, room - len, "%s", pieces[random_below(ARRAY_LEN(pieces))]);
    len += (size_t)snprintf(to + len, room - len, "%s", ends[random_below(ARRAY_LEN(ends))]);
    assert_true(len < room);
    return len;
}

/* A target that is often the same one in other words. */
static size_t respell(const char *from, size_t len, char *to, size_t room)
{
    size_t n = 0;
    for (size_t i = 0; i < len && n + 4 < room; i++) {
        unsigned char c = (unsigned char)from[i];
        unsigned roll = random_below(12);
        if (c == '%' && len - i > 2 && roll < 5) { /* decoded, or in the other case, rightly or not */
            char hex[3] = {from[i + 1], from[i + 2], '\0'}, *end;
            long value = strtol(hex, &end, 16);
            if (!*end && value > ' ' && value < 0x7f && roll < 3)
                to[n++] = (char)value;
            else
                n += (size_t)sprintf(to + n, "%%%c%c", from[i + 1] ^ (from[i + 1] > '9' ? 32 : 0),
                                     from[i + 2] ^ (from[i + 2] > '9' ? 32 : 0));
            i += 2;
        } else if (roll == 5 && i > 0) {
            n += (size_t)sprintf(to + n, random_below(2) ? "%%%02X" : "%%%02x", c);
        } else if (roll == 6 && c == '+') {
            n += (size_t)sprintf(to + n, "%%20");
        } else {
            to[n++] = from[i];
        }
    }
    to[n] = '\0';
    return n;
}

static struct asked asked_target(const char *text, size_t len)
{
    struct asked a;
    struct target t = split(text, len);
    memset(&a, 0, sizeof a);
    request_init(&a.request);
    size_t start = strlen("/planet");
    a.err = t.path_len < start || memcmp(t.path, "/planet", start) != 0
                ? ERR_NOT_FOUND
                : request_set_path(&a.request, t.path + start, t.path_len - start, &a.fault);
    if (!a.err)
        a.err = request_set_query(&a.request, t.query ? t.query : "", t.query_len, &a.fault);
    asked_finish(&a);
    return a;
}

/* Both say the same, or one of them says nothing at all: RFC 3986 takes %2E for a dot, and the service, which
 * looks for ".png" in the path as it was sent, finds no picture there. */
static bool same_request(const struct asked *a, const struct asked *b)
{
    if (a->err == ERR_NOT_FOUND || b->err == ERR_NOT_FOUND)
        return true;
    if (a->err || b->err)
        return a->err && b->err;
    return a->key.len == b->key.len && !memcmp(a->key.text, b->key.text, a->key.len);
}

static void targets_with_one_signature_are_one_request(void **state)
{
    (void)state;
    int alike = 0, alike_pictures = 0, different = 0;
    for (int i = 0; i < 300000; i++) {
        char a[256], b[256], signature_a[SIGN_TEXT_BYTES], signature_b[SIGN_TEXT_BYTES];
        size_t a_len = random_target(a, sizeof a), b_len = respell(a, a_len, b, sizeof b);
        if (make_bytes(a, a_len, "", signature_a) || make_bytes(b, b_len, "", signature_b))
            continue;
        if (strcmp(signature_a, signature_b) != 0) {
            different++;
            continue;
        }
        struct asked left = asked_target(a, a_len), right = asked_target(b, b_len);
        if (!same_request(&left, &right))
            fail_msg("one signature for %s and %s", a, b);
        alike++;
        alike_pictures += !left.err && !right.err && strcmp(a, b) != 0;
    }
    assert_true(alike > 1000 && alike_pictures > 500 && different > 1000); /* else nothing was tried */
}

static void the_order_of_pairs_changes_neither_signature_nor_request(void **state)
{
    (void)state;
    static const char *const pairs[] = {"seed=a%2Bb", "type=gas", "zoom=2", "pixels=16", "tilt=-3"};
    char first[SIGN_TEXT_BYTES] = "", signature[SIGN_TEXT_BYTES];
    struct asked expected = ask("seed=a%2Bb&type=gas&zoom=2&pixels=16&tilt=-3");
    for (int i = 0; i < 1000; i++) {
        int order[] = {0, 1, 2, 3, 4};
        char text[128] = "/planet";
        size_t len = strlen(text);
        for (int k = 4; k > 0; k--) {
            int other = (int)random_below((unsigned)k + 1), kept = order[k];
            order[k] = order[other];
            order[other] = kept;
        }
        for (int k = 0; k < 5; k++)
            len += (size_t)snprintf(text + len, sizeof text - len, "%s%s", k ? "&" : "?", pairs[order[k]]);
        assert_int_equal(make_bytes(text, len, "", signature), ERR_NONE);
        assert_string_equal(asked_target(text, len).key.text, expected.key.text);
        if (i)
            assert_string_equal(signature, first);
        memcpy(first, signature, sizeof first);
    }
}

/* What is signed with a body is not signed without, and the newline between them can't come from a target. */
static void a_body_cannot_pose_as_a_part_of_the_target(void **state)
{
    (void)state;
    char a[SIGN_TEXT_BYTES], b[SIGN_TEXT_BYTES];
    assert_int_equal(make_bytes("/planet", 7, "x", a), ERR_NONE);
    assert_int_equal(make_bytes("/planet%0Ax", 11, "", b), ERR_NONE);
    assert_string_not_equal(a, b);
    assert_int_equal(make_bytes("/planet\nx", 9, "", b), ERR_TEXT_ENCODING);
    assert_int_equal(make_bytes("/planet?x", 9, "", b), ERR_NONE);
    assert_string_not_equal(a, b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_vector_gets_its_verdict),
        cmocka_unit_test(every_vector_is_signed_as_its_canonical_form),
        cmocka_unit_test(a_byte_that_no_url_holds_is_never_signed),
        cmocka_unit_test(a_path_with_a_question_mark_is_never_signed),
        cmocka_unit_test(without_keys_nothing_is_right),
        cmocka_unit_test(the_end_is_told_and_only_on_success),
        cmocka_unit_test(one_wrong_character_of_a_signature_is_enough),
        cmocka_unit_test(keys_are_hex_of_16_to_64_bytes),
        cmocka_unit_test(eight_keys_are_taken_and_nine_are_not),
        cmocka_unit_test(stripping_leaves_the_other_pairs_as_they_were_sent),
        cmocka_unit_test(pairs_are_counted_by_name),
        cmocka_unit_test(targets_with_one_signature_are_one_request),
        cmocka_unit_test(the_order_of_pairs_changes_neither_signature_nor_request),
        cmocka_unit_test(a_body_cannot_pose_as_a_part_of_the_target),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
