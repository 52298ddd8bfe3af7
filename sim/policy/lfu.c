/* LFU: the block touched least often since its admission is evicted; of equals, the one touched first. */
#include "policy/batch.h"
#include "policy/queues.h"

struct lfu {
    struct policy base;
    struct frequency frequency;
};

static bool lfu_init(struct policy *policy, const struct policy_env *env, struct error *why)
{
    struct lfu *lfu = (struct lfu *)policy;
    frequency_init(&lfu->frequency, &policy->arrays, env->blocks, env->capacity, why);
    return true;
}

static inline bool lfu_touch(struct policy *policy, uint32_t block)
{
    return frequency_touch(&((struct lfu *)policy)->frequency, block);
}

static inline bool lfu_admit(struct policy *policy, uint32_t block)
{
    struct lfu *lfu = (struct lfu *)policy;
    if (policy->held == policy->capacity) {
        frequency_remove(&lfu->frequency, frequency_least(&lfu->frequency));
    } else {
        policy->held++;
    }
    frequency_add(&lfu->frequency, block);
    return true;
}

BATCH_ACCESS(lfu_access, lfu_touch, lfu_admit, true)

static bool lfu_holds(const struct policy *policy, uint32_t block)
{
    return frequency_has(&((const struct lfu *)policy)->frequency, block);
}

const struct policy_kind policy_lfu = {
    .name = "lfu",
    .summary = "the block touched least often since its admission is evicted",
    .size = sizeof(struct lfu),
    .init = lfu_init,
    .access = lfu_access,
    .holds = lfu_holds,
};
