/* The KV blocks kept in host memory, under any cache policy or without eviction.
 *
 * A saved block is a copy; the GPU may keep its own. Without eviction the tier takes blocks until
 * it is full, and then no more (the simplest published design). Under LRU a block can be held: it
 * is not evicted while held, and counts as used when it is let go.
 */
#ifndef SERVE_HOST_TIER_H
#define SERVE_HOST_TIER_H

#include "policy/policy.h"
#include "serve/prefix/block_pool.h"

struct host_tier;

/* A tier of `capacity` blocks with numbers below `ids`.
 *   kind    NULL: never evicts. Refused: a policy that needs queries or the future, or does not
 *           admit and evict block by block
 *   values  as in policy_create()
 *   holds   blocks will be held, which only LRU and no eviction can do: other policies are refused
 *   on_evict, context   called for each block that LRU evicts; on_evict may be NULL
 * NULL on failure. */
struct host_tier *host_tier_create(uint32_t ids, uint64_t capacity, const struct policy_kind *kind,
                                   const double *values, bool holds, uint64_t seed,
                                   void (*on_evict)(uint32_t id, void *context), void *context,
                                   struct error *why);

/* Does a host of this kind remember nothing of a block that it does not have? */
bool host_tier_forgets(const struct policy_kind *kind);
void host_tier_destroy(struct host_tier *host); /* NULL is fine */

bool host_tier_knows(const struct host_tier *host, uint32_t id);

/* Touch a block that the host has, or offer it one that it lacks. Returns true if the host took it:
 * it lacked the block and has it now. It refuses when it is full and can evict nothing. */
bool host_tier_offer(struct host_tier *host, uint32_t id);

/* Hold a block that the host has, and let it go again; a block can be held several times. */
void host_tier_hold(struct host_tier *host, uint32_t id);
void host_tier_let_go(struct host_tier *host, uint32_t id);

/* The tier's blocks. Under a policy all of them are known and idle; without eviction each has one
 * reference that is never removed. */
struct block_census host_tier_census(const struct host_tier *host);

/* False if a plug-in policy gave an invalid answer. */
bool host_tier_check(const struct host_tier *host, struct error *why);

#endif
