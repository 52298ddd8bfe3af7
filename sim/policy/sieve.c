/* SIEVE: a queue in which survivors keep their places.
 *
 * Y. Zhang et al., "SIEVE is Simpler than LRU: an Efficient Turn-Key Eviction Algorithm for Web Caches", NSDI
 * 2024. New blocks enter at the newest end; a hit marks its block. The hand walks from old to new and clears
 * marks; the first unmarked block is evicted. The hand stays there until the next eviction, and wraps from
 * the newest end to the oldest. (CLOCK would insert new blocks at the hand.)
 *
 * The queue is a log with holes: an evicted block leaves a hole. When the log is full, the holes are closed,
 * at most once in `capacity` admissions. Invariant: a held block lies between `hand` and the end, or `hand`
 * is 0. */
#include "policy/batch.h"

enum { ABSENT = 0, HELD = 1, MARKED = 3 };

struct sieve {
    struct policy base;
    uint32_t hole; /* the id of a block that is never wanted */
    uint32_t *log; /* [length] */
    uint32_t length, end, hand;
    uint16_t *state; /* [blocks + 1] not bytes: a byte store may alias any object */
};

static bool sieve_init(struct policy *policy, const struct policy_env *env, struct error *why)
{
    struct sieve *sieve = (struct sieve *)policy;
    sieve->hole = env->blocks;
    sieve->length = 2 * env->capacity;
    sieve->log = arrays_add(&policy->arrays, sieve->length, sizeof *sieve->log, why);
    sieve->state = arrays_add(&policy->arrays, (size_t)env->blocks + 1, sizeof *sieve->state, why);
    return true;
}

static inline bool sieve_touch(struct policy *policy, uint32_t block)
{
    uint16_t *state = &((struct sieve *)policy)->state[block];
    *state = (uint16_t)(*state | (*state & HELD) << 1);
    return *state != ABSENT;
}

static inline void sieve_evict(struct sieve *sieve)
{
    uint16_t *restrict state = sieve->state;
    uint32_t *restrict log = sieve->log, hand = sieve->hand, end = sieve->end;
    while (state[log[hand]] != HELD) { /* a hole is neither held nor marked */
        state[log[hand]] &= HELD;
        hand = hand + 1 == end ? 0 : hand + 1;
    }
    state[log[hand]] = ABSENT;
    log[hand] = sieve->hole;
    while (hand < end && log[hand] == sieve->hole) {
        hand++;
    }
    sieve->hand = hand == end ? 0 : hand;
    sieve->base.held--;
}

static inline bool sieve_admit(struct policy *policy, uint32_t block)
{
    struct sieve *sieve = (struct sieve *)policy;
    if (policy->held == policy->capacity) {
        sieve_evict(sieve);
    }
    if (sieve->end == sieve->length) {
        /* Close the holes. The hand stays on its block. */
        uint32_t kept = 0, hand = 0;
        for (uint32_t at = 0; at < sieve->end; at++) {
            hand = at == sieve->hand ? kept : hand;
            sieve->log[kept] = sieve->log[at];
            kept += sieve->log[at] != sieve->hole;
        }
        sieve->hand = hand;
        sieve->end = kept;
    }
    sieve->log[sieve->end++] = block;
    sieve->state[block] = HELD;
    policy->held++;
    return true;
}

BATCH_ACCESS(sieve_access, sieve_touch, sieve_admit, false)

static bool sieve_holds(const struct policy *policy, uint32_t block)
{
    return ((const struct sieve *)policy)->state[block] != ABSENT;
}

const struct policy_kind policy_sieve = {
    .name = "sieve",
    .summary = "a hand evicts blocks that were not hit, old to new; survivors keep their places",
    .size = sizeof(struct sieve),
    .init = sieve_init,
    .access = sieve_access,
    .holds = sieve_holds,
};
