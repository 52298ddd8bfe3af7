/* Each figure is a row of a table: a statistic of trace/stats.h, or the result of one policy at one
 * setting for each head. All policies of a layer see its frames in one pass. */
#include "decode/replay/likeness.h"

#include "core/array.h"
#include "core/parallel.h"
#include "policy/policy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct likeness_figure likeness_figures[LIKENESS_FIGURES] = {
    {"overlap_1", "demand also wanted 1 step before", 0.03, 0.03, LIKENESS_STATS, TRACE_OVERLAP_1,
     NULL, 0},
    {"overlap_4", "demand also wanted 4 steps before", 0.03, 0.03, LIKENESS_STATS, TRACE_OVERLAP_4,
     NULL, 0},
    {"overlap_16", "demand also wanted 16 steps before", 0.03, 0.03, LIKENESS_STATS,
     TRACE_OVERLAP_16, NULL, 0},
    {"cosine_1", "cosine to the query 1 step before", 0, 0, LIKENESS_STATS, TRACE_COSINE_1, NULL,
     0},
    {"cosine_4", "cosine to the query 4 steps before", 0, 0, LIKENESS_STATS, TRACE_COSINE_4, NULL,
     0},
    {"cosine_16", "cosine to the query 16 steps before", 0, 0, LIKENESS_STATS, TRACE_COSINE_16,
     NULL, 0},
    {"fresh_mass", "attention mass of demand and window", 0.015, 0.015, LIKENESS_MASS, 0, "none",
     0},
    {"lru_10", "hits of LRU, begun empty: 10 % of context", 0.02, 0.04, LIKENESS_HITS, 0, "lru",
     0.1},
    {"lru_20", "hits of LRU, 20 %", 0.02, 0.04, LIKENESS_HITS, 0, "lru", 0.2},
    {"lru_30", "hits of LRU, 30 %", 0.02, 0.04, LIKENESS_HITS, 0, "lru", 0.3},
    {"lru_50", "hits of LRU, 50 %", 0.02, 0.04, LIKENESS_HITS, 0, "lru", 0.5},
    {"fifo_10", "hits of FIFO, 10 %", 0.02, 0.04, LIKENESS_HITS, 0, "fifo", 0.1},
    {"fifo_20", "hits of FIFO, 20 %", 0.02, 0.04, LIKENESS_HITS, 0, "fifo", 0.2},
    {"fifo_30", "hits of FIFO, 30 %", 0.02, 0.04, LIKENESS_HITS, 0, "fifo", 0.3},
    {"fifo_50", "hits of FIFO, 50 %", 0.02, 0.04, LIKENESS_HITS, 0, "fifo", 0.5},
    {"reuse_.9", "sets that QSAC reuses, threshold .9 for all heads", 0.04, 0.04, LIKENESS_REUSES,
     0, "qsac", 0.9},
    {"reuse_.8", "threshold .8", 0.04, 0.04, LIKENESS_REUSES, 0, "qsac", 0.8},
    {"reuse_.7", "threshold .7", 0.04, 0.04, LIKENESS_REUSES, 0, "qsac", 0.7},
    {"reuse_.6", "threshold .6", 0.04, 0.04, LIKENESS_REUSES, 0, "qsac", 0.6},
    {"mass_.9", "attention mass of QSAC's sets and the window, threshold .9", 0.015, 0.015,
     LIKENESS_MASS, 0, "qsac", 0.9},
    {"mass_.8", "threshold .8", 0.015, 0.015, LIKENESS_MASS, 0, "qsac", 0.8},
    {"mass_.7", "threshold .7", 0.015, 0.015, LIKENESS_MASS, 0, "qsac", 0.7},
    {"mass_.6", "threshold .6", 0.015, 0.015, LIKENESS_MASS, 0, "qsac", 0.6},
};

struct likeness_measurement {
    const struct trace *trace;
    struct demand_shape shape;
    struct likeness *out;
};

/* The policies of a layer, head by head. */
struct likeness_layer {
    struct arrays arrays;
    struct trace_frame frame;
    struct demand_buffer buffer;
    struct policy **policies; /* [kv_heads * LIKENESS_FIGURES], NULL for LIKENESS_STATS */
    double *wanted;           /* by policy, over the second half of the steps */
    double *got;
};

static struct policy *make_policy(const struct likeness_measurement *all,
                                  const struct likeness_figure *source, struct error *why)
{
    const struct trace_header *header = trace_header(all->trace);
    const struct policy_kind *kind = policy_find(source->policy, NULL, 0, why);
    bool is_hits = source->kind == LIKENESS_HITS;
    double values[POLICY_MOST_PARAMS] = {source->setting, 1}; /* of qsac: threshold, power */
    struct policy_env env = {
        .blocks = header->units,
        .capacity = is_hits ? (uint32_t)lround(source->setting * header->units) : all->shape.wanted,
        .wanted = all->shape.wanted,
        .order = POLICY_BATCH,
        .query_heads = header->query_heads / header->kv_heads,
        .head_dim = header->head_dim,
    };
    return kind != NULL ? policy_create(kind, is_hits ? NULL : values, &env, why) : NULL;
}

/* The caller releases it, on failure too. */
static bool likeness_layer_init(struct likeness_layer *layer,
                                const struct likeness_measurement *all, uint32_t count,
                                struct error *why)
{
    *layer = (struct likeness_layer){0};
    trace_frame_init(&layer->frame);
    demand_buffer_init(&layer->buffer);
    layer->policies = arrays_add(&layer->arrays, count, sizeof(struct policy *), why);
    layer->wanted = arrays_add(&layer->arrays, count, sizeof(double), why);
    layer->got = arrays_add(&layer->arrays, count, sizeof(double), why);
    if (layer->arrays.failed) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct likeness_figure *source = &likeness_figures[i % LIKENESS_FIGURES];
        if (source->kind != LIKENESS_STATS &&
            !(layer->policies[i] = make_policy(all, source, why))) {
            return false;
        }
    }
    return true;
}

static void ask_policies(struct likeness_layer *layer, uint32_t head, const struct demand *demand,
                         bool is_reported)
{
    for (uint32_t f = 0; f < LIKENESS_FIGURES; f++) {
        uint32_t i = head * LIKENESS_FIGURES + f;
        struct outcome outcome;
        if (layer->policies[i] == NULL) {
            continue;
        }
        policy_access(layer->policies[i], demand, &outcome);
        if (is_reported) {
            bool is_hits = likeness_figures[f].kind == LIKENESS_HITS;
            layer->wanted[i] += is_hits ? outcome.hit + outcome.missed : 1;
            layer->got[i] += is_hits ? outcome.hit
                             : likeness_figures[f].kind == LIKENESS_REUSES
                                 ? outcome.reused
                                 : demand_attended(demand, &outcome.attended).least;
        }
    }
}

static bool replay_layer_of(const struct likeness_measurement *all, uint32_t number,
                            struct likeness_layer *layer, struct error *why)
{
    const struct trace_header *header = trace_header(all->trace);
    struct trace_frame *frame = &layer->frame;
    for (uint32_t tile = 0; tile < trace_tiles(header); tile++) {
        if (!trace_read(all->trace, 0, tile, number, frame, why)) {
            return false;
        }
        for (uint32_t head = 0; head < header->kv_heads; head++) {
            for (uint32_t s = 0; s < frame->steps; s++) {
                struct demand demand;
                if (!demand_from_frame(header, frame, head, s, &all->shape, &layer->buffer, &demand,
                                       why)) {
                    return false;
                }
                ask_policies(layer, head, &demand, frame->first_step + s >= header->steps / 2);
            }
        }
    }
    return true;
}

static bool likeness_measure_layer(uint32_t number, uint32_t thread, void *context,
                                   struct error *why)
{
    const struct likeness_measurement *all = context;
    uint32_t kv_heads = trace_header(all->trace)->kv_heads;
    uint32_t count = kv_heads * LIKENESS_FIGURES;
    struct likeness_layer layer;
    (void)thread;
    bool ok =
        likeness_layer_init(&layer, all, count, why) && replay_layer_of(all, number, &layer, why);
    for (uint32_t i = 0; ok && i < count; i++) {
        uint32_t figure = i % LIKENESS_FIGURES, head = i / LIKENESS_FIGURES;
        if (likeness_figures[figure].kind != LIKENESS_STATS) {
            all->out->values[figure][number * kv_heads + head] = layer.got[i] / layer.wanted[i];
        }
    }
    for (uint32_t i = 0; layer.policies != NULL && i < count; i++) {
        policy_destroy(layer.policies[i]);
    }
    trace_frame_release(&layer.frame);
    demand_buffer_release(&layer.buffer);
    arrays_release(&layer.arrays);
    return ok;
}

void likeness_release(struct likeness *likeness)
{
    for (uint32_t f = 0; f < LIKENESS_FIGURES; f++) {
        free(likeness->values[f]);
    }
    *likeness = (struct likeness){0};
}

static bool measure_stats(const struct trace *trace, double share, uint32_t threads,
                          struct likeness *out, struct error *why)
{
    const struct trace_header *header = trace_header(trace);
    struct trace_selection selection = {share, header->sinks, header->recent};
    struct trace_stats stats;
    if (!trace_stats_measure(trace, &selection, threads, &stats, why)) {
        return false;
    }
    for (uint32_t f = 0; f < LIKENESS_FIGURES; f++) {
        if (likeness_figures[f].kind == LIKENESS_STATS) {
            memcpy(out->values[f], stats.figures[likeness_figures[f].figure],
                   out->heads * sizeof *out->values[f]);
        }
    }
    trace_stats_release(&stats);
    return true;
}

bool likeness_measure(const struct trace *trace, double share, uint32_t threads,
                      struct likeness *out, struct error *why)
{
    const struct trace_header *header = trace_header(trace);
    uint32_t wanted = (uint32_t)lround(share * header->units);
    struct likeness_measurement all = {
        .trace = trace,
        .shape = demand_shape(header, wanted, header->sinks, header->recent),
        .out = out,
    };
    *out = (struct likeness){.heads = header->layers * header->kv_heads};
    if (!header->has_queries) {
        return error_set(why, trace_path(trace), 0, "the trace has no queries");
    }
    bool ok = true;
    for (uint32_t f = 0; ok && f < LIKENESS_FIGURES; f++) {
        ok = (out->values[f] = array_zeroed(out->heads, sizeof(double), why)) != NULL;
    }
    ok = ok && measure_stats(trace, share, threads, out, why) &&
         parallel_for(header->layers, threads, likeness_measure_layer, &all, why);
    if (!ok) {
        likeness_release(out);
    }
    return ok;
}

double likeness_mean(const struct likeness *likeness, uint32_t figure)
{
    double sum = 0;
    for (uint32_t head = 0; head < likeness->heads; head++) {
        sum += likeness->values[figure][head];
    }
    return sum / likeness->heads;
}
