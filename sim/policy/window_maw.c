/* Window with a moving average of attention weights (HGCA). The GPU attends to a window of the last blocks,
 * the CPU to older blocks whose average is high enough; nothing attends to the rest.
 *
 *     position    sinks |  older: on the CPU, some kept  | window: on the GPU | recent
 *     MAW         after a step  a x weight + (1 - a) x before,  of blocks attended to
 *     kept        MAW > beta / older blocks
 *
 * The published system decides about a block when it leaves the window, and about all blocks again when a
 * prompt is appended; the CPU attends to everything then. In a run no block leaves the window, and the
 * warm-up stands for the prompt (without a warm-up: the first access): at its end the CPU's blocks are
 * chosen. From then on nothing attends to a block that is not kept, and its average stays, until `append`
 * accesses have passed and one more prompt is appended (0: never): one access that attends to everything.
 *
 * Of a context whose last blocks were decoded, no prompt chose among those that left the window since. A
 * block was kept if its average was above beta / window while the GPU still attended to it (line 24). The
 * window's oldest quarter stands for all that left before: as large a share of them is kept, those with the
 * highest averages now.
 *
 * Each side computes weights over the blocks that it attends to, before both are merged: a weight is a share
 * of what the CPU attends to. Weights are those that the trace records; a block's is the sum of its tokens'.
 * The threshold is the even share of these blocks, as where the published system decides about its whole side
 * of the CPU (algorithm 1, line 21). A block that a row does not record has no weight of its own, but all of
 * them together do.
 *
 * Neither alpha nor how often prompts are appended is published; beta is, as 0.25 to 1, usually 1. */
#include "policy/policy.h"

#include <math.h>

enum { ALPHA, BETA, APPEND };

static const struct policy_param window_maw_params[] = {
    {"alpha", 0.1, 0.001, 1, "weight of the last step in the average (assumed)"},
    {"beta", 1, 0.25, 1, "how far above their even share the CPU's blocks are"},
    {"append", 0, 0, 1e6, "steps between two appended prompts; 0: none (assumed)"},
    {NULL, 0, 0, 0, NULL},
};

struct window_maw {
    struct policy base;
    uint32_t first, window, end; /* first older block, first of the window, end of both */
    uint32_t left; /* first older block that left the window in decode; `window`: none */
    double alpha, threshold, leaving; /* above which a prompt keeps a block, or its leaving does */
    uint32_t prompt, append; /* accesses of the first prompt; between later ones, 0: none */
    uint32_t accesses;
    double *average; /* [blocks] */
    double *weight;  /* [blocks] scratch: weight in this access, otherwise 0 */
    bool *kept;      /* [blocks] */
    uint32_t kept_count;
};

static bool window_maw_init(struct policy *policy, const struct policy_env *env, struct error *why)
{
    struct window_maw *maw = (struct window_maw *)policy;
    const double *values = env->values;
    if (values[APPEND] != floor(values[APPEND])) {
        error_usage(why, NULL, 0, "policy 'window-maw' has append %g", values[APPEND]);
        return error_expect(why, "a whole number of steps");
    }
    uint32_t outside = policy_outside(env);
    uint32_t window = env->capacity < outside ? env->capacity : outside;
    maw->first = env->sinks;
    maw->end = env->sinks + outside;
    maw->window = maw->end - window;
    maw->alpha = values[ALPHA];
    maw->append = (uint32_t)values[APPEND];
    double since = maw->append > 0 ? 0 : fmin(env->decoded, outside - window);
    maw->left = maw->window - (uint32_t)lround(since);
    maw->threshold = maw->left > maw->first ? values[BETA] / (maw->left - maw->first) : INFINITY;
    maw->leaving = values[BETA] / (env->blocks - (outside - window));
    maw->prompt = env->warmup > 0 ? env->warmup : 1;
    maw->average = arrays_add(&policy->arrays, env->blocks, sizeof *maw->average, why);
    maw->weight = arrays_add(&policy->arrays, env->blocks, sizeof *maw->weight, why);
    maw->kept = arrays_add(&policy->arrays, env->blocks, sizeof *maw->kept, why);
    return true;
}

/* Does this access belong to a prompt, so that the CPU attends to everything? */
static bool is_prompt(const struct window_maw *maw)
{
    uint32_t since = maw->accesses - maw->prompt; /* from 0; not used in the first prompt */
    return maw->accesses < maw->prompt || (maw->append > 0 && (since + 1) % maw->append == 0);
}

/* Take the weights of the row's blocks, and return the sum of those in [from, to) that are attended to.
 * It includes blocks that the row does not record: all of these share evenly the mass that it leaves. */
static double take_weights(struct window_maw *maw, const struct demand *demand, uint32_t from,
                           uint32_t to, bool all)
{
    double sum = 0, left = 1 - (double)demand->window_mass;
    uint32_t unrecorded = maw->end - maw->first, within = to - from;
    for (uint32_t i = 0; i < demand->recorded; i++) {
        uint32_t block = demand->units[i];
        double weight = (double)trace_mass[demand->mass[i]];
        bool in = block >= from && block < to, attended = all || maw->kept[block];
        maw->weight[block] = attended ? weight : 0;
        sum += in && attended ? weight : 0;
        left -= weight;
        unrecorded--;
        within -= in;
    }
    return all && left > 0 && within > 0 ? sum + left * within / unrecorded : sum;
}

/* Average the weights of the blocks in [from, to), as shares of `sum`. */
static void average_shares(struct window_maw *maw, uint32_t from, uint32_t to, double sum, bool all)
{
    double share = maw->accesses > 0 ? maw->alpha : 1;
    for (uint32_t block = from; sum > 0 && block < to; block++) {
        if (all || maw->kept[block]) {
            maw->average[block] += share * (maw->weight[block] / sum - maw->average[block]);
        }
    }
}

/* The window's oldest quarter. */
static uint32_t oldest_end(const struct window_maw *maw)
{
    return maw->window + (maw->end - maw->window + 3) / 4;
}

static uint32_t count_above(const struct window_maw *maw, uint32_t from, uint32_t to, double least)
{
    uint32_t count = 0;
    for (uint32_t block = from; block < to; block++) {
        count += maw->average[block] > least;
    }
    return count;
}

/* The average above which blocks are kept that left the window in decode. */
static double left_threshold(const struct window_maw *maw)
{
    enum { HALVINGS = 16 };
    uint32_t oldest = oldest_end(maw);
    double heavy = count_above(maw, maw->window, oldest, maw->leaving);
    double wanted = heavy / (oldest - maw->window) * (maw->window - maw->left);
    double low = 1e-9, high = 1;
    for (int i = 0; i < HALVINGS; i++) {
        double middle = sqrt(low * high);
        *(count_above(maw, maw->left, maw->window, middle) > wanted ? &low : &high) = middle;
    }
    return high;
}

static void window_maw_access(struct policy *policy, const struct demand *demand,
                              struct outcome *outcome)
{
    struct window_maw *maw = (struct window_maw *)policy;
    bool all = is_prompt(maw);
    outcome->hit = maw->end - maw->window;
    outcome->for_cpu = all ? maw->window - maw->first : maw->kept_count;
    for (uint32_t i = 0; i < demand->recorded; i++) {
        uint32_t block = demand->units[i];
        bool attended = all || block >= maw->window || maw->kept[block];
        outcome->attended.mass += attended ? trace_mass[demand->mass[i]] : 0;
        outcome->attended.recorded += attended;
    }
    outcome->attended.unrecorded = outcome->hit + outcome->for_cpu - outcome->attended.recorded;
    outcome->admitted = outcome->hit - policy->held; /* only at the first access */
    policy->held = outcome->hit;
    if (all || maw->append > 0) { /* else nobody asks for an average again */
        average_shares(maw, maw->first, maw->left,
                       take_weights(maw, demand, maw->first, maw->left, all), all);
        if (maw->left < maw->window) {
            double sum = take_weights(maw, demand, maw->window, maw->end, true);
            average_shares(maw, maw->left, oldest_end(maw), sum + (double)demand->window_mass,
                           true);
        }
        for (uint32_t i = 0; i < demand->recorded; i++) {
            maw->weight[demand->units[i]] = 0;
        }
    }
    maw->accesses++;
    if (all && !is_prompt(maw)) {
        double left = maw->left < maw->window ? left_threshold(maw) : 0;
        maw->kept_count = 0;
        for (uint32_t block = maw->first; block < maw->window; block++) {
            maw->kept[block] = maw->average[block] > (block < maw->left ? maw->threshold : left);
            maw->kept_count += maw->kept[block];
        }
    }
}

const struct policy_kind policy_window_maw = {
    .name = "window-maw",
    .summary = "the last blocks stay; the CPU attends to older ones of enough weight",
    .params = window_maw_params,
    .chooses_own = true,
    .names_for_cpu = true,
    .size = sizeof(struct window_maw),
    .init = window_maw_init,
    .access = window_maw_access,
};
