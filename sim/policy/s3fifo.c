/* S3-FIFO: a small queue filters out blocks that are wanted only once, before they reach the main queue.
 *
 * J. Yang et al., "FIFO queues are all you need for cache eviction", SOSP 2023. New blocks enter SMALL (a
 * tenth of the cache). A block that leaves SMALL moves to MAIN if it was hit twice there; otherwise it is
 * evicted and remembered in GHOST (nine tenths of the cache, rounded down). A miss on a ghost enters MAIN
 * directly. MAIN is a CLOCK with counts up to three: a block with a count goes round again with one less.
 * Counts start at 0 in each queue. A block for which SMALL has no room enters MAIN; this happens only until
 * the cache is full, because an eviction leaves room in SMALL. */
#include "policy/batch.h"
#include "policy/queues.h"

enum { SMALL = QUEUE_HELD, MAIN = QUEUE_HELD_2, GHOST = QUEUE_GHOST };

enum { COUNT_MOST = 3, COUNT_MOVES = 2 /* from SMALL to MAIN */ };

struct s3fifo {
    struct policy base;
    uint32_t small, ghosts;
    struct queues queues;
    uint32_t moved;  /* blocks that evictions moved to the end of MAIN, in this step */
    uint16_t *count; /* [blocks] hits of a held block in its queue; not bytes: a byte store may
                         alias any object */
};

static bool s3fifo_init(struct policy *policy, const struct policy_env *env, struct error *why)
{
    struct s3fifo *s3fifo = (struct s3fifo *)policy;
    s3fifo->small = env->capacity < 10 ? 1 : env->capacity / 10;
    s3fifo->ghosts = (uint32_t)((uint64_t)env->capacity * 9 / 10);
    s3fifo->count = arrays_add(&policy->arrays, env->blocks, sizeof *s3fifo->count, why);
    queues_init(&s3fifo->queues, &policy->arrays, env->blocks, why);
    return true;
}

static inline bool s3fifo_touch(struct policy *policy, uint32_t block)
{
    struct s3fifo *s3fifo = (struct s3fifo *)policy;
    bool held = queues_hold(&s3fifo->queues, block);
    s3fifo->count[block] =
        (uint16_t)(s3fifo->count[block] + (held & (s3fifo->count[block] < COUNT_MOST)));
    return held;
}

/* Evict a block if the cache is full: from MAIN if that is too large or SMALL moves on, else from SMALL. */
static void s3fifo_make_room(struct s3fifo *s3fifo)
{
    struct queues *queues = &s3fifo->queues;
    uint32_t main = s3fifo->base.capacity - s3fifo->small;
    bool small = queue_count(queues, MAIN) <= main;
    while (s3fifo->base.held == s3fifo->base.capacity) {
        small = small && queue_count(queues, SMALL) > 0;
        uint32_t block = queue_pop(queues, small ? SMALL : MAIN);
        if (s3fifo->count[block] >= (small ? COUNT_MOVES : 1)) {
            s3fifo->count[block] = small ? 0 : (uint16_t)(s3fifo->count[block] - 1);
            queue_push(queues, MAIN, block);
            s3fifo->moved++;
            continue;
        }
        s3fifo->base.held--;
        if (small && s3fifo->ghosts > 0) { /* remembered */
            if (queue_count(queues, GHOST) == s3fifo->ghosts) {
                queue_pop(queues, GHOST);
            }
            queue_push(queues, GHOST, block);
        }
    }
}

static inline bool s3fifo_admit(struct policy *policy, uint32_t block)
{
    struct s3fifo *s3fifo = (struct s3fifo *)policy;
    struct queues *queues = &s3fifo->queues;
    bool remembered = queue_has(queues, GHOST, block);
    if (remembered) {
        queue_remove(queues, block);
    }
    s3fifo_make_room(s3fifo);
    bool overflows = queue_count(queues, SMALL) >= s3fifo->small;
    queue_push(queues, remembered || overflows ? MAIN : SMALL, block);
    s3fifo->count[block] = 0;
    policy->held++;
    return true;
}

static void s3fifo_access(struct policy *policy, const struct demand *demand,
                          struct outcome *outcome)
{
    struct s3fifo *s3fifo = (struct s3fifo *)policy;
    s3fifo->moved = 0;
    batch_access(policy, s3fifo_touch, s3fifo_admit, demand, outcome);
    outcome->updates = s3fifo->moved; /* a hit only counts */
}

static bool s3fifo_holds(const struct policy *policy, uint32_t block)
{
    return queues_hold(&((const struct s3fifo *)policy)->queues, block);
}

const struct policy_kind policy_s3fifo = {
    .name = "s3fifo",
    .summary = "a small FIFO filters, a main one gives second chances",
    .size = sizeof(struct s3fifo),
    .init = s3fifo_init,
    .access = s3fifo_access,
    .holds = s3fifo_holds,
};
