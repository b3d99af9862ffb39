/* Writing a JSON document into a blob. For the files of api/ alone. */
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "renderer/base/attr.h"
#include "renderer/base/blob.h"
#include "renderer/base/err.h"

/* `steps` of 10^-decimals as a number: an integer where there are no decimals. NULL without memory. */
json_t *json_steps(int32_t steps, int decimals);

/* Appends the document and a newline; frees `root` whatever happens. NULL, the sign of lack of memory, is
 * ERR_OOM. */
MUST_USE enum err json_out(json_t *root, struct blob *out);
