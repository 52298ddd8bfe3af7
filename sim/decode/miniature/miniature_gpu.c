/* Predictions for a GPU: on the machine of the profile, with the pipeline's own stages and kernels.
 * Attention is two kernels: one reads KV and writes the outputs of its parts, one merges them.
 *
 * A step ends when the CPU has seen the end of its last kernel. If the CPU manages the cache there
 * is a single stream: copies, and kernels that load, run in order with the other kernels. */
#include "core/array.h"
#include "decode/miniature/miniature_pipe.h"
#include "decode/plan/representation.h"
#include "decode/time/fetch.h"
#include "decode/time/machine.h"
#include "decode/time/work.h"

#include <math.h>

enum { ATTENTION_KERNELS = 2, MAKING_KERNELS = 3 };

#define OUTPUT_BYTES 4.0 /* of a number of the output, or of a log-sum-exp: fp32 */
#define QUERY_BYTES 2.0

/* The rule of kernel_attention_splits(), for the few heads of a miniature: nearly as many parts as
 * run at once, each with at least two tiles of keys and of values for each of four warps. Two CTAs
 * fit the multiprocessor of an H100; where only one fits, half as many bytes are merged. */
#define PARTS_OF_SM 2.0
#define PART_BYTES 65536.0

static const enum curve_id curves[] = {
    CURVE_GPU_HBM_BANDWIDTH,  CURVE_GPU_HBM_SHARE,
    CURVE_GPU_CTA_BANDWIDTH,  CURVE_GPU_SMS,
    CURVE_GPU_KERNEL_FLOOR,   CURVE_GPU_GRAPH_NODE,
    CURVE_LINK_DUPLEX,        CURVE_LINK_COPY_LATENCY,
    CURVE_LINK_ROUND_TRIP,    CURVE_LINK_ZERO_COPY,
    CURVE_LINK_CTA_IN_FLIGHT, CURVE_HOST_GRAPH_LAUNCH,
    CURVE_HOST_COPY_CALL,     CURVE_HOST_SYNC,
    CURVE_HOST_CORES,         CURVE_HOST_DRAM_BANDWIDTH,
    CURVE_HOST_POOL_WAKE,     CURVE_HOST_LOOKUP,
    CURVE_HOST_UPDATE,        CURVE_HOST_GATHER,
    CURVE_HOST_ATTENTION,     CURVE_HOST_PAGEABLE,
    CURVE_GPU_FLAG,           CURVE_GPU_FLOPS_BF16,
    CURVE_GPU_FLOPS_SHARE,    CURVE_GPU_SM_THREADS,
    CURVE_GPU_SECTOR,         CURVE_LINK_IN,
    CURVE_LINK_OUT,
};

/* ---- tasks ---- */

bool miniature_attend_launch(struct pipe *pipe, engine_task_id *first, struct error *why)
{
    return work_launch(pipe, ATTENTION_KERNELS, first, why);
}

/* The outputs and log-sum-exps of all query heads, once for each part of a head's KV. */
static double output_bytes(const struct pipe *pipe, double parts)
{
    const struct model *model = &pipe->setup->model;
    return parts * model->query_heads * (model->head_dim + 1.0) * OUTPUT_BYTES;
}

static double parts_of_head(const struct pipe *pipe, double bytes, struct trust *trust)
{
    double most = pipe_figure(pipe, CURVE_GPU_SMS, 0, trust) * PARTS_OF_SM;
    return fmax(1, floor(fmin(most, bytes / PART_BYTES) / pipe->plan->kv_heads));
}

bool miniature_attend_launched(struct pipe *pipe, uint64_t tokens, engine_task_id first,
                               engine_task_id after, struct error *why)
{
    const struct setup *setup = pipe->setup;
    struct trust trust = work_trust;
    double bytes = (double)tokens * pipe->head_bytes, whole = output_bytes(pipe, 1);
    double parts = output_bytes(pipe, parts_of_head(pipe, bytes, &trust));
    struct kernel attend = cost_at_least(setup, kernel_read(&setup->profile, bytes + parts), 1);
    struct kernel merge = cost_at_least(setup, kernel_read(&setup->profile, parts + whole), 1);
    trust_add(&merge.trust, trust);
    return work_put_launched(pipe, PART_COMPUTE, kernel_then(attend, merge), ATTENTION_KERNELS,
                             first, after, &pipe->at[pipe->layer].attended, why);
}

static bool miniature_gpu_put_attention(struct pipe *pipe, uint64_t tokens, engine_task_id after,
                                        struct error *why)
{
    engine_task_id first;
    return miniature_attend_launch(pipe, &first, why) &&
           miniature_attend_launched(pipe, tokens, first, after, why);
}

/* The CPU learns what the layer wants when the layer before is done. */
static bool put_sync(struct pipe *pipe, uint32_t layer, struct error *why)
{
    pipe->at[layer].selected = pipe->last[PIPE_MAIN];
    return fetch_sync(pipe, layer, why);
}

/* Bytes of the numbers of missed rows, for keys and for values. */
static double miniature_gpu_number_bytes(const struct pipe *pipe, uint32_t layer)
{
    return 2.0 * sizeof(uint32_t) * (double)pipe_row(pipe, layer)->missed;
}

/* A kernel moves the copied rows to their places in the cache. */
static bool put_in_place(struct pipe *pipe, uint32_t layer, struct error *why)
{
    double bytes = (double)pipe_row(pipe, layer)->missed * pipe->head_bytes;
    double ctas = (double)MINIATURE_CTAS * pipe->plan->kv_heads;
    return work_put_kernel(pipe, PART_MERGE,
                           kernel_cta_copy(&pipe->setup->profile, bytes, bytes, ctas), 1,
                           pipe->at[layer].fetched, NULL, why);
}

/* The call of a copy to the GPU, and the copy itself. */
static bool call_copy_in(struct pipe *pipe, double bytes, struct work *work, struct error *why)
{
    struct trust trust = work_trust;
    double call = pipe_figure(pipe, CURVE_HOST_COPY_CALL, 0, &trust);
    engine_task_id started;
    if (!work_put_thread(pipe, PART_LAUNCH, call, ENGINE_NONE, trust, &started, why)) {
        return false;
    }
    *work = work_over(pipe, PART_LINK, WAY_IN, bytes);
    work_wait_for(work, started);
    return true;
}

/* A copy to the GPU in the kernels' stream. */
static bool put_copy_in(struct pipe *pipe, double bytes, struct error *why)
{
    struct work work;
    engine_task_id copied;
    if (!call_copy_in(pipe, bytes, &work, why)) {
        return false;
    }
    work_wait_for(&work, pipe->last[PIPE_MAIN]);
    return work_put(pipe, &work, &copied, why) && work_put_event(pipe, PART_LINK, copied, why);
}

/* A copy from pageable memory. The driver copies it block by block into staging memory, while the
 * engine sends the block before, so that the slower of the two sets the rate. The call returns when
 * the last block is staged (CUDA Runtime API, "API synchronization behavior"), which is then still
 * to arrive. */
static bool put_staged(struct pipe *pipe, double bytes, engine_task_id freed,
                       engine_task_id *copied, struct error *why)
{
    struct work sent, last = work_of(PART_LINK, PIPE_IN);
    engine_task_id staged;
    if (!call_copy_in(pipe, bytes, &sent, why)) {
        return false;
    }
    last.fixed_ns = sent.fixed_ns;
    last.fixed_trust = sent.fixed_trust;
    sent.fixed_ns = 0;
    sent.fixed_trust = work_trust;
    sent.rate = fmin(sent.rate, pipe_figure(pipe, CURVE_HOST_PAGEABLE, 0, &sent.rate_trust) / 1e9);
    work_wait_for(&sent, freed);
    return work_put(pipe, &sent, &staged, why) && miniature_wait(pipe, staged, why) &&
           work_put(pipe, &last, copied, why);
}

/* ---- programs ---- */

static uint64_t whole_tokens(const struct pipe *pipe)
{
    return pipe->setup->context * pipe->plan->kv_heads;
}

static bool miniature_gpu_run_full(struct pipe *pipe, uint32_t layer, struct error *why)
{
    (void)layer;
    return miniature_gpu_put_attention(pipe, whole_tokens(pipe), ENGINE_NONE, why);
}

static bool attend_and_update(struct pipe *pipe, uint32_t layer, struct error *why)
{
    return miniature_gpu_put_attention(pipe, pipe_row(pipe, layer)->wanted, ENGINE_NONE, why) &&
           miniature_update(pipe, layer, why);
}

static bool miniature_gpu_run_lru_copy(struct pipe *pipe, uint32_t layer, struct error *why)
{
    return put_sync(pipe, layer, why) && miniature_look_up(pipe, layer, why) &&
           miniature_gather(pipe, layer, why) && fetch_transfer(pipe, layer, why) &&
           put_in_place(pipe, layer, why) && attend_and_update(pipe, layer, why);
}

static bool miniature_gpu_run_lru_loads(struct pipe *pipe, uint32_t layer, struct error *why)
{
    return put_sync(pipe, layer, why) && miniature_look_up(pipe, layer, why) &&
           put_copy_in(pipe, miniature_gpu_number_bytes(pipe, layer), why) &&
           fetch_transfer(pipe, layer, why) && attend_and_update(pipe, layer, why);
}

/* The lookup starts when the layer before is done; everything runs in the kernels' stream. */
static bool run_lru_kernels(struct pipe *pipe, uint32_t layer, struct error *why)
{
    pipe->at[layer].selected = pipe->last[PIPE_MAIN];
    return fetch_lookup(pipe, layer, why) && fetch_transfer(pipe, layer, why) &&
           miniature_gpu_put_attention(pipe, pipe_row(pipe, layer)->wanted, ENGINE_NONE, why);
}

static bool makes(const struct pipe *pipe)
{
    return pipe->mechanisms->representation != REPRESENTATION_KV;
}

static struct split split_of(const struct pipe *pipe)
{
    double share = makes(pipe) ? pipe->mechanisms->representation_share : 0;
    return representation_split(pipe->setup, pipe->setup->context, 0, share);
}

/* Bytes of a layer on the host: K and V of all tokens, or activations of some of them. */
static double miniature_gpu_kept_bytes(const struct pipe *pipe)
{
    struct split split = split_of(pipe);
    return (double)split.kv * pipe->plan->kv_heads * pipe->head_bytes +
           (double)split.act_host * (double)model_activation_bytes(&pipe->setup->model);
}

/* Compute K and V of the tokens kept as activations: norm, product, positions. */
static bool put_making(struct pipe *pipe, engine_task_id after, struct error *why)
{
    struct split split = split_of(pipe);
    struct remaking remaking = {0};
    representation_add(pipe->setup, &split, 1, &remaking);
    return work_put_kernel(pipe, PART_RECOMPUTE, representation_recompute(pipe->setup, &remaking),
                           MAKING_KERNELS, after, NULL, why);
}

/* Load a whole layer into the buffer that attention last used two layers before it. */
static bool miniature_gpu_put_whole(struct pipe *pipe, engine_task_id *copied, struct error *why)
{
    double bytes = miniature_gpu_kept_bytes(pipe);
    uint32_t layers = pipe->plan->layers, before = (pipe->layer + layers - 1) % layers;
    bool first = pipe->step == 1 && pipe->layer == 0;
    engine_task_id freed = first ? ENGINE_NONE : pipe->at[before].attended;
    const struct fetch_part whole = {bytes, bytes, ENGINE_NONE, freed, false};
    return pipe->mechanisms->transfer == TRANSFER_PAGEABLE
               ? put_staged(pipe, bytes, freed, copied, why)
               : fetch_put_transfer(pipe, &whole, copied, why);
}

/* Each layer starts the copy of the next; the very first also starts its own. */
static bool miniature_gpu_run_stream(struct pipe *pipe, uint32_t layer, struct error *why)
{
    struct pipe_layer *at = pipe->at;
    bool first = pipe->step == 1 && layer == 0;
    bool last = pipe->step == pipe->plan->steps && layer + 1 == pipe->plan->layers;
    engine_task_id mine;
    if (first && !miniature_gpu_put_whole(pipe, &at[layer].fetched, why)) {
        return false;
    }
    mine = at[layer].fetched;
    return (last ||
            miniature_gpu_put_whole(pipe, &at[(layer + 1) % pipe->plan->layers].fetched, why)) &&
           (!makes(pipe) || put_making(pipe, mine, why)) &&
           miniature_gpu_put_attention(pipe, whole_tokens(pipe), mine, why);
}

/* Queries go to the host; pool and GPU attend at the same time; then the pool's part of the output
 * is copied to the GPU and both are merged. */
static bool miniature_gpu_run_hybrid(struct pipe *pipe, uint32_t layer, struct error *why)
{
    const struct ledger_row *row = pipe_row(pipe, layer);
    const struct model *model = &pipe->setup->model;
    double numbers = (double)model->query_heads * model->head_dim;
    struct trust trust = work_trust;
    double call = pipe_figure(pipe, CURVE_HOST_COPY_CALL, 0, &trust);
    return work_put_thread(pipe, PART_LAUNCH, call, ENGINE_NONE, trust, NULL, why) &&
           work_put_copy_out(pipe, numbers * QUERY_BYTES, &pipe->at[layer].selected, why) &&
           miniature_gpu_put_attention(pipe, row->hit, ENGINE_NONE, why) &&
           fetch_sync(pipe, layer, why) &&
           miniature_attend(pipe, layer, row->missed, row->missed_worst, why) &&
           put_copy_in(pipe, (numbers + model->query_heads) * OUTPUT_BYTES, why) &&
           work_put_kernel(pipe, PART_MERGE, kernel_none, 1, ENGINE_NONE, NULL, why);
}

/* Defaults of the fields: the CPU manages, launches kernel by kernel and is waited for; transfers
 * run in the main stream. */
static const struct miniature_gpu_program {
    bool (*run)(struct pipe *pipe, uint32_t layer, struct error *why);
    enum transfer transfer;
    enum manager manager;
    enum sync sync;
    enum launch launch;
    bool own_stream;
    bool makes; /* K and V of half the tokens */
} programs[MINIATURE_COUNT] = {
    [MINIATURE_GPU_FULL] = {miniature_gpu_run_full},
    [MINIATURE_GPU_FULL_GRAPH] = {miniature_gpu_run_full, .launch = LAUNCH_GRAPH},
    [MINIATURE_GPU_LRU_COPY] = {miniature_gpu_run_lru_copy, TRANSFER_GATHER_COPY},
    [MINIATURE_GPU_LRU_LOADS] = {miniature_gpu_run_lru_loads, TRANSFER_SM_ZERO_COPY},
    [MINIATURE_GPU_LRU_KERNELS] = {run_lru_kernels, TRANSFER_SM_ZERO_COPY, MANAGER_GPU, SYNC_GPU},
    [MINIATURE_GPU_LRU_GRAPH] = {run_lru_kernels, TRANSFER_SM_ZERO_COPY, MANAGER_GPU, SYNC_GPU,
                                 LAUNCH_GRAPH},
    [MINIATURE_GPU_STREAM] = {miniature_gpu_run_stream, .own_stream = true},
    [MINIATURE_GPU_STREAM_PAGEABLE] = {miniature_gpu_run_stream, TRANSFER_PAGEABLE,
                                       .own_stream = true},
    [MINIATURE_GPU_ACTIVATIONS] = {miniature_gpu_run_stream, .own_stream = true, .makes = true},
    [MINIATURE_GPU_HYBRID] = {miniature_gpu_run_hybrid},
    [MINIATURE_GPU_QSAC_COPY] = {miniature_qsac_layer, TRANSFER_GATHER_COPY, MANAGER_GPU},
    [MINIATURE_GPU_QSAC_COPY_POLL] = {miniature_qsac_layer, TRANSFER_GATHER_COPY, MANAGER_GPU,
                                      SYNC_GPU},
    [MINIATURE_GPU_QSAC_COPY_GRAPH] = {miniature_qsac_layer, TRANSFER_GATHER_COPY, MANAGER_GPU,
                                       SYNC_GPU, LAUNCH_GRAPH},
    [MINIATURE_GPU_QSAC_STORE] = {miniature_qsac_layer, TRANSFER_CPU_STORE, MANAGER_GPU},
    [MINIATURE_GPU_QSAC_STORE_POLL] = {miniature_qsac_layer, TRANSFER_CPU_STORE, MANAGER_GPU,
                                       SYNC_GPU},
    [MINIATURE_GPU_QSAC_STORE_GRAPH] = {miniature_qsac_layer, TRANSFER_CPU_STORE, MANAGER_GPU,
                                        SYNC_GPU, LAUNCH_GRAPH},
};

static bool miniature_gpu_run_program(struct pipe *pipe, enum miniature_id id, struct error *why)
{
    return programs[id].run(pipe, pipe->layer, why);
}

/* Begin a step: launch its graph, if it has one. End it: the CPU sees its last kernel done. */
static bool put_step(struct pipe *pipe, enum miniature_id id, bool begins, struct error *why)
{
    struct trust trust = work_trust;
    if (!begins) {
        double sync = pipe_figure(pipe, CURVE_HOST_SYNC, 0, &trust);
        return work_put_thread(pipe, PART_SYNC, sync, pipe->last[PIPE_MAIN], trust, NULL, why);
    }
    double launch = pipe_figure(pipe, CURVE_HOST_GRAPH_LAUNCH, 0, &trust);
    return programs[id].launch != LAUNCH_GRAPH ||
           work_put_thread(pipe, PART_LAUNCH, launch, ENGINE_NONE, trust, &pipe->graph, why);
}

/* Set the mechanisms; a bare launch replaces that of a framework. */
static void miniature_gpu_set_up(const struct miniature_run *run, double figures[8])
{
    uint32_t threads = miniature_pool(run->miniature, run->id);
    const struct miniature_gpu_program *program = &programs[run->id];
    run->setup->mechanisms = (struct mechanisms){
        .policy = run->setup->mechanisms.policy,
        .manager = program->manager,
        .update = UPDATE_OVERLAPPED,
        .transfer = program->transfer,
        .transfer_ctas = MINIATURE_CTAS,
        .transfer_cta_threads = MINIATURE_CTA_THREADS,
        .transfer_lane_bytes = MINIATURE_LANE_BYTES,
        .transfer_stream = program->own_stream ? TRANSFER_STREAM_OWN : TRANSFER_STREAM_MAIN,
        .sync = program->sync,
        .syncs = 1,
        .launch = program->launch,
        .pool_threads = threads,
        .launch_cost = 1,
        .transfer_threads = threads,
        .weights = 1,
        .granularity = 1,
        .representation = program->makes ? REPRESENTATION_HYBRID : REPRESENTATION_KV,
        .representation_share = program->makes ? 0.5 : 0,
    };
    figures[0] = 0;
    figures[1] = run->stand_ins->launch;
    miniature_figure(&run->setup->profile, CURVE_HOST_LAUNCH, figures);
}

const struct miniature_scene miniature_gpu_scene = {
    .set_up = miniature_gpu_set_up,
    .machine = machine_add,
    .program = miniature_gpu_run_program,
    .step = put_step,
    .curves = curves,
    .curve_count = sizeof curves / sizeof *curves,
};
