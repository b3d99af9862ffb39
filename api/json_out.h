/* Writing a JSON document into a blob. For the files of api/ alone. */
#pragma once

#include <jansson.h>

#include "renderer/base/attr.h"
#include "renderer/base/blob.h"
#include "renderer/base/err.h"

/* Appends the document and a newline; frees `root` whatever happens. NULL, the sign of lack of memory, is
 * ERR_OOM. */
MUST_USE enum err json_out(json_t *root, struct blob *out);
