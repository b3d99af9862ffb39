/* The atlas of a sprite sheet: which frame stands where, for game engines. */
#pragma once

#include "api/request.h"
#include "renderer/base/attr.h"
#include "renderer/base/blob.h"
#include "renderer/base/err.h"

/* Appends JSON in the form that the finished request's `atlas` names. Nothing is drawn for it: the place of a
 * frame follows from the parameters. Its image is the sheet's address beside that of the atlas. ERR_OOM.
 * Threads: any. */
MUST_USE enum err atlas_write(const struct request *r, struct blob *out);
