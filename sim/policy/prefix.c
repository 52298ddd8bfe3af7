/* Prefix: the first blocks by position stay; the others are streamed whenever they are wanted. This is
 * FlexGen's share of the KV cache on the GPU, and any other static placement. The prefill leaves the blocks
 * there, and nothing is admitted or evicted afterwards. No cache has to be looked up, because the position of
 * a block tells where it is. */
#include "policy/policy.h"

struct prefix_policy {
    struct policy base;
    uint32_t first, count; /* blocks that stay */
};

static bool prefix_init(struct policy *policy, const struct policy_env *env, struct error *why)
{
    struct prefix_policy *prefix = (struct prefix_policy *)policy;
    uint32_t outside = policy_outside(env);
    (void)why;
    prefix->first = env->sinks;
    prefix->count = env->capacity < outside ? env->capacity : outside;
    return true;
}

static void prefix_access(struct policy *policy, const struct demand *demand,
                          struct outcome *outcome)
{
    const struct prefix_policy *prefix = (const struct prefix_policy *)policy;
    for (uint32_t i = 0; i < demand->wanted; i++) {
        outcome->hit += demand->units[i] - prefix->first < prefix->count; /* wraps below `first` */
    }
    outcome->missed = demand->wanted - outcome->hit;
    outcome->admitted = prefix->count - policy->held; /* all blocks, at the first access */
    outcome->attended = demand_wanted(demand);
    policy->held = prefix->count;
}

static bool prefix_holds(const struct policy *policy, uint32_t block)
{
    const struct prefix_policy *prefix = (const struct prefix_policy *)policy;
    return block - prefix->first < prefix->count;
}

const struct policy_kind policy_prefix = {
    .name = "prefix",
    .summary = "the first blocks by position stay; the others are streamed",
    .by_position = true,
    .size = sizeof(struct prefix_policy),
    .init = prefix_init,
    .access = prefix_access,
    .holds = prefix_holds,
};
