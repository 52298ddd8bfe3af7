/* The KV blocks kept in host memory, run by any cache policy, or never evicting.
 *
 * What is saved is copied to here while the GPU may keep it too. A host without eviction takes
 * blocks until it is full, and no more then (the simplest published design). Under LRU a block can
 * be held: it is not evicted, and was used last when it is let go.
 */
#ifndef SERVE_HOST_TIER_H
#define SERVE_HOST_TIER_H

#include "policy/policy.h"
#include "serve/block_pool.h"

struct host_tier;

/* For numbers below `ids`. `kind` NULL: never evicts; else with `values` as in policy_create(). A
 * policy that needs queries or the future, or whose blocks do not come and go one by one, is an
 * error; and one that cannot hold blocks is where they are to be (`holds`). NULL on failure. */
struct host_tier *host_tier_create(uint32_t ids, uint64_t capacity, const struct policy_kind *kind,
                                   const double *values, bool holds, uint64_t seed,
                                   struct error *why);
void host_tier_destroy(struct host_tier *host); /* NULL is fine */

bool host_tier_knows(const struct host_tier *host, uint32_t id);

/* A block was asked for that the host has, or is offered to it. True when it was copied: the host
 * did not have it and has it now. False, too, where all that it has is held. */
bool host_tier_offer(struct host_tier *host, uint32_t id);

/* A block that the host has is held, by one more, and let go, by one of them. */
void host_tier_hold(struct host_tier *host, uint32_t id);
void host_tier_let_go(struct host_tier *host, uint32_t id);

/* A policy's blocks are all known and idle; what blocks it never evicts refers to them. */
struct block_census host_tier_census(const struct host_tier *host);

/* False where a plug-in answered what cannot be. */
bool host_tier_check(const struct host_tier *host, struct error *why);

#endif
