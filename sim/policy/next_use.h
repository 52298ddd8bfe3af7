/* When a block is wanted next, for policies that know the future.
 *
 * Accesses are numbered from 0 in the order in which a policy handles them: demand after demand,
 * within a demand worst first.
 */
#ifndef POLICY_NEXT_USE_H
#define POLICY_NEXT_USE_H

#include "trace/demand.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NEXT_USE_NEVER UINT32_MAX

/* The accesses of one cache: first the blocks, in order; then in their place the next uses. */
struct next_use {
    uint32_t *access;
    size_t count, capacity;
};

void next_use_init(struct next_use *next_use);
void next_use_release(struct next_use *next_use);

/* Add the wanted blocks of the next demand. */
bool next_use_add(struct next_use *next_use, const struct demand *demand, struct error *why);

/* Replace each access by the number of the next one to its block, all below `blocks`, or
 * NEXT_USE_NEVER. Nothing can be added after. */
bool next_use_resolve(struct next_use *next_use, uint32_t blocks, struct error *why);

#endif
