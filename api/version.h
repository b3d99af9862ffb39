/* The version of the program. The pictures have their own number: RENDERER_REVISION. */
#pragma once

#define PLANETD_VERSION "0.1.0"
