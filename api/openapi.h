/* The OpenAPI 3.1 description of the service, from the tables. */
#pragma once

#include "renderer/base/attr.h"
#include "renderer/base/blob.h"
#include "renderer/base/err.h"

/* Replaces *ret_text: JSON, two spaces, one newline at the end. ERR_OOM. Threads: any. */
MUST_USE enum err openapi_write(struct blob *ret_text);
