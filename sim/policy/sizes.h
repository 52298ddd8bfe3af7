/* Caches of one policy in several sizes, which see the same demands.
 *
 * Each answers as a policy_create() of its capacity would. For LRU one pass serves all sizes; a
 * policy that ignores its capacity has one instance, of the least; any other policy has a separate
 * instance for each size.
 */
#pragma once

#include "policy/policy.h"

struct policy_sizes;

/* Create empty caches. `capacities` ascend; `env` gives everything else, and `values` are those of
 * policy_create(). NULL on failure. */
struct policy_sizes *policy_sizes_create(const struct policy_kind *kind, const double *values,
                                         const struct policy_env *env, const uint32_t *capacities,
                                         uint32_t count, struct error *why);
void policy_sizes_destroy(struct policy_sizes *sizes); /* NULL is fine */

/* Handle a demand; `outcomes` gets one outcome for each size. */
void policy_sizes_access(struct policy_sizes *sizes, const struct demand *demand,
                         struct outcome *outcomes);

/* The number of blocks that the cache of size number `size` holds now. */
uint32_t policy_sizes_held(const struct policy_sizes *sizes, uint32_t size);

/* policy_check() for all sizes. */
bool policy_sizes_check(const struct policy_sizes *sizes, struct error *why);

/* LRU at several sizes in one pass: the same outcomes as sim/policy/lru.c at each of them.
 *
 * LRU is a stack algorithm (R. L. Mattson et al., "Evaluation techniques for storage hierarchies",
 * 1970): a cache of c blocks holds the c blocks touched last. So one log of touches serves all
 * sizes. Each size has a boundary in the log, and hits the blocks touched after it. stack.h counts
 * hits at every size over all accesses; this gives the whole outcome of each demand, at a few
 * sizes.
 */

struct lru_sizes;

enum { LRU_SIZES_MOST = 254 };

/* Empty caches of the `capacities` (ascending, at most LRU_SIZES_MOST), over block ids below
 * `blocks`. */
struct lru_sizes *lru_sizes_create(uint32_t blocks, const uint32_t *capacities, uint32_t count,
                                   struct error *why);
void lru_sizes_destroy(struct lru_sizes *lru); /* NULL is fine */

/* Handle a demand as a batch; `outcomes` gets one outcome for each capacity. */
void lru_sizes_access(struct lru_sizes *lru, const struct demand *demand, struct outcome *outcomes);
