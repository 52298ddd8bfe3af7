/* OPT: the block wanted next in the furthest future leaves.
 *
 * L. A. Belady, "A study of replacement algorithms for a virtual-storage computer", 1966. `opt`
 * must admit what it fetches, as any policy on demand that has to compute on it in the cache;
 * `opt:bypass` admits nothing that would be the first to leave, and no policy that fetches on
 * demand misses less.
 *
 * A tournament over the blocks: a leaf is a block's next use, 0 where it is not held, a node the
 * greater of the two below, so the root is what leaves. The next use of a block that is hit was the
 * nearest of all, so the new one, further, rises until it meets a further one: a step or two.
 *
 *     key     next use in the upper half, which is never 0, the block in the lower; 0: not held
 */
#include "base/array.h"
#include "policy/batch.h"
#include "policy/kinds.h"

#include <stdlib.h>

struct opt {
    struct policy base;
    uint32_t capacity;
    const uint32_t *next_use; /* of each access to come; the caller's */
    uint32_t leaves;          /* a power of two */
    uint64_t *tree;           /* [2 * leaves] node i above 2i and 2i + 1; leaf of b at leaves + b */
    uint64_t *missed_key;     /* [blocks] of a block that is missed, until it is admitted */
    uint32_t *missed;         /* [blocks] scratch */
};

static void opt_destroy(struct policy *policy)
{
    struct opt *opt = (struct opt *)policy;
    if (opt) {
        free(opt->tree);
        free(opt->missed_key);
        free(opt->missed);
        free(opt);
    }
}

static struct policy *opt_create(const double *values, const struct policy_env *env,
                                 struct error *why)
{
    (void)values;
    if (env->blocks > 1u << 31) {
        error_set(why, NULL, 0, "%u blocks are too many for a cache", env->blocks);
        return NULL;
    }
    struct opt *opt = array_zeroed(1, sizeof *opt, why);
    if (!opt) {
        return NULL;
    }
    opt->capacity = env->capacity;
    opt->next_use = env->next_use;
    for (opt->leaves = 1; opt->leaves < env->blocks;) {
        opt->leaves *= 2;
    }
    if (!(opt->tree = array_zeroed((size_t)2 * opt->leaves, sizeof *opt->tree, why)) ||
        !(opt->missed_key = array_zeroed(env->blocks, sizeof *opt->missed_key, why)) ||
        !(opt->missed = array_zeroed(env->blocks, sizeof *opt->missed, why))) {
        opt_destroy(&opt->base);
        return NULL;
    }
    return &opt->base;
}

/* Give a block a key above the one it has. */
static inline void opt_raise(struct opt *opt, uint32_t block, uint64_t key)
{
    uint64_t *tree = opt->tree;
    size_t node = (size_t)opt->leaves + block;
    for (tree[node] = key; node > 1 && tree[node / 2] < key; node /= 2) {
        tree[node / 2] = key;
    }
}

/* The root leaves. */
static inline void opt_evict(struct opt *opt)
{
    uint64_t *tree = opt->tree;
    size_t node = (size_t)opt->leaves + (uint32_t)tree[1];
    for (tree[node] = 0; node > 1; node /= 2) {
        uint64_t a = tree[node], b = tree[node ^ 1];
        tree[node / 2] = a > b ? a : b;
    }
    opt->base.held--;
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
    if (policy->held == opt->capacity) {
        opt_evict(opt);
    }
    opt_raise(opt, block, opt->missed_key[block]);
    policy->held++;
    return true;
}

static inline bool opt_admit_nearer(struct policy *policy, uint32_t block)
{
    const struct opt *opt = (const struct opt *)policy;
    bool room = policy->held < opt->capacity || opt->missed_key[block] < opt->tree[1];
    return room && opt_admit(policy, block);
}

static void opt_access(struct policy *policy, const struct demand *demand, struct outcome *outcome)
{
    const struct opt *opt = (const struct opt *)policy;
    batch_access(policy, opt->capacity, opt->missed, opt_touch, opt_admit, demand, outcome);
}

static void opt_access_bypass(struct policy *policy, const struct demand *demand,
                              struct outcome *outcome)
{
    const struct opt *opt = (const struct opt *)policy;
    batch_access(policy, opt->capacity, opt->missed, opt_touch, opt_admit_nearer, demand, outcome);
}

const struct policy_kind policy_opt = {
    .name = "opt",
    .summary = "knows the future: the block wanted last leaves, what is fetched is admitted",
    .needs_next_use = true,
    .create = opt_create,
    .access = opt_access,
    .destroy = opt_destroy,
};

const struct policy_kind policy_opt_bypass = {
    .name = "opt:bypass",
    .summary = "knows the future, and admits only what is wanted before something it holds",
    .needs_next_use = true,
    .create = opt_create,
    .access = opt_access_bypass,
    .destroy = opt_destroy,
};
