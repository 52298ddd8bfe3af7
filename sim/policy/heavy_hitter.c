/* Heavy hitters: the blocks with the most attention so far stay, together with the most recent
 * ones; all others are dropped for good. Z. Zhang et al., "H2O: heavy-hitter oracle for efficient
 * generative inference of large language models", NeurIPS 2023.
 *
 * A share of the cache is for the last blocks by position, the rest for those with the greatest sum
 * of attention; half and half, as the authors run it. The GPU attends to the held blocks, whatever
 * the demand wants, and a dropped block never comes back. So every access hits and nothing misses:
 * the cost of the policy is lost attention mass.
 *
 *     position    first | dropped, some heavy ones kept | recent: the last blocks | born
 *     a step on   first | dropped, some heavy ones kept    | recent               | born
 *                                                     ^ this block joins the heavy ones, and the
 *                                                       lightest of all these is dropped
 *
 * H2O adds attention up from the first token of the prompt and drops blocks as it goes. A trace begins where
 * the prompt has ended, so the warm-up stands for the prompt: all blocks are there, and the blocks that a row
 * records are fetched and added up. At its end (without a warm-up: after the first access) the cache is
 * chosen; among blocks of equal sums the latest position comes first. Blocks that a row does not record add
 * nothing: what the sums miss is below what the trace keeps.
 *
 * The cache does not grow. Tokens born in decode are its most recent ones, so block after block
 * leaves the recent ones and has to be heavy to stay (`born: 0`: born tokens stay beside the
 * cache, which then never changes, as in SnapKV; Y. Li et al., NeurIPS 2024). When more tokens are
 * born than the recent share holds, born ones have to be heavy, too. A trace has one mass for all
 * of them, so the outcome only says which share of them may be lost. */
#include "policy/policy.h"

#include <math.h>
#include <stdlib.h>

enum { RECENT, BORN };

static const struct policy_param heavy_hitter_params[] = {
    {"recent", 0.5, 0, 1, "share of the cache for the last blocks by position"},
    {"born", 1, 0, 1, "1: tokens born in decode take places in the cache; 0: they stay beside it"},
    {NULL, 0, 0, 0, NULL},
};

struct weighed {
    double sum;
    uint32_t block;
};

struct heavy_hitter {
    struct policy base;
    uint32_t first, end; /* blocks outside the window */
    uint32_t count;      /* blocks of them that will be held */
    uint32_t recent;     /* places of these for the last blocks by position */
    uint32_t last;       /* first of the last blocks that are held by position; `end`: none is */
    uint32_t listens;    /* accesses until the cache is chosen */
    uint32_t accesses;
    double each, born;     /* blocks born in an access, and up to now */
    double *sum;           /* [blocks] */
    struct weighed *order; /* [end - first] scratch */
    bool *kept;            /* [blocks] */
    uint32_t kept_count;
};

static bool heavy_hitter_init(struct policy *policy, const struct policy_env *env,
                              struct error *why)
{
    struct heavy_hitter *heavy = (struct heavy_hitter *)policy;
    if (env->values[BORN] != floor(env->values[BORN])) {
        error_usage(why, NULL, 0, "policy 'heavy-hitter' has born %g", env->values[BORN]);
        return error_expect(why, "0 or 1");
    }
    uint32_t outside = policy_outside(env);
    heavy->first = env->sinks;
    heavy->last = heavy->end = env->sinks + outside;
    heavy->count = env->capacity < outside ? env->capacity : outside;
    heavy->recent = (uint32_t)lround(env->values[RECENT] * heavy->count);
    heavy->listens = env->warmup > 0 ? env->warmup : 1;
    heavy->each =
        env->capacity < outside ? env->values[BORN] * env->born : 0; /* all KV: with those born */
    heavy->sum = arrays_add(&policy->arrays, env->blocks, sizeof *heavy->sum, why);
    heavy->order = arrays_add(&policy->arrays, outside, sizeof *heavy->order, why);
    heavy->kept = arrays_add(&policy->arrays, env->blocks, sizeof *heavy->kept, why);
    return true;
}

static void add_up(struct heavy_hitter *heavy, const struct demand *demand)
{
    for (uint32_t i = 0; i < demand->recorded; i++) {
        heavy->sum[demand->units[i]] += (double)trace_mass[demand->mass[i]];
    }
}

static int heaviest_first(const void *a, const void *b)
{
    const struct weighed *x = a, *y = b;
    return x->sum != y->sum ? (x->sum < y->sum ? 1 : -1) : (x->block < y->block ? 1 : -1);
}

/* The first of the blocks that are recent by position, now that some places have born tokens. */
static uint32_t first_recent(const struct heavy_hitter *heavy)
{
    double left = fmax(0, heavy->recent - floor(heavy->born));
    return heavy->end - (uint32_t)left;
}

/* Choose the last blocks, then the heaviest of the others. */
static void heavy_hitter_choose(struct heavy_hitter *heavy)
{
    heavy->last = first_recent(heavy);
    for (uint32_t block = heavy->last; block < heavy->end; block++) {
        heavy->kept[block] = true;
    }
    uint32_t old = heavy->last - heavy->first, most = heavy->count - heavy->recent;
    for (uint32_t i = 0; i < old; i++) {
        uint32_t block = heavy->first + i;
        heavy->order[i] = (struct weighed){heavy->sum[block], block};
    }
    qsort(heavy->order, old, sizeof *heavy->order, heaviest_first);
    for (uint32_t i = 0; i < most && i < old; i++) {
        heavy->kept[heavy->order[i].block] = true;
    }
    heavy->kept_count = most + heavy->end - heavy->last;
}

static void heavy_hitter_access(struct policy *policy, const struct demand *demand,
                                struct outcome *outcome)
{
    struct heavy_hitter *heavy = (struct heavy_hitter *)policy;
    heavy->born = ++heavy->accesses * heavy->each;
    if (heavy->listens > 0) {
        outcome->missed = demand->wanted;
        outcome->attended = demand_wanted(demand);
        outcome->attended.unrecorded = demand->tail_units; /* all blocks are there */
        add_up(heavy, demand);
        if (--heavy->listens == 0) {
            heavy_hitter_choose(heavy);
            heavy->base.held = outcome->admitted = heavy->count;
        }
        return;
    }
    /* Blocks leave the recent ones as tokens are born. */
    uint32_t first = first_recent(heavy);
    while (heavy->last < first) {
        heavy->last++;
        /* Drop the lightest block of those that are not recent; of equals the earliest. */
        uint32_t lightest = heavy->last;
        for (uint32_t block = heavy->first; block < heavy->last; block++) {
            bool lighter = lightest == heavy->last || heavy->sum[block] < heavy->sum[lightest];
            lightest = heavy->kept[block] && lighter ? block : lightest;
        }
        heavy->kept[lightest] = false;
        heavy->kept_count--;
    }
    outcome->hit = heavy->count;
    outcome->attended = demand_set(demand, heavy->kept, heavy->kept_count);
    outcome->born_lost = heavy->born > heavy->recent ? (float)(1 - heavy->recent / heavy->born) : 0;
    add_up(heavy, demand);
}

static double heavy_hitter_passes(const double *values)
{
    return values[BORN] * values[RECENT];
}

const struct policy_kind policy_heavy_hitter = {
    .name = "heavy-hitter",
    .summary = "blocks with the most attention so far and the last ones stay; others are dropped",
    .params = heavy_hitter_params,
    .chooses_own = true,
    .passes = heavy_hitter_passes,
    .size = sizeof(struct heavy_hitter),
    .init = heavy_hitter_init,
    .access = heavy_hitter_access,
};
