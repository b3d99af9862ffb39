/* find_file.c -- searches: draws seed after seed until there are enough. Apart from find.c, so that programs
 * that write no JSON need not link jansson. Threads: any. */
#include "api/find_file.h"

#include <jansson.h>

#include "api/facts.h"
#include "api/find.h"
#include "api/json_out.h"
#include "api/params.h"

static enum err add_found(json_t *found, int32_t seed, const struct request *candidate,
                          const struct census *census)
{
    struct key key;
    key_make(candidate, &key);
    json_t *one = json_pack("{s:i, s:o, s:o}", "seed", (int)seed, "url", json_sprintf("/planet?%s", key.text),
                            "shares", facts_shares(candidate, census));
    return json_array_append_new(found, one) ? ERR_OOM : ERR_NONE;
}

static enum err try_seed(const struct request *r, int32_t seed, struct file_artist *artist, json_t *found)
{
    struct request candidate;
    struct request_fault unused;
    struct frame_set frames;
    struct census census;
    if (artist->cancel && atomic_load(artist->cancel))
        return ERR_CANCELLED;
    enum err err = find_candidate(r, seed, &candidate, &unused);
    if (!err)
        err = artist->draw(artist, &candidate.planet, &frames);
    if (err)
        return err;
    census_count(&candidate.planet, &frames, &census);
    frame_set_finish(&frames);
    return find_takes(r, &census) ? add_found(found, seed, &candidate, &census) : ERR_NONE;
}

enum err find_file_make(const struct request *r, const struct key *key, struct file_artist *artist,
                        struct blob *out)
{
    (void)key;
    json_t *found = json_array();
    int tries = find_tries(r), tried = 0;
    int32_t seed = r->from, last = params[PARAM_ROW_from].maximum;
    enum err err = found ? ERR_NONE : ERR_OOM;
    for (; !err && tried < tries && seed <= last && json_array_size(found) < (size_t)r->count; tried++)
        err = try_seed(r, seed++, artist, found);
    if (err) {
        json_decref(found);
        return err;
    }
    return json_out(json_pack("{s:i, s:o, s:o}", "tried", tried, "found", found, "next",
                              seed <= last ? json_integer(seed) : json_null()),
                    out);
}
