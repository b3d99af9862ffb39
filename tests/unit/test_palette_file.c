/* test_palette_file.c -- a palette has each colour of the frames once, in an order that means something. */
#include "tests/unit/ask.h"

#include <stdlib.h>

#include "api/palette_file.h"
#include "renderer/renderer.h"

static struct renderer *renderer;

/* The file as text, NUL-terminated; the frames too unless NULL. */
static struct blob file_of(const char *query, struct frame_set *ret_frames)
{
    struct asked a = ask(query);
    struct frame_set set;
    struct blob out = {0};
    assert_string_equal(a.err ? a.fault.detail : "", "");
    assert_int_equal(renderer_draw(renderer, &a.request.planet, NULL, &set), ERR_NONE);
    assert_int_equal(palette_file_write(&a.request, &a.key, &set, &out), ERR_NONE);
    assert_int_equal(blob_append(&out, "", 1), ERR_NONE);
    if (ret_frames)
        *ret_frames = set;
    else
        frame_set_finish(&set);
    return out;
}

static bool lists(const char *text, uint32_t color)
{
    char line[16];
    snprintf(line, sizeof line, "%02x%02x%02x\n", RGBA_R(color), RGBA_G(color), RGBA_B(color));
    const char *found = strstr(text, line);
    return found && !strstr(found + 1, line);
}

static void every_colour_that_shows_is_there_once(void **state)
{
    (void)state;
    static const char *const queries[] = {"type=terrestrial&rings=on&format=hex&frames=7",
                                          "type=lava&format=hex&frames=1",
                                          "type=star&seed=4&format=hex&frames=3&background=000000",
                                          "type=city&format=hex&frames=4&colors=9",
                                          "type=moon&format=hex&frames=2&palette=gameboy",
                                          "type=comet&format=hex&frames=2&atmosphere=ff0000"};
    for (size_t q = 0; q < ARRAY_LEN(queries); q++) {
        struct frame_set set;
        struct blob file = file_of(queries[q], &set);
        size_t showing = 0, halves = 0;
        for (int c = 0; c < set.color_count; c++) {
            uint32_t color = set.colors[c];
            showing += RGBA_A(color) != 0;
            halves += RGBA_A(color) != 0 && RGBA_A(color) != 255;
            if (RGBA_A(color) && !lists((const char *)file.data, color))
                fail_msg("%s: colour %08x is not there once", queries[q], (unsigned)color);
        }
        assert_in_range((file.len - 1) / 7, showing - halves, showing);
        blob_free(&file);
        frame_set_finish(&set);
    }
}

/* Reads the names in their order; returns how many times what stands before the number changes. */
static int changes_of_name(const char *gpl)
{
    char last[16] = "", name[16] = "";
    int changes = 0, number, next = 1;
    for (const char *tab = strchr(gpl, '\t'); tab; tab = strchr(tab + 1, '\t')) {
        assert_int_equal(sscanf(tab + 1, "%15s %d", name, &number), 2);
        next = strcmp(name, last) != 0 ? 1 : next + 1;
        changes += next == 1;
        assert_int_equal(number, next);
        memcpy(last, name, sizeof last);
    }
    return changes;
}

static void names_say_what_a_colour_is_of(void **state)
{
    (void)state;
    static const struct {
        const char *query, *names[6], *absent;
    } rows[] = {
        {"type=terrestrial&seed=7&rings=on&format=gpl&frames=6",
         {"\tsea 1\n", "\tground 1\n", "\tcap 1\n", "\tcloud 1\n", "\tring 1\n", "\tair 1\n"},
         "light"},
        {"type=lava&format=gpl&frames=1&background=102030",
         {"\tvoid 1\n", "\tground 1\n", "\tlight 1\n"},
         "sea"},
        {"type=star&format=gpl&frames=1", {"\tlight 1\n"}, "ground"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct blob file = file_of(rows[i].query, NULL);
        const char *text = file.data ? (const char *)file.data : "", *last = text;
        int names = 0;
        for (; names < 6 && rows[i].names[names]; names++) {
            const char *found = strstr(last, rows[i].names[names]);
            if (!found)
                fail_msg("%s: no%s after the others", rows[i].query, rows[i].names[names]);
            last = found ? found : text;
        }
        assert_null(strstr(text, rows[i].absent));
        assert_true(changes_of_name(text) >= names);
        assert_true(changes_of_name(text) <= 8); /* each name in one run */
        assert_int_equal(strncmp(text, "GIMP Palette\nName: ", 19), 0);
        blob_free(&file);
    }
}

static void what_cannot_change_the_colours_is_not_in_the_key(void **state)
{
    (void)state;
    struct asked a = ask("type=moon&format=hex&zoom=4&fps=20&loops=2"), b = ask("type=moon&format=hex");
    assert_string_equal(a.key.text, b.key.text);
    a = ask("type=moon&format=palette&zoom=4");
    assert_non_null(strstr(a.key.text, "zoom=4"));
    a = ask("type=moon&format=gpl&layer=height");
    assert_int_equal(a.err, ERR_PARAM_COMBINATION);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_colour_that_shows_is_there_once),
        cmocka_unit_test(names_say_what_a_colour_is_of),
        cmocka_unit_test(what_cannot_change_the_colours_is_not_in_the_key),
    };
    struct renderer_desc desc = renderer_desc_default;
    desc.backend = "cpu";
    if (renderer_open(&desc, &renderer))
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    renderer_close(renderer);
    return failed;
}
