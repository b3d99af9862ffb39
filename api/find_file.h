/* The file of format=find: which seeds have what is looked for. */
#pragma once

#include "api/file.h"

/* As file_make(): JSON with the number of seeds that were tried, those that were found, in their order, and
 * where to go on. */
MUST_USE enum err find_file_make(const struct request *r, const struct key *key, struct file_artist *artist,
                                 struct blob *out);
