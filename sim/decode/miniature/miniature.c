/* The prediction of a miniature: its program (miniature_program.h) is put on the engine. */
#include "decode/miniature/miniature_program.h"

#include "core/array.h"
#include "decode/replay/replay.h"
#include "decode/time/pipe.h"
#include "machine/places.h"

#include <stdlib.h>

const struct miniature_kind miniature_kinds[MINIATURE_COUNT] = {
#define MINIATURE(id, name, site, class, policy, beside, what)                                     \
    [MINIATURE_##id] = {name, MINIATURE_##site, MINIATURE_##class, policy, beside, what},
#include "decode/miniature/miniature.def"
#undef MINIATURE
};

static const enum curve_id host_curves[] = {
    CURVE_HOST_CORES,  CURVE_HOST_DRAM_BANDWIDTH, CURVE_HOST_POOL_WAKE, CURVE_HOST_LOOKUP,
    CURVE_HOST_UPDATE, CURVE_HOST_GATHER,         CURVE_HOST_ATTENTION,
};

static const enum curve_id gpu_curves[] = {
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

bool miniature_require(const struct profile *profile, enum miniature_site site, struct error *why)
{
    return site == MINIATURE_HOST
               ? profile_require(profile, host_curves, sizeof host_curves / sizeof *host_curves,
                                 "a miniature on the host", why)
               : profile_require(profile, gpu_curves, sizeof gpu_curves / sizeof *gpu_curves,
                                 "a miniature on a GPU", why);
}

bool miniature_knows(const struct profile *profile, enum miniature_id id, struct error *why)
{
    static const enum curve_id store[] = {CURVE_LINK_CPU_STORE};
    return id != MINIATURE_GPU_QSAC_STORE ||
           profile_require(profile, store, 1, miniature_kinds[id].name, why);
}

bool miniature_replay(const struct miniature *miniature, enum miniature_id id,
                      const struct trace *trace, struct ledger *ledger, struct error *why)
{
    size_t count = (size_t)miniature->layers * miniature->kv_heads;
    ledger_init(ledger);
    struct replay_head *heads = array_zeroed(count, sizeof *heads, why);
    for (size_t i = 0; heads != NULL && i < count; i++) {
        heads[i] = (struct replay_head){.offloaded = true, .importance = 1};
    }
    const struct replay_plan plan = {
        .layers = miniature->layers,
        .kv_heads = miniature->kv_heads,
        .batch = 1,
        .context = miniature->context,
        .heads = heads,
        .policy = policy_find(miniature_kinds[id].policy, NULL, 0, ERROR_UNSEEN),
        .seed = SETUP_SEED,
        .order = POLICY_BATCH,
        .selection = miniature->selection,
        .capacity = miniature->capacity,
        .manager_unit = 1,
        .block_span = BLOCK_UNIT,
        .warmup = miniature->warmup,
        .steps = miniature->steps,
    };
    bool good = heads != NULL && replay_run(trace, &plan, 1, ledger, why);
    free(heads);
    return good;
}

/* The channel and the resources. A copy by a thread reads and writes DRAM. */
static bool add_host(struct pipe *pipe, struct error *why)
{
    double dram = pipe_figure(pipe, CURVE_HOST_DRAM_BANDWIDTH, 0, &pipe->channel_trust);
    pipe->engine = engine_create(why);
    if (pipe->engine == NULL) {
        return false;
    }
    uint32_t channel = engine_channel_add(pipe->engine, dram / 1e9);
    const struct engine_route reads = {{{channel, 1, ENGINE_PER_UNIT}}, 1};
    const struct engine_route copies = {{{channel, 2, ENGINE_PER_UNIT}}, 1};
    bool good = true;
    for (int i = 0; good && i < ROUTE_COUNT; i++) {
        pipe->route[i] =
            engine_route_add(pipe->engine, i == ROUTE_CPU_READ ? &reads : &copies, why);
        good = pipe->route[i] != ENGINE_NONE;
    }
    pipe->resource[PIPE_NO_QUEUE] = ENGINE_NONE;
    for (int i = 0; good && i < PIPE_RESOURCE_COUNT; i++) {
        pipe->resource[i] = engine_resource_add(pipe->engine, "", why);
        good = pipe->resource[i] != ENGINE_NONE;
    }
    return good;
}

/* Set a curve of one point: `figures` is its size and its value, which outlive the profile. */
static void set_figure(struct profile *profile, enum curve_id id, double *figures, double value)
{
    figures[0] = 0;
    figures[1] = value;
    profile->curves[id] =
        (struct curve){.count = 1, .size = figures, .value = figures + 1, .least = 1, .most = 1};
}

/* The manager is Spillway's own LRU. Where it was not measured, the systems' figure stands. */
static void set_manager(struct profile *profile, enum curve_id systems, enum curve_id own)
{
    if (profile->curves[own].count > 0) {
        profile->curves[systems] = profile->curves[own];
    }
}

/* On a GPU a bare launch replaces that of a framework. On a host the figures of the stand-ins
 * replace the curves of a link and a GPU. */
static void set_stand_ins(struct profile *profile, enum miniature_id id,
                          const struct miniature_stand_ins *stand_ins, double figures[8])
{
    struct trust trust = work_trust;
    bool whole = miniature_programs[id].streams;
    set_manager(profile, CURVE_HOST_LOOKUP, CURVE_HOST_LRU_LOOKUP);
    set_manager(profile, CURVE_HOST_UPDATE, CURVE_HOST_LRU_UPDATE);
    if (miniature_kinds[id].site == MINIATURE_GPU) {
        set_figure(profile, CURVE_HOST_LAUNCH, figures, stand_ins->launch);
        return;
    }
    set_figure(profile, CURVE_LINK_IN, figures,
               whole ? stand_ins->copies_whole : stand_ins->copies_rows);
    set_figure(profile, CURVE_LINK_COPY_LATENCY, figures + 2,
               2 * profile_value(profile, CURVE_HOST_POOL_WAKE, 1, &trust));
    set_figure(profile, CURVE_HOST_COPY_CALL, figures + 4, 0);
    if (whole) {
        set_figure(profile, CURVE_HOST_ATTENTION, figures + 6, stand_ins->attends_whole);
    }
}

static struct mechanisms mechanisms_of(const struct miniature *miniature, enum miniature_id id)
{
    const struct miniature_program *program = &miniature_programs[id];
    uint32_t beside = miniature_kinds[id].beside; /* the pool has the other cores, at least one */
    uint32_t threads = miniature->threads > beside ? miniature->threads - beside : 1;
    bool host = miniature_kinds[id].site == MINIATURE_HOST;
    return (struct mechanisms){
        .policy = policy_find(miniature_kinds[id].policy, NULL, 0, ERROR_UNSEEN),
        .manager = program->manager,
        .update = UPDATE_OVERLAPPED,
        .transfer = (int)(host ? TRANSFER_GATHER_COPY : program->transfer),
        .transfer_ctas = MINIATURE_CTAS,
        .transfer_cta_threads = MINIATURE_CTA_THREADS,
        .transfer_lane_bytes = MINIATURE_LANE_BYTES,
        .transfer_stream = program->streams || host ? TRANSFER_STREAM_OWN : TRANSFER_STREAM_MAIN,
        .sync = program->sync,
        .syncs = 1,
        .launch = program->launch,
        .pool_threads = threads,
        .launch_cost = 1,
        .transfer_threads = threads,
        .retrieval_tokens = 1,
        .weights = 1,
        .granularity = 1,
        .representation = program->makes ? REPRESENTATION_HYBRID : REPRESENTATION_KV,
        .representation_share = program->makes ? 0.5 : 0,
    };
}

static bool pipe_init(struct pipe *pipe, const struct miniature *miniature,
                      enum miniature_site site, struct error *why)
{
    pipe->moved = arrays_add(&pipe->arrays, (size_t)miniature->steps + 1, sizeof *pipe->moved, why);
    return pipe_layers(pipe, why) && pipe->moved != NULL &&
           (site == MINIATURE_HOST ? add_host : machine_add)(pipe, why);
}

/* On a GPU a step begins with the launch of its graph, if any. At its end the CPU sees its last kernel. */
static bool put_step(struct pipe *pipe, enum miniature_id id, struct error *why)
{
    bool gpu = miniature_kinds[id].site == MINIATURE_GPU, good = true;
    pipe->layer = 0;
    if (miniature_programs[id].launch == LAUNCH_GRAPH) {
        good = work_put_call(pipe, PART_LAUNCH, CURVE_HOST_GRAPH_LAUNCH, 1, ENGINE_NONE,
                             &pipe->graph, why);
    }
    for (; good && pipe->layer < pipe->plan->layers; pipe->layer++) {
        for (int i = 0; good && miniature_programs[id].stages[i] != NULL; i++) {
            good = miniature_programs[id].stages[i](pipe, pipe->layer, why);
        }
    }
    return good && (!gpu || work_put_call(pipe, PART_SYNC, CURVE_HOST_SYNC, 1,
                                          pipe->last[PIPE_MAIN], NULL, why));
}

static bool put_steps(struct pipe *pipe, enum miniature_id id, struct error *why)
{
    bool good = true;
    pipe->stage = miniature_kinds[id].name;
    for (pipe->step = 1; good && pipe->step <= pipe->plan->steps; pipe->step++) {
        good = put_step(pipe, id, why);
    }
    return good && engine_run(pipe->engine, NULL, why);
}

bool miniature_predict(const struct miniature *miniature, enum miniature_id id,
                       const struct profile *profile, const struct miniature_stand_ins *stand_ins,
                       const struct ledger *ledger, double *layer_ns, struct error *why)
{
    if (!miniature_knows(profile, id, why)) {
        return false;
    }
    uint32_t one = 1;
    double figures[8];
    double cached = miniature->capacity * (double)miniature->context; /* tokens of a head */
    uint64_t heads = (uint64_t)miniature->layers * miniature->kv_heads;
    struct cohort cohort = {.context = miniature->context, .sequences = 1};
    struct model_layer layer = {.attention = ATTENTION_FULL};
    struct mechanisms mechanisms = mechanisms_of(miniature, id);
    struct setup setup = {
        .profile = *profile,
        .model = {.tensor_parallel = 1,
                  .layers = &layer,
                  .parallel = {.data = 1, .experts = 1, .pipeline = 1},
                  .kv = DTYPE_BF16,
                  .query_heads = miniature->query_heads,
                  .kv_heads = miniature->kv_heads,
                  .head_dim = miniature->head_dim,
                  .hidden = miniature->hidden},
        .context = miniature->context,
        .mechanisms = &mechanisms,
    };
    set_stand_ins(&setup.profile, id, stand_ins, figures);
    bool caches = mechanisms.policy != &policy_none;
    uint32_t *offloaded = array_zeroed(miniature->layers, sizeof *offloaded, why);
    for (uint32_t l = 0; offloaded != NULL && l < miniature->layers; l++) {
        offloaded[l] = miniature->kv_heads;
    }
    const struct plan plan = {
        .layers = miniature->layers,
        .kv_heads = miniature->kv_heads,
        .batch = 1,
        .cohorts = &cohort,
        .cohort_count = 1,
        .micro_batches =
            {.cohorts = 1, .runs = 1, .times = &one, .sequences = &one, .count = 1, .whole = 1},
        .offloaded = offloaded,
        .memory.in[TIER_GPU].cache =
            caches ? (uint64_t)cached * heads * model_kv_head_bytes(&setup.model) : 0,
        .cpu_threads = (uint32_t)mechanisms.pool_threads,
        .steps = miniature->steps,
    };
    struct pipe pipe;
    pipe_begin(&pipe, &setup, &plan, ledger, NULL);
    bool good = offloaded != NULL && pipe_init(&pipe, miniature, miniature_kinds[id].site, why) &&
                put_steps(&pipe, id, why);
    *layer_ns = good ? (double)engine_now(pipe.engine) / miniature->steps / miniature->layers : 0;
    pipe_release(&pipe);
    free(offloaded);
    return good;
}
