/* Resolve: sizes, heads, memory, the largest batch, the steps. */
#include "decode/plan.h"

#include "base/array.h"
#include "decode/hybrid.h"
#include "decode/memory.h"
#include "decode/resident.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define MOST_BATCH (1u << 20)

/* Steps of a run that no trace limits: every step is alike. */
#define STEPS_WITHOUT_TRACE 16
#define MOST_ALIKE 1024

/* Does this batch fit, and if not, which tier is it that stops it? */
static bool fits(const struct setup *setup, uint64_t offloaded, uint32_t batch, enum limit *limit,
                 struct trust *trust)
{
    struct head_sizes sizes;
    struct error ignored;
    *limit = LIMIT_HBM;
    if (!memory_head_sizes(setup, offloaded, batch, &sizes, &ignored)) {
        return false;
    }
    struct memory memory = memory_of(setup, &sizes, offloaded, batch);
    if (memory.hbm > memory_hbm_limit(setup, &memory, trust)) {
        return false;
    }
    *limit = LIMIT_HOST;
    return memory.dram <= memory_dram_limit(setup, trust);
}

/* The largest batch that fits, by bisection: memory grows with the batch. With a budget in bytes
 * every batch's cache is the same size, and a batch so large that a head has no block left does not
 * fit. */
static uint32_t largest_batch(const struct setup *setup, uint64_t offloaded, enum limit *limit,
                              struct trust *trust)
{
    uint32_t good = 0, bad = MOST_BATCH + 1;
    *limit = LIMIT_HBM;
    while (bad - good > 1) {
        uint32_t batch = good + (bad - good) / 2;
        enum limit stops;
        if (fits(setup, offloaded, batch, &stops, trust)) {
            good = batch;
        } else {
            bad = batch;
            *limit = stops;
        }
    }
    return good;
}

/* The longest context that would fit with this batch, shorter than the setup's. */
static uint64_t largest_context(const struct setup *setup, uint64_t offloaded, uint32_t batch,
                                struct trust *trust)
{
    struct setup shorter = *setup;
    uint64_t good = 0, bad = setup->context;
    while (bad - good > 1) {
        enum limit stops;
        shorter.context = good + (bad - good) / 2;
        if (fits(&shorter, offloaded, batch, &stops, trust)) {
            good = shorter.context;
        } else {
            bad = shorter.context;
        }
    }
    return good;
}

static bool resolve_steps(const struct setup *setup, struct plan *plan, struct error *why)
{
    if (setup->trace == NULL) {
        if (setup->steps > MOST_ALIKE) {
            error_usage(why, NULL, 0, "without a trace every step is alike: %u say no more than 1",
                        setup->steps);
            return error_expect(why, "at most %d steps", MOST_ALIKE);
        }
        plan->warmup = 0;
        plan->steps = setup->steps != SETUP_STEPS_ALL ? setup->steps : STEPS_WITHOUT_TRACE;
        return true;
    }
    uint32_t recorded = trace_header(setup->trace)->steps;
    int64_t warmup = setup->warmup == SETUP_WARMUP_AUTO ? recorded / 2 : setup->warmup;
    int64_t left = (int64_t)recorded - warmup;
    if (left < 1 || (int64_t)setup->steps > left) {
        error_set(why, trace_path(setup->trace), 0,
                  "the trace has %u steps, too few for %lld of warm-up and %u to report", recorded,
                  (long long)warmup, setup->steps > 0 ? setup->steps : 1);
        return error_expect(why, "'warmup' and 'steps' that add up to at most %u", recorded);
    }
    plan->warmup = (uint32_t)warmup;
    plan->steps = setup->steps != SETUP_STEPS_ALL ? setup->steps : (uint32_t)left;
    return true;
}

static bool check_context(const struct setup *setup, struct trust *trust, struct error *why)
{
    const struct model *model = &setup->model;
    uint64_t window = setup->mechanisms.sinks + setup_recent(setup);
    if (mechanisms_offload(&setup->mechanisms) && setup->context <= window) {
        error_usage(why, NULL, 0, "a context of %llu tokens has nothing outside the window",
                    (unsigned long long)setup->context);
        return error_expect(why, "more than %llu tokens", (unsigned long long)window);
    }
    if (model->trained_context == 0 || setup->context <= model->trained_context) {
        return true;
    }
    if (model->learned_positions) {
        error_usage(why, NULL, 0, "'%s' has learned positions and cannot run %llu tokens",
                    model->name, (unsigned long long)setup->context);
        return error_expect(why, "a context of at most %u", model->trained_context);
    }
    trust->extrapolated = true;
    return true;
}

uint64_t plan_offloaded_heads(const struct plan *plan)
{
    uint64_t heads = 0;
    for (uint32_t l = 0; l < plan->layers; l++) {
        heads += plan->offloaded[l];
    }
    return heads;
}

/* Heads and memory at the plan's batch. Resident heads are chosen with the sizes that the fewest of
 * them leave. */
static bool resolve_heads(const struct setup *setup, const double *head_cosine, uint64_t most,
                          struct plan *plan, struct trust *trust, struct error *why)
{
    struct head_sizes sizes;
    if (!memory_head_sizes(setup, most, plan->batch, &sizes, why)) {
        return false;
    }
    plan->memory = memory_of(setup, &sizes, most, plan->batch);
    plan->hbm_limit = memory_hbm_limit(setup, &plan->memory, trust);
    plan->dram_limit = memory_dram_limit(setup, trust);
    if (!resident_importance(setup, head_cosine, plan, why) ||
        !resident_choose(setup, head_cosine, &sizes, plan, trust, why)) {
        return false;
    }
    uint64_t offloaded = plan_offloaded_heads(plan);
    plan->entries = sizes.entries;
    plan->selected_tokens = sizes.selected_tokens;
    plan->estimated_entries = sizes.estimated_entries;
    plan->cache_tokens = sizes.cache_tokens;
    plan->cpu_threads = hybrid_threads(setup, trust);
    plan->split = sizes.split;
    plan->memory = memory_of(setup, &sizes, offloaded, plan->batch);
    plan->fits = plan->memory.hbm <= plan->hbm_limit && plan->memory.dram <= plan->dram_limit;
    plan->budget_bytes = setup->mechanisms.budget.unit == UNIT_BYTES
                             ? (uint64_t)setup->mechanisms.budget.value
                             : plan->memory.cache;
    return true;
}

/* Blocks of so many sequences; the last one may be smaller. */
static bool resolve_micro_batches(const struct setup *setup, struct plan *plan, struct error *why)
{
    uint32_t most = memory_micro_batch(setup, plan->batch);
    plan->micro_batch_count = (plan->batch + most - 1) / most;
    plan->micro_batches = array_zeroed(plan->micro_batch_count, sizeof *plan->micro_batches, why);
    for (uint32_t i = 0; plan->micro_batches != NULL && i < plan->micro_batch_count; i++) {
        uint32_t left = plan->batch - i * most;
        plan->micro_batches[i] = left < most ? left : most;
    }
    return plan->micro_batches != NULL;
}

static bool allocate(const struct setup *setup, struct plan *plan, struct error *why)
{
    plan->layers = setup->model.layer_count;
    plan->kv_heads = model_kv_heads(&setup->model);
    plan->context = setup->context;
    plan->heads = array_zeroed((size_t)plan->layers * plan->kv_heads, sizeof *plan->heads, why);
    plan->offloaded = array_zeroed(plan->layers, sizeof *plan->offloaded, why);
    return plan->heads != NULL && plan->offloaded != NULL;
}

bool plan_resolve(const struct setup *setup, const double *head_cosine, struct plan *out,
                  struct trust *trust, struct error *why)
{
    memset(out, 0, sizeof *out);
    uint64_t most = resident_most_offloaded(setup);
    if (!check_context(setup, trust, why) || !allocate(setup, out, why) ||
        !resolve_steps(setup, out, why)) {
        plan_release(out);
        return false;
    }
    out->max_batch = largest_batch(setup, most, &out->limit, trust);
    out->batch = setup->batch != SETUP_BATCH_MAX ? setup->batch
                 : out->max_batch > 0            ? out->max_batch
                                                 : 1;
    if (!resolve_heads(setup, head_cosine, most, out, trust, why) ||
        !resolve_micro_batches(setup, out, why)) {
        plan_release(out);
        return false;
    }
    if (!out->fits) {
        out->max_context = largest_context(setup, most, out->batch, trust);
    }
    return true;
}

void plan_release(struct plan *plan)
{
    free(plan->heads);
    free(plan->micro_batches);
    plan->micro_batches = NULL;
    free(plan->offloaded);
    plan->heads = NULL;
    plan->offloaded = NULL;
}

static uint32_t whole_layers(const struct setup *setup)
{
    uint32_t layers = 0;
    while (layers < setup->model.layer_count && setup_loads_whole(setup, layers)) {
        layers++;
    }
    return layers;
}

struct replay_plan plan_replay(const struct setup *setup, const struct plan *plan)
{
    const struct mechanisms *m = &setup->mechanisms;
    double context = (double)plan->context;
    return (struct replay_plan){
        .layers = plan->layers,
        .kv_heads = plan->kv_heads,
        .batch = plan->batch,
        .context = plan->context,
        .heads = plan->heads,
        .policy = m->policy,
        .policy_values = m->policy_values,
        .seed = setup->seed,
        .order = setup->order,
        .selection = (double)plan->selected_tokens / context,
        .capacity = (double)plan->cache_tokens / context,
        .sinks = (uint32_t)m->sinks,
        .recent = (uint32_t)setup_recent(setup),
        .recent_scales = m->recent.unit == UNIT_SHARE,
        .manager_unit = (double)m->granularity,
        .block_span = (enum block_span)m->block_span,
        .block_candidates = (uint32_t)m->block_candidates,
        .warmup = plan->warmup,
        .steps = plan->steps,
        .cpu_threads = plan->cpu_threads,
        .whole_layers = whole_layers(setup),
        .recomputed = plan->split.act_hbm + plan->split.act_host + plan->split.ids,
        .speculates = m->prefetch == PREFETCH_NEXT_LAYER,
    };
}

/* Of everything but heads. */
static uint64_t hash_common(const struct replay_plan *replay)
{
    const double shares[] = {replay->selection, replay->capacity, replay->manager_unit};
    const uint64_t numbers[] = {
        replay->layers,
        replay->kv_heads,
        replay->batch,
        replay->context,
        (uint64_t)replay->order,
        replay->sinks,
        replay->recent,
        replay->warmup,
        replay->steps,
        replay->whole_layers,
        replay->speculates,
        replay->recomputed,
        replay->seed,
        replay->cpu_threads,
        (uint64_t)replay->block_span,
        replay->block_candidates,
        replay->recent_scales,
    };
    uint64_t hash = XXH64(replay->policy->name, strlen(replay->policy->name), replay->policy->content);
    hash = XXH64(replay->policy_values, POLICY_MOST_PARAMS * sizeof *replay->policy_values, hash);
    hash = XXH64(shares, sizeof shares, hash);
    return XXH64(numbers, sizeof numbers, hash);
}

uint64_t plan_replay_hash(const struct replay_plan *replay)
{
    uint64_t hash = hash_common(replay);
    for (uint32_t i = 0; i < replay->layers * replay->kv_heads; i++) {
        const uint64_t head[] = {replay->heads[i].offloaded,
                                 (uint64_t)llround(replay->heads[i].importance * 1e6)};
        hash = XXH64(head, sizeof head, hash);
    }
    return hash;
}

/* All but capacity, batch and heads, and what of a plan follows from these. */
uint64_t plan_family(const struct replay_plan *replay)
{
    struct replay_plan common = *replay;
    common.batch = common.cpu_threads = common.whole_layers = 0;
    common.capacity = 0;
    common.recomputed = 0;
    return hash_common(&common);
}

uint64_t plan_hash(const struct setup *setup, const struct plan *plan)
{
    const struct replay_plan replay = plan_replay(setup, plan);
    return plan_replay_hash(&replay);
}
