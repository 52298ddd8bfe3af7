/* The next use of each block, for policies that know the future.
 *
 * Accesses are numbered from 0 in the order in which a policy handles them: demand after demand,
 * and worst first within a demand. */
#pragma once

#include "trace/demand.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NEXT_USE_NEVER UINT32_MAX

/* The accesses of one cache. First they hold the blocks, in order; then the next uses replace
 * them. A zeroed struct has none. */
struct next_use {
    uint32_t *access;
    size_t count, capacity;
};

void next_use_release(struct next_use *next_use);

/* Add the wanted blocks of the next demand. */
bool next_use_add(struct next_use *next_use, const struct demand *demand, struct error *why);

/* Replace each access by the number of the next access to its block, or NEXT_USE_NEVER. All blocks
 * are below `blocks`. Nothing can be added afterwards. */
bool next_use_resolve(struct next_use *next_use, uint32_t blocks, struct error *why);
