/* FIFO: the block admitted longest ago is evicted; a hit changes nothing.
 *
 * A ring of the held blocks in order of admission, and a flag for each block. */
#include "policy/policy.h"

struct fifo {
    struct policy base;
    uint32_t *ring; /* [capacity] held blocks; `next` is the oldest once the ring is full */
    uint32_t next;
    bool *cached; /* [blocks] */
};

static bool fifo_init(struct policy *policy, const struct policy_env *env, struct error *why)
{
    struct fifo *fifo = (struct fifo *)policy;
    fifo->ring = arrays_add(&policy->arrays, env->capacity, sizeof *fifo->ring, why);
    fifo->cached = arrays_add(&policy->arrays, env->blocks, sizeof *fifo->cached, why);
    return true;
}

/* Look up `wanted` blocks, best first, and admit the misses worst first, or, of too many, only the best. */
static void fifo_batch(struct fifo *fifo, const uint32_t *units, uint32_t wanted,
                       struct outcome *outcome)
{
    uint32_t missed = 0;
    for (uint32_t i = 0; i < wanted; i++) {
        fifo->base.missed[missed] = units[i];
        missed += !fifo->cached[units[i]];
    }
    uint32_t admitted = missed < fifo->base.capacity ? missed : fifo->base.capacity;
    uint32_t held = fifo->base.held;
    for (uint32_t i = admitted; i-- > 0;) {
        uint32_t block = fifo->base.missed[i];
        if (fifo->base.held == fifo->base.capacity) {
            fifo->cached[fifo->ring[fifo->next]] = false;
        } else {
            fifo->base.held++;
        }
        fifo->cached[block] = true;
        fifo->ring[fifo->next] = block;
        fifo->next = fifo->next + 1 == fifo->base.capacity ? 0 : fifo->next + 1;
    }

    outcome->hit += wanted - missed;
    outcome->missed += missed;
    outcome->admitted += admitted;
    outcome->evicted += held + admitted - fifo->base.held;
    outcome->inserts += admitted;
}

static void fifo_access(struct policy *policy, const struct demand *demand, struct outcome *outcome)
{
    uint32_t batch = policy->order == POLICY_BATCH ? demand->wanted : 1;
    for (uint32_t end = demand->wanted; end > 0; end -= batch) {
        fifo_batch((struct fifo *)policy, demand->units + end - batch, batch, outcome);
    }
    outcome->lookups = demand->wanted;
    outcome->attended = demand_wanted(demand);
}

static bool fifo_holds(const struct policy *policy, uint32_t block)
{
    return ((const struct fifo *)policy)->cached[block];
}

const struct policy_kind policy_fifo = {
    .name = "fifo",
    .summary = "the block admitted longest ago is evicted",
    .size = sizeof(struct fifo),
    .init = fifo_init,
    .access = fifo_access,
    .holds = fifo_holds,
};
