/* Gives up what a running server never needs. */
#pragma once

#include <stdbool.h>

#include "renderer/base/attr.h"
#include "renderer/base/err.h"

enum rights_outcome {
    RIGHTS_FILTERED,  /* no new privileges, and a seccomp filter */
    RIGHTS_NO_FILTER, /* no new privileges; no filter: `reason` says why */
    RIGHTS_FAILED     /* not even that: `reason` says why */
};

/* Call when everything is open: afterwards nothing can listen, and no program can be started. `gpu` = a
 * hardware driver is loaded: its system calls are not known to us, so no filter then. A call outside the
 * filter fails with EPERM (or ENOSYS, where the C library then takes an older one). Applies to all threads,
 * for good. *ret_reason is "" when there is nothing to say; it is a constant, or the words of an errno.
 * Threads: main. */
enum rights_outcome rights_drop(bool gpu, const char **ret_reason);
