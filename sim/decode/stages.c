/* The stage table: what a layer does, in program order.
 *
 * A stage looks at the mechanisms and puts its tasks, or none; the table below is the whole
 * program of a layer for every system. */
#include "decode/fetch.h"
#include "decode/work.h"

#include <math.h>

#define EDGE_KERNELS 3 /* final norm, head, sampler */

static bool put_model_stage(struct pipe *pipe, enum model_stage stage, uint32_t layer,
                            engine_task_id after, engine_task_id *out, struct error *why)
{
    uint64_t kernels =
        stage == MODEL_EDGE ? EDGE_KERNELS : cost_stage_kernels(pipe->mechanisms->operators, stage);
    return work_put_kernel(pipe, PART_COMPUTE, pipe->kernels[stage][layer], kernels, after, out,
                           why);
}

static bool emit_pre(struct pipe *pipe, uint32_t layer, struct error *why)
{
    return put_model_stage(pipe, MODEL_PRE, layer, ENGINE_NONE, NULL, why);
}

static bool put_merge(struct pipe *pipe, uint32_t layer, uint64_t tokens, uint64_t ctas,
                      engine_task_id after, struct error *why)
{
    double bytes = (double)tokens * pipe->head_bytes;
    double all_ctas = (double)ctas * pipe_row(pipe, layer)->offloaded_heads;
    return tokens == 0 ||
           work_put_kernel(pipe, PART_MERGE, cost_cta_copy(pipe->setup, bytes, all_ctas), 1, after,
                           NULL, why);
}

/* Hits into the execution buffer, beside the SM loads of the misses. */
static bool emit_hits(struct pipe *pipe, uint32_t layer, struct error *why)
{
    const struct mechanisms *m = pipe->mechanisms;
    return !m->merge || put_merge(pipe, layer, pipe_row(pipe, layer)->hit, m->hit_ctas,
                                  pipe->at[layer].looked_up, why);
}

/* Misses once more, into the cache. */
static bool emit_admit(struct pipe *pipe, uint32_t layer, struct error *why)
{
    const struct mechanisms *m = pipe->mechanisms;
    return !m->merge || put_merge(pipe, layer, pipe_row(pipe, layer)->missed, m->admit_ctas,
                                  pipe->at[layer].updated, why);
}

/* Resident heads select with the true query, inside the layer. */
static bool emit_local(struct pipe *pipe, uint32_t layer, struct error *why)
{
    const struct mechanisms *m = pipe->mechanisms;
    uint64_t resident =
        (uint64_t)(pipe->plan->kv_heads - pipe->plan->offloaded[layer]) * pipe->plan->batch;
    return m->retrieval == RETRIEVAL_NONE || resident == 0 ||
           setup_attends_all(pipe->setup, layer) ||
           work_put_kernel(pipe, PART_RETRIEVAL, fetch_retrieval_cost(pipe, resident),
                           m->retrieval_kernels, ENGINE_NONE, NULL, why);
}

static bool emit_attend(struct pipe *pipe, uint32_t layer, struct error *why)
{
    return put_model_stage(pipe, MODEL_ATTEND, layer, pipe->at[layer].fetched,
                           &pipe->at[layer].attended, why);
}

static bool emit_post(struct pipe *pipe, uint32_t layer, struct error *why)
{
    return put_model_stage(pipe, MODEL_POST, layer, pipe->at[layer].updated, NULL, why);
}

/* Two all-reduces of the hidden states, after attention and after the FFN, as one task. */
static bool emit_collective(struct pipe *pipe, uint32_t layer, struct error *why)
{
    (void)layer;
    struct kernel both = kernel_none;
    if (pipe->setup->model.tensor_parallel == 1) {
        return true;
    }
    double bytes = 2.0 * pipe->setup->model.hidden * pipe->plan->batch;
    both.ns = 2 * profile_value(&pipe->setup->profile, CURVE_GPU_COLLECTIVE, bytes, &both.trust);
    return work_put_kernel(pipe, PART_COLLECTIVE, both, 2, ENGINE_NONE, NULL, why);
}

/* The new token's K and V of offloaded heads, to the host. */
static bool emit_writeback(struct pipe *pipe, uint32_t layer, struct error *why)
{
    const struct profile *profile = &pipe->setup->profile;
    struct work work = {
        .part = PART_LINK,
        .resource = PIPE_D2H,
        .route = ROUTE_COPY_OUT,
        .fixed_trust = work_trust,
        .rate_trust = work_trust,
    };
    if (pipe->plan->offloaded[layer] == 0) {
        return true;
    }
    work.bytes = pipe->head_bytes * pipe->plan->offloaded[layer] * pipe->plan->batch;
    work.rate = profile_value(profile, CURVE_LINK_D2H, 0, &work.rate_trust) / 1e9;
    work.fixed_ns = profile_value(profile, CURVE_LINK_COPY_LATENCY, 0, &work.fixed_trust);
    work_wait_for(&work, pipe->last_main);
    pipe->moved[pipe->step].d2h_bytes += llround(work.bytes);
    return work_put(pipe, &work, NULL, why);
}

/* The launch thread waits for the layer, and for what was prefetched in it. */
static bool emit_barrier(struct pipe *pipe, uint32_t layer, struct error *why)
{
    struct work work = {
        .part = PART_SYNC,
        .resource = PIPE_LAUNCH,
        .fixed_trust = work_trust,
        .rate_trust = work_trust,
    };
    if (!pipe->mechanisms->layer_barrier) {
        return true;
    }
    work.fixed_ns = profile_value(&pipe->setup->profile, CURVE_HOST_SYNC, 0, &work.fixed_trust);
    work_wait_for(&work, pipe->last_main);
    work_wait_for(&work, pipe->at[(layer + 1) % pipe->plan->layers].fetched);
    return work_put(pipe, &work, NULL, why);
}

const struct stage layer_stages[] = {
    {"pre", false, emit_pre},
    {"retrieve", true, fetch_retrieve},
    {"ids", true, fetch_ids},
    {"sync", true, fetch_sync},
    {"estimate", true, fetch_estimate},
    {"lookup", true, fetch_lookup},
    {"gather", true, fetch_gather},
    {"transfer", true, fetch_transfer},
    {"transfer", false, fetch_full_layer},
    {"merge", true, emit_hits},
    {"local", false, emit_local},
    {"attend", false, emit_attend},
    {"update", true, fetch_update},
    {"admit", true, emit_admit},
    {"post", false, emit_post},
    {"collective", false, emit_collective},
    {"writeback", false, emit_writeback},
    {"barrier", false, emit_barrier},
    {NULL, false, NULL},
};

/* A graph is launched once; eager kernels one by one. */
bool stage_begin_step(struct pipe *pipe, struct error *why)
{
    struct trust trust = work_trust;
    pipe->stage = "graph";
    pipe->graph = ENGINE_NONE;
    if (pipe->mechanisms->launch != LAUNCH_GRAPH) {
        return true;
    }
    double ns = profile_value(&pipe->setup->profile, CURVE_HOST_GRAPH_LAUNCH, 0, &trust);
    return work_put_thread(pipe, PART_LAUNCH, ns, ENGINE_NONE, trust, &pipe->graph, why);
}

/* Embedding, norm and head as one task (the embedding reads a row); then the token reaches the CPU,
 * which schedules the next step. */
bool stage_end_step(struct pipe *pipe, struct error *why)
{
    struct trust trust = work_trust;
    engine_task_id head;
    double sync = profile_value(&pipe->setup->profile, CURVE_HOST_SYNC, 0, &trust);
    double ns = sync + (double)pipe->mechanisms->step_overhead;
    pipe->stage = "head";
    if (!put_model_stage(pipe, MODEL_EDGE, pipe->plan->layers, ENGINE_NONE, &head, why)) {
        return false;
    }
    pipe->stage = "token";
    return work_put_thread(pipe, PART_OVERHEAD, ns, head, trust, NULL, why);
}
