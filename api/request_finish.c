/* request_finish.c -- makes a request whole: defaults, one spelling for one picture, and the checks that need
 * more than one parameter. Whatever cannot change the picture goes back to its default, because the key is
 * made of what is not: so equal pictures have equal keys. It can never give two pictures one key: what is
 * drawn is the request after this, too. Threads: one request by one thread at a time. */
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "api/contact.h"
#include "api/fault.h"
#include "api/find.h"
#include "api/params.h"
#include "api/request.h"
#include "api/split.h"
#include "renderer/bodies.h"
#include "renderer/renderer.h"

/* Parts of every picture: changing one needs a new RENDERER_REVISION. */
#define SEED_HASH_START 0x706c616e65746401u
#define TYPE_HASH_START                                                                                      \
    0x706c616e65746402u /* another one, so that a random type leaves every seed possible */

#define RINGS_HASH_START 0x706c616e65746403u /* and one for rings=auto */

#define HALF_TURN_DECIDEG 1800
#define WHOLE_PHASE_MICRO 1000000

static void settle_choices(struct request *r)
{
    if (r->type == TYPE_RANDOM) {
        uint64_t hash = XXH3_64bits_withSeed(r->seed, r->seed_len, TYPE_HASH_START);
        r->type = (int32_t)((hash >> 32) * BODIES_AT_RANDOM >> 32);
    }
    r->planet.body = r->type;
    if (r->format == FORMAT_FIND) /* it tries seeds of its own */
        request_default_seed(r);
    r->planet.seed = XXH3_64bits_withSeed(r->seed, r->seed_len, SEED_HASH_START);
    if (r->rings == RINGS_AUTO && r->format != FORMAT_FIND) {
        uint64_t hash = XXH3_64bits_withSeed(r->seed, r->seed_len, RINGS_HASH_START);
        r->rings = (int)((hash >> 32) * 100 >> 32) < bodies[r->type].rings_percent ? RINGS_ON : RINGS_OFF;
    }
    if (bodies[r->type].traits & BODY_FILLS_FRAME) { /* nothing there to go around */
        r->rings = RINGS_OFF;
        r->planet.moons = 0;
    }
    r->planet.rings = r->rings == RINGS_ON;
    if (!(r->given >> PARAM_ROW_shading & 1))
        r->planet.shading = bodies[r->type].shading;
}

/* These come first, since the other defaults depend on them. */
static bool settled_first(int i)
{
    return i == PARAM_ROW_type || i == PARAM_ROW_rings || i == PARAM_ROW_format || i == PARAM_ROW_shading ||
           i == PARAM_ROW_moons;
}

static void fill_defaults(struct request *r)
{
    for (int i = 0; i < param_count; i++)
        if (!(r->given >> i & 1) && param_has_number(i) && !settled_first(i))
            param_put(i, r, param_default(i, r));
}

static int sheet_groups(const struct request *r)
{
    return r->layers == LAYERS_SPLIT ? SPLIT_LAYERS : 1;
}

static void fold_columns(struct request *r)
{
    if (r->columns > r->planet.frames)
        r->columns = r->planet.frames;
    if (r->columns == sheet_columns(r->planet.frames, sheet_groups(r)))
        r->columns = 0;
}

static void fold_equals(struct request *r)
{
    struct planet_desc *d = &r->planet;
    if (d->phase_micro == WHOLE_PHASE_MICRO) /* turns are whole, so the end of the loop is its start */
        d->phase_micro = 0;
    if (d->light_azimuth_decideg == -HALF_TURN_DECIDEG)
        d->light_azimuth_decideg = HALF_TURN_DECIDEG;
    if (d->roll_decideg == -HALF_TURN_DECIDEG)
        d->roll_decideg = HALF_TURN_DECIDEG;
    if (d->ring_angle_decideg == -HALF_TURN_DECIDEG)
        d->ring_angle_decideg = HALF_TURN_DECIDEG;
    if (d->layer != LAYER_COLOR && d->background < COLOR_NONE) /* a sky is behind the picture alone */
        d->background = COLOR_NONE;
    if (r->format != FORMAT_CONTACT) /* whose columns are of no frames */
        fold_columns(r);
    const struct body_info *body = &bodies[r->type];
    bool own_air = body->traits & BODY_HAS_AIR;
    if (own_air ? d->atmosphere == (int32_t)body->atmosphere : d->atmosphere == COLOR_NONE)
        d->atmosphere = COLOR_AUTO;
}

static void drop_idle(struct request *r)
{
    bool changed;
    for (int i = 0; i < param_count; i++)
        if (params[i].kind == PARAM_SWEEP && !param_matters(i, r))
            memset(param_sweep(i, r), 0, SWEEP_BYTES);
    do { /* again, because without turns the phase is idle, and then the turns are */
        changed = false;
        for (int i = 0; i < param_count; i++) {
            if (!param_has_number(i) || param_matters(i, r))
                continue;
            int32_t value = param_default(i, r);
            changed |= value != param_get(i, r);
            param_put(i, r, value);
        }
    } while (changed);
}

static enum err check_format(const struct request *r, struct request_fault *fault)
{
    const struct encoder *e = &encoders[r->format];
    if (!e->lacks)
        return ERR_NONE;
    return fault_set(fault, ERR_PARAM_COMBINATION, "format",
                     "this server was built without %s, so it has no format=%s", e->lacks, e->name);
}

static enum err check_frames(const struct request *r, struct request_fault *fault)
{
    const struct encoder *e = &encoders[r->format];
    if (e->animated || r->planet.frames == 1)
        return ERR_NONE;
    return fault_set(fault, ERR_PARAM_COMBINATION, "frames",
                     "format=%s has stills alone, so frames must be 1; ask for format=gif to have %d frames",
                     e->name, (int)r->planet.frames);
}

/* The trait that a body needs for a layer, 0 if any has it. */
static unsigned layer_trait(int32_t layer)
{
    switch ((enum layer)layer) {
    case LAYER_HEIGHT:
    case LAYER_SEA:
        return BODY_HAS_HEIGHT;
    case LAYER_CLOUDS:
    case LAYER_SHADOW:
        return BODY_HAS_CLOUDS;
    case LAYER_CRATERS:
        return BODY_HAS_CRATERS;
    case LAYER_BANDS:
        return BODY_HAS_BANDS;
    case LAYER_COLOR:
    case LAYER_GRID:
    case LAYER_DEPTH:
    case LAYER_LIGHT:
    case LAYER_RINGS:
    case LAYER_NORMAL:
    case LAYER_EMISSION:
    case LAYER_MASK:
    case LAYER_COUNT:
        break;
    }
    return 0;
}

bool request_body_has_layer(int32_t body, int32_t layer)
{
    unsigned trait = layer_trait(layer);
    if (bodies[body].traits & BODY_FILLS_FRAME)
        return layer == LAYER_COLOR || layer == LAYER_GRID || layer == LAYER_NORMAL ||
               layer == LAYER_EMISSION || layer == LAYER_MASK;
    return (bodies[body].traits & trait) == trait;
}

static enum err check_layer(const struct request *r, struct request_fault *fault)
{
    const char *layer = params[PARAM_ROW_layer].words[r->planet.layer];
    bool palette = r->format == FORMAT_PALETTE || r->format == FORMAT_GPL || r->format == FORMAT_HEX;
    bool sheet = r->format == FORMAT_SHEET || r->format == FORMAT_ATLAS;
    if (sheet && r->layers == LAYERS_SPLIT && r->planet.layer != LAYER_COLOR)
        return fault_set(fault, ERR_PARAM_COMBINATION, "layer",
                         "layers=split has its own layers, so layer must be color");
    if ((palette || r->format == FORMAT_FIND) && r->planet.layer != LAYER_COLOR)
        return fault_set(fault, ERR_PARAM_COMBINATION, "layer",
                         "format=%s is of the picture, so layer must be color", encoders[r->format].name);
    if (r->planet.layer == LAYER_RINGS && !r->planet.rings && !(bodies[r->type].traits & BODY_FILLS_FRAME))
        return fault_set(fault, ERR_PARAM_COMBINATION, "layer", "layer=%s needs rings=on", layer);
    if (request_body_has_layer(r->type, r->planet.layer))
        return ERR_NONE;
    char having[160] = "";
    size_t n = 0;
    for (int b = 0; b < BODY_COUNT; b++)
        if (request_body_has_layer(b, r->planet.layer) && n < sizeof having)
            n += (size_t)snprintf(having + n, sizeof having - n, "%s%s", n ? ", " : "", bodies[b].name);
    return fault_set(fault, ERR_PARAM_COMBINATION, "layer", "type=%s has no layer=%s; these have it: %s",
                     bodies[r->type].name, layer, having);
}

struct sheet_layout request_sheet_layout(const struct request *r)
{
    return sheet_layout_make(r->planet.frames, sheet_groups(r), r->planet.pixels * r->zoom, r->columns,
                             r->margin, r->spacing);
}

struct request_size request_size(const struct request *r)
{
    int64_t side = r->planet.pixels, zoom = r->zoom,
            frames = r->planet.frames; /* so each product is < 2^38 */
    struct sheet_layout sheet = request_sheet_layout(r);
    int64_t drawn = side * side * frames;
    switch ((enum format)r->format) {
    case FORMAT_SHEET:
        return (struct request_size){drawn * sheet.groups, sheet.width_px * sheet.height_px};
    case FORMAT_ATLAS:
        return (struct request_size){0, 0};
    case FORMAT_JSON: /* reads one frame; the zoom is only told */
        return (struct request_size){side * side, side * side};
    case FORMAT_PALETTE: /* every pixel is looked at, few are written */
    case FORMAT_GPL:
    case FORMAT_HEX:
        return (struct request_size){drawn, drawn};
    case FORMAT_CONTACT:
        return contact_size(r);
    case FORMAT_FIND:
        return find_size(r);
    case FORMAT_PNG:
    case FORMAT_GIF:
    case FORMAT_APNG:
    case FORMAT_WEBP:
    case FORMAT_COUNT:
        break;
    }
    return (struct request_size){drawn, drawn * zoom * zoom};
}

/* What tells of a picture is refused when the picture would be. */
static int32_t format_told_of(int32_t format)
{
    return format == FORMAT_ATLAS ? FORMAT_SHEET : format == FORMAT_JSON ? FORMAT_APNG : format;
}

static enum err check_size(const struct request *r, struct request_fault *fault)
{
    struct request picture = *r;
    picture.format = format_told_of(r->format);
    struct request_size size = request_size(&picture);
    if (size.drawn_pixels <= PICTURE_PIXELS_MAX && size.file_pixels <= PICTURE_PIXELS_MAX)
        return ERR_NONE;
    struct sheet_layout l = request_sheet_layout(r);
    if (picture.format == FORMAT_SHEET)
        return fault_set(fault, ERR_PICTURE_SIZE, "pixels",
                         "the sheet would have %lld x %lld pixels, and may have %d at most",
                         (long long)l.width_px, (long long)l.height_px, PICTURE_PIXELS_MAX);
    return fault_set(fault, ERR_PICTURE_SIZE, "pixels",
                     "pixels x pixels x frames x zoom x zoom is %lld here and may be %d at most",
                     (long long)size.file_pixels, PICTURE_PIXELS_MAX);
}

enum err request_finish(struct request *r, struct request_fault *ret_fault)
{
    if (r->rev != RENDERER_REVISION)
        return fault_set(ret_fault, ERR_REVISION, "rev", "this server draws revision %d, not %d",
                         RENDERER_REVISION, (int)r->rev);
    settle_choices(r);
    fill_defaults(r);
    fold_equals(r);
    enum err err = check_format(r, ret_fault);
    if (!err)
        err = check_frames(r, ret_fault);
    if (!err && r->format != FORMAT_CONTACT) /* whose cells are asked one by one */
        err = check_layer(r, ret_fault);
    if (!err)
        err = find_check(r, ret_fault);
    if (!err && r->format == FORMAT_CONTACT)
        err = contact_check(r, ret_fault);
    else if (!err)
        err = check_size(r, ret_fault);
    if (!err)
        drop_idle(r);
    return err;
}

struct encode_desc request_encode_desc(const struct request *r, const char *key)
{
    return (struct encode_desc){.zoom = r->zoom,
                                .fps = r->fps,
                                .loops = r->loops,
                                .key = key,
                                .columns = r->columns,
                                .margin_px = r->margin,
                                .spacing_px = r->spacing,
                                .groups = sheet_groups(r)};
}
