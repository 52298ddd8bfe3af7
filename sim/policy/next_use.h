/* The next use of each block, for policies that know the future. Accesses are numbered from 0: demand after
 * demand, worst first within one. */
#pragma once

#include "trace/demand.h"

#define NEXT_USE_NEVER UINT32_MAX

/* The accesses of one cache: first their blocks, in order, then the next uses. A zeroed struct has none. */
struct next_use {
    uint32_t *access;
    size_t count, capacity;
};

void next_use_release(struct next_use *next_use);

bool next_use_add(struct next_use *next_use, const struct demand *demand, struct error *why);

/* Replace each access by the next one to its block (< `blocks`), or NEXT_USE_NEVER. The end of adding. */
bool next_use_resolve(struct next_use *next_use, uint32_t blocks, struct error *why);
