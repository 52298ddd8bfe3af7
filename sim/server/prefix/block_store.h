/* The KV blocks of a tier below the GPU, under any cache policy or without eviction.
 *
 * A saved block is a copy; the tier above may keep its own. Without eviction the tier takes blocks
 * until it is full, and then no more (the simplest published design). Under LRU a block can be
 * held: it is not evicted while held, and counts as used when it is let go.
 */
#pragma once

#include "policy/policy.h"
#include "server/prefix/block_pool.h"

struct block_store;

/* A tier of `capacity` blocks with numbers below `ids`.
 *   kind    NULL: never evicts. Refused: a policy that needs queries or the future, or does not
 *           admit and evict block by block
 *   values  as in policy_create()
 *   holds   blocks will be held, which only LRU and no eviction can do: other policies are refused
 *   on_evict, context   called for each block that LRU evicts; on_evict may be NULL
 * NULL on failure. */
struct block_store *block_store_create(uint32_t ids, uint64_t capacity,
                                       const struct policy_kind *kind, const double *values,
                                       bool holds, uint64_t seed,
                                       void (*on_evict)(uint32_t id, void *context), void *context,
                                       struct error *why);

/* Does a tier of this kind remember nothing of a block that it does not have? */
bool block_store_forgets(const struct policy_kind *kind);
void block_store_destroy(struct block_store *store); /* NULL is fine */

bool block_store_knows(const struct block_store *store, uint32_t id);

/* Touch a block that it has, or offer it one that it lacks. Returns true if the tier took it:
 * it lacked the block and has it now. It refuses when it is full and can evict nothing. */
bool block_store_offer(struct block_store *store, uint32_t id);

/* Hold a block that it has, and let it go again; a block can be held several times. */
void block_store_hold(struct block_store *store, uint32_t id);
void block_store_let_go(struct block_store *store, uint32_t id);

/* The tier's blocks. Under a policy all of them are known and idle; without eviction each has one
 * reference that is never removed. */
struct block_census block_store_census(const struct block_store *store);

/* False if a plug-in policy gave an invalid answer. */
bool block_store_check(const struct block_store *store, struct error *why);
