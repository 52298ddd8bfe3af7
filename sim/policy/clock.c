/* CLOCK: FIFO that gives a block a second chance if it was hit.
 *
 * F. J. Corbató, "A paging experiment with the Multics system", 1969. The held blocks stand in a
 * ring; a hit marks its block. The hand clears marks until it finds an unmarked block. That block
 * is evicted, the new one takes its slot, unmarked, and the hand moves past it.
 */
#include "core/array.h"
#include "policy/batch.h"
#include "policy/policy.h"

#include <stdlib.h>

enum { ABSENT = 0, HELD = 1, MARKED = 3 };

struct clock {
    struct policy base;
    uint32_t capacity, hand;
    uint32_t *ring;   /* [capacity] */
    uint16_t *state;  /* [blocks] not bytes: a byte store may alias any object */
    uint32_t *missed; /* [blocks] scratch */
};

static void clock_destroy(struct policy *policy)
{
    struct clock *clock = (struct clock *)policy;
    if (clock) {
        free(clock->ring);
        free(clock->state);
        free(clock->missed);
        free(clock);
    }
}

static struct policy *clock_create(const double *values, const struct policy_env *env,
                                   struct error *why)
{
    (void)values;
    struct clock *clock = array_zeroed(1, sizeof *clock, why);
    if (!clock) {
        return NULL;
    }
    clock->capacity = env->capacity;
    if (!(clock->ring = array_zeroed(env->capacity, sizeof *clock->ring, why)) ||
        !(clock->state = array_zeroed(env->blocks, sizeof *clock->state, why)) ||
        !(clock->missed = array_zeroed(env->blocks, sizeof *clock->missed, why))) {
        clock_destroy(&clock->base);
        return NULL;
    }
    return &clock->base;
}

static inline bool clock_touch(struct policy *policy, uint32_t block)
{
    uint16_t *state = &((struct clock *)policy)->state[block];
    *state = (uint16_t)(*state | (*state & HELD) << 1); /* marks a held block, without a branch */
    return *state != ABSENT;
}

static inline bool clock_admit(struct policy *policy, uint32_t block)
{
    struct clock *clock = (struct clock *)policy;
    uint32_t hand = clock->hand;
    if (policy->held < clock->capacity) {
        policy->held++;
    } else {
        while (clock->state[clock->ring[hand]] == MARKED) {
            clock->state[clock->ring[hand]] = HELD;
            hand = hand + 1 == clock->capacity ? 0 : hand + 1;
        }
        clock->state[clock->ring[hand]] = ABSENT;
    }
    clock->ring[hand] = block;
    clock->state[block] = HELD;
    clock->hand = hand + 1 == clock->capacity ? 0 : hand + 1;
    return true;
}

static void clock_access(struct policy *policy, const struct demand *demand,
                         struct outcome *outcome)
{
    const struct clock *clock = (const struct clock *)policy;
    batch_access(policy, clock->capacity, clock->missed, clock_touch, clock_admit, demand, outcome);
}

static bool clock_holds(const struct policy *policy, uint32_t block)
{
    return ((const struct clock *)policy)->state[block] != ABSENT;
}

const struct policy_kind policy_clock = {
    .name = "clock",
    .summary = "FIFO, with a second chance for blocks that were hit",
    .create = clock_create,
    .access = clock_access,
    .holds = clock_holds,
    .destroy = clock_destroy,
};
