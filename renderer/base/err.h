/* One value per cause of failure. Functions that can fail return enum err; ERR_NONE is 0. */
#pragma once

enum err {
#define ERR(name, words) ERR_##name,
#include "renderer/base/err.def"
#undef ERR
    ERR_COUNT
};

/* The cause in words, for logs. Never NULL. Threads: any. */
const char *err_words(enum err err);

/* The cause as an identifier in lower case with hyphens ("param-range"). Never NULL. Threads: any. */
const char *err_name(enum err err);
