/* GIF files, read back by giflib's decoder and shown by a viewer of our own, which keeps its canvas from one
 * round of the loop to the next as the strictest viewers do. tests/roundtrip asks other decoders. Threads:
 * one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <gif_lib.h>

#include "renderer/encode/encoder.h"
#include "tests/unit/encode_samples.h"

static const struct encode_desc desc_plain = {
    .zoom = 1, .fps = 15, .loops = 0, .key = "rev=1&type=gas&seed=3"};

static struct blob encode(const struct frame_set *set, const struct encode_desc *desc)
{
    struct blob out = {0};
    assert_int_equal(encoders[FORMAT_GIF].encode(set, desc, NULL, &out), ERR_NONE);
    return out;
}

struct source {
    const struct blob *file;
    size_t at;
};

static int source_read(GifFileType *gif, GifByteType *bytes, int len)
{
    struct source *s = gif->UserData;
    size_t left = s->file->len - s->at, take = (size_t)len < left ? (size_t)len : left;
    memcpy(bytes, s->file->data + s->at, take);
    s->at += take;
    return (int)take;
}

static GifFileType *decode(const struct blob *file)
{
    struct source source = {.file = file};
    GifFileType *gif = DGifOpen(&source, source_read, NULL);
    assert_non_null(gif);
    assert_int_equal(DGifSlurp(gif), GIF_OK);
    assert_int_equal(source.at, file->len); /* nothing is left over */
    return gif;
}

static GraphicsControlBlock control_of(GifFileType *gif, int frame)
{
    GraphicsControlBlock control = {.TransparentColor = NO_TRANSPARENT_COLOR};
    if (DGifSavedExtensionToGCB(gif, frame, &control) != GIF_OK)
        control.TransparentColor = NO_TRANSPARENT_COLOR;
    return control;
}

/* What a GIF is to show for a colour: transparent, or opaque over black. */
static uint32_t flat(uint32_t c)
{
    uint32_t a = RGBA_A(c);
    return a == 0 ? 0
                  : RGBA((RGBA_R(c) * a + 127) / 255, (RGBA_G(c) * a + 127) / 255,
                         (RGBA_B(c) * a + 127) / 255, 255);
}

static void draw(GifFileType *gif, int frame, uint32_t *canvas)
{
    const SavedImage *image = &gif->SavedImages[frame];
    const GifImageDesc *d = &image->ImageDesc;
    int hole = control_of(gif, frame).TransparentColor;
    assert_null(d->ColorMap);
    assert_true(d->Left >= 0 && d->Top >= 0 && d->Left + d->Width <= gif->SWidth &&
                d->Top + d->Height <= gif->SHeight);
    for (int y = 0; y < d->Height; y++) {
        for (int x = 0; x < d->Width; x++) {
            int index = image->RasterBits[y * d->Width + x];
            assert_true(index < gif->SColorMap->ColorCount);
            GifColorType c = gif->SColorMap->Colors[index];
            if (index != hole)
                canvas[(d->Top + y) * gif->SWidth + d->Left + x] = RGBA(c.Red, c.Green, c.Blue, 255);
        }
    }
}

static void dispose(GifFileType *gif, int frame, uint32_t *canvas)
{
    const GifImageDesc *d = &gif->SavedImages[frame].ImageDesc;
    if (control_of(gif, frame).DisposalMode != DISPOSE_BACKGROUND)
        return;
    for (int y = 0; y < d->Height; y++)
        memset(canvas + (d->Top + y) * gif->SWidth + d->Left, 0, (size_t)d->Width * sizeof(*canvas));
}

/* The most that any channel of any pixel of any frame is off, or 255 where opaque and transparent are mixed
 * up. */
static int worst_error(GifFileType *gif, const struct frame_set *set, int zoom, int rounds)
{
    int side = set->side * zoom, worst = 0;
    assert_int_equal(gif->SWidth, side);
    assert_int_equal(gif->SHeight, side);
    assert_int_equal(gif->ImageCount, set->frames);
    uint32_t *canvas = calloc((size_t)side * (size_t)side, sizeof(*canvas));
    assert_non_null(canvas);
    for (int i = 0; i < rounds * set->frames; i++) {
        int f = i % set->frames;
        draw(gif, f, canvas);
        for (int y = 0; y < side; y++) {
            for (int x = 0; x < side; x++) {
                size_t at = ((size_t)f * (size_t)set->side + (size_t)(y / zoom)) * (size_t)set->side +
                            (size_t)(x / zoom);
                uint32_t is = canvas[y * side + x], want = flat(sample_at(set, at));
                int error = RGBA_A(is) != RGBA_A(want) ? 255 : 0;
                for (int shift = 0; shift < 24; shift += 8) {
                    int off = abs((int)(is >> shift & 255) - (int)(want >> shift & 255));
                    error = off > error ? off : error;
                }
                worst = error > worst ? error : worst;
            }
        }
        dispose(gif, f, canvas);
    }
    free(canvas);
    return worst;
}

static void check_exact(const struct frame_set *set, const struct encode_desc *desc)
{
    struct blob file = encode(set, desc);
    GifFileType *gif = decode(&file);
    assert_int_equal(worst_error(gif, set, desc->zoom, 2), 0);
    DGifCloseFile(gif, NULL);
    blob_free(&file);
}

static void planets_come_back_exactly_and_loop(void **state)
{
    (void)state;
    for (int side = 8; side <= 96; side += 29) {
        struct frame_set set = sample_planet(side, 24, 3, (uint32_t)side);
        check_exact(&set, &desc_plain);
        frame_set_finish(&set);
    }
}

static void things_that_vanish_leave_no_trail(void **state)
{
    (void)state;
    for (int frames = 2; frames <= 9; frames++) {
        struct frame_set set = sample_walker(32, frames);
        check_exact(&set, &desc_plain);
        frame_set_finish(&set);
    }
    for (uint32_t seed = 0; seed < 60; seed++) {
        struct frame_set set =
            sample_random(3 + (int)seed % 9, 1 + (int)seed % 7, 1 + (int)seed % 40, (int)seed, 50, seed);
        check_exact(&set, &desc_plain);
        frame_set_finish(&set);
    }
}

static void zoom_repeats_pixels(void **state)
{
    (void)state;
    for (int zoom = 2; zoom <= 32; zoom *= 2) {
        struct encode_desc desc = desc_plain;
        desc.zoom = zoom;
        struct frame_set planet = sample_planet(24, 3, 3, 1), walker = sample_walker(12, 4);
        check_exact(&planet, &desc);
        check_exact(&walker, &desc);
        frame_set_finish(&planet);
        frame_set_finish(&walker);
    }
}

static void large_frames_outgrow_the_dictionary(void **state)
{
    (void)state;
    struct frame_set set = sample_random(300, 3, 255, 0, 50, 3);
    check_exact(&set, &desc_plain);
    frame_set_finish(&set);
}

static void table_is_the_smallest_power_of_two(void **state)
{
    (void)state;
    /* colours of one opaque frame -> entries; a second frame needs one for what stays the same */
    static const int cases[][3] = {{1, 2, 2},    {2, 2, 4},    {3, 4, 4},       {4, 4, 8},
                                   {31, 32, 32}, {32, 32, 64}, {255, 256, 256}, {256, 256, 256}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (int frames = 1; frames <= 2; frames++) {
            uint32_t rgba[2 * 400];
            for (int k = 0; k < 2 * 400; k++)
                rgba[k] = RGBA(k % 400 % cases[i][0], 9, 9, 255);
            struct frame_set set = sample_from_rgba(rgba, 20, frames);
            struct blob file = encode(&set, &desc_plain);
            GifFileType *gif = decode(&file);
            assert_int_equal(gif->SColorMap->ColorCount, cases[i][frames]);
            assert_int_equal(worst_error(gif, &set, 1, 2), 0);
            DGifCloseFile(gif, NULL);
            blob_free(&file);
            frame_set_finish(&set);
        }
    }
}

static void all_256_colours_are_kept_when_nothing_is_clear(void **state)
{
    (void)state;
    struct frame_set set = sample_random(64, 5, 256, 0, 60, 11);
    assert_int_equal(set.color_count, 256);
    check_exact(&set, &desc_plain);
    frame_set_finish(&set);
}

static void opaque_colours_never_take_the_transparent_index(void **state)
{
    (void)state;
    struct frame_set set = sample_random(64, 5, 200, 10, 60, 12);
    struct blob file = encode(&set, &desc_plain);
    GifFileType *gif = decode(&file);
    int worst = worst_error(gif, &set, 1, 2);
    DGifCloseFile(gif, NULL);
    blob_free(&file);
    frame_set_finish(&set);
    assert_true(worst < 255);
}

static int count_bytes(GifFileType *gif, const GifByteType *bytes, int len)
{
    (void)bytes;
    *(size_t *)gif->UserData += (size_t)len;
    return len;
}

/* The bytes of the file if unchanged pixels were all drawn again, or all skipped, within the same rectangles.
 */
static size_t bytes_by_rule(GifFileType *gif, const struct frame_set *set, bool skip)
{
    enum { SIDE = 64 };
    size_t bytes = 0;
    GifFileType *file = EGifOpen(&bytes, count_bytes, NULL);
    assert_non_null(file);
    assert_int_equal(EGifPutScreenDesc(file, SIDE, SIDE, 8, 0, gif->SColorMap), GIF_OK);
    for (int f = 0; f < set->frames; f++) {
        SavedImage *image = &gif->SavedImages[f];
        const GifImageDesc *d = &image->ImageDesc;
        GifByteType control[4], pixels[SIDE * SIDE];
        GraphicsControlBlock block = control_of(gif, f);
        EGifPutExtension(file, GRAPHICS_EXT_FUNC_CODE, (int)EGifGCBToExtension(&block, control), control);
        for (int i = 0; i < d->Width * d->Height; i++) {
            size_t at =
                (size_t)f * SIDE * SIDE + (size_t)((d->Top + i / d->Width) * SIDE + d->Left + i % d->Width);
            bool same = f && set->index[at] == set->index[at - SIDE * SIDE];
            uint32_t want = flat(sample_at(set, at));
            pixels[i] = (GifByteType)block.TransparentColor;
            for (int c = 0; want && !(same && skip) && c < gif->SColorMap->ColorCount; c++) {
                GifColorType *color = &gif->SColorMap->Colors[c];
                if (c != block.TransparentColor && RGBA(color->Red, color->Green, color->Blue, 255) == want)
                    pixels[i] = (GifByteType)c;
            }
        }
        assert_int_equal(EGifPutImageDesc(file, d->Left, d->Top, d->Width, d->Height, false, NULL), GIF_OK);
        assert_int_equal(EGifPutLine(file, pixels, d->Width * d->Height), GIF_OK);
    }
    EGifCloseFile(file, NULL);
    return bytes;
}

static void choosing_what_to_skip_beats_both_simple_rules(void **state)
{
    (void)state;
    struct frame_set set = sample_planet(64, 60, 3, 4);
    struct encode_desc desc = desc_plain;
    desc.key = "";
    struct blob file = encode(&set, &desc);
    GifFileType *gif = decode(&file);
    size_t drawn = bytes_by_rule(gif, &set, false), skipped = bytes_by_rule(gif, &set, true);
    DGifCloseFile(gif, NULL);
    assert_true(file.len * 100 < drawn * 95);
    assert_true(file.len * 100 < skipped * 97);
    blob_free(&file);
    frame_set_finish(&set);
}

static void too_many_colours_are_merged_closely(void **state)
{
    (void)state;
    /* A smooth ball of thousands of colours: neighbours must stay neighbours. */
    enum { SIDE = 96 };
    uint32_t *rgba = calloc(SIDE * SIDE, sizeof(*rgba));
    assert_non_null(rgba);
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            if ((x - 48) * (x - 48) + (y - 48) * (y - 48) < 46 * 46)
                rgba[y * SIDE + x] = RGBA(x * 2, y * 2, 128 + (x - y) / 2, 255);
    struct frame_set set = sample_from_rgba(rgba, SIDE, 1);
    assert_true(set.color_count > 4000);
    struct blob file = encode(&set, &desc_plain), again = encode(&set, &desc_plain);
    GifFileType *gif = decode(&file);
    assert_int_equal(file.len, again.len);
    assert_memory_equal(file.data, again.data, file.len);
    int worst = worst_error(gif, &set, 1, 1);
    DGifCloseFile(gif, NULL);
    assert_in_range(worst, 1, 20);
    blob_free(&file);
    blob_free(&again);
    free(rgba);
    frame_set_finish(&set);
}

static void colours_that_differ_in_alpha_alone_may_share_an_entry(void **state)
{
    (void)state;
    /* Both are (50, 0, 0) over black. */
    uint32_t rgba[64];
    for (int i = 0; i < 64; i++)
        rgba[i] = i % 2 ? RGBA(100, 0, 0, 128) : RGBA(50, 0, 0, 255);
    struct frame_set set = sample_from_rgba(rgba, 8, 1);
    struct blob file = encode(&set, &desc_plain);
    GifFileType *gif = decode(&file);
    assert_int_equal(gif->SColorMap->ColorCount, 2);
    assert_int_equal(worst_error(gif, &set, 1, 1), 0);
    DGifCloseFile(gif, NULL);
    blob_free(&file);
    frame_set_finish(&set);
}

static void equal_frames_cost_a_pixel_and_are_not_left_out(void **state)
{
    (void)state;
    struct frame_set set = sample_frozen(64, 12, 3);
    struct blob file = encode(&set, &desc_plain);
    GifFileType *gif = decode(&file);
    assert_int_equal(gif->ImageCount, 12);
    for (int f = 1; f < 12; f++) {
        assert_int_equal(gif->SavedImages[f].ImageDesc.Width, 1);
        assert_int_equal(gif->SavedImages[f].ImageDesc.Height, 1);
    }
    assert_int_equal(worst_error(gif, &set, 1, 2), 0);
    DGifCloseFile(gif, NULL);
    blob_free(&file);
    frame_set_finish(&set);
}

static void delays_last_as_long_as_asked(void **state)
{
    (void)state;
    static const int cases[][3] = {
        {120, 15, 800}, {240, 50, 480}, {7, 3, 233}, {1 + 1, 1, 200}, {48, 24, 200}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct encode_desc desc = desc_plain;
        desc.fps = cases[i][1];
        struct frame_set set = sample_frozen(16, cases[i][0], 3);
        struct blob file = encode(&set, &desc);
        GifFileType *gif = decode(&file);
        int total = 0;
        for (int f = 0; f < gif->ImageCount; f++)
            total += control_of(gif, f).DelayTime;
        assert_int_equal(total, cases[i][2]);
        DGifCloseFile(gif, NULL);
        blob_free(&file);
        frame_set_finish(&set);
    }
}

/* -1 when there is no NETSCAPE block, else its count. */
static int netscape_count(const struct blob *file)
{
    for (size_t i = 0; i + 16 < file->len; i++)
        if (memcmp(file->data + i, "\x21\xff\x0bNETSCAPE2.0\x03\x01", 16) == 0)
            return file->data[i + 16] | file->data[i + 17] << 8;
    return -1;
}

static void loop_count_says_how_often_to_play_again(void **state)
{
    (void)state;
    static const int cases[][2] = {{0, 0}, {1, -1}, {2, 1}, {300, 299}, {65535, 65534}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct encode_desc desc = desc_plain;
        desc.loops = cases[i][0];
        struct frame_set set = sample_walker(16, 3);
        struct blob file = encode(&set, &desc);
        assert_int_equal(netscape_count(&file), cases[i][1]);
        blob_free(&file);
        frame_set_finish(&set);
    }
}

static void last_frame_of_a_single_play_stays(void **state)
{
    (void)state;
    struct encode_desc desc = desc_plain;
    desc.loops = 1;
    struct frame_set set = sample_walker(16, 3);
    struct blob file = encode(&set, &desc);
    GifFileType *gif = decode(&file);
    assert_int_equal(control_of(gif, 2).DisposalMode, DISPOSE_DO_NOT);
    assert_int_equal(worst_error(gif, &set, 1, 1), 0);
    DGifCloseFile(gif, NULL);
    blob_free(&file);
    frame_set_finish(&set);
}

static void still_has_no_loop_and_no_delay(void **state)
{
    (void)state;
    struct frame_set set = sample_planet(32, 1, 3, 3);
    struct blob file = encode(&set, &desc_plain);
    GifFileType *gif = decode(&file);
    assert_int_equal(netscape_count(&file), -1);
    assert_int_equal(control_of(gif, 0).DelayTime, 0);
    assert_int_equal(worst_error(gif, &set, 1, 1), 0);
    DGifCloseFile(gif, NULL);
    blob_free(&file);
    frame_set_finish(&set);
}

static void key_is_in_the_comment_whatever_its_length(void **state)
{
    (void)state;
    static const size_t lengths[] = {0, 1, 254, 255, 256, 509, 510, 511, 1023};
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        char key[1024] = "", comment[1024] = "";
        for (size_t k = 0; k < lengths[i]; k++)
            key[k] = (char)('a' + k % 26);
        struct encode_desc desc = desc_plain;
        desc.key = key;
        struct frame_set set = sample_walker(16, 2);
        struct blob file = encode(&set, &desc);
        GifFileType *gif = decode(&file);
        const SavedImage *first = &gif->SavedImages[0];
        size_t at = 0;
        bool in_comment = false;
        for (int k = 0; k < first->ExtensionBlockCount; k++) {
            const ExtensionBlock *b = &first->ExtensionBlocks[k];
            in_comment =
                b->Function == COMMENT_EXT_FUNC_CODE || (in_comment && b->Function == CONTINUE_EXT_FUNC_CODE);
            if (in_comment) {
                memcpy(comment + at, b->Bytes, (size_t)b->ByteCount);
                at += (size_t)b->ByteCount;
            }
        }
        assert_int_equal(at, lengths[i]);
        assert_memory_equal(comment, key, at);
        assert_int_equal(worst_error(gif, &set, 1, 1), 0);
        DGifCloseFile(gif, NULL);
        blob_free(&file);
        frame_set_finish(&set);
    }
}

static void full_buffer_is_an_error_and_not_a_crash(void **state)
{
    (void)state;
    struct frame_set set = sample_walker(24, 4);
    struct blob whole = encode(&set, &desc_plain);
    for (size_t limit = 1; limit < whole.len; limit++) {
        struct blob out = {.max_bytes = limit};
        assert_int_equal(encoders[FORMAT_GIF].encode(&set, &desc_plain, NULL, &out), ERR_OOM);
        blob_free(&out);
    }
    blob_free(&whole);
    frame_set_finish(&set);
}

static void cancel_stops_the_work(void **state)
{
    (void)state;
    atomic_bool cancel = true;
    struct frame_set set = sample_walker(24, 4);
    struct blob out = {0};
    assert_int_equal(encoders[FORMAT_GIF].encode(&set, &desc_plain, &cancel, &out), ERR_CANCELLED);
    blob_free(&out);
    frame_set_finish(&set);
}

static void numbers_out_of_range_are_refused(void **state)
{
    (void)state;
    static const struct encode_desc bad[] = {{.zoom = 0, .fps = 15, .key = ""},
                                             {.zoom = 33, .fps = 15, .key = ""},
                                             {.zoom = 1, .fps = 0, .key = ""},
                                             {.zoom = 1, .fps = 51, .key = ""},
                                             {.zoom = 1, .fps = 15, .loops = -1, .key = ""},
                                             {.zoom = 1, .fps = 15, .loops = 65536, .key = ""}};
    struct frame_set set = sample_walker(24, 2);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct blob out = {0};
        assert_int_equal(encoders[FORMAT_GIF].encode(&set, &bad[i], NULL, &out), ERR_ENCODE);
        blob_free(&out);
    }
    frame_set_finish(&set);
}

static void libraries_are_named_with_versions(void **state)
{
    (void)state;
    assert_non_null(strstr(encoder_libraries(), "libpng 1."));
    assert_non_null(strstr(encoder_libraries(), "libdeflate 1."));
    assert_non_null(strstr(encoder_libraries(), "giflib 5."));
    for (int i = 0; i < FORMAT_COUNT; i++)
        assert_true(encoders[i].name && encoders[i].mime && encoders[i].extension);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planets_come_back_exactly_and_loop),
        cmocka_unit_test(things_that_vanish_leave_no_trail),
        cmocka_unit_test(zoom_repeats_pixels),
        cmocka_unit_test(large_frames_outgrow_the_dictionary),
        cmocka_unit_test(table_is_the_smallest_power_of_two),
        cmocka_unit_test(all_256_colours_are_kept_when_nothing_is_clear),
        cmocka_unit_test(opaque_colours_never_take_the_transparent_index),
        cmocka_unit_test(choosing_what_to_skip_beats_both_simple_rules),
        cmocka_unit_test(too_many_colours_are_merged_closely),
        cmocka_unit_test(colours_that_differ_in_alpha_alone_may_share_an_entry),
        cmocka_unit_test(equal_frames_cost_a_pixel_and_are_not_left_out),
        cmocka_unit_test(delays_last_as_long_as_asked),
        cmocka_unit_test(loop_count_says_how_often_to_play_again),
        cmocka_unit_test(last_frame_of_a_single_play_stays),
        cmocka_unit_test(still_has_no_loop_and_no_delay),
        cmocka_unit_test(key_is_in_the_comment_whatever_its_length),
        cmocka_unit_test(full_buffer_is_an_error_and_not_a_crash),
        cmocka_unit_test(cancel_stops_the_work),
        cmocka_unit_test(numbers_out_of_range_are_refused),
        cmocka_unit_test(libraries_are_named_with_versions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
