/* test_contact.c -- contact sheets: what the cells are, where they stand, and that each is the single
 * picture. */
#include "tests/unit/ask.h"

#include <png.h>
#include <stdlib.h>

#include "api/contact.h"
#include "api/file.h"
#include "api/glyphs.h"
#include "renderer/renderer.h"

static struct renderer *renderer;
static int draws, failing_draw;

static enum err draw(struct file_artist *self, const struct planet_desc *desc, struct frame_set *ret_frames)
{
    if (++draws == failing_draw)
        return ERR_CANCELLED;
    return renderer_draw(renderer, desc, self->cancel, ret_frames);
}

static struct file_artist artist = {draw, NULL};

static void made(const char *query, struct request *ret_request, struct contact *ret_contact)
{
    struct asked a = ask(query);
    assert_string_equal(a.err ? a.fault.detail : "", "");
    assert_int_equal(contact_make(&a.request, ret_contact, &a.fault), ERR_NONE);
    *ret_request = a.request;
}

static void values_are_listed_or_spread_over_a_range(void **state)
{
    (void)state;
    static const struct {
        const char *query, *values;
    } cases[] = {
        {"seeds=1..3,home,9..10", "1 2 3 home 9 10 "},
        {"sweep_x=tilt:-90..90:5", "-90 -45 0 45 90 "},
        {"sweep_x=tilt:0..0.2:2", "0 0.2 "},
        {"sweep_x=shade_steps:4..1", "4 3 2 1 "},
        {"sweep_x=pixels:8..11:3", "8 10 11 "},
        {"sweep_y=type:gas,moon,random", "gas moon random "},
        {"sweep_y=sea_level:.30,0.50,1e0", "0.3 0.5 1 "},
        {"", "1 2 3 4 5 6 7 8 9 10 11 12 "},
    };
    for (size_t q = 0; q < ARRAY_LEN(cases); q++) {
        char query[128], got[256] = "";
        struct request r;
        snprintf(query, sizeof query, "format=contact&%s", cases[q].query);
        struct contact c;
        made(query, &r, &c);
        for (int k = 0; k < c.count; k++)
            snprintf(got + strlen(got), sizeof got - strlen(got), "%s ", contact_value(&c, c.across, k));
        assert_string_equal(got, cases[q].values);
    }
}

static void one_spelling_has_one_key(void **state)
{
    (void)state;
    assert_same_key("format=contact&sweep_x=sea_level:.3,0.50", "format=contact&sweep_x=sea_level:0.3,5e-1");
    assert_same_key("format=contact&sweep_x=tilt:-90.0..9e1:5",
                    "format=contact&sweep_x=tilt:-90..90:5&fps=3&margin=4");
    assert_same_key("seeds=1..9&sweep_x=tilt:1,2", "");
    assert_other_key("format=contact&seeds=1..3", "format=contact&seeds=1..4");
    assert_other_key("format=contact&columns=2", "format=contact");
    assert_string_equal(ask("format=contact&seeds=1..3,a~b&sweep_y=type:gas,moon").key.text,
                        "rev=1&type=terrestrial&seed=1&format=contact&seeds=1..3,a~b&sweep_y=type:gas,moon");
}

static void what_is_wrong_is_refused_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *query, *param, *words;
        enum err err;
    } cases[] = {
        {"seeds=1..65", "seeds", "64", ERR_PARAM_RANGE},
        {"seeds=9..1", "seeds", "smaller first", ERR_PARAM_SYNTAX},
        {"seeds=1,,2", "seeds", "letters", ERR_PARAM_SYNTAX},
        {"seeds=", "seeds", "letters", ERR_PARAM_SYNTAX},
        {"seeds=a%20b", "seeds", "letters", ERR_PARAM_SYNTAX},
        {"sweep_x=tilt", "sweep_x", "colon", ERR_PARAM_SYNTAX},
        {"sweep_x=zoom:1,2", "sweep_x", "can be swept", ERR_PARAM_SYNTAX},
        {"sweep_x=background:fff,000", "sweep_x", "can be swept", ERR_PARAM_SYNTAX},
        {"sweep_y=tilt:0,91", "sweep_y", "-90 to 90", ERR_PARAM_SYNTAX},
        {"sweep_y=tilt:0..9", "sweep_y", "how many", ERR_PARAM_SYNTAX},
        {"sweep_y=tilt:0..9:65", "sweep_y", "2 to 64", ERR_PARAM_RANGE},
        {"sweep_y=type:gas..moon:2", "sweep_y", "two numbers", ERR_PARAM_SYNTAX},
        {"sweep_y=type:gas,mon", "sweep_y", "terrestrial", ERR_PARAM_SYNTAX},
        {"sweep_x=tilt:1,2&sweep_y=tilt:3,4", "sweep_y", "both sweep tilt", ERR_PARAM_COMBINATION},
        {"seeds=1,2&sweep_x=tilt:1,2&sweep_y=roll:1,2", "seeds", "two sides", ERR_PARAM_COMBINATION},
        {"seeds=1..13&sweep_x=tilt:0..9:5", "seeds", "65 cells", ERR_PARAM_COMBINATION},
        {"layer=craters&type=moon&sweep_x=type:moon,gas", "layer", "cell 2 (gas): ", ERR_PARAM_COMBINATION},
        {"seeds=1..64&pixels=1024", "pixels", "at most", ERR_PICTURE_SIZE},
    };
    for (size_t q = 0; q < ARRAY_LEN(cases); q++) {
        char query[128];
        snprintf(query, sizeof query, "format=contact&%s", cases[q].query);
        struct asked a = ask(query);
        if (a.err != cases[q].err || strcmp(a.fault.param, cases[q].param) != 0 ||
            !strstr(a.fault.detail, cases[q].words))
            fail_msg("%s: %d %s %s", query, (int)a.err, a.fault.param, a.fault.detail);
    }
    assert_int_equal(ask("format=contact&seeds=1..16&sweep_x=tilt:0..9:4&pixels=8").err, ERR_NONE);
}

struct image {
    png_image head;
    uint32_t *pixels;
};

static struct image file_of(const struct request *r)
{
    struct blob out = {0};
    struct key key;
    struct image image = {.head = {.version = PNG_IMAGE_VERSION}};
    key_make(r, &key);
    assert_int_equal(file_make(r, &key, &artist, &out), ERR_NONE);
    assert_true(png_image_begin_read_from_memory(&image.head, out.data, out.len));
    image.head.format = PNG_FORMAT_RGBA;
    image.pixels = malloc(PNG_IMAGE_SIZE(image.head));
    assert_non_null(image.pixels);
    assert_true(png_image_finish_read(&image.head, NULL, image.pixels, 0, NULL));
    blob_free(&out);
    return image;
}

static void check_cell(const struct image *sheet, const struct contact *c, int k, int zoom,
                       const struct request *cell)
{
    struct request single = *cell;
    single.zoom = zoom;
    struct image one = file_of(&single);
    int side = (int)one.head.width;
    int x = (c->left + k % c->columns * c->pitch_x) * zoom, y = (c->top + k / c->columns * c->pitch_y) * zoom;
    x += ((c->pitch_x - 8) * zoom - side) / 2 / zoom * zoom;
    y += (c->cell_px * zoom - side) / 2 / zoom * zoom;
    for (int v = 0; v < side; v++)
        assert_memory_equal(sheet->pixels + (size_t)(y + v) * sheet->head.width + x,
                            one.pixels + (size_t)v * (size_t)side, (size_t)side * 4);
    free(one.pixels);
}

static void each_cell_is_the_single_picture(void **state)
{
    (void)state;
    static const struct {
        const char *query, *cells[6];
    } cases[] = {
        {"seeds=1..3,home", {"seed=1", "seed=2", "seed=3", "seed=home"}},
        {"type=gas&sweep_x=rings:off,on&sweep_y=tilt:-20,20.5&zoom=2",
         {"type=gas&tilt=-20", "type=gas&tilt=-20&rings=on", "type=gas&tilt=20.5",
          "type=gas&tilt=20.5&rings=on"}},
        {"sweep_x=type:ice,star&seeds=4,5&sea_level=0.7&pixels=24&palette=pico8",
         {"type=ice&seed=4&sea_level=0.7&pixels=24&palette=pico8", "type=star&seed=4&pixels=24&palette=pico8",
          "type=ice&seed=5&sea_level=0.7&pixels=24&palette=pico8",
          "type=star&seed=5&pixels=24&palette=pico8"}},
        {"sweep_x=type:random&seeds=1..3&background=none",
         {"type=random&seed=1&background=none", "type=random&seed=2&background=none",
          "type=random&seed=3&background=none"}},
        {"sweep_y=pixels:16,33&layer=grid", {"pixels=16&layer=grid", "pixels=33&layer=grid"}},
    };
    for (size_t q = 0; q < ARRAY_LEN(cases); q++) {
        char query[256];
        struct request r;
        snprintf(query, sizeof query, "format=contact&%s", cases[q].query);
        struct contact c;
        made(query, &r, &c);
        struct image sheet = file_of(&r);
        struct request_size size = request_size(&r);
        assert_int_equal(size.file_pixels, (int64_t)sheet.head.width * sheet.head.height);
        int64_t drawn = 0;
        for (int k = 0; k < c.count; k++) {
            snprintf(query, sizeof query, "background=101018&%s", cases[q].cells[k]);
            struct asked cell = ask(strstr(cases[q].cells[k], "background") ? cases[q].cells[k] : query);
            assert_string_equal(cell.err ? cell.fault.detail : "", "");
            check_cell(&sheet, &c, k, r.zoom, &cell.request);
            drawn += (int64_t)cell.request.planet.pixels * cell.request.planet.pixels;
        }
        assert_null(c.count < 6 ? cases[q].cells[c.count] : NULL);
        assert_int_equal(size.drawn_pixels, drawn);
        free(sheet.pixels);
    }
}

static void what_is_the_default_of_the_type_is_that_of_each_cell(void **state)
{
    (void)state;
    struct request r, cell;
    struct request_fault fault;
    struct contact c;
    made("format=contact&sweep_x=type:terrestrial,ice,gas", &r, &c);
    for (int k = 0; k < c.count; k++) {
        char query[64];
        snprintf(query, sizeof query, "type=%s&background=101018", c.axes[1].value[k]);
        assert_int_equal(contact_cell(&r, &c, k, &cell, &fault), ERR_NONE);
        struct asked single = ask(query);
        assert_memory_equal(&cell.planet, &single.request.planet, sizeof cell.planet);
    }
}

static void cells_and_title_stand_inside_of_the_sheet_and_apart(void **state)
{
    (void)state;
    static const char *const looks[] = {
        "seeds=1..64&pixels=8",
        "seeds=1",
        "sweep_x=type:black_hole,terrestrial&pixels=8",
        "sweep_x=light_elevation:-90..90:5&sweep_y=light_azimuth:1..9:3&pixels=9",
        "seeds=1..9&columns=9",
        "seeds=1..3&columns=200&palette=111,222,333,444,555,666,777"};
    for (size_t q = 0; q < ARRAY_LEN(looks); q++) {
        char query[256];
        struct request r;
        snprintf(query, sizeof query, "format=contact&%s", looks[q]);
        struct contact c;
        made(query, &r, &c);
        assert_true(c.columns * c.rows >= c.count && c.columns * (c.rows - 1) < c.count);
        assert_true(c.left + c.columns * c.pitch_x - 8 <= c.width - 8 && c.left >= 8);
        assert_true(c.top + c.rows * c.pitch_y <= c.height && c.pitch_x > c.cell_px && c.pitch_y > c.cell_px);
        for (int l = 0; l < c.title_lines; l++)
            assert_true(glyph_text_width(c.title[l], strlen(c.title[l])) <= c.width - 16);
    }
    struct request r;
    struct contact c;
    made("format=contact&seeds=1..9&columns=9", &r, &c);
    assert_int_equal(c.columns, 9);
    made("format=contact&seeds=1..24", &r, &c);
    assert_int_equal(c.columns, 6);
    made("format=contact&type=gas&seeds=1..9&tilt=5", &r, &c);
    assert_string_equal(c.title[0], "type=gas  tilt=5  seeds=1..9");
}

static void letters_are_all_different_and_measured(void **state)
{
    (void)state;
    static const char known[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz.,:=-_~%+#";
    for (size_t i = 0; known[i]; i++) {
        assert_in_range(glyph_width(known[i]), 1, GLYPH_WIDE_PX);
        for (size_t j = 0; known[j] && i != j; j++) {
            bool same = glyph_width(known[i]) == glyph_width(known[j]);
            for (int y = 0; y < GLYPH_HIGH_PX; y++)
                for (int x = 0; same && x < glyph_width(known[i]); x++)
                    same = glyph_ink(known[i], x, y) == glyph_ink(known[j], x, y);
            if (same)
                fail_msg("%c and %c look the same", known[i], known[j]);
        }
    }
    assert_int_equal(glyph_text_width("Ab", 2), 11);
    assert_int_equal(glyph_text_fit("AbAb", 4, 11), 2);
    assert_int_equal(glyph_width('\xff'), GLYPH_WIDE_PX); /* a box */
}

static void a_drawing_that_fails_is_the_end(void **state)
{
    (void)state;
    struct asked a = ask("format=contact&seeds=1..5&pixels=16");
    for (failing_draw = 1; failing_draw <= 5; failing_draw++) {
        struct blob out = {0};
        draws = 0;
        assert_int_equal(file_make(&a.request, &a.key, &artist, &out), ERR_CANCELLED);
        assert_int_equal(draws, failing_draw);
        blob_free(&out);
    }
    failing_draw = 0;
}

static int open_renderer(void **state)
{
    (void)state;
    struct renderer_desc desc = renderer_desc_default;
    desc.backend = "cpu";
    return renderer_open(&desc, &renderer);
}

static int close_renderer(void **state)
{
    (void)state;
    renderer_close(renderer);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_listed_or_spread_over_a_range),
        cmocka_unit_test(one_spelling_has_one_key),
        cmocka_unit_test(what_is_wrong_is_refused_by_name),
        cmocka_unit_test(each_cell_is_the_single_picture),
        cmocka_unit_test(what_is_the_default_of_the_type_is_that_of_each_cell),
        cmocka_unit_test(cells_and_title_stand_inside_of_the_sheet_and_apart),
        cmocka_unit_test(letters_are_all_different_and_measured),
        cmocka_unit_test(a_drawing_that_fails_is_the_end),
    };
    return cmocka_run_group_tests_name("contact", tests, open_renderer, close_renderer);
}
