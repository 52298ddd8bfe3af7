/* The share of the KV that stays in HBM, for a system that offloads under pressure only.
 *
 * As in vLLM's HiSparse (vllm/v1/hisparse/coordinator.py): the host holds a copy of all KV, and HBM
 * keeps KV as long as there is room. When room runs low, requests get their caches, and pages of KV
 * give up their place in HBM to newer ones; what is selected of these comes from the host, through
 * the cache. With R bytes of HBM that nothing else takes, caches of C bytes, and K bytes of KV
 * outside the windows:
 *
 *     K + C <= R          all KV stays, and there are no caches
 *     C < R < K + C       (R - C) / K of it stays, in every request alike
 *     R <= C              none stays
 *
 * vLLM gives out caches when less than a tenth of its blocks is free. Here they come as soon as KV
 * and caches together would not fit, which is the same if the caches take a tenth of that HBM.
 *
 * Assumed: a selected token is as likely to lie in HBM as any other. vLLM's pages leave HBM in the
 * order in which they were written back, whether or not they are selected often. */
#ifndef DECODE_PLAN_RESIDENCY_H
#define DECODE_PLAN_RESIDENCY_H

#include "decode/plan/plan.h"

/* Set `resident_share` of `plan`, and add the KV that stays to its `memory`, which must be that of
 * a batch of which none stays. HBM is counted even with `unlimited_memory`: a server's steps depend
 * on it. Without `residency: pressure` nothing changes. */
void residency_resolve(const struct setup *setup, struct plan *plan, struct trust *trust);

#endif
