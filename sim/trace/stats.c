/* One pass over a trace, layer by layer in parallel, with a history: the last 32 steps of each unit (a bit
 * each), and the last 16 queries of each query head. */
#include "trace/stats.h"

#include "core/array.h"
#include "core/parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LAGS = 3, LAG_MOST = 16, HISTORY_BITS = 32 };

/* Indexed like the figures of overlap and cosine. */
static const uint32_t lags[LAGS] = {1, 4, LAG_MOST};

const struct trace_figure_kind trace_figures[TRACE_FIGURES] = {
    [TRACE_OVERLAP_1] = {"overlap_1", "demand also wanted 1 step before"},
    [TRACE_OVERLAP_4] = {"overlap_4", "demand also wanted 4 steps before"},
    [TRACE_OVERLAP_16] = {"overlap_16", "demand also wanted 16 steps before"},
    [TRACE_COSINE_1] = {"cosine_1", "cosine to the query 1 step before"},
    [TRACE_COSINE_4] = {"cosine_4", "cosine to the query 4 steps before"},
    [TRACE_COSINE_16] = {"cosine_16", "cosine to the query 16 steps before"},
    [TRACE_FRESH_MASS] = {"fresh_mass", "attention mass of the demand and the window"},
    [TRACE_HALF_UNITS] = {"half_units", "units that hold 50 % of the recorded mass"},
    [TRACE_MOST_UNITS] = {"most_units", "units that hold 90 % of the recorded mass"},
    [TRACE_ROW_UNITS] = {"row_units", "units recorded in a row"},
    [TRACE_RECALL] = {"recall", "share of the demand that the retrieval asked for"},
    [TRACE_ASKED_MASS] = {"asked_mass", "attention mass of the retrieval's units and the window"},
};

struct mean {
    double sum;
    uint64_t count;
};

/* Bit k of `bits`: the unit was wanted k steps before `step`, the last step that wanted it. */
struct history {
    uint32_t step, bits;
};

/* What one thread needs for its current layer. */
struct trace_stats_scratch {
    struct trace_frame frame;
    struct demand_buffer demand;
    struct arrays arrays;
    struct mean (*means)[TRACE_FIGURES]; /* of each KV head */
    struct history *wanted;              /* of each unit of each KV head */
    int8_t *queries;                     /* for each query head a ring of LAG_MOST */
    double *norms;                       /* of these queries */
};

struct trace_stats_measurement {
    const struct trace *trace;
    const struct trace_header *header;
    bool with_demands;
    struct demand_shape shape;
    struct trace_stats_scratch *scratch; /* one per thread */
    struct trace_stats *stats;
};

static void trace_stats_add(struct mean *mean, double value)
{
    mean->sum += value;
    mean->count++;
}

static void add_overlap(struct mean *means, struct history *wanted, const struct demand *demand,
                        uint32_t step)
{
    uint32_t both[LAGS] = {0};
    for (uint32_t i = 0; i < demand->wanted; i++) {
        struct history *history = &wanted[demand->units[i]];
        uint32_t age = step - history->step;
        uint32_t bits = age < HISTORY_BITS ? history->bits << age : 0;
        for (int lag = 0; lag < LAGS; lag++) {
            both[lag] += bits >> lags[lag] & 1;
        }
        *history = (struct history){step, bits | 1};
    }
    for (int lag = 0; lag < LAGS; lag++) {
        if (demand->wanted > 0 && step >= lags[lag]) {
            trace_stats_add(&means[TRACE_OVERLAP_1 + lag], (double)both[lag] / demand->wanted);
        }
    }
}

static uint32_t units_that_hold(const struct demand *demand, double mass)
{
    uint32_t count = 0;
    for (double held = 0; count < demand->recorded && held < mass; count++) {
        held += (double)trace_mass[demand->mass[count]];
    }
    return count;
}

static void add_demand(const struct trace_stats_measurement *all,
                       struct trace_stats_scratch *scratch, const struct demand *demand,
                       uint32_t head, uint32_t step)
{
    struct mean *means = scratch->means[head];
    double units = all->header->units;
    struct history *history = scratch->wanted + (size_t)head * all->header->units;
    uint32_t at = scratch->frame.first_step + step;
    add_overlap(means, history, demand, at);
    struct unit_set wanted = demand_wanted(demand);
    trace_stats_add(&means[TRACE_FRESH_MASS], demand_attended(demand, &wanted).least);
    const uint32_t *start = scratch->frame.rows.start + head * scratch->frame.steps + step;
    trace_stats_add(&means[TRACE_ROW_UNITS], start[1] - start[0]);
    if (demand->recorded > 0) {
        double recorded = 0;
        for (uint32_t i = 0; i < demand->recorded; i++) {
            recorded += (double)trace_mass[demand->mass[i]];
        }
        trace_stats_add(&means[TRACE_HALF_UNITS], units_that_hold(demand, 0.5 * recorded) / units);
        trace_stats_add(&means[TRACE_MOST_UNITS], units_that_hold(demand, 0.9 * recorded) / units);
    }
}

/* After the exact demand of the step: measure how much of it the retrieval asked for. */
static bool add_asked(const struct trace_stats_measurement *all,
                      struct trace_stats_scratch *scratch, uint32_t exact, uint32_t head,
                      uint32_t step, struct error *why)
{
    struct demand asked;
    struct mean *means = scratch->means[head];
    const struct history *wanted = scratch->wanted + (size_t)head * all->header->units;
    uint32_t both = 0;
    if (!demand_from_approximate(all->header, &scratch->frame, head, step, &all->shape,
                                 &scratch->demand, &asked, why)) {
        return false;
    }
    for (uint32_t i = 0; i < asked.wanted; i++) {
        const struct history *history = &wanted[asked.units[i]];
        both += history->step == scratch->frame.first_step + step && (history->bits & 1) != 0;
    }
    if (exact > 0) {
        trace_stats_add(&means[TRACE_RECALL], (double)both / exact);
    }
    struct unit_set set = demand_wanted(&asked);
    trace_stats_add(&means[TRACE_ASKED_MASS], demand_attended(&asked, &set).least);
    return true;
}

static bool add_demands(const struct trace_stats_measurement *all,
                        struct trace_stats_scratch *scratch, struct error *why)
{
    for (uint32_t head = 0; head < all->header->kv_heads; head++) {
        for (uint32_t step = 0; step < scratch->frame.steps; step++) {
            struct demand demand;
            if (!demand_from_frame(all->header, &scratch->frame, head, step, &all->shape,
                                   &scratch->demand, &demand, why)) {
                return false;
            }
            add_demand(all, scratch, &demand, head, step);
            if (all->header->has_approximate &&
                !add_asked(all, scratch, demand.wanted, head, step, why)) {
                return false;
            }
        }
    }
    return true;
}

int32_t trace_dot(const int8_t *a, const int8_t *b, uint32_t count)
{
    int32_t sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

/* Scales cancel in a cosine. A query of zeros counts as orthogonal to all. */
static void add_queries(const struct trace_header *header, struct trace_stats_scratch *scratch)
{
    const struct trace_frame *frame = &scratch->frame;
    uint32_t group = header->query_heads / header->kv_heads, head_dim = header->head_dim;
    const int8_t *query = frame->query;
    for (uint32_t q = 0; q < header->query_heads; q++) {
        int8_t *ring = scratch->queries + (size_t)q * LAG_MOST * head_dim;
        double *norms = scratch->norms + (size_t)q * LAG_MOST;
        for (uint32_t s = 0; s < frame->steps; s++, query += head_dim) {
            uint32_t step = frame->first_step + s;
            double norm = sqrt(trace_dot(query, query, head_dim));
            for (int lag = 0; lag < LAGS && step >= lags[lag]; lag++) {
                uint32_t slot = (step - lags[lag]) % LAG_MOST;
                double product = trace_dot(query, ring + (size_t)slot * head_dim, head_dim);
                double length = norm * norms[slot];
                trace_stats_add(&scratch->means[q / group][TRACE_COSINE_1 + lag],
                                length > 0 ? product / length : 0);
            }
            memcpy(ring + (size_t)(step % LAG_MOST) * head_dim, query, head_dim);
            norms[step % LAG_MOST] = norm;
        }
    }
}

static bool trace_stats_measure_layer(uint32_t layer, uint32_t thread, void *context,
                                      struct error *why)
{
    const struct trace_stats_measurement *all = context;
    const struct trace_header *header = all->header;
    struct trace_stats_scratch *scratch = &all->scratch[thread];
    memset(scratch->means, 0, header->kv_heads * sizeof *scratch->means);
    for (uint32_t sequence = 0; sequence < header->sequences; sequence++) {
        if (all->with_demands) {
            memset(scratch->wanted, 0,
                   (size_t)header->kv_heads * header->units * sizeof *scratch->wanted);
        }
        for (uint32_t tile = 0; tile < trace_tiles(header); tile++) {
            if (!trace_read_frame(all->trace, sequence, tile, layer, all->with_demands,
                                  &scratch->frame, why) ||
                (all->with_demands && !add_demands(all, scratch, why))) {
                return false;
            }
            if (header->has_queries) {
                add_queries(header, scratch);
            }
        }
    }
    for (uint32_t head = 0; head < all->header->kv_heads; head++) {
        for (int figure = 0; figure < TRACE_FIGURES; figure++) {
            const struct mean *mean = &scratch->means[head][figure];
            all->stats->figures[figure][layer * all->header->kv_heads + head] =
                mean->count > 0 ? mean->sum / (double)mean->count : (double)NAN;
        }
    }
    return true;
}

void trace_stats_release(struct trace_stats *stats)
{
    for (int figure = 0; figure < TRACE_FIGURES; figure++) {
        free(stats->figures[figure]);
    }
    *stats = (struct trace_stats){0};
}

/* Fill the figures of `stats`; on failure the caller releases it. */
static bool trace_stats_fill(struct trace_stats_measurement *all, uint32_t threads,
                             struct error *why)
{
    struct trace_stats *stats = all->stats;
    stats->heads = all->header->layers * all->header->kv_heads;
    for (int figure = 0; figure < TRACE_FIGURES; figure++) {
        stats->figures[figure] = array_zeroed(stats->heads, sizeof *stats->figures[figure], why);
        if (stats->figures[figure] == NULL) {
            return false;
        }
    }
    threads = parallel_threads(threads);
    threads = threads < all->header->layers ? threads : all->header->layers;
    all->scratch = array_zeroed(threads, sizeof *all->scratch, why);
    bool ok = all->scratch != NULL;
    size_t kv_heads = all->header->kv_heads, units = all->with_demands ? all->header->units : 0;
    size_t queries = all->header->has_queries ? (size_t)all->header->query_heads * LAG_MOST : 0;
    for (uint32_t i = 0; ok && i < threads; i++) {
        struct trace_stats_scratch *scratch = &all->scratch[i];
        struct arrays *of = &scratch->arrays;
        scratch->means = arrays_add(of, kv_heads, sizeof *scratch->means, why);
        scratch->wanted = arrays_add(of, kv_heads * units, sizeof *scratch->wanted, why);
        scratch->queries = arrays_add(of, queries, all->header->head_dim, why);
        scratch->norms = arrays_add(of, queries, sizeof *scratch->norms, why);
        ok = !of->failed;
    }
    ok = ok && parallel_for(all->header->layers, threads, trace_stats_measure_layer, all, why);
    for (uint32_t i = 0; all->scratch != NULL && i < threads; i++) {
        trace_frame_release(&all->scratch[i].frame);
        demand_buffer_release(&all->scratch[i].demand);
        arrays_release(&all->scratch[i].arrays);
    }
    free(all->scratch);
    for (int figure = 0; ok && figure < TRACE_FIGURES; figure++) {
        struct mean mean = {0}; /* over the heads that have the figure */
        for (uint32_t head = 0; head < stats->heads; head++) {
            if (!isnan(stats->figures[figure][head])) {
                trace_stats_add(&mean, stats->figures[figure][head]);
            }
        }
        stats->overall[figure] = mean.count > 0 ? mean.sum / (double)mean.count : (double)NAN;
    }
    return ok;
}

bool trace_stats_measure(const struct trace *trace, const struct trace_selection *selection,
                         uint32_t threads, struct trace_stats *stats, struct error *why)
{
    const struct trace_header *header = trace_header(trace);
    *stats = (struct trace_stats){0};
    if (!(selection->share > 0 && selection->share <= 1)) {
        error_set(why, trace_path(trace), 0, "the selection is %g", selection->share);
        return error_expect(why, "a share of the context, above 0 and at most 1");
    }
    uint32_t wanted = (uint32_t)lround(selection->share * header->units);
    struct trace_stats_measurement all = {
        .trace = trace,
        .header = header,
        .with_demands = true,
        .shape = demand_shape(header, wanted, selection->sinks, selection->recent),
        .stats = stats,
    };
    uint32_t outside = all.shape.end_unit - all.shape.first_unit;
    if (wanted > header->keep && outside > header->keep) {
        error_set(why, trace_path(trace), 0,
                  "a selection of %g %% wants %u units per row, but the trace keeps %u",
                  100 * selection->share, wanted, header->keep);
        return error_expect(why, "at most %g %%", floor(1e4 * header->keep / header->units) / 100);
    }
    bool ok = trace_stats_fill(&all, threads, why);
    if (!ok) {
        trace_stats_release(stats);
    }
    return ok;
}

bool trace_head_cosine(const struct trace *trace, uint32_t threads, double *cosine,
                       struct error *why)
{
    struct trace_stats stats;
    struct trace_stats_measurement all = {
        .trace = trace, .header = trace_header(trace), .stats = &stats};
    if (!all.header->has_queries) {
        return error_set(why, trace_path(trace), 0, "the trace has no queries");
    }
    stats = (struct trace_stats){0};
    bool ok = trace_stats_fill(&all, threads, why);
    if (ok) {
        memcpy(cosine, stats.figures[TRACE_COSINE_1], stats.heads * sizeof *cosine);
    }
    trace_stats_release(&stats);
    return ok;
}
