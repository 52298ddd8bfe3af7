/* A context that grows while it is decoded, one token a step.
 *
 * Each step takes what a run takes that stands still at the step's own length. Runs at a few lengths on the way
 * (setup_grow()) stand for all, and a step lies between the two around it, so that what differs from step to
 * step at one length is kept:
 *
 *     steps     | | | | | | | | | | | | |        each a token longer
 *     lengths   0       1       2       3        each with some steps of its own, which repeat
 *
 * Figures of the run are means over its steps: sums over lengths, each with the share of the steps that it
 * stands for. Those of memory are the last length's. */
#include "decode/plan/resident.h"
#include "predict/decode/outcome.h"

#include <math.h>
#include <stdlib.h>

struct growth {
    const struct setup *setup;
    struct result lengths[SETUP_MOST_LENGTHS];
    double shares[SETUP_MOST_LENGTHS];
};

/* The steps, and by them the shares. */
static bool growth_write_steps(struct growth *growth, struct result *out, struct error *why)
{
    const struct setup *setup = growth->setup;
    struct result_step *steps = array_zeroed(setup->grows, sizeof *steps, why);
    uint32_t low = 0, last = setup->cohort_count - 1;
    for (uint32_t s = 0; steps != NULL && s < setup->grows; s++) {
        uint64_t tokens = setup->context - setup->grows + 1 + s;
        while (low < last && setup->cohorts[low + 1].context <= tokens) {
            low++;
        }
        double from = (double)setup->cohorts[low].context, over = (double)tokens - from;
        uint32_t high = over > 0 ? low + 1 : low;
        double share = over > 0 ? over / ((double)setup->cohorts[high].context - from) : 0;
        const struct result_step *a = &growth->lengths[low].steps[s % out->step_count],
                                 *b = &growth->lengths[high].steps[s % out->step_count];
        steps[s] = (struct result_step){
            llround((double)a->ns + share * (double)(b->ns - a->ns)),
            a->hit_ratio + share * (b->hit_ratio - a->hit_ratio),
            llround((double)a->in_bytes + share * (double)(b->in_bytes - a->in_bytes)),
            a->mass_recall + share * (b->mass_recall - a->mass_recall),
        };
        growth->shares[low] += (1 - share) / (double)setup->grows;
        growth->shares[high] += share / (double)setup->grows;
    }
    free(out->steps);
    out->steps = steps;
    out->step_count = steps != NULL ? (uint32_t)setup->grows : 0;
    result_integer(out, COLUMN(steps), (int64_t)setup->grows);
    return steps != NULL;
}

/* The mean of a number that lies `at` bytes from the beginning of each result. */
static double growth_mean(const struct growth *growth, size_t at, bool integer)
{
    double sum = 0;
    for (uint32_t i = 0; i < growth->setup->cohort_count; i++) {
        const void *number = (const char *)&growth->lengths[i] + at;
        sum += growth->shares[i] *
               (integer ? (double)*(const int64_t *)number : *(const double *)number);
    }
    return sum;
}

/* Rounded so that they add up. */
static void growth_write_items(const struct growth *growth, struct result *out,
                               struct result_item *items, uint32_t count)
{
    enum { FINE = 1 << 10 };
    int64_t sums[RESULT_MOST_ITEMS], means[RESULT_MOST_ITEMS], all = 0;
    for (uint32_t i = 0; i < count; i++) {
        size_t ns = (size_t)((char *)&items[i].ns - (char *)out);
        items[i].share =
            growth_mean(growth, (size_t)((char *)&items[i].share - (char *)out), false);
        sums[i] = llround(FINE * growth_mean(growth, ns, true));
        all += sums[i];
    }
    apportion(sums, count, FINE, apportion_mean(all, FINE), means);
    for (uint32_t i = 0; i < count; i++) {
        items[i].ns = means[i];
    }
}

/* Turn `out`, a shallow copy of the last length's result, into that of the run. */
static bool growth_write(struct growth *growth, struct result *out, struct error *why)
{
    const struct setup *setup = growth->setup;
    char source[256];
    if (!growth_write_steps(growth, out, why)) {
        return false;
    }
    uint32_t last = setup->cohort_count - 1;
    /* Columns that all lengths have. Rates, behind the step, are to those of the last length as its step
     * is to the mean one. */
    for (uint32_t c = COLUMN(hit_ratio)->index; c < COLUMN(parts_us)->index; c++) {
        const struct column *column = column_rows[c];
        struct cell *cell = &out->cells[c];
        size_t at = (size_t)((char *)&cell->real - (char *)out);
        double slower = result_number(out, COLUMN(step_us)) /
                        result_number(&growth->lengths[last], COLUMN(step_us));
        for (uint32_t i = 0; i < last; i++) {
            cell->set = cell->set && result_cell(&growth->lengths[i], column)->set;
        }
        if (cell->set && column_is_integer(column)) {
            cell->integer = llround(growth_mean(growth, at, true));
        } else if (cell->set) {
            cell->real =
                column->unit == UNIT_PER_S ? cell->real / slower : growth_mean(growth, at, false);
        }
    }
    growth_write_items(growth, out, out->parts, out->part_count);
    growth_write_items(growth, out, out->stalls, out->stall_count);
    growth_write_items(growth, out, out->basis, out->basis_count);
    out->layer_count = 0; /* they are known of each length only */
    outcome_trace_source(setup, true, source, sizeof source);
    return (!result_cell(out, COLUMN(trace_source))->set ||
            result_text(out, COLUMN(trace_source), source, why)) &&
           outcome_spread(setup, out, why);
}

/* The longest runs first, and decides the batch; a length that does not fit is the answer. */
bool run_growth(const struct setup *setup, const struct run_context *context, struct result *result,
                struct error *why)
{
    struct growth growth = {.setup = setup};
    uint32_t last = setup->cohort_count - 1, at = last + 1, kept = last + 1;
    bool good = true, fits = true;
    while (good && fits && at > 0) {
        struct setup own = setup_length(setup, at - 1);
        own.batch = at <= last
                        ? (uint32_t)result_cell(&growth.lengths[last], COLUMN(batch))->integer
                        : own.batch;
        struct run *run = run_open(&own, context, &growth.lengths[at - 1], why);
        run_close(run);
        good = run != NULL;
        at -= good;
        fits = good && result_ok(&growth.lengths[at]);
    }
    if (good) {
        kept = fits ? last : at;
        *result = growth.lengths[kept];
        good = !fits || growth_write(&growth, result, why);
        if (!good) {
            result_release(result);
        }
    }
    for (uint32_t i = at; i <= last; i++) {
        if (i != kept) {
            result_release(&growth.lengths[i]);
        }
    }
    return good;
}
