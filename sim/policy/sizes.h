/* Caches of one policy in several sizes, which see the same demands. Each answers as a policy_create()
 * of its capacity would; a policy that ignores its capacity has one instance for all, of the least. */
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
