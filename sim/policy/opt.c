/* OPT: the block whose next use is furthest in the future is evicted.
 *
 * L. A. Belady, "A study of replacement algorithms for a virtual-storage computer", 1966. `opt` must admit
 * what it fetches, like any demand policy that computes on blocks in the cache. `opt:bypass` does not admit a
 * block that would be the first to be evicted; no policy that fetches on demand misses less.
 *
 * A tournament tree over the blocks: a leaf is a block's next use, 0 if it is not held; a node is
 * the greater of the two below it, so the root is evicted. A hit block had the nearest next use of
 * all. Its new one is further away and rises until it meets an even further one: a step or two.
 *
 *     key     upper half: next use, never 0; lower half: the block; 0: not held
 */
#include "policy/batch.h"

struct opt {
    struct policy base;
    const uint32_t *next_use; /* of each future access; the caller's */
    uint32_t leaves;          /* a power of two */
    uint64_t *tree;           /* [2 * leaves] node i above 2i and 2i + 1; leaf of b at leaves + b */
    uint64_t *missed_key;     /* [blocks] of a missed block, until it is admitted */
};

static bool opt_init(struct policy *policy, const struct policy_env *env, struct error *why)
{
    struct opt *opt = (struct opt *)policy;
    opt->next_use = env->next_use;
    for (opt->leaves = 1; opt->leaves < env->blocks;) {
        opt->leaves *= 2;
    }
    opt->tree = arrays_add(&policy->arrays, (size_t)2 * opt->leaves, sizeof *opt->tree, why);
    opt->missed_key = arrays_add(&policy->arrays, env->blocks, sizeof *opt->missed_key, why);
    return true;
}

/* Give a block a greater key than it has. */
static inline void opt_raise(struct opt *opt, uint32_t block, uint64_t key)
{
    uint64_t *tree = opt->tree;
    size_t node = (size_t)opt->leaves + block;
    for (tree[node] = key; node > 1 && tree[node / 2] < key; node /= 2) {
        tree[node / 2] = key;
    }
}

static inline bool opt_touch(struct policy *policy, uint32_t block)
{
    struct opt *opt = (struct opt *)policy;
    uint64_t key = (uint64_t)*opt->next_use++ << 32 | block;
    bool held = opt->tree[opt->leaves + block] != 0;
    if (held) {
        opt_raise(opt, block, key);
    }
    opt->missed_key[block] = key;
    return held;
}

static inline bool opt_admit(struct policy *policy, uint32_t block)
{
    struct opt *opt = (struct opt *)policy;
    if (policy->held == opt->base.capacity) {
        /* Evict the block at the root. */
        uint64_t *tree = opt->tree;
        size_t node = (size_t)opt->leaves + (uint32_t)tree[1];
        for (tree[node] = 0; node > 1; node /= 2) {
            uint64_t a = tree[node], b = tree[node ^ 1];
            tree[node / 2] = a > b ? a : b;
        }
        opt->base.held--;
    }
    opt_raise(opt, block, opt->missed_key[block]);
    policy->held++;
    return true;
}

static inline bool opt_admit_nearer(struct policy *policy, uint32_t block)
{
    const struct opt *opt = (const struct opt *)policy;
    bool room = policy->held < opt->base.capacity || opt->missed_key[block] < opt->tree[1];
    return room && opt_admit(policy, block);
}

BATCH_ACCESS(opt_access, opt_touch, opt_admit, true)
BATCH_ACCESS(opt_access_bypass, opt_touch, opt_admit_nearer, true)

const struct policy_kind policy_opt = {
    .name = "opt",
    .summary = "knows the future: evicts the block wanted last, admits every fetched block",
    .needs_next_use = true,
    .size = sizeof(struct opt),
    .init = opt_init,
    .access = opt_access,
};

const struct policy_kind policy_opt_bypass = {
    .name = "opt:bypass",
    .summary = "knows the future: admits a block only if it is wanted before a held one",
    .needs_next_use = true,
    .size = sizeof(struct opt),
    .init = opt_init,
    .access = opt_access_bypass,
};
