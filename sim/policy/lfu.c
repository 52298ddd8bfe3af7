/* LFU: the block touched least often while it was held is evicted; among equals, the one touched
 * longest ago.
 *
 * A count begins at 1 and is lost on eviction. K. Shah, A. Mitra and D. Matani, "An O(1) algorithm
 * for implementing the LFU cache eviction scheme", 2010: see queues.h.
 */
#include "core/array.h"
#include "policy/batch.h"
#include "policy/queues.h"
#include "policy/policy.h"

#include <stdlib.h>

struct lfu {
    struct policy base;
    uint32_t capacity;
    struct frequency frequency;
    uint32_t *missed; /* [blocks] scratch */
};

static void lfu_destroy(struct policy *policy)
{
    struct lfu *lfu = (struct lfu *)policy;
    if (lfu) {
        frequency_release(&lfu->frequency);
        free(lfu->missed);
        free(lfu);
    }
}

static struct policy *lfu_create(const double *values, const struct policy_env *env,
                                 struct error *why)
{
    (void)values;
    struct lfu *lfu = array_zeroed(1, sizeof *lfu, why);
    if (!lfu) {
        return NULL;
    }
    lfu->capacity = env->capacity;
    if (!frequency_init(&lfu->frequency, env->blocks, env->capacity, why) ||
        !(lfu->missed = array_zeroed(env->blocks, sizeof *lfu->missed, why))) {
        lfu_destroy(&lfu->base);
        return NULL;
    }
    return &lfu->base;
}

static inline bool lfu_touch(struct policy *policy, uint32_t block)
{
    return frequency_touch(&((struct lfu *)policy)->frequency, block);
}

static inline bool lfu_admit(struct policy *policy, uint32_t block)
{
    struct lfu *lfu = (struct lfu *)policy;
    if (policy->held == lfu->capacity) {
        frequency_remove(&lfu->frequency, frequency_least(&lfu->frequency));
    } else {
        policy->held++;
    }
    frequency_add(&lfu->frequency, block);
    return true;
}

static void lfu_access(struct policy *policy, const struct demand *demand, struct outcome *outcome)
{
    const struct lfu *lfu = (const struct lfu *)policy;
    batch_access(policy, lfu->capacity, lfu->missed, lfu_touch, lfu_admit, demand, outcome);
    outcome->updates = outcome->hit; /* moved in the heap */
}

static bool lfu_holds(const struct policy *policy, uint32_t block)
{
    return frequency_has(&((const struct lfu *)policy)->frequency, block);
}

const struct policy_kind policy_lfu = {
    .name = "lfu",
    .summary = "the block touched least often since its admission is evicted",
    .create = lfu_create,
    .access = lfu_access,
    .holds = lfu_holds,
    .destroy = lfu_destroy,
};
