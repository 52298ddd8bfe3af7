/* Heavy hitters: the blocks with the most attention so far stay, together with the most recent
 * ones; all others are dropped for good. Z. Zhang et al., "H2O: heavy-hitter oracle for efficient
 * generative inference of large language models", NeurIPS 2023.
 *
 * A share of the cache is for the last blocks by position, the rest for those with the greatest sum
 * of attention; half and half, as the authors run it. The GPU attends to the held blocks, whatever
 * the demand wants, and a dropped block never comes back. So every access hits and nothing misses:
 * the cost of the policy is lost attention mass.
 *
 * H2O adds attention up from the first token of the prompt and drops blocks as it goes. A trace
 * begins where the prompt has ended, and its context does not grow, so the warm-up stands for the
 * prompt. During the warm-up all blocks are there, and the blocks that a row records are fetched
 * and added up. At its end (without a warm-up: after the first access) the cache is chosen; among
 * blocks of equal sums the latest position comes first. Then it does not change: the tokens born in
 * decode are in the window, outside of any demand. Blocks that a row does not record add nothing:
 * what the sums miss is below what the trace keeps.
 */
#include "base/array.h"
#include "policy/kinds.h"

#include <math.h>
#include <stdlib.h>

enum { RECENT };

static const struct policy_param heavy_hitter_params[] = {
    {"recent", 0.5, 0, 1, "share of the cache for the last blocks by position"},
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
    uint32_t recent;     /* blocks of these that are held by position */
    uint32_t listens;    /* accesses until the cache is chosen */
    struct weighed *sum; /* [end - first]; sorted when chosen */
    bool *kept;          /* [blocks] */
};

static void heavy_hitter_destroy(struct policy *policy)
{
    struct heavy_hitter *heavy = (struct heavy_hitter *)policy;
    if (heavy) {
        free(heavy->sum);
        free(heavy->kept);
        free(heavy);
    }
}

static struct policy *heavy_hitter_create(const double *values, const struct policy_env *env,
                                          struct error *why)
{
    struct heavy_hitter *heavy = array_zeroed(1, sizeof *heavy, why);
    if (!heavy) {
        return NULL;
    }
    uint32_t outside = policy_outside(env);
    heavy->first = env->sinks;
    heavy->end = env->sinks + outside;
    heavy->count = env->capacity < outside ? env->capacity : outside;
    heavy->recent = (uint32_t)lround(values[RECENT] * heavy->count);
    heavy->listens = env->warmup > 0 ? env->warmup : 1;
    heavy->sum = array_zeroed(outside, sizeof *heavy->sum, why);
    heavy->kept = heavy->sum ? array_zeroed(env->blocks, sizeof *heavy->kept, why) : NULL;
    if (!heavy->kept) {
        heavy_hitter_destroy(&heavy->base);
        return NULL;
    }
    for (uint32_t i = 0; i < outside; i++) {
        heavy->sum[i].block = heavy->first + i;
    }
    return &heavy->base;
}

static void add_up(struct heavy_hitter *heavy, const struct demand *demand)
{
    for (uint32_t i = 0; i < demand->recorded; i++) {
        heavy->sum[demand->units[i] - heavy->first].sum += (double)trace_mass[demand->mass[i]];
    }
}

static int heaviest_first(const void *a, const void *b)
{
    const struct weighed *x = a, *y = b;
    return x->sum != y->sum ? (x->sum < y->sum ? 1 : -1) : (x->block < y->block ? 1 : -1);
}

/* Choose the last blocks, then the heaviest of the others. */
static void choose(struct heavy_hitter *heavy, struct outcome *outcome)
{
    uint32_t old = heavy->end - heavy->first - heavy->recent;
    for (uint32_t block = heavy->end - heavy->recent; block < heavy->end; block++) {
        heavy->kept[block] = true;
    }
    qsort(heavy->sum, old, sizeof *heavy->sum, heaviest_first);
    for (uint32_t i = 0; i < heavy->count - heavy->recent; i++) {
        heavy->kept[heavy->sum[i].block] = true;
    }
    heavy->base.held = outcome->admitted = heavy->count;
}

static void heavy_hitter_access(struct policy *policy, const struct demand *demand,
                                struct outcome *outcome)
{
    struct heavy_hitter *heavy = (struct heavy_hitter *)policy;
    if (heavy->listens > 0) {
        outcome->missed = demand->wanted;
        outcome->mass = demand->wanted_mass;
        add_up(heavy, demand);
        if (--heavy->listens == 0) {
            choose(heavy, outcome);
        }
        return;
    }
    outcome->hit = heavy->count;
    for (uint32_t i = 0; i < demand->recorded; i++) {
        outcome->mass += heavy->kept[demand->units[i]] ? trace_mass[demand->mass[i]] : 0;
    }
}

const struct policy_kind policy_heavy_hitter = {
    .name = "heavy-hitter",
    .summary = "blocks with the most attention so far and the last ones stay; others are dropped",
    .params = heavy_hitter_params,
    .chooses_own = true,
    .create = heavy_hitter_create,
    .access = heavy_hitter_access,
    .destroy = heavy_hitter_destroy,
};
