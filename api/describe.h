/* The service described by its own tables. */
#pragma once

#include "renderer/base/blob.h"
#include "renderer/base/err.h"

/* JSON of /types: bodies (name, summary, traits, palette, defaults) and parameters (name, kind, range, step,
 * default, words, unit, help, per body whether it matters), limits. ERR_OOM. */
MUST_USE enum err describe_types(struct blob *out);

/* JSON of /version: name, version, revision, libraries. */
MUST_USE enum err describe_version(struct blob *out);

/* Markdown table of the parameters for the README. */
MUST_USE enum err describe_markdown(struct blob *out);
