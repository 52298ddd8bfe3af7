#include "decode/replay/ledger.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/random.h"
#include "decode/replay/replay.h"

void ledger_init(struct ledger *ledger)
{
    *ledger = (struct ledger){0};
}

void ledger_release(struct ledger *ledger)
{
    free(ledger->rows);
    ledger_init(ledger);
}

bool ledger_reserve(struct ledger *ledger, uint32_t steps, uint32_t layers, uint32_t parts,
                    struct error *why)
{
    ledger_release(ledger);
    ledger->rows = array_zeroed((size_t)steps * layers * (1 + parts), sizeof *ledger->rows, why);
    if (ledger->rows == NULL) {
        return false;
    }
    ledger->steps = steps;
    ledger->layers = layers;
    ledger->parts = parts;
    return true;
}

static size_t part_start(const struct ledger *ledger, uint32_t part)
{
    return ledger->parts > 0 ? (size_t)ledger->steps * ledger->layers * (1 + part) : 0;
}

/* A step, and the tokens that it wants and HBM lacks. */
struct lacking_step {
    uint64_t tokens;
    uint32_t step;
};

static int by_lacking(const void *a, const void *b)
{
    const struct lacking_step *x = a, *y = b;
    return x->tokens != y->tokens ? (x->tokens < y->tokens ? -1 : 1) : (int)x->step - (int)y->step;
}

bool ledger_middle_step(const struct ledger *ledger, struct ledger *one, struct error *why)
{
    size_t layers = ledger->layers;
    struct lacking_step *all = array_zeroed(ledger->steps, sizeof *all, why);
    if (all == NULL || !ledger_reserve(one, 1, ledger->layers, ledger->parts, why)) {
        free(all);
        return false;
    }
    for (uint32_t s = 0; s < ledger->steps; s++) {
        all[s].step = s;
        for (size_t row = s * layers; row < (s + 1) * layers; row++) {
            all[s].tokens += ledger->rows[row].wanted - ledger->rows[row].hit;
        }
    }
    qsort(all, ledger->steps, sizeof *all, by_lacking);
    size_t first = all[ledger->steps / 2].step * layers;
    for (uint32_t part = 0; part < 1 + ledger->parts; part++) {
        memcpy(one->rows + part * layers, ledger->rows + part * ledger->steps * layers + first,
               layers * sizeof *one->rows);
    }
    free(all);
    return true;
}

static uint64_t rest_of(uint64_t count, double share)
{
    return (uint64_t)llround((double)count * (1 - share));
}

/* In a sum the parts are rounded, and the rows of the sum are added up again. */
void ledger_keep(struct ledger *ledger, double share)
{
    size_t count = (size_t)ledger->steps * ledger->layers;
    if (ledger->parts > 0) {
        memset(ledger->rows, 0, count * sizeof *ledger->rows);
    }
    for (size_t i = 0; i < count * (ledger->parts > 0 ? ledger->parts : 1); i++) {
        struct ledger_row *row = &ledger->rows[part_start(ledger, 0) + i];
        uint64_t missed = rest_of(row->missed, share);
        row->hit += row->missed - missed;
        row->missed = missed;
        row->missed_worst = rest_of(row->missed_worst, share);
        row->lookups = rest_of(row->lookups, share);
        row->updates = rest_of(row->updates, share);
        row->inserts = rest_of(row->inserts, share);
        row->fetching_heads = missed > 0 ? row->fetching_heads : 0;
        if (ledger->parts > 0) {
            ledger_add(&ledger->rows[i % count], row, 1);
            ledger_add_mass(&ledger->rows[i % count], row, 1);
        }
    }
}

void ledger_set(struct ledger *sum, uint32_t part, const struct ledger *ledger)
{
    size_t count = (size_t)sum->steps * sum->layers;
    memcpy(sum->rows + part_start(sum, part), ledger->rows, count * sizeof *sum->rows);
    for (size_t i = 0; i < count; i++) {
        ledger_add(&sum->rows[i], &ledger->rows[i], 1);
        ledger_add_mass(&sum->rows[i], &ledger->rows[i], 1);
    }
    sum->demand_wanted += ledger->demand_wanted;
    sum->demand_hit += ledger->demand_hit;
    sum->demand_cold += ledger->demand_cold;
}

const struct ledger_row *ledger_part(const struct ledger *ledger, uint32_t part)
{
    return ledger->rows + part_start(ledger, part);
}

void ledger_load_whole(struct ledger *ledger, uint32_t layers, uint64_t wanted, uint64_t held,
                       uint64_t recomputed)
{
    uint64_t hit = held < wanted ? held : wanted;
    uint64_t again = recomputed < wanted - hit ? recomputed : wanted - hit;
    uint64_t missed = wanted - hit - again;
    layers = layers < ledger->layers ? layers : ledger->layers;
    for (size_t i = 0; i < (size_t)ledger->steps * ledger->layers; i++) {
        struct ledger_row *row = &ledger->rows[i];
        uint32_t pairs = row->offloaded_heads;
        if (i % ledger->layers < layers) {
            *row = (struct ledger_row){
                .wanted = pairs * wanted,
                .hit = pairs * hit,
                .missed = pairs * missed,
                .missed_worst = pairs > 0 ? missed : 0,
                .recomputed = pairs * again,
                .fetching_heads = missed > 0 ? pairs : 0,
                .offloaded_heads = pairs,
                .mass = pairs,
                .mass_most = pairs,
            };
        }
    }
}

void ledger_add(struct ledger_row *row, const struct ledger_row *pair, uint32_t times)
{
    row->wanted += times * pair->wanted;
    row->hit += times * pair->hit;
    row->missed += times * pair->missed;
    if (pair->missed_worst > row->missed_worst) {
        row->missed_worst = pair->missed_worst;
    }
    row->for_cpu += times * pair->for_cpu;
    row->recomputed += times * pair->recomputed;
    row->for_cpu_padded += times * pair->for_cpu_padded;
    if (pair->for_cpu_worst > row->for_cpu_worst) {
        row->for_cpu_worst = pair->for_cpu_worst;
    }
    row->lookups += times * pair->lookups;
    row->updates += times * pair->updates;
    row->inserts += times * pair->inserts;
    row->fetching_heads += times * pair->fetching_heads;
    row->reused_heads += times * pair->reused_heads;
    row->offloaded_heads += times * pair->offloaded_heads;
}

void ledger_add_mass(struct ledger_row *row, const struct ledger_row *pair, uint32_t times)
{
    row->mass += times * pair->mass;
    row->mass_most += times * pair->mass_most;
}

enum { TOTALS = 3 * sizeof(uint64_t) }; /* before the rows: wanted, hit, cold */

uint8_t *ledger_pack(const struct ledger *ledger, size_t *size)
{
    size_t rows = (size_t)ledger->steps * ledger->layers * sizeof *ledger->rows;
    uint8_t *bytes = array_zeroed(1, *size = TOTALS + rows, ERROR_UNSEEN);
    if (bytes != NULL) {
        memcpy(bytes, &ledger->demand_wanted, TOTALS);
        memcpy(bytes + TOTALS, ledger->rows, rows);
    }
    return bytes;
}

bool ledger_unpack(const uint8_t *bytes, size_t size, uint32_t steps, uint32_t layers,
                   struct ledger *ledger)
{
    size_t rows = (size_t)steps * layers * sizeof *ledger->rows;
    if (size != TOTALS + rows || !ledger_reserve(ledger, steps, layers, 0, ERROR_UNSEEN)) {
        return false;
    }
    memcpy(&ledger->demand_wanted, bytes, TOTALS);
    memcpy(ledger->rows, bytes + TOTALS, rows);
    return true;
}

uint64_t cpu_heads_each(uint64_t pairs, uint64_t threads)
{
    return pairs > threads ? (pairs + threads - 1) / threads : 1;
}

void cpu_heads_pad(const uint64_t *tokens, uint32_t heads, uint64_t each, uint64_t *padded,
                   uint64_t *worst)
{
    *padded = *worst = 0;
    for (uint32_t first = 0; first < heads;) {
        uint32_t count = each < heads - first ? (uint32_t)each : heads - first;
        uint64_t longest = 0;
        for (uint32_t i = first; i < first + count; i++) {
            longest = tokens[i] > longest ? tokens[i] : longest;
        }
        uint64_t task = longest * (each > heads ? each : count);
        *padded += longest * count;
        *worst = task > *worst ? task : *worst;
        first += count;
    }
}

/* A ledger without a trace, from a mean hit ratio and its spread over heads. The beta distribution with that
 * mean and spread is cut into slices of equal probability, one for each offloaded head. A head's hit ratio is
 * the mean of its slice, so the mean over heads is exact for any number of heads. Slices are dealt to heads
 * in shuffled order: a layer waits for its worst head, and in sorted order all the worst heads would share a
 * layer. */

/* A narrower distribution cannot be told from a point in a ledger, and GSL's series do not converge. */
#define LEAST_SPREAD 0.001

/* The smallest x with `probability` below it, by bisection: GSL's own aborts close to 0 or 1. */
static double beta_quantile(double a, double b, double probability)
{
    double low = 0, high = 1;
    for (;;) {
        double middle = (low + high) / 2;
        if (middle <= low || middle >= high) {
            return high;
        }
        if (gsl_cdf_beta_P(middle, a, b) < probability) {
            low = middle;
        } else {
            high = middle;
        }
    }
}

/* Set slices [count] to the means of slices of equal probability, ascending: differences of the
 * integral of x over the lowest `share` of the distribution. Near 1 doubles are too coarse for the
 * quantile x: probability in excess of `share` is taken to lie at x itself. */
static void slice_means(double mean, double spread, uint32_t count, double *slices)
{
    double both = spread > 0 ? mean * (1 - mean) / (spread * spread) - 1 : 0;
    double a = mean * both, b = (1 - mean) * both, before = 0, part = mean;
    for (uint32_t i = 0; i < count; i++) {
        if (spread == 0) {
            slices[i] = mean;
            continue;
        }
        double share = (i + 1.0) / count, x = share < 1 ? beta_quantile(a, b, share) : 1;
        double above = gsl_cdf_beta_P(x, a, b) - share;
        part = share < 1 ? mean * gsl_cdf_beta_P(x, a + 1, b) - x * above : mean;
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
        .lookups = ledger_rounded((double)wanted * units),
        .updates = ledger_rounded((double)hit * units),
        .inserts = ledger_rounded((double)missed * units),
        .fetching_heads = missed > 0,
        .offloaded_heads = 1,
        .mass = 1,
        .mass_most = 1,
    };
}

/* The row of a head whose policy chooses: the GPU attends to all `held` tokens, the CPU to `kept` others. */
static struct ledger_row kept_row(const struct replay_plan *plan, uint64_t held, uint64_t kept)
{
    return (struct ledger_row){
        .wanted = held + kept,
        .hit = held,
        .for_cpu = kept,
        .updates = ledger_rounded((double)held / plan->manager_unit),
        .offloaded_heads = 1,
        .mass = 1,
        .mass_most = 1,
    };
}

/* The tokens that a head wants, and the `held` ones of a policy that chooses, all if it deletes the rest. */
static void assumed_sizes(const struct replay_plan *plan, uint64_t *wanted, uint64_t *held)
{
    double away = (double)plan->context - plan->sinks - plan->recent; /* outside the window */
    double asked = fmin(plan->selection * (double)plan->context, away);
    *wanted = ledger_rounded(fmax(asked, 1));
    *held = plan->policy->chooses_own
                ? ledger_rounded(fmin(plan->capacity * (double)plan->context, (double)*wanted))
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
            uint64_t hit = ledger_rounded(due) - given;
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
            struct ledger_row row = {0};
            uint64_t each = cpu_heads_each(heads * replay_all_sequences(plan), plan->cpu_threads);
            cpu_heads_pad(kept, heads, each, &row.for_cpu_padded, &row.for_cpu_worst);
            ledger_add(&ledger->rows[layer], &row, plan->batch);
        }
    }
}

bool replay_assumed(double hit, double spread, uint64_t seed, const struct replay_plan *plan,
                    struct ledger *ledger, struct error *why)
{
    if (!replay_check(plan, why) || !check_assumed(hit, spread, why) ||
        !ledger_reserve(ledger, plan->steps, plan->layers, 0, why)) {
        return false;
    }
    uint32_t count = 0;
    for (size_t i = 0; i < (size_t)plan->layers * plan->kv_heads; i++) {
        count += plan->heads[i].offloaded;
    }
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
    gsl_rng_free(random);
    return good;
}
