/* ARC balances recency and frequency; it learns their shares from blocks that it evicted too early.
 *
 * N. Megiddo and D. S. Modha, "ARC: A Self-Tuning, Low Overhead Replacement Cache", FAST 2003,
 * figure 4, with a real-valued target. Blocks seen once lately are in ONCE, blocks seen again in
 * AGAIN. A block evicted from either is remembered in that list's ghost. A miss on a ghost moves
 * the target size of ONCE towards the list that the block was evicted from.
 *
 * Invariants: ONCE + its ghost <= capacity; all four <= 2 capacity; ghosts exist only once the
 * cache has been full, and it then stays full. */
#include "policy/batch.h"
#include "policy/queues.h"

#include <math.h>

enum {
    ONCE = QUEUE_HELD,
    AGAIN = QUEUE_HELD_2,
    GHOST_ONCE = QUEUE_GHOST,
    GHOST_AGAIN = QUEUE_GHOST_2
};

struct arc {
    struct policy base;
    double target; /* blocks of ONCE; 0 ... capacity */
    struct queues queues;
};

static bool arc_init(struct policy *policy, const struct policy_env *env, struct error *why)
{
    struct arc *arc = (struct arc *)policy;
    queues_init(&arc->queues, &policy->arrays, env->blocks, why);
    return true;
}

static inline bool arc_touch(struct policy *policy, uint32_t block)
{
    struct queues *queues = &((struct arc *)policy)->queues;
    if (!queues_hold(queues, block)) {
        return false;
    }
    queue_remove(queues, block);
    queue_push(queues, AGAIN, block);
    return true;
}

/* Move the oldest of ONCE or AGAIN to its ghost (the paper's REPLACE). */
static void arc_replace(struct arc *arc, bool was_again)
{
    struct queues *queues = &arc->queues;
    double once = queue_count(queues, ONCE);
    if (once >= 1 && (once > arc->target || (was_again && once == arc->target))) {
        queue_push(queues, GHOST_ONCE, queue_pop(queues, ONCE));
    } else {
        queue_push(queues, GHOST_AGAIN, queue_pop(queues, AGAIN));
    }
    arc->base.held--;
}

/* Make room for a block that no ghost remembers (case IV). */
static void arc_make_room(struct arc *arc)
{
    struct queues *queues = &arc->queues;
    uint32_t once = queue_count(queues, ONCE) + queue_count(queues, GHOST_ONCE);
    uint32_t again = queue_count(queues, AGAIN) + queue_count(queues, GHOST_AGAIN);
    if (once == arc->base.capacity && queue_count(queues, GHOST_ONCE) == 0) {
        queue_pop(queues, ONCE);
        arc->base.held--;
        return;
    }
    if (once == arc->base.capacity) {
        queue_pop(queues, GHOST_ONCE);
    } else if (once + again == 2 * arc->base.capacity) {
        queue_pop(queues, GHOST_AGAIN);
    }
    if (arc->base.held == arc->base.capacity) {
        arc_replace(arc, false);
    }
}

static inline bool arc_admit(struct policy *policy, uint32_t block)
{
    struct arc *arc = (struct arc *)policy;
    if (arc->queues.place[block] != 0) {
        /* A miss on a ghost: learn from it, and admit the block as seen again. */
        struct queues *queues = &arc->queues;
        double once = queue_count(queues, GHOST_ONCE), again = queue_count(queues, GHOST_AGAIN);
        bool was_again = queue_has(queues, GHOST_AGAIN, block);
        arc->target = was_again ? fmax(arc->target - fmax(once / again, 1), 0)
                                : fmin(arc->target + fmax(again / once, 1), arc->base.capacity);
        queue_remove(queues, block);
        arc_replace(arc, was_again);
        queue_push(queues, AGAIN, block);
    } else {
        arc_make_room(arc);
        queue_push(&arc->queues, ONCE, block);
    }
    policy->held++;
    return true;
}

BATCH_ACCESS(arc_access, arc_touch, arc_admit, true)

static bool arc_holds(const struct policy *policy, uint32_t block)
{
    return queues_hold(&((const struct arc *)policy)->queues, block);
}

const struct policy_kind policy_arc = {
    .name = "arc",
    .summary = "blocks seen once and seen again, balanced by evictions that came too early",
    .size = sizeof(struct arc),
    .init = arc_init,
    .access = arc_access,
    .holds = arc_holds,
};
