/* Which heads stay in HBM, and the importance of each. */
#pragma once

#include <stdint.h>

#include "decode/plan/memory.h"
#include "decode/plan/memory_plan.h"

/* Set the importance of every head of `plan`, from the model's table or draw; 1 without. With another model's
 * trace, how alike a head's queries are does not depend on it: nobody has published both. */
void resident_importance(const struct setup *setup, struct plan *plan);

/* Decide `offloaded` of every head. By difficulty (CLO), these heads stay in HBM: all of layer 0, because
 * nothing prefetches for it, and in each other layer max(#{D > 0} − N_p, 0) heads, as far as HBM has room at
 * `plan->batch`, the hardest of all layers first. D = τ − (ŝ − ε). Without cosines, layer 0 only. */
bool resident_choose(const struct setup *setup, const double *head_cosine, struct plan *plan,
                     struct trust *trust, struct error *why);

/* N_p: KV heads whose selections, for all sequences of `plan`, cross the link while a layer computes. */
uint32_t resident_prefetchable(const struct setup *setup, const struct plan *plan,
                               struct trust *trust);

/* Heads, over all layers, that leave HBM when as few as possible stay. The largest batch is
 * computed with this number. */
uint64_t resident_most_offloaded(const struct setup *setup);

/* The share of the KV that stays in HBM, for a system that offloads under pressure only.
 *
 * As in vLLM's HiSparse (vllm/v1/hisparse/coordinator.py): the host holds a copy of all KV, and HBM keeps KV
 * as long as there is room. When room runs low, requests get their caches, and pages of KV give up their
 * place in HBM to newer ones; what is selected of these comes from the host, through the cache. With R bytes
 * of HBM that nothing else takes, caches of C bytes, and K bytes of KV outside the windows:
 *
 *     K + C <= R          all KV stays, and there are no caches
 *     C < R < K + C       (R - C) / K of it stays, in every request alike
 *     R <= C              none stays
 *
 * vLLM gives out caches when less than a tenth of its blocks is free. Here they come as soon as KV and caches
 * together would not fit, which is the same if the caches take a tenth of that HBM. Assumed: a selected token
 * is as likely to lie in HBM as any other. vLLM's pages leave HBM in the order in which they were written
 * back, whether or not they are selected often. */

/* Set `resident_share` of `plan`, and add the KV that stays to its `memory`, of which none stayed; even with
 * `unlimited_memory`, as a server's steps depend on it. Without `residency: pressure` nothing changes. */
void residency_resolve(const struct setup *setup, struct plan *plan, struct trust *trust);

/* Integer shares that add up. */

/* The mean of a sum over `count` items, rounded to nearest. */
int64_t apportion_mean(int64_t sum, uint32_t count);

/* Means over `count` items that add up to `total`, by largest remainder, ties by position. Sums are >= 0. */
void apportion(const int64_t *sums, size_t n, uint32_t count, int64_t total, int64_t *means);
