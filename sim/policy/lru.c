/* LRU: the block touched longest ago is evicted.
 *
 * Touches go into a log. `stamp` is the place of a block's last touch; a log entry that its block's
 * stamp does not point to is stale. An eviction moves `oldest` past the next valid entry, so that
 * this block's stamp is also older than `oldest`:
 *
 *     log    |  b  a  c  a  d  b  |            stamp  a 4, b 6, c 3, d 5
 *     place     1  2  3  4  5  6               oldest 3: held c a d b; an eviction moves it to 4
 *
 * A touch takes one random memory access and no branch that depends on the data; a linked list
 * takes four random accesses. When the log is full, the held blocks are written to its start, in
 * order: less than one entry per touch.
 *
 * Invariants: a block is held if its stamp >= oldest; all other stamps, and 0, are below it. */
#include "policy/policy.h"

#include <string.h>

/* Log entries per block: at least three in four are touches between two clean-ups. */
enum { LOG_PER_BLOCK = 4 };

struct lru {
    struct policy base;
    uint32_t blocks;
    uint32_t *stamp; /* [blocks] place of a block's last touch in the log */
    uint32_t *log;   /* [length] blocks; place 0 is not used */
    uint32_t length, oldest, end;
};

static bool lru_init(struct policy *policy, const struct policy_env *env, struct error *why)
{
    struct lru *lru = (struct lru *)policy;
    lru->blocks = env->blocks;
    lru->length = env->blocks * LOG_PER_BLOCK + 1;
    lru->oldest = lru->end = 1;
    lru->stamp = arrays_add(&policy->arrays, lru->blocks, sizeof *lru->stamp, why);
    lru->log = arrays_add(&policy->arrays, lru->length, sizeof *lru->log, why);
    return true;
}

/* Write the held blocks to the start of the log and drop the rest. */
static void lru_clean(struct lru *lru)
{
    uint32_t kept = 1;
    for (uint32_t place = lru->oldest; place < lru->end; place++) {
        uint32_t block = lru->log[place];
        lru->log[kept] = block;
        kept += lru->stamp[block] == place;
    }
    memset(lru->stamp, 0, lru->blocks * sizeof *lru->stamp);
    for (uint32_t place = 1; place < kept; place++) {
        lru->stamp[lru->log[place]] = place;
    }
    lru->oldest = 1;
    lru->end = kept;
}

/* Look up `wanted` blocks, best first, and touch them worst first, or, of too many, only the best. */
static void lru_batch(struct lru *lru, const uint32_t *units, uint32_t wanted,
                      struct outcome *outcome)
{
    uint32_t touched = wanted < lru->base.capacity ? wanted : lru->base.capacity;
    if (lru->length - lru->end < touched) {
        lru_clean(lru);
    }

    uint32_t *restrict stamp = lru->stamp, *restrict log = lru->log;
    uint32_t oldest = lru->oldest, last = lru->end + touched - 1, promoted = 0, hit = 0;
    for (uint32_t i = 0; i < touched; i++) {
        uint32_t block = units[i], place = last - i;
        promoted += stamp[block] >= oldest;
        stamp[block] = place;
        log[place] = block;
    }
    for (uint32_t i = touched; i < wanted; i++) {
        hit += stamp[units[i]] >= oldest;
    }
    hit += promoted;

    uint32_t admitted = touched - promoted, held = lru->base.held + admitted;
    uint32_t evicted = held > lru->base.capacity ? held - lru->base.capacity : 0;
    for (uint32_t left = evicted; left > 0; oldest++) {
        left -= stamp[log[oldest]] == oldest;
    }

    lru->oldest = oldest;
    lru->end += touched;
    lru->base.held = held - evicted;
    outcome->hit += hit;
    outcome->missed += wanted - hit;
    outcome->admitted += admitted;
    outcome->evicted += evicted;
    outcome->updates += promoted;
    outcome->inserts += admitted;
}

static void lru_access(struct policy *policy, const struct demand *demand, struct outcome *outcome)
{
    uint32_t batch = policy->order == POLICY_BATCH ? demand->wanted : 1;
    for (uint32_t end = demand->wanted; end > 0; end -= batch) {
        lru_batch((struct lru *)policy, demand->units + end - batch, batch, outcome);
    }
    outcome->lookups = demand->wanted;
    outcome->attended = demand_wanted(demand);
}

static bool lru_holds(const struct policy *policy, uint32_t block)
{
    const struct lru *lru = (const struct lru *)policy;
    return lru->stamp[block] >= lru->oldest;
}

const struct policy_kind policy_lru = {
    .name = "lru",
    .summary = "the block touched longest ago is evicted",
    .size = sizeof(struct lru),
    .init = lru_init,
    .access = lru_access,
    .holds = lru_holds,
};
