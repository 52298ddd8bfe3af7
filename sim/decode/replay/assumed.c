/* A ledger without a trace, from a mean hit ratio and its spread over heads.
 *
 * The beta distribution with that mean and spread is cut into slices of equal probability, one for
 * each offloaded head. A head's hit ratio is the mean of its slice, so the mean over heads is exact
 * for any number of heads. Slices are dealt to heads in shuffled order: a layer waits for its worst
 * head, and in sorted order all the worst heads would share a layer.
 */
#include "core/array.h"
#include "core/random.h"
#include "decode/replay/ledger.h"
#include "decode/replay/replay.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>

/* In a ledger a narrower distribution cannot be told from a point, and GSL's series for it do not
 * converge. */
#define LEAST_SPREAD 0.001

struct beta {
    double mean, a, b;
};

/* The smallest x with at least `probability` below it. By bisection, because GSL's own inverse
 * aborts on distributions close to 0 or 1. */
static double beta_quantile(const struct beta *beta, double probability)
{
    double low = 0, high = 1;
    for (;;) {
        double middle = (low + high) / 2;
        if (middle <= low || middle >= high) {
            return high;
        }
        if (gsl_cdf_beta_P(middle, beta->a, beta->b) < probability) {
            low = middle;
        } else {
            high = middle;
        }
    }
}

/* Integral of x over the lowest `probability` of the distribution. Near 1 doubles are too coarse
 * for the quantile x: probability in excess of `probability` is taken to lie at x itself. */
static double beta_part(const struct beta *beta, double probability)
{
    double x = beta_quantile(beta, probability);
    double above = gsl_cdf_beta_P(x, beta->a, beta->b) - probability;
    return beta->mean * gsl_cdf_beta_P(x, beta->a + 1, beta->b) - x * above;
}

/* Set slices [count] to the means of slices of equal probability, ascending. */
static void slice_means(double mean, double spread, uint32_t count, double *slices)
{
    double both = spread > 0 ? mean * (1 - mean) / (spread * spread) - 1 : 0;
    struct beta beta = {.mean = mean, .a = mean * both, .b = (1 - mean) * both};
    double before = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (spread == 0) {
            slices[i] = mean;
            continue;
        }
        double part = i + 1 < count ? beta_part(&beta, (i + 1.0) / count) : mean;
        slices[i] = fmin(fmax((part - before) * count, 0), 1);
        before = part;
    }
}

static bool check_assumed(double hit, double spread, struct error *why)
{
    if (!(hit >= 0 && hit <= 1)) {
        error_usage(why, NULL, 0, "an assumed hit ratio of %g %%", 100 * hit);
        return error_expect(why, "0 %% ... 100 %%");
    }
    double most = sqrt(hit * (1 - hit));
    if (!(spread == 0 || (spread >= LEAST_SPREAD && spread < most))) {
        error_usage(why, NULL, 0, "a spread of %g %% around %g %%", 100 * spread, 100 * hit);
        return most > LEAST_SPREAD ? error_expect(why, "0, or %g %% up to below %.4g %%",
                                                  100 * LEAST_SPREAD, 100 * most)
                                   : error_expect(why, "0");
    }
    return true;
}

static uint32_t count_offloaded(const struct replay_plan *plan)
{
    uint32_t count = 0;
    for (size_t i = 0; i < (size_t)plan->layers * plan->kv_heads; i++) {
        count += plan->heads[i].offloaded;
    }
    return count;
}

static uint64_t assumed_rounded(double value)
{
    return (uint64_t)(value + 0.5);
}

static struct ledger_row assumed_row(const struct replay_plan *plan, uint64_t wanted, uint64_t hit)
{
    uint64_t missed = wanted - hit;
    double units = plan->policy->by_position ? 0 : 1 / plan->manager_unit; /* managed, a token */
    units /= plan->block_span == BLOCK_LAYER ? plan->kv_heads : 1;
    return (struct ledger_row){
        .wanted = wanted,
        .hit = hit,
        .missed = missed,
        .missed_worst = missed,
        .lookups = assumed_rounded((double)wanted * units),
        .updates = assumed_rounded((double)hit * units),
        .inserts = assumed_rounded((double)missed * units),
        .fetching_heads = missed > 0,
        .offloaded_heads = 1,
        .mass = 1,
        .mass_most = 1,
    };
}

/* The row of a head whose policy chooses: the GPU attends to all `held` tokens, and the CPU to
 * `kept` others. */
static struct ledger_row kept_row(const struct replay_plan *plan, uint64_t held, uint64_t kept)
{
    return (struct ledger_row){
        .wanted = held + kept,
        .hit = held,
        .for_cpu = kept,
        .updates = assumed_rounded((double)held / plan->manager_unit),
        .offloaded_heads = 1,
        .mass = 1,
        .mass_most = 1,
    };
}

/* The CPU's tasks in a layer; all sequences are alike. */
static struct ledger_row task_row(const struct replay_plan *plan, const uint64_t *kept,
                                  uint32_t heads)
{
    struct ledger_row row = {0};
    uint64_t each = cpu_heads_each(heads * replay_all_sequences(plan), plan->cpu_threads);
    cpu_heads_pad(kept, heads, each, &row.for_cpu_padded, &row.for_cpu_worst);
    return row;
}

/* The tokens that a head wants, and those `held` to which a policy that chooses always attends. A
 * policy that deletes the rest wants nothing else. */
static void assumed_sizes(const struct replay_plan *plan, uint64_t *wanted, uint64_t *held)
{
    double away = (double)plan->context - plan->sinks - plan->recent; /* outside the window */
    double asked = fmin(plan->selection * (double)plan->context, away);
    *wanted = assumed_rounded(fmax(asked, 1));
    *held = plan->policy->chooses_own
                ? assumed_rounded(fmin(plan->capacity * (double)plan->context, (double)*wanted))
                : 0;
    if (plan->policy->chooses_own && !plan->policy->names_for_cpu) {
        *wanted = *held;
    }
}

/* Fill the first step; all steps are equal. Hits are rounded so that their sum over heads is the
 * rounded sum. `kept` is scratch for the heads of a layer. */
static void fill_step(const struct replay_plan *plan, const double *ratios, uint64_t *kept,
                      struct ledger *ledger)
{
    uint64_t wanted, held, given = 0;
    double due = 0;
    assumed_sizes(plan, &wanted, &held);
    wanted -= held;
    for (uint32_t layer = 0; layer < plan->layers; layer++) {
        uint32_t heads = 0;
        for (uint32_t head = 0; head < plan->kv_heads; head++) {
            if (!plan->heads[(size_t)layer * plan->kv_heads + head].offloaded) {
                continue;
            }
            due += *ratios++ * (double)wanted;
            uint64_t hit = assumed_rounded(due) - given;
            hit = hit < wanted ? hit : wanted;
            given += hit;
            kept[heads++] = wanted - hit;
            struct ledger_row row = plan->policy->chooses_own ? kept_row(plan, held, wanted - hit)
                                                              : assumed_row(plan, wanted, hit);
            ledger_add(&ledger->rows[layer], &row, plan->batch);
            ledger_add_mass(&ledger->rows[layer], &row, plan->batch);
            ledger->demand_wanted += row.wanted * plan->batch * plan->steps;
            ledger->demand_hit += row.hit * plan->batch * plan->steps;
        }
        if (plan->cpu_threads > 0 && heads > 0) {
            struct ledger_row row = task_row(plan, kept, heads);
            ledger_add(&ledger->rows[layer], &row, plan->batch);
        }
    }
}

bool replay_assumed(double hit, double spread, uint64_t seed, const struct replay_plan *plan,
                    struct ledger *ledger, struct error *why)
{
    if (!replay_check(plan, why) || !check_assumed(hit, spread, why) ||
        !ledger_reserve(ledger, plan->steps, plan->layers, why)) {
        return false;
    }
    uint32_t count = count_offloaded(plan);
    gsl_rng *random = random_stream(seed, "replay.assumed", 0, why);
    double *ratios = random ? array_zeroed(count, sizeof *ratios, why) : NULL;
    uint64_t *kept = ratios ? array_zeroed(plan->kv_heads, sizeof *kept, why) : NULL;
    if (kept) {
        slice_means(hit, spread, count, ratios);
        gsl_ran_shuffle(random, ratios, count, sizeof *ratios);
        fill_step(plan, ratios, kept, ledger);
        for (size_t i = plan->layers; i < (size_t)plan->steps * plan->layers; i++) {
            ledger->rows[i] = ledger->rows[i - plan->layers];
        }
        replay_load_whole(plan, ledger);
    }
    bool good = kept != NULL;
    free(kept);
    free(ratios);
    if (random) {
        gsl_rng_free(random);
    }
    return good;
}
