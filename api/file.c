/* file.c -- what each format is made of. Most are frames drawn once and encoded; a row of `makers` says how a
 * format is made that is not. Threads: any. */
#include "api/file.h"

#include "api/atlas.h"
#include "api/contact_sheet.h"
#include "api/facts.h"
#include "api/find_file.h"
#include "api/palette_file.h"
#include "api/split.h"

static enum err picture_make(const struct request *r, const struct key *key, struct file_artist *artist,
                             struct blob *out)
{
    struct encode_desc desc = request_encode_desc(r, key->text);
    struct frame_set frames;
    bool split = r->format == FORMAT_SHEET && r->layers == LAYERS_SPLIT;
    enum err err = split ? split_draw(r, artist, &frames) : artist->draw(artist, &r->planet, &frames);
    if (err)
        return err;
    err = encoders[r->format].encode(&frames, &desc, artist->cancel, out);
    frame_set_finish(&frames);
    return err;
}

/* Facts are about the first frame, so no other is drawn. */
static enum err facts_make(const struct request *r, const struct key *key, struct file_artist *artist,
                           struct blob *out)
{
    (void)key;
    struct planet_desc planet = r->planet;
    struct frame_set frames;
    planet.frames = 1;
    enum err err = artist->draw(artist, &planet, &frames);
    if (err)
        return err;
    err = facts_write(r, &frames, out);
    frame_set_finish(&frames);
    return err;
}

static enum err atlas_make(const struct request *r, const struct key *key, struct file_artist *artist,
                           struct blob *out)
{
    (void)key;
    (void)artist;
    return atlas_write(r, out);
}

/* Of all frames, so that a game that takes the colours can show the whole loop. */
static enum err palette_make(const struct request *r, const struct key *key, struct file_artist *artist,
                             struct blob *out)
{
    struct frame_set frames;
    enum err err = artist->draw(artist, &r->planet, &frames);
    if (err)
        return err;
    err = palette_file_write(r, key, &frames, out);
    frame_set_finish(&frames);
    return err;
}

static enum err (*const makers[FORMAT_COUNT])(const struct request *r, const struct key *key,
                                              struct file_artist *artist, struct blob *out) = {
    [FORMAT_ATLAS] = atlas_make,    [FORMAT_JSON] = facts_make,  [FORMAT_PALETTE] = palette_make,
    [FORMAT_GPL] = palette_make,    [FORMAT_HEX] = palette_make, [FORMAT_CONTACT] = contact_sheet_make,
    [FORMAT_FIND] = find_file_make,
};

enum err file_make(const struct request *r, const struct key *key, struct file_artist *artist,
                   struct blob *out)
{
    return (makers[r->format] ? makers[r->format] : picture_make)(r, key, artist, out);
}
