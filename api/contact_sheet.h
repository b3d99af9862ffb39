/* The file of a contact sheet: cells drawn one after the other into one labelled PNG. */
#pragma once

#include "api/file.h"

/* As file_make(), for FORMAT_CONTACT. Each cell has the pixels of the single picture of its request, exactly.
 * ERR_PICTURE_SIZE: the cells have more than 65,536 colours together. Threads: any. */
MUST_USE enum err contact_sheet_make(const struct request *r, const struct key *key,
                                     struct file_artist *artist, struct blob *out);
