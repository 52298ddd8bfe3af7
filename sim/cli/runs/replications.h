/* The option --replications N, for all commands that have it. */
#ifndef CLI_RUNS_REPLICATIONS_H
#define CLI_RUNS_REPLICATIONS_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Read N, at least 2: one draw has no spread. */
bool replications_read(const char *text, uint32_t *count, struct error *why);

#endif
