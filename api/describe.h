/* The service described by its own tables. */
#pragma once

#include "renderer/base/blob.h"
#include "renderer/base/err.h"

/* JSON of /types: bodies (name, summary, traits, layers, palette, defaults of the parameters that matter for
 * it), parameters (name, kind, range and step or words, unit, help, the bodies for which it matters), limits.
 * `default` is a number where the parameter is one, else text: that of a terrestrial still without rings.
 * Where another case has another default, `default_note` says so; else it is "". ERR_OOM. */
MUST_USE enum err describe_types(struct blob *out);

/* JSON of /version: name, version, revision, libraries. */
MUST_USE enum err describe_version(struct blob *out);

/* Markdown table of the parameters for the README. */
MUST_USE enum err describe_markdown(struct blob *out);
