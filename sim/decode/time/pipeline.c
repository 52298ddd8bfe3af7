/* Building the schedule: the stage table, for each layer of each step. */

#include "decode/time/pipeline.h"

#include <math.h>
#include <stdlib.h>

#include "core/engine/chrome_trace.h"
#include "core/stop_flag.h"
#include "decode/cost/attention.h"
#include "decode/time/fetch.h"
#include "decode/time/steady.h"
#include "model/sharding.h"

const char *const pipeline_part_names[PART_COUNT] = {
#define PART(id, name, what) name,
#include "decode/time/parts.def"
};

/* Tokens that each head of a layer attends to on the GPU, in a sequence of the cohort. */
static uint64_t attended_tokens(const struct pipe *pipe, uint32_t cohort, uint32_t layer)
{
    const struct mechanisms *m = pipe->setup->mechanisms;
    const struct setup *setup = &pipe->setups[cohort];
    const struct head_sizes *sizes = &pipe->plan->cohorts[cohort].sizes;
    uint64_t all = model_layer_attended(&setup->model, layer, setup->context);
    /* By the CPU, unless HBM has the layer. */
    bool selected = pipe->plan->offloaded[layer] > 0 && cpu_attends_selected(setup, layer);
    if (setup_attends_all(setup, layer) && !selected) {
        return all;
    }
    uint64_t chosen = m->policy->chooses_own ? sizes->cache_tokens : sizes->selected_tokens;
    uint64_t some = (selected ? 0 : chosen) + m->sinks + setup_recent(setup);
    return some < all ? some : all;
}

/* The same over the cohort's sequences in the pass; with a selection margin the ledger's mean of heads. */
static uint64_t attended_in_pass(const struct pipe *pipe, uint32_t cohort, uint32_t layer)
{
    const struct mechanisms *m = pipe->setup->mechanisms;
    const struct setup *setup = &pipe->setups[cohort];
    uint64_t sequences = pipe_cohorts(pipe)[cohort];
    if (m->selection_margin == 0 || sequences == 0 || setup_attends_all(setup, layer) ||
        pipe_row(pipe, layer) == NULL || mechanisms_cpu_selects(m)) {
        return sequences * attended_tokens(pipe, cohort, layer);
    }
    const struct ledger_row *row = pipe_part(pipe, cohort, layer);
    uint64_t window = m->sinks + setup_recent(setup);
    uint64_t some = row->wanted * sequences / row->offloaded_heads + sequences * window;
    uint64_t all = sequences * model_layer_attended(&setup->model, layer, setup->context);
    return some < all ? some : all;
}

/* Tokens that the pass's sequences attend to in the layer: also to what HBM has of the CPU's selections. */
static uint64_t attended_by_all(const struct pipe *pipe, uint32_t layer)
{
    const struct ledger_row *row = pipe_row(pipe, layer);
    bool selected = row != NULL && cpu_attends_selected(pipe->setup, layer);
    uint64_t attended = selected ? row->hit / pipe->plan->offloaded[layer] : 0;
    for (uint32_t i = 0; i < pipe->plan->cohort_count; i++) {
        attended += attended_in_pass(pipe, i, layer);
    }
    return attended;
}

static struct kernel cost_pass(const struct pipe *pipe, enum model_stage stage, uint32_t layer,
                               uint64_t attended)
{
    uint32_t queries = setup_queries(pipe->setup);
    uint64_t kernels = cost_stage_kernels(pipe->mechanisms, stage);
    struct model_rows rows =
        model_rows(&pipe->setup->model, (uint64_t)pipe_sequences(pipe) * queries);
    bool together = true;
    for (uint32_t i = 0; together && i < pipe->plan->cohort_count; i++) {
        together = setup_attends_all(&pipe->setups[i], layer);
    }
    rows.queries = together ? queries : 1;
    attended *= together ? 1 : queries;
    struct kernel kernel = cost_row_stage(pipe->setup, layer, stage, rows, attended, kernels);
    if (pipe->mechanisms->weights_at == WEIGHTS_AT_CPU) {
        double share = cost_weights_read(pipe->setup, layer, rows).gpu[stage];
        kernel.ns *= share;
        kernel.bytes *= share;
    }
    /* K and V of the attended tokens, copied for each query head, or to append to them, and read. */
    double token = (double)model_kv_entry_bytes(&pipe->setup->model, layer);
    double copies = retrieval_copies(pipe->setup) + (pipe->mechanisms->append_by_copy ? 1 : 0);
    double copied = stage == MODEL_ATTEND ? 2 * copies * (double)attended * token : 0;
    return kernel_then(kernel, kernel_read(&pipe->setup->profile, copied));
}

/* A layer like the one before it that attends to as much takes as long. */
static void cost_pass_layers(struct pipe *pipe, enum model_stage stage)
{
    uint32_t passes = pipe->plan->micro_batches.count;
    struct kernel *kernel = pipe->kernels[stage] + pipe->micro_batch;
    uint64_t before = 0;
    for (uint32_t layer = 0; layer < pipe->plan->layers; layer++, kernel += passes) {
        uint64_t attended = stage == MODEL_ATTEND ? attended_by_all(pipe, layer) : 0;
        bool alike = model_layer_repeats(&pipe->setup->model, layer) && attended == before;
        *kernel = alike ? *(kernel - passes) : cost_pass(pipe, stage, layer, attended);
        before = attended;
    }
}

static void cost_passes(struct pipe *pipe, enum model_stage stage)
{
    uint32_t passes = pipe->plan->micro_batches.count;
    for (pipe->micro_batch = 0; pipe->micro_batch < passes; pipe->micro_batch++) {
        cost_pass_layers(pipe, stage);
    }
    pipe->micro_batch = 0;
}

static bool cost_layers(struct pipe *pipe, struct error *why)
{
    const struct plan *plan = pipe->plan;
    uint32_t passes = plan->micro_batches.count;
    for (enum model_stage stage = 0; stage < MODEL_EDGE; stage++) {
        size_t count = (size_t)plan->layers * passes;
        pipe->kernels[stage] = arrays_add(&pipe->arrays, count, sizeof **pipe->kernels, why);
        if (pipe->kernels[stage] == NULL) {
            return false;
        }
        cost_passes(pipe, stage);
    }
    uint64_t rows = (uint64_t)plan->batch * setup_queries(pipe->setup);
    pipe->edge = cost_stage(pipe->setup, plan->layers, MODEL_EDGE, rows, 0, 1);
    return true;
}

static bool pipeline_allocate(struct pipe *pipe, struct error *why)
{
    uint32_t layers = pipe->plan->layers;
    struct arrays *arrays = &pipe->arrays;
    pipe->step_end = arrays_add(arrays, pipe->steps, sizeof *pipe->step_end, why);
    pipe->layer_end =
        arrays_add(arrays, (size_t)pipe->steps * layers, sizeof *pipe->layer_end, why);
    pipe->moved = arrays_add(arrays, pipe->steps, sizeof *pipe->moved, why);
    return pipe_layers(pipe, why) && !arrays->failed;
}

/* One micro-batch passes the current layer, or its current half. */
static bool build_pass(struct pipe *pipe, struct error *why)
{
    uint32_t targets[2], count = fetch_targets(pipe, targets);
    for (const struct stage *stage = layer_stages; stage->name != NULL; stage++) {
        pipe->stage = stage->name;
        if ((stage->halves & pipe->halves) == 0) {
            continue;
        }
        if (!stage->of_fetch && !stage->emit(pipe, pipe->layer, why)) {
            return false;
        }
        for (uint32_t i = 0; stage->of_fetch && i < count; i++) {
            if (!stage->emit(pipe, targets[i], why)) {
                return false;
            }
        }
    }
    return true;
}

static bool build_passes(struct pipe *pipe, enum stage_half halves, struct error *why)
{
    pipe->halves = halves;
    for (pipe->micro_batch = 0; pipe->micro_batch < pipe->plan->micro_batches.count;
         pipe->micro_batch++) {
        if (!build_pass(pipe, why)) {
            return false;
        }
    }
    pipe->micro_batch = 0;
    return true;
}

static bool build_half(struct pipe *pipe, uint32_t layer, uint32_t micro_batch,
                       enum stage_half halves, struct error *why)
{
    pipe->layer = layer;
    pipe->micro_batch = micro_batch;
    pipe->halves = halves;
    return build_pass(pipe, why);
}

/* Behind the attention of each half of the batch follows the other's FFN, which the CPU attended to. */
static bool build_alternating(struct pipe *pipe, struct error *why)
{
    uint32_t layer = pipe->layer;
    bool last = layer + 1 == pipe->plan->layers;
    bool good = build_half(pipe, layer, 0, HALF_ATTENTION, why) &&
                (layer == 0 || build_half(pipe, layer - 1, 1, HALF_FFN, why)) &&
                build_half(pipe, layer, 1, HALF_ATTENTION, why) &&
                build_half(pipe, layer, 0, HALF_FFN, why) &&
                (!last || build_half(pipe, layer, 1, HALF_FFN, why));
    pipe->layer = layer;
    pipe->micro_batch = 0;
    return good;
}

static bool build_layer(struct pipe *pipe, struct error *why)
{
    if (pipe->mechanisms->micro_batch == MICRO_BATCH_ALTERNATING &&
        pipe->plan->micro_batches.count == 2) {
        return build_alternating(pipe, why);
    }
    return pipe->mechanisms->halves
               ? build_passes(pipe, HALF_ATTENTION, why) && build_passes(pipe, HALF_FFN, why)
               : build_passes(pipe, HALF_BOTH, why);
}

static bool build_step(struct pipe *pipe, struct error *why)
{
    uint32_t layers = pipe->plan->layers;
    pipe->layer = layers;
    if (pipe->mechanisms->selection_margin > 0) {
        cost_passes(pipe, MODEL_ATTEND); /* each step attends to as much as it selects */
    }
    if (!stage_begin_step(pipe, why)) {
        return false;
    }
    for (pipe->layer = 0; pipe->layer < layers; pipe->layer++) {
        if (!stop_flag_check(pipe->stop, why) || !build_layer(pipe, why)) {
            return false;
        }
        pipe->layer_end[(size_t)pipe->step * layers + pipe->layer] = pipe->last[PIPE_MAIN];
    }
    if (!stage_end_step(pipe, why)) {
        return false;
    }
    pipe->step_end[pipe->step] = pipe->last[PIPE_MAIN];
    return true;
}

bool pipe_build(struct pipe *pipe, const struct setup *setup, const struct plan *plan,
                const struct ledger *ledger, const struct stop_flag *stop, struct error *why)
{
    pipe_begin(pipe, setup, plan, ledger, stop);
    pipe->steps = plan->steps + 1;
    if (!pipeline_allocate(pipe, why) || !pipe_setups(pipe, why) || !machine_add(pipe, why) ||
        !cost_layers(pipe, why)) {
        return false;
    }
    for (pipe->step = 0; pipe->step < pipe->steps; pipe->step++) {
        if (!build_step(pipe, why)) {
            return false;
        }
        /* All steps have about as many tasks as the first; one with more misses may have more. */
        size_t tasks = (pipe->mark_count + pipe->mark_count / 8) * pipe->steps;
        if (pipe->step == 0 &&
            (!array_reserve(&pipe->marks, &pipe->mark_capacity, tasks, sizeof *pipe->marks, why) ||
             !engine_reserve(pipe->engine, tasks, why))) {
            return false;
        }
    }
    return engine_run(pipe->engine, stop, why);
}

void pipe_release(struct pipe *pipe)
{
    engine_destroy(pipe->engine);
    arrays_release(&pipe->arrays);
    free(pipe->marks);
}

bool pipeline_run(const struct setup *setup, const struct plan *plan, const struct ledger *ledger,
                  const struct stop_flag *stop, struct timing *out, struct error *why)
{
    struct pipe pipe;
    bool good = timing_init(out, setup, plan, why);
    if (good && shortened_pays(plan)) {
        good = shortened_run(setup, plan, ledger, stop, out, why);
    } else if (good) {
        good = pipe_build(&pipe, setup, plan, ledger, stop, why);
        if (good) {
            timing_take(out, &pipe, plan->steps);
            timing_finish(out, pipe_trust(&pipe));
        }
        pipe_release(&pipe);
    }
    if (!good) {
        timing_release(out);
    }
    return good;
}

static void pipeline_label(uint32_t tag, char *name, size_t name_size, char *category,
                           size_t category_size, const void *context)
{
    const struct pipe *pipe = context;
    const struct pipe_mark *mark = &pipe->marks[tag];
    if (mark->layer < pipe->plan->layers && pipe->plan->micro_batches.count > 1) {
        snprintf(name, name_size, "%s %u.%u", mark->stage, mark->layer, mark->micro_batch);
    } else if (mark->layer < pipe->plan->layers) {
        snprintf(name, name_size, "%s %u", mark->stage, mark->layer);
    } else {
        snprintf(name, name_size, "%s", mark->stage);
    }
    snprintf(category, category_size, "%s", pipeline_part_names[mark->part]);
}

bool pipeline_timeline(const struct setup *setup, const struct plan *plan,
                       const struct ledger *ledger, FILE *out, struct error *why)
{
    struct pipe pipe;
    uint64_t passes = (uint64_t)plan->micro_batches.count * plan->layers * (plan->steps + 1);
    if (passes > PIPELINE_MOST_DRAWN) {
        error_set(why, NULL, 0,
                  "a step of %u micro-batches in each of %u layers is too long to show",
                  plan->micro_batches.count, plan->layers);
        return error_expect(why, "at most %u micro-batches: a smaller 'batch'",
                            PIPELINE_MOST_DRAWN / plan->layers / (plan->steps + 1));
    }
    bool good = pipe_build(&pipe, setup, plan, ledger, NULL, why);
    if (good) {
        int64_t from = engine_task_record(pipe.engine, pipe.step_end[0])->end_ns;
        int64_t to = engine_task_record(pipe.engine, pipe.step_end[1])->end_ns;
        good = timeline_write(pipe.engine, from, to, pipeline_label, &pipe, out, why);
    }
    pipe_release(&pipe);
    return good;
}

/* The resources, which tasks queue for, and the channels, which flows share. */

static const char *const resource_names[PIPE_RESOURCE_COUNT] = {
    [PIPE_LAUNCH] = "launch thread", [PIPE_MAIN] = "main stream", [PIPE_SIDE] = "side stream",
    [PIPE_IN] = "copy to GPU",       [PIPE_OUT] = "copy to host", [PIPE_POOL] = "CPU pool",
    [PIPE_STORES] = "CPU stores",    [PIPE_READ] = "disk reads",  [PIPE_WRITE] = "disk writes",
};

/* A bound of the model: beside a zero-copy kernel other kernels get a tenth of the SMs, and so end. */
#define MOST_WITHHELD 0.9

/* The share of the SMs that a zero-copy kernel's loads occupy, in proportion to all its CTAs. */
static double zero_copy_share(const struct pipe *pipe)
{
    const struct setup *setup = pipe->setup;
    const struct mechanisms *m = setup->mechanisms;
    struct trust trust = work_trust;
    double ctas = fetch_mean_missed_ctas(pipe);
    double threads =
        ctas * pipe->plan->kv_heads * pipe->plan->batch * (double)m->transfer_cta_threads;
    double most = fmin(MOST_WITHHELD, ctas / (double)m->transfer_ctas);
    double sms = profile_value(&setup->profile, CURVE_GPU_SMS, 0, &trust);
    double sm_threads = profile_value(&setup->profile, CURVE_GPU_SM_THREADS, 0, &trust);
    return fmin(most, threads / (sms * sm_threads));
}

enum { GPU, HOST, DISK }; /* the places of a server, as places_add_server() numbers them */

/* The GPU's place, and the host's if something crosses. GPUs below one uplink share that and DRAM, all GPUs
 * of the server its drives, at the same time. */
static struct places find_places(struct pipe *pipe, bool crosses)
{
    struct trust *trust = &pipe->channel_trust;
    struct places places = {.count = 0};
    if (crosses) {
        double sharers = cost_uplink_sharers(pipe->setup, trust);
        places_add_server(&places, &pipe->setup->profile, sharers, true, trust);
        if (mechanisms_use_disk(pipe->mechanisms)) {
            const struct place_link link =
                place_link_of(&pipe->setup->profile, WAY_DISK_IN, DISK_PIECE,
                              model_gpus(&pipe->setup->model), trust);
            places_join(&places, places_add(&places, TIER_DISK, 0), HOST, &link);
        }
    } else {
        places_add(&places, TIER_GPU, pipe_figure(pipe, CURVE_GPU_HBM_BANDWIDTH, 0, trust));
    }
    return places;
}

/* What moves between the GPU and its host, the places of a server. `sm` is what kernels use. */
static void route_copies(const struct pipe *pipe, const struct places *places, struct engine_use sm,
                         struct engine_route *routes)
{
    uint32_t dram = (uint32_t)places->all[HOST].channel;
    routes[ROUTE_COPY_IN] = routes[ROUTE_ZERO_COPY] = places_route(places, HOST, GPU, true);
    routes[ROUTE_ZERO_COPY].uses[routes[ROUTE_ZERO_COPY].count++] =
        (struct engine_use){sm.channel, zero_copy_share(pipe), ENGINE_WITHHELD};
    routes[ROUTE_IN_PLACE] = places_route(places, HOST, GPU, false);
    routes[ROUTE_IN_PLACE].uses[routes[ROUTE_IN_PLACE].count++] =
        (struct engine_use){dram, 1, ENGINE_PER_UNIT};
    routes[ROUTE_COPY_OUT] = places_route(places, GPU, HOST, true);
    routes[ROUTE_GATHER] = (struct engine_route){{{dram, 2, ENGINE_PER_UNIT}}, 1};
    if (mechanisms_use_disk(pipe->mechanisms)) {
        routes[ROUTE_DISK_READ] = places_route(places, DISK, HOST, true);
        routes[ROUTE_DISK_WRITE] = places_route(places, HOST, DISK, true);
    }
    routes[ROUTE_CPU_READ] = (struct engine_route){{{dram, 1, ENGINE_PER_UNIT}}, 1};
}

static bool add_routes(struct pipe *pipe, struct error *why)
{
    bool crosses = pipe->ledger != NULL || pipe->mechanisms->weights < 1;
    struct places places = find_places(pipe, crosses);
    struct engine_route routes[ROUTE_COUNT] = {0};
    const struct engine_use hbm = {(uint32_t)places.all[0].channel, 1, ENGINE_PER_UNIT};
    const struct engine_use sm = {places_add_channel(&places, 1e9), 1, ENGINE_AT_CAP};
    routes[ROUTE_KERNEL] = (struct engine_route){{hbm, sm}, 2};
    if (crosses) {
        route_copies(pipe, &places, sm, routes);
    }
    bool ok = true;
    for (int i = 0; i < places.channel_count; i++) {
        engine_channel_add(pipe->engine, places.rate[i] / 1e9);
    }
    for (int i = 0; ok && i < ROUTE_COUNT; i++) {
        pipe->route[i] = engine_route_add(pipe->engine, &routes[i], why);
        ok = pipe->route[i] != ENGINE_NONE;
    }
    return ok;
}

bool machine_add(struct pipe *pipe, struct error *why)
{
    pipe->engine = engine_create(why);
    if (pipe->engine == NULL || !add_routes(pipe, why)) {
        return false;
    }
    pipe->resource[PIPE_NO_QUEUE] = ENGINE_NONE;
    for (int i = 0; i < PIPE_RESOURCE_COUNT; i++) {
        pipe->resource[i] = engine_resource_add(pipe->engine, resource_names[i], why);
        if (pipe->resource[i] == ENGINE_NONE) {
            return false;
        }
    }
    return true;
}
