/* CLOCK: FIFO that gives a block a second chance if it was hit. F. J. Corbató, "A paging experiment with the
 * Multics system", 1969. The held blocks stand in a ring; a hit marks its block. The hand clears marks until
 * it finds an unmarked block. That block is evicted, the new one takes its slot, unmarked, and the hand moves
 * past it. */
#include "policy/batch.h"

enum { ABSENT = 0, HELD = 1, MARKED = 3 };

struct clock {
    struct policy base;
    uint32_t hand;
    uint32_t *ring;  /* [capacity] */
    uint16_t *state; /* [blocks] not bytes: a byte store may alias any object */
};

static bool clock_init(struct policy *policy, const struct policy_env *env, struct error *why)
{
    struct clock *clock = (struct clock *)policy;
    clock->ring = arrays_add(&policy->arrays, env->capacity, sizeof *clock->ring, why);
    clock->state = arrays_add(&policy->arrays, env->blocks, sizeof *clock->state, why);
    return true;
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
    if (policy->held < policy->capacity) {
        policy->held++;
    } else {
        while (clock->state[clock->ring[hand]] == MARKED) {
            clock->state[clock->ring[hand]] = HELD;
            hand = hand + 1 == policy->capacity ? 0 : hand + 1;
        }
        clock->state[clock->ring[hand]] = ABSENT;
    }
    clock->ring[hand] = block;
    clock->state[block] = HELD;
    clock->hand = hand + 1 == policy->capacity ? 0 : hand + 1;
    return true;
}

BATCH_ACCESS(clock_access, clock_touch, clock_admit, false)

static bool clock_holds(const struct policy *policy, uint32_t block)
{
    return ((const struct clock *)policy)->state[block] != ABSENT;
}

const struct policy_kind policy_clock = {
    .name = "clock",
    .summary = "FIFO, with a second chance for blocks that were hit",
    .size = sizeof(struct clock),
    .init = clock_init,
    .access = clock_access,
    .holds = clock_holds,
};
