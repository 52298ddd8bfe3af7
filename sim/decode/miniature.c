/* What the simulator says that a miniature takes: each mechanism is a short program, put on the
 * engine layer by layer. Of the pipeline's resources it uses the launch thread (the caller), the
 * pool, the copy engine and the main stream (the two stand-ins), and one channel, DRAM. */
#include "decode/miniature.h"

#include "base/array.h"
#include "decode/cpu_heads.h"
#include "decode/fetch.h"
#include "decode/hybrid.h"
#include "decode/work.h"

#include <math.h>
#include <stdlib.h>

const struct miniature_kind miniature_kinds[MINIATURE_COUNT] = {
#define MINIATURE(id, name, policy, beside, what) [MINIATURE_##id] = {name, policy, beside, what},
#include "decode/miniature.def"
#undef MINIATURE
};

static const enum curve_id curves_read[] = {
    CURVE_HOST_CORES,  CURVE_HOST_DRAM_BANDWIDTH, CURVE_HOST_POOL_HANDOFF, CURVE_HOST_LOOKUP,
    CURVE_HOST_UPDATE, CURVE_HOST_GATHER,         CURVE_HOST_ATTENTION,
};

bool miniature_require(const struct profile *profile, struct error *why)
{
    return profile_require(profile, curves_read, sizeof curves_read / sizeof *curves_read,
                           "a miniature on the host", why);
}

uint32_t miniature_pool(const struct miniature *miniature, enum miniature_id id)
{
    uint32_t beside = miniature_kinds[id].beside;
    return miniature->threads > beside ? miniature->threads - beside : 1;
}

/* ---- what hits ---- */

struct replay_plan miniature_plan(const struct miniature *miniature, enum miniature_id id,
                                  const struct replay_head *heads)
{
    return (struct replay_plan){
        .layers = miniature->layers,
        .kv_heads = miniature->kv_heads,
        .batch = 1,
        .context = miniature->context,
        .heads = heads,
        .policy = policy_find(miniature_kinds[id].policy, NULL, 0, &(struct error){0}),
        .seed = SETUP_SEED,
        .order = POLICY_BATCH,
        .selection = miniature->selection,
        .capacity = miniature->capacity,
        .manager_unit = 1,
        .block_span = BLOCK_UNIT,
        .warmup = miniature->warmup,
        .steps = miniature->steps,
    };
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
    struct replay_plan plan = miniature_plan(miniature, id, heads);
    bool good = heads != NULL && replay_run(trace, &plan, 1, ledger, why);
    free(heads);
    return good;
}

/* ---- tasks ---- */

static const struct ledger_row *row_of(const struct pipe *pipe, uint32_t layer)
{
    return pipe_row(pipe, layer);
}

/* The caller blocks. */
static bool wait_for(struct pipe *pipe, engine_task_id task, struct error *why)
{
    return work_put_thread(pipe, PART_SYNC, 0, task, work_trust, NULL, why);
}

/* The thread that stands for the GPU attends to `tokens` of one KV head's K and V. */
static bool put_stand_in(struct pipe *pipe, uint64_t tokens, struct error *why)
{
    const struct profile *profile = &pipe->setup->profile;
    struct work work = {
        .part = PART_COMPUTE,
        .resource = PIPE_MAIN,
        .route = ROUTE_CPU_READ,
        .bytes = (double)tokens * pipe->head_bytes,
        .fixed_trust = work_trust,
        .rate_trust = work_trust,
    };
    work.fixed_ns = profile_value(profile, CURVE_HOST_POOL_HANDOFF, 1, &work.fixed_trust);
    work.rate = profile_value(profile, CURVE_HOST_ATTENTION, 1, &work.rate_trust) / 1e9;
    work_wait_for(&work, pipe->last[PIPE_LAUNCH]);
    return work_put(pipe, &work, NULL, why);
}

/* The pool attends to `tokens`, of which one head has `worst`. */
static bool put_pool_attention(struct pipe *pipe, uint32_t layer, uint64_t tokens, uint64_t worst,
                               struct error *why)
{
    struct ledger_row row = *row_of(pipe, layer);
    row.for_cpu = row.for_cpu_padded = tokens;
    row.for_cpu_worst = worst;
    pipe->at[layer].selected = pipe->last[PIPE_LAUNCH];
    return hybrid_put_attention(pipe, layer, &row, why) &&
           wait_for(pipe, pipe->at[layer].answered, why);
}

static bool put_lookup(struct pipe *pipe, uint32_t layer, struct error *why)
{
    pipe->at[layer].selected = pipe->last[PIPE_LAUNCH];
    return fetch_lookup(pipe, layer, why);
}

/* The pipeline's gathers say nothing of a hand-off: the rates of profiles that nobody measured have
 * it in them. */
static bool put_gather(struct pipe *pipe, uint32_t layer, struct error *why)
{
    struct trust trust = work_trust;
    double threads = (double)pipe->mechanisms->transfer_threads;
    double handoff = profile_value(&pipe->setup->profile, CURVE_HOST_POOL_HANDOFF, threads, &trust);
    return work_put_thread(pipe, PART_GATHER, handoff, ENGINE_NONE, trust,
                           &pipe->at[layer].looked_up, why) &&
           fetch_gather(pipe, layer, why);
}

/* Gathered misses, to their places. */
static bool put_copy(struct pipe *pipe, uint32_t layer, struct error *why)
{
    return fetch_transfer(pipe, layer, why) && wait_for(pipe, pipe->at[layer].fetched, why);
}

static bool put_attention(struct pipe *pipe, uint32_t layer, struct error *why)
{
    return put_stand_in(pipe, row_of(pipe, layer)->wanted, why) &&
           wait_for(pipe, pipe->last[PIPE_MAIN], why);
}

static bool put_update(struct pipe *pipe, uint32_t layer, struct error *why)
{
    pipe->at[layer].looked_up = pipe->last[PIPE_LAUNCH];
    return fetch_update(pipe, layer, why) && wait_for(pipe, pipe->last[PIPE_POOL], why);
}

/* ---- programs ---- */

static bool run_manager(struct pipe *pipe, uint32_t layer, struct error *why)
{
    return put_lookup(pipe, layer, why) && put_update(pipe, layer, why);
}

static bool run_cpu_attention(struct pipe *pipe, uint32_t layer, struct error *why)
{
    const struct ledger_row *row = row_of(pipe, layer);
    return put_pool_attention(pipe, layer, row->wanted, row->missed_worst, why);
}

static bool run_fetch(struct pipe *pipe, uint32_t layer, struct error *why)
{
    return put_gather(pipe, layer, why) && put_copy(pipe, layer, why) &&
           put_attention(pipe, layer, why);
}

static bool run_lru(struct pipe *pipe, uint32_t layer, struct error *why)
{
    return put_lookup(pipe, layer, why) && run_fetch(pipe, layer, why) &&
           put_update(pipe, layer, why);
}

static bool run_lru_overlapped(struct pipe *pipe, uint32_t layer, struct error *why)
{
    return put_lookup(pipe, layer, why) && put_gather(pipe, layer, why) &&
           put_copy(pipe, layer, why) && put_stand_in(pipe, row_of(pipe, layer)->wanted, why) &&
           put_update(pipe, layer, why) && wait_for(pipe, pipe->last[PIPE_MAIN], why);
}

static bool run_lru_split(struct pipe *pipe, uint32_t layer, struct error *why)
{
    const struct ledger_row *row = row_of(pipe, layer);
    return put_lookup(pipe, layer, why) && put_stand_in(pipe, row->hit, why) &&
           put_gather(pipe, layer, why) && put_copy(pipe, layer, why) &&
           wait_for(pipe, pipe->last[PIPE_MAIN], why) && put_stand_in(pipe, row->missed, why) &&
           wait_for(pipe, pipe->last[PIPE_MAIN], why) && put_update(pipe, layer, why);
}

static bool run_hybrid(struct pipe *pipe, uint32_t layer, struct error *why)
{
    const struct ledger_row *row = row_of(pipe, layer);
    return put_stand_in(pipe, row->hit, why) &&
           put_pool_attention(pipe, layer, row->missed, row->missed_worst, why) &&
           wait_for(pipe, pipe->last[PIPE_MAIN], why);
}

static double whole_bytes(const struct pipe *pipe)
{
    return (double)pipe->setup->context * pipe->plan->kv_heads * pipe->head_bytes;
}

static bool put_whole(struct pipe *pipe, engine_task_id *copied, struct error *why)
{
    double bytes = whole_bytes(pipe);
    return fetch_put_transfer(pipe, bytes, bytes, pipe->last[PIPE_LAUNCH], ENGINE_NONE, copied,
                              why);
}

/* The next layer's copy runs beside this one's attention, into the other of two buffers; the very
 * first has nothing to run beside. */
static bool run_stream(struct pipe *pipe, uint32_t layer, struct error *why)
{
    engine_task_id copied = ENGINE_NONE;
    bool first = pipe->step == 1 && layer == 0;
    bool last = pipe->step == pipe->plan->steps && layer + 1 == pipe->plan->layers;
    uint64_t tokens = pipe->setup->context * pipe->plan->kv_heads;
    return (!first || (put_whole(pipe, &copied, why) && wait_for(pipe, copied, why))) &&
           (last || put_whole(pipe, &copied, why)) && put_stand_in(pipe, tokens, why) &&
           wait_for(pipe, copied, why) && wait_for(pipe, pipe->last[PIPE_MAIN], why);
}

static bool (*const programs[MINIATURE_COUNT])(struct pipe *, uint32_t, struct error *) = {
    [MINIATURE_MANAGER] = run_manager,
    [MINIATURE_GATHER] = put_gather,
    [MINIATURE_CPU_ATTENTION] = run_cpu_attention,
    [MINIATURE_FETCH] = run_fetch,
    [MINIATURE_LRU] = run_lru,
    [MINIATURE_LRU_OVERLAPPED] = run_lru_overlapped,
    [MINIATURE_LRU_SPLIT] = run_lru_split,
    [MINIATURE_HYBRID] = run_hybrid,
    [MINIATURE_QSAC] = run_lru, /* comparing labels is its lookup */
    [MINIATURE_STREAM] = run_stream,
};

/* ---- the machine ---- */

/* A copy that a thread makes reads and writes DRAM. */
static bool machine_init(struct pipe *pipe, struct error *why)
{
    const struct profile *profile = &pipe->setup->profile;
    double dram = profile_value(profile, CURVE_HOST_DRAM_BANDWIDTH, 0, &pipe->channel_trust);
    pipe->engine = engine_create(true, why);
    uint32_t channel =
        pipe->engine ? engine_channel_add(pipe->engine, "DRAM", dram / 1e9, why) : ENGINE_NONE;
    if (channel == ENGINE_NONE) {
        return false;
    }
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
        pipe->last[i] = ENGINE_NONE;
        pipe->resource[i] = engine_resource_add(pipe->engine, "", 1, why);
        good = pipe->resource[i] != ENGINE_NONE;
    }
    return good;
}

/* The stand-ins' figures, in the place of a link's; where the one attends to whole layers, in the
 * place of attention's. */
struct stand_in {
    double size, rate, latency, call, attention;
};

static void use_stand_in(struct profile *profile, struct stand_in *stand_in)
{
    const struct curve curve = {.count = 1, .size = &stand_in->size, .least = 1, .most = 1};
    struct curve *curves = profile->curves;
    curves[CURVE_LINK_H2D] = curves[CURVE_LINK_COPY_LATENCY] = curves[CURVE_HOST_COPY_CALL] = curve;
    curves[CURVE_LINK_H2D].value = &stand_in->rate;
    curves[CURVE_LINK_COPY_LATENCY].value = &stand_in->latency;
    curves[CURVE_HOST_COPY_CALL].value = &stand_in->call;
    if (stand_in->attention > 0) {
        curves[CURVE_HOST_ATTENTION] = curve;
        curves[CURVE_HOST_ATTENTION].value = &stand_in->attention;
    }
}

static bool pipe_init(struct pipe *pipe, const struct miniature *miniature, struct error *why)
{
    uint32_t layers = miniature->layers;
    pipe->at = array_zeroed(layers, sizeof *pipe->at, why);
    pipe->moved = array_zeroed((size_t)miniature->steps + 1, sizeof *pipe->moved, why);
    if (pipe->at == NULL || pipe->moved == NULL) {
        return false;
    }
    for (uint32_t l = 0; l < layers; l++) {
        pipe->at[l].attended = ENGINE_NONE;
    }
    pipe->head_bytes = 2.0 * 2 * miniature->head_dim; /* K and V in bf16 */
    return machine_init(pipe, why);
}

static bool put_program(struct pipe *pipe, enum miniature_id id, struct error *why)
{
    pipe->stage = miniature_kinds[id].name;
    for (pipe->step = 1; pipe->step <= pipe->plan->steps; pipe->step++) {
        for (pipe->layer = 0; pipe->layer < pipe->plan->layers; pipe->layer++) {
            if (!programs[id](pipe, pipe->layer, why)) {
                return false;
            }
        }
    }
    return engine_run(pipe->engine, INT64_MAX, why);
}

bool miniature_predict(const struct miniature *miniature, enum miniature_id id,
                       const struct profile *profile, const struct miniature_stand_ins *stand_ins,
                       const struct ledger *ledger, double *layer_ns, struct error *why)
{
    struct trust trust = work_trust;
    uint32_t one = 1, threads = miniature_pool(miniature, id);
    bool whole = id == MINIATURE_STREAM;
    struct stand_in stand_in = {
        .rate = whole ? stand_ins->copies_whole : stand_ins->copies_rows,
        .attention = whole ? stand_ins->attends_whole : 0,
        .latency = profile_value(profile, CURVE_HOST_POOL_HANDOFF, 1, &trust),
    };
    struct cohort cohort = {.context = miniature->context, .sequences = 1};
    struct setup setup = {
        .profile = *profile, .model = {.tensor_parallel = 1}, .context = miniature->context};
    setup.mechanisms = (struct mechanisms){
        .policy = policy_find(miniature_kinds[id].policy, NULL, 0, why),
        .manager = MANAGER_CPU,
        .update = UPDATE_OVERLAPPED,
        .transfer = TRANSFER_GATHER_COPY,
        .sync = SYNC_CPU,
        .pool_threads = threads,
        .transfer_threads = threads,
    };
    use_stand_in(&setup.profile, &stand_in);
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
        .micro_batches = {.cohorts = 1, .runs = 1, .times = &one, .sequences = &one, .count = 1},
        .offloaded = offloaded,
        .cpu_threads = threads,
        .steps = miniature->steps,
    };
    struct pipe pipe = {
        .setup = &setup, .mechanisms = &setup.mechanisms, .plan = &plan, .ledger = ledger};
    bool good =
        offloaded != NULL && pipe_init(&pipe, miniature, why) && put_program(&pipe, id, why);
    *layer_ns = good ? (double)engine_now(pipe.engine) / miniature->steps / miniature->layers : 0;
    pipe_release(&pipe);
    free(offloaded);
    return good;
}
