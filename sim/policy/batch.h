/* The access order of policy.h, for policies that touch hits before they admit misses.
 *
 * A policy says how one block is touched and how one is admitted; this is the loop around both. Touching a
 * hit moves no block in or out, so looking up and touching are one pass. A batch that misses more blocks than
 * the cache holds is admitted whole: its worst blocks are evicted again within the step. The first loop is
 * unrolled because many touches take only a few instructions, and the loop itself would cost as much.
 *
 * `updates` counts hits that move a block in a list or a heap; a bit or a counter beside the entry that the
 * lookup has just read costs nothing more. */
#pragma once

#include "policy/policy.h"

/* Touch `block` if it is held; returns whether it is. */
typedef bool (*batch_touch)(struct policy *policy, uint32_t block);

/* Admit `block`, which is not held, and keep `held` of struct policy right. False: the policy rejects it. */
typedef bool (*batch_admit)(struct policy *policy, uint32_t block);

/* Handle an access, with the policy's `missed` as scratch. Inlined, so that `touch` and `admit` are, too. */
static inline __attribute__((always_inline)) void batch_access(struct policy *policy,
                                                               batch_touch touch, batch_admit admit,
                                                               const struct demand *demand,
                                                               struct outcome *outcome)
{
    uint32_t capacity = policy->capacity, *missed = policy->missed;
    uint32_t size = policy->order == POLICY_BATCH ? demand->wanted : 1;
    uint32_t before = policy->held, all_missed = 0, admitted = 0;
    for (uint32_t end = demand->wanted; end > 0; end -= size) {
        uint32_t count = 0;
#pragma GCC unroll 4
        for (uint32_t i = end; i-- > end - size;) {
            missed[count] = demand->units[i];
            count += !touch(policy, demand->units[i]);
        }
        for (uint32_t i = 0; capacity > 0 && i < count; i++) {
            admitted += admit(policy, missed[i]);
        }
        all_missed += count;
    }
    outcome->hit = demand->wanted - all_missed;
    outcome->missed = all_missed;
    outcome->admitted = admitted;
    outcome->evicted = before + admitted - policy->held;
    outcome->lookups = demand->wanted;
    outcome->inserts = admitted;
    outcome->attended = demand_wanted(demand);
}

/* The access of a policy. `moves`: a hit moves an entry of a list or a heap. */
#define BATCH_ACCESS(name, touch, admit, moves)                                                    \
    static void name(struct policy *policy, const struct demand *demand, struct outcome *outcome)  \
    {                                                                                              \
        batch_access(policy, touch, admit, demand, outcome);                                       \
        outcome->updates = (moves) ? outcome->hit : 0;                                             \
    }
