/* Building the schedule: resources and channels of the machine, then step after step, layer after
 * layer, the stage table. */
#include "decode/pipeline.h"

#include "base/array.h"
#include "decode/fetch.h"
#include "decode/work.h"
#include "engine/timeline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const pipeline_part_names[PART_COUNT] = {
#define PART(id, name, what) name,
#include "decode/parts.def"
#undef PART
};

static const char *const resource_names[PIPE_RESOURCE_COUNT] = {
    [PIPE_LAUNCH] = "launch thread", [PIPE_MAIN] = "main stream", [PIPE_SIDE] = "side stream",
    [PIPE_H2D] = "copy to GPU",      [PIPE_D2H] = "copy to host", [PIPE_POOL] = "CPU pool",
    [PIPE_STORES] = "CPU stores",
};

/* A channel of the machine. Only what the setup uses is made: the others' curves may be unknown. */
static bool add_channel(struct pipe *pipe, const char *name, enum curve_id curve, double share,
                        uint32_t *channel, struct error *why)
{
    double rate = profile_value(&pipe->setup->profile, curve, 0, &pipe->channel_trust);
    *channel = engine_channel_add(pipe->engine, name, rate / share / 1e9, why);
    return *channel != ENGINE_NONE;
}

#define CTA_THREADS 256.0
#define SM_THREADS 2048.0
#define MOST_WITHHELD 0.9

/* The share of the SMs that the threads of a zero-copy kernel occupy. */
static double zero_copy_share(const struct pipe *pipe)
{
    const struct setup *setup = pipe->setup;
    struct trust trust = work_trust;
    double ctas =
        (double)setup->mechanisms.transfer_ctas * pipe->plan->kv_heads * pipe->plan->batch;
    double sms = profile_value(&setup->profile, CURVE_GPU_SMS, 0, &trust);
    return fmin(MOST_WITHHELD, ctas * CTA_THREADS / (sms * SM_THREADS));
}

/* What crosses the link, and what the CPU moves. The link and DRAM of GPUs below one uplink are
 * shared by all of them, each doing the same at the same time. */
static bool add_link(struct pipe *pipe, struct engine_use hbm, struct engine_use *some_sm,
                     struct engine_route *routes, struct error *why)
{
    double share = cost_uplink_sharers(pipe->setup, &pipe->channel_trust);
    uint32_t dram, in, out, both;
    if (!add_channel(pipe, "DRAM", CURVE_HOST_DRAM_BANDWIDTH, share, &dram, why) ||
        !add_channel(pipe, "link to GPU", CURVE_LINK_H2D, share, &in, why) ||
        !add_channel(pipe, "link to host", CURVE_LINK_D2H, share, &out, why) ||
        !add_channel(pipe, "link", CURVE_LINK_DUPLEX, share, &both, why)) {
        return false;
    }
    const struct engine_use memory = {dram, 1, ENGINE_PER_UNIT};
    const struct engine_use twice = {dram, 2, ENGINE_PER_UNIT};
    const struct engine_use way_in = {in, 1, ENGINE_PER_UNIT};
    const struct engine_use way_out = {out, 1, ENGINE_PER_UNIT};
    const struct engine_use either = {both, 1, ENGINE_PER_UNIT};
    some_sm->weight = zero_copy_share(pipe);
    some_sm->kind = ENGINE_WITHHELD;
    routes[ROUTE_ZERO_COPY] = (struct engine_route){{way_in, either, memory, hbm, *some_sm}, 5};
    routes[ROUTE_COPY_IN] = (struct engine_route){{way_in, either, memory, hbm}, 4};
    routes[ROUTE_COPY_OUT] = (struct engine_route){{way_out, either, memory, hbm}, 4};
    routes[ROUTE_GATHER] = (struct engine_route){{twice}, 1};
    return true;
}

static bool add_routes(struct pipe *pipe, struct error *why)
{
    struct engine_route routes[ROUTE_COUNT] = {0};
    struct engine_use hbm = {0, 1, ENGINE_PER_UNIT}, sm = {0, 1, ENGINE_AT_CAP};
    if (!add_channel(pipe, "HBM", CURVE_GPU_HBM_BANDWIDTH, 1, &hbm.channel, why)) {
        return false;
    }
    sm.channel = engine_channel_add(pipe->engine, "SM", 1, why);
    if (sm.channel == ENGINE_NONE) {
        return false;
    }
    routes[ROUTE_KERNEL] = (struct engine_route){{hbm, sm}, 2};
    if (pipe->ledger != NULL && !add_link(pipe, hbm, &sm, routes, why)) {
        return false;
    }
    for (int i = 0; i < ROUTE_COUNT; i++) {
        pipe->route[i] = engine_route_add(pipe->engine, &routes[i], why);
        if (pipe->route[i] == ENGINE_NONE) {
            return false;
        }
    }
    return true;
}

static bool add_machine(struct pipe *pipe, struct error *why)
{
    pipe->engine = engine_create(true, why);
    if (pipe->engine == NULL || !add_routes(pipe, why)) {
        return false;
    }
    pipe->resource[PIPE_NO_QUEUE] = ENGINE_NONE;
    for (int i = 0; i < PIPE_RESOURCE_COUNT; i++) {
        pipe->resource[i] = engine_resource_add(pipe->engine, resource_names[i], 1, why);
        if (pipe->resource[i] == ENGINE_NONE) {
            return false;
        }
    }
    return true;
}

/* Tokens that each head of a layer attends to. */
static uint64_t attended_tokens(const struct pipe *pipe, uint32_t layer)
{
    const struct mechanisms *m = &pipe->setup->mechanisms;
    uint64_t all = model_layer_tokens(&pipe->setup->model, layer, pipe->plan->context);
    if (m->selection >= 1 || layer < m->full_layers) {
        return all;
    }
    uint64_t some = pipe->plan->selected_tokens + m->sinks + m->recent;
    return some < all ? some : all;
}

static bool cost_layers(struct pipe *pipe, struct error *why)
{
    const struct setup *setup = pipe->setup;
    uint32_t layers = pipe->plan->layers;
    for (enum model_stage stage = 0; stage < MODEL_STAGE_COUNT; stage++) {
        pipe->kernels[stage] = array_zeroed(layers + 1, sizeof **pipe->kernels, why);
        if (pipe->kernels[stage] == NULL) {
            return false;
        }
        uint64_t kernels = cost_stage_kernels(setup->mechanisms.operators, stage);
        for (uint32_t l = 0; stage != MODEL_EDGE && l < layers; l++) {
            pipe->kernels[stage][l] =
                cost_stage(setup, l, stage, pipe->plan->batch, attended_tokens(pipe, l), kernels);
        }
    }
    pipe->kernels[MODEL_EDGE][layers] =
        cost_stage(setup, layers, MODEL_EDGE, pipe->plan->batch, 0, 1);
    return true;
}

static bool allocate(struct pipe *pipe, struct error *why)
{
    uint32_t layers = pipe->plan->layers;
    pipe->at = array_zeroed(layers, sizeof *pipe->at, why);
    pipe->step_end = array_zeroed(pipe->steps, sizeof *pipe->step_end, why);
    pipe->layer_end = array_zeroed((size_t)pipe->steps * layers, sizeof *pipe->layer_end, why);
    pipe->moved = array_zeroed(pipe->steps, sizeof *pipe->moved, why);
    if (!pipe->at || !pipe->step_end || !pipe->layer_end || !pipe->moved) {
        return false;
    }
    for (uint32_t l = 0; l < layers; l++) {
        pipe->at[l] = (struct pipe_layer){ENGINE_NONE, ENGINE_NONE, ENGINE_NONE, ENGINE_NONE};
    }
    return true;
}

/* The step before the first reported one repeats it. */
const struct ledger_row *pipe_row(const struct pipe *pipe, uint32_t layer)
{
    if (pipe->ledger == NULL || pipe->plan->offloaded[layer] == 0) {
        return NULL;
    }
    uint32_t step = pipe->step > 0 ? pipe->step - 1 : 0;
    return &pipe->ledger->rows[(size_t)step * pipe->ledger->layers + layer];
}

static bool build_layer(struct pipe *pipe, struct error *why)
{
    uint32_t targets[2], count = fetch_targets(pipe, targets);
    for (const struct stage *stage = layer_stages; stage->name != NULL; stage++) {
        pipe->stage = stage->name;
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

static bool build_step(struct pipe *pipe, struct error *why)
{
    uint32_t layers = pipe->plan->layers;
    pipe->layer = layers;
    if (!stage_begin_step(pipe, why)) {
        return false;
    }
    for (pipe->layer = 0; pipe->layer < layers; pipe->layer++) {
        if (!build_layer(pipe, why)) {
            return false;
        }
        pipe->layer_end[(size_t)pipe->step * layers + pipe->layer] = pipe->last_main;
    }
    if (!stage_end_step(pipe, why)) {
        return false;
    }
    pipe->step_end[pipe->step] = pipe->last_main;
    return true;
}

bool pipe_build(struct pipe *pipe, const struct setup *setup, const struct plan *plan,
                const struct ledger *ledger, struct error *why)
{
    memset(pipe, 0, sizeof *pipe);
    pipe->setup = setup;
    pipe->plan = plan;
    pipe->ledger = ledger;
    pipe->steps = plan->steps + 1;
    pipe->last_main = ENGINE_NONE;
    if (!allocate(pipe, why) || !add_machine(pipe, why) || !cost_layers(pipe, why)) {
        return false;
    }
    for (pipe->step = 0; pipe->step < pipe->steps; pipe->step++) {
        if (!build_step(pipe, why)) {
            return false;
        }
    }
    return engine_run(pipe->engine, INT64_MAX, why);
}

void pipe_release(struct pipe *pipe)
{
    engine_destroy(pipe->engine);
    for (int stage = 0; stage < MODEL_STAGE_COUNT; stage++) {
        free(pipe->kernels[stage]);
    }
    free(pipe->at);
    free(pipe->marks);
    free(pipe->step_end);
    free(pipe->layer_end);
    free(pipe->moved);
}

bool pipeline_run(const struct setup *setup, const struct plan *plan, const struct ledger *ledger,
                  struct timing *out, struct error *why)
{
    struct pipe pipe;
    memset(out, 0, sizeof *out);
    bool good = pipe_build(&pipe, setup, plan, ledger, why) && timing_read(&pipe, out, why);
    pipe_release(&pipe);
    if (!good) {
        timing_release(out);
    }
    return good;
}

static void label(uint32_t tag, char *name, size_t name_size, char *category, size_t category_size,
                  const void *context)
{
    const struct pipe *pipe = context;
    const struct pipe_mark *mark = &pipe->marks[tag];
    if (mark->layer < pipe->plan->layers) {
        snprintf(name, name_size, "%s %u", mark->stage, mark->layer);
    } else {
        snprintf(name, name_size, "%s", mark->stage);
    }
    snprintf(category, category_size, "%s", pipeline_part_names[mark->part]);
}

bool pipeline_timeline(const struct setup *setup, const struct plan *plan,
                       const struct ledger *ledger, uint32_t step, FILE *out, struct error *why)
{
    struct pipe pipe;
    bool good = pipe_build(&pipe, setup, plan, ledger, why);
    if (good) {
        int64_t from = engine_task_record(pipe.engine, pipe.step_end[step])->end_ns;
        int64_t to = engine_task_record(pipe.engine, pipe.step_end[step + 1])->end_ns;
        good = timeline_write(pipe.engine, from, to, label, &pipe, out, why);
    }
    pipe_release(&pipe);
    return good;
}
