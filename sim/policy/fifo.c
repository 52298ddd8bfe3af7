/* FIFO: the block admitted longest ago is evicted; a hit changes nothing.
 *
 * A ring of the held blocks in order of admission, and a flag for each block.
 */
#include "core/array.h"
#include "policy/policy.h"

#include <stdlib.h>

struct fifo {
    struct policy base;
    uint32_t capacity;
    uint32_t *ring; /* [capacity] held blocks; `next` is the oldest once the ring is full */
    uint32_t next;
    bool *cached;     /* [blocks] */
    uint32_t *missed; /* [blocks] scratch: the misses of a batch, best first */
};

static void fifo_destroy(struct policy *policy)
{
    struct fifo *fifo = (struct fifo *)policy;
    if (!fifo) {
        return;
    }
    free(fifo->ring);
    free(fifo->cached);
    free(fifo->missed);
    free(fifo);
}

static struct policy *fifo_create(const double *values, const struct policy_env *env,
                                  struct error *why)
{
    (void)values;
    struct fifo *fifo = array_zeroed(1, sizeof *fifo, why);
    if (!fifo) {
        return NULL;
    }
    fifo->capacity = env->capacity;
    fifo->ring = array_zeroed(env->capacity, sizeof *fifo->ring, why);
    fifo->cached = fifo->ring ? array_zeroed(env->blocks, sizeof *fifo->cached, why) : NULL;
    fifo->missed = fifo->cached ? array_zeroed(env->blocks, sizeof *fifo->missed, why) : NULL;
    if (!fifo->missed) {
        fifo_destroy(&fifo->base);
        return NULL;
    }
    return &fifo->base;
}

/* Look up `wanted` blocks, best first, and admit the misses worst first. If there are more misses
 * than the cache holds, only the best stay; the others would be evicted within the step. */
static void fifo_batch(struct fifo *fifo, const uint32_t *units, uint32_t wanted,
                       struct outcome *outcome)
{
    uint32_t missed = 0;
    for (uint32_t i = 0; i < wanted; i++) {
        fifo->missed[missed] = units[i];
        missed += !fifo->cached[units[i]];
    }
    uint32_t admitted = missed < fifo->capacity ? missed : fifo->capacity;
    uint32_t held = fifo->base.held;
    for (uint32_t i = admitted; i-- > 0;) {
        uint32_t block = fifo->missed[i];
        if (fifo->base.held == fifo->capacity) {
            fifo->cached[fifo->ring[fifo->next]] = false;
        } else {
            fifo->base.held++;
        }
        fifo->cached[block] = true;
        fifo->ring[fifo->next] = block;
        fifo->next = fifo->next + 1 == fifo->capacity ? 0 : fifo->next + 1;
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
    .create = fifo_create,
    .access = fifo_access,
    .holds = fifo_holds,
    .destroy = fifo_destroy,
};
