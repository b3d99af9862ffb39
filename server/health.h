/* `planetd health`: asks the planetd that runs with the same settings whether it answers, for container
 * health checks.
 */
#pragma once

#include "server/config.h"

/* Asks /healthz on the first address that c->listen (or else c->metrics_listen) names, by the loopback where
 * the address is a wildcard. 0: it answered 200 within three seconds. 1: it did not, and a line on standard
 * error says why. Threads: one. */
int health_check(const struct config *c);
