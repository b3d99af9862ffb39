/* atlas.c -- says where the frames of a sprite sheet stand.
 *
 * The hash form of TexturePacker is what Phaser, PixiJS and Godot's importers read; Aseprite's is the same
 * with a duration for each frame, tags, and frames that are called by their number. Pixi keeps all frames of
 * all sheets under their names, so in the first form a name holds that of the picture. Threads: any. */
#include "api/atlas.h"

#include <stdio.h>
#include <string.h>

#include "api/json_out.h"
#include "api/key.h"
#include "api/params.h"
#include "api/split.h"
#include "api/version.h"
#include "renderer/encode/sheet_layout.h"

#define ANIMATION  "turn"
#define NAME_BYTES (FILE_NAME_BYTES + 32)

/* The request for the sheet that this is the atlas of. */
static struct request sheet_of(const struct request *r)
{
    struct request sheet = *r;
    sheet.format = FORMAT_SHEET;
    sheet.atlas = ATLAS_TEXTUREPACKER; /* the sheet's key knows of neither */
    sheet.fps = param_default(PARAM_ROW_fps, &sheet);
    sheet.loops = param_default(PARAM_ROW_loops, &sheet);
    return sheet;
}

/* "sheet.png?rev=1&type=gas&seed=3": the key without the format, which the path says. */
static json_t *image_address(const struct key *key)
{
    static const char said[] = "&format=sheet";
    const char *at = strstr(key->text, said); /* in a key '&' is never part of a value */
    if (!at)
        return NULL;
    return json_sprintf("%s?%.*s%s", encoders[FORMAT_SHEET].address + 1, (int)(at - key->text), key->text,
                        at + strlen(said));
}

/* What each name of a frame begins with: the sheet's file name without its end. */
static size_t stem_write(const struct request *sheet, const struct key *key, char ret_stem[FILE_NAME_BYTES])
{
    key_file_name(sheet, key, ret_stem);
    char *dot = strrchr(ret_stem, '.');
    if (dot)
        *dot = '\0';
    return strlen(ret_stem);
}

/* What rounding takes from one frame the next ones get. */
static int duration_ms(int i, int fps)
{
    return (2000 * (i + 1) + fps) / (2 * fps) - (2000 * i + fps) / (2 * fps);
}

static json_t *frame_json(const struct request *r, const struct sheet_layout *l, int i)
{
    struct sheet_place at = sheet_layout_place(l, i);
    int side = l->cell_px;
    json_t *out =
        json_pack("{s:{s:i, s:i, s:i, s:i}, s:b, s:b, s:{s:i, s:i, s:i, s:i}, s:{s:i, s:i}}", "frame", "x",
                  at.x, "y", at.y, "w", side, "h", side, "rotated", 0, "trimmed", 0, "spriteSourceSize", "x",
                  0, "y", 0, "w", side, "h", side, "sourceSize", "w", side, "h", side);
    if (r->atlas == ATLAS_ASEPRITE)
        json_object_set_new(out, "duration", json_integer(duration_ms(i % l->frames, r->fps)));
    return out;
}

/* Of a split sheet each layer is an animation, called by its name. */
static const char *animation_name(const struct sheet_layout *l, int group)
{
    return l->groups > 1 ? params[PARAM_ROW_layer].words[split_layers[group]] : ANIMATION;
}

static json_t *meta_json(const struct request *r, const struct sheet_layout *l, const struct key *key)
{
    json_t *meta = json_pack("{s:s, s:s, s:o, s:s, s:{s:I, s:I}, s:s}", "app", "planetd", "version",
                             PLANETD_VERSION, "image", image_address(key), "format", "RGBA8888", "size", "w",
                             (json_int_t)l->width_px, "h", (json_int_t)l->height_px, "scale", "1");
    if (r->atlas != ATLAS_ASEPRITE)
        return meta;
    json_t *tags = json_array();
    for (int g = 0; g < l->groups; g++) {
        json_t *tag = json_pack("{s:s, s:i, s:i, s:s}", "name", animation_name(l, g), "from", g * l->frames,
                                "to", (g + 1) * l->frames - 1, "direction", "forward");
        if (r->loops > 0)
            json_object_set_new(tag, "repeat", json_sprintf("%d", (int)r->loops));
        json_array_append_new(tags, tag);
    }
    json_object_set_new(meta, "frameTags", tags);
    return meta;
}

enum err atlas_write(const struct request *r, struct blob *out)
{
    struct request sheet = sheet_of(r);
    struct key key;
    char name[NAME_BYTES];
    key_make(&sheet, &key);
    size_t stem = stem_write(&sheet, &key, name);
    struct sheet_layout layout = request_sheet_layout(r);
    json_t *frames = json_object(), *animations = json_object();
    for (int i = 0; i < layout.frames * layout.groups; i++) {
        int group = i / layout.frames, within = i % layout.frames;
        const char *animation = animation_name(&layout, group);
        if (r->atlas == ATLAS_ASEPRITE)
            snprintf(name, sizeof name, "%d", i);
        else if (layout.groups > 1)
            snprintf(name + stem, sizeof name - stem, "-%s-%03d", animation, within);
        else
            snprintf(name + stem, sizeof name - stem, "-%03d", i);
        json_object_set_new(frames, name, frame_json(r, &layout, i));
        if (within == 0)
            json_object_set_new(animations, animation, json_array());
        json_array_append_new(json_object_get(animations, animation), json_string(name));
    }
    json_t *root = json_pack("{s:o, s:o}", "frames", frames, "meta", meta_json(r, &layout, &key));
    if (r->atlas == ATLAS_TEXTUREPACKER)
        json_object_set_new(root, "animations", animations);
    else
        json_decref(animations);
    return json_out(root, out);
}
