/* The prediction of a miniature: its program, a list of stages, is put on the engine.
 *
 * On a host a program uses these resources of the pipeline: the launch thread (the caller), the pool,
 * and the copy engine and the main stream (the two stand-ins).
 *
 * On a GPU, attention is two kernels: one reads KV and writes the outputs of its parts, one merges
 * them. If the CPU manages the cache there is a single stream: copies, and kernels that load, run in
 * order with the other kernels. */
#include "decode/miniature/miniature.h"

#include "decode/time/fetch.h"
#include "decode/time/hybrid.h"

#include <math.h>
#include <stdlib.h>

const struct miniature_kind miniature_kinds[MINIATURE_COUNT] = {
#define MINIATURE(id, name, site, class, policy, beside, what)                                     \
    [MINIATURE_##id] = {name, MINIATURE_##site, MINIATURE_##class, policy, beside, what},
#include "decode/miniature/miniature.def"
};

/* Those of a GPU first; the last ones are all that a host needs. */
enum { HOST_CURVES = 7 };
static const enum curve_id curves[] = {
    CURVE_GPU_HBM_BANDWIDTH, CURVE_GPU_HBM_SHARE,      CURVE_GPU_CTA_BANDWIDTH,
    CURVE_GPU_SMS,           CURVE_GPU_KERNEL_FLOOR,   CURVE_GPU_GRAPH_NODE,
    CURVE_LINK_DUPLEX,       CURVE_LINK_COPY_LATENCY,  CURVE_LINK_ROUND_TRIP,
    CURVE_LINK_ZERO_COPY,    CURVE_LINK_CTA_IN_FLIGHT, CURVE_HOST_GRAPH_LAUNCH,
    CURVE_HOST_COPY_CALL,    CURVE_HOST_SYNC,          CURVE_HOST_PAGEABLE,
    CURVE_GPU_FLAG,          CURVE_GPU_FLOPS_BF16,     CURVE_GPU_FLOPS_SHARE,
    CURVE_GPU_SM_THREADS,    CURVE_GPU_SECTOR,         CURVE_LINK_IN,
    CURVE_LINK_OUT,          CURVE_HOST_CORES,         CURVE_HOST_DRAM_BANDWIDTH,
    CURVE_HOST_POOL_WAKE,    CURVE_HOST_LOOKUP,        CURVE_HOST_UPDATE,
    CURVE_HOST_GATHER,       CURVE_HOST_ATTENTION,
};

bool miniature_require(const struct profile *profile, enum miniature_site site, struct error *why)
{
    size_t all = sizeof curves / sizeof *curves, first = all - HOST_CURVES;
    return site == MINIATURE_HOST
               ? profile_require(profile, curves + first, HOST_CURVES, "a miniature on the host",
                                 why)
               : profile_require(profile, curves, all, "a miniature on a GPU", why);
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

/* ---- what the pipeline has, with a wait or a hand-off that it does not have ---- */

/* The launch thread blocks until `task` ends. */
static bool miniature_wait(struct pipe *pipe, engine_task_id task, struct error *why)
{
    return work_put_thread(pipe, PART_SYNC, 0, task, work_trust, NULL, why);
}

/* A gather with its hand-off, which the rate of a profile that was not measured includes. */
static bool miniature_gather(struct pipe *pipe, struct error *why)
{
    engine_task_id *first = &pipe->at[pipe->layer].at_hand, all;
    return manager_hand_over(pipe, pipe->last[PIPE_LAUNCH], first, &all, why) &&
           fetch_gather(pipe, pipe->layer, why);
}

/* The pool attends to `tokens`; the head that misses most decides. */
static bool pool_attend(struct pipe *pipe, uint64_t tokens, struct error *why)
{
    struct ledger_row row = *pipe_row(pipe, pipe->layer);
    row.for_cpu = row.for_cpu_padded = tokens;
    row.for_cpu_worst = row.missed_worst;
    pipe->at[pipe->layer].selected = pipe->last[PIPE_LAUNCH];
    return hybrid_put_attention(pipe, pipe->layer, &row, pipe->plan->cpu_threads, why) &&
           miniature_wait(pipe, pipe->at[pipe->layer].answered, why);
}

static uint64_t whole_tokens(const struct pipe *pipe)
{
    return pipe->setup->context * pipe->plan->kv_heads;
}

/* ---- kernels and copies of a GPU ---- */

enum {
    ATTENTION_KERNELS = 2,
    MAKING_KERNELS = 3,
    ASK_KERNELS = 2 /* the comparison, and the list of rows to fetch */
};

#define OUTPUT_BYTES 4.0 /* of a number of the output, or of a log-sum-exp: fp32 */
#define QUERY_BYTES 2.0

/* The rule of kernel_attention_splits(), for the few heads of a miniature: nearly as many parts as
 * run at once, each with at least two tiles of keys and of values for each of four warps. Two CTAs
 * fit the multiprocessor of an H100; where only one fits, half as many bytes are merged. */
#define PARTS_OF_SM 2.0
#define PART_BYTES 65536.0

/* The outputs and log-sum-exps of all query heads, once for each part of a head's KV. */
static double output_bytes(const struct pipe *pipe, double parts)
{
    const struct model *model = &pipe->setup->model;
    return parts * model->query_heads * (model->head_dim + 1.0) * OUTPUT_BYTES;
}

/* Attention to `tokens` of the current layer, after `after`, by kernels whose launch is `first`. */
static bool attend_launched(struct pipe *pipe, uint64_t tokens, engine_task_id first,
                            engine_task_id after, struct error *why)
{
    const struct setup *setup = pipe->setup;
    struct trust trust = work_trust;
    double bytes = (double)tokens * pipe->head_bytes, whole = output_bytes(pipe, 1);
    double most = pipe_figure(pipe, CURVE_GPU_SMS, 0, &trust) * PARTS_OF_SM;
    double of_head = fmax(1, floor(fmin(most, bytes / PART_BYTES) / pipe->plan->kv_heads));
    double parts = output_bytes(pipe, of_head);
    struct kernel attend = cost_at_least(setup, kernel_read(&setup->profile, bytes + parts), 1);
    struct kernel merge = cost_at_least(setup, kernel_read(&setup->profile, parts + whole), 1);
    trust_add(&merge.trust, trust);
    return work_put_launched(pipe, PART_COMPUTE, kernel_then(attend, merge), ATTENTION_KERNELS,
                             first, after, &pipe->at[pipe->layer].attended, why);
}

/* A host's stand-in is woken, and wakes the caller. */
static bool miniature_attend(struct pipe *pipe, bool gpu, uint64_t tokens, engine_task_id after,
                             struct error *why)
{
    engine_task_id first;
    if (gpu) {
        return work_launch(pipe, ATTENTION_KERNELS, &first, why) &&
               attend_launched(pipe, tokens, first, after, why);
    }
    struct work work = work_of(PART_COMPUTE, PIPE_MAIN);
    work.route = ROUTE_CPU_READ;
    work.bytes = (double)tokens * pipe->head_bytes;
    work.fixed_ns = 2 * pipe_figure(pipe, CURVE_HOST_POOL_WAKE, 1, &work.fixed_trust);
    work.rate = pipe_figure(pipe, CURVE_HOST_ATTENTION, 1, &work.rate_trust) / 1e9;
    work_wait_for(&work, pipe->last[PIPE_LAUNCH]);
    return work_put(pipe, &work, NULL, why);
}

static bool call_copy_in(struct pipe *pipe, double bytes, struct work *work, struct error *why)
{
    engine_task_id started;
    if (!work_put_call(pipe, PART_LAUNCH, CURVE_HOST_COPY_CALL, 1, ENGINE_NONE, &started, why)) {
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

/* A copy from pageable memory. The driver copies it block by block into staging memory, while the engine
 * sends the block before, so that the slower of the two sets the rate. The call returns when the last block
 * is staged (CUDA Runtime API, "API synchronization behavior"), which is then still to arrive. */
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

/* ---- whole layers that cross to the GPU ---- */

/* Of all tokens, those that cross as K and V, and those that cross as activations. */
static struct split split_of(const struct pipe *pipe)
{
    return representation_split(pipe->setup, pipe->setup->context, 0,
                                pipe->mechanisms->representation_share);
}

/* Load a whole layer into the buffer that attention last used two layers before it. */
static bool load_whole(struct pipe *pipe, engine_task_id *copied, struct error *why)
{
    struct split split = split_of(pipe);
    double bytes = (double)split.kv * pipe->plan->kv_heads * pipe->head_bytes +
                   (double)split.act_host * (double)model_activation_bytes(&pipe->setup->model);
    uint32_t layers = pipe->plan->layers, before = (pipe->layer + layers - 1) % layers;
    engine_task_id freed = pipe->at[before].attended;
    const struct fetch_part whole = {bytes, bytes, pipe->last[PIPE_LAUNCH], freed, false};
    return pipe->mechanisms->transfer == TRANSFER_PAGEABLE
               ? put_staged(pipe, bytes, freed, copied, why)
               : fetch_put_transfer(pipe, &whole, copied, why);
}

/* The next layer's copy runs during this one's attention (a host waits). Activations become K and V. */
static bool put_stream(struct pipe *pipe, bool gpu, struct error *why)
{
    uint32_t layers = pipe->plan->layers;
    engine_task_id *own = &pipe->at[pipe->layer].fetched;
    engine_task_id *next = &pipe->at[(pipe->layer + 1) % layers].fetched;
    bool first = pipe->step == 1 && pipe->layer == 0;
    bool last = pipe->step == pipe->plan->steps && pipe->layer + 1 == layers;
    struct remaking remaking = {0};
    struct split split = split_of(pipe);
    if (first && (!load_whole(pipe, own, why) || (!gpu && !miniature_wait(pipe, *own, why)))) {
        return false;
    }
    engine_task_id copied = *own;
    if (!last && !load_whole(pipe, next, why)) {
        return false;
    }
    if (pipe->mechanisms->representation != REPRESENTATION_KV) {
        representation_add(pipe->setup, &split, 1, &remaking);
        struct kernel made = representation_recompute(pipe->setup, &remaking);
        if (!work_put_kernel(pipe, PART_RECOMPUTE, made, MAKING_KERNELS, copied, NULL, why)) {
            return false;
        }
    }
    return miniature_attend(pipe, gpu, whole_tokens(pipe), copied, why) &&
           (gpu ||
            (miniature_wait(pipe, *next, why) && miniature_wait(pipe, pipe->last[PIPE_MAIN], why)));
}

/* ---- QSAC with labels on the GPU, one layer ahead: miniature.h draws it. The launch thread fetches,
 * too, so launches and fetches share one queue ---- */

/* Compare the labels and store the numbers of missed rows in host memory. */
static bool put_ask(struct pipe *pipe, uint32_t layer, struct error *why)
{
    struct kernel kernel = kernel_none;
    double bytes = (double)pipe_row(pipe, layer)->missed * sizeof(uint32_t);
    kernel.ns = bytes * 1e9 / pipe_figure(pipe, CURVE_LINK_OUT, 0, &kernel.trust);
    return work_put_kernel(pipe, PART_LOOKUP, kernel, ASK_KERNELS, ENGINE_NONE,
                           &pipe->at[layer].selected, why);
}

/* Move the rows: by copies, one for each head, or by the pool's stores. */
static bool put_rows(struct pipe *pipe, bool stores, struct error *why)
{
    const struct ledger_row *row = pipe_row(pipe, pipe->layer);
    enum curve_id fixed = stores ? CURVE_HOST_POOL_WAKE : CURVE_LINK_COPY_LATENCY;
    double threads = (double)pipe->mechanisms->transfer_threads;
    struct work work = work_of(PART_LINK, stores ? PIPE_STORES : PIPE_IN);
    work.route = ROUTE_COPY_IN;
    work.bytes = (double)row->missed * pipe->head_bytes;
    work.fixed_ns = (stores ? threads : row->fetching_heads) *
                    pipe_figure(pipe, fixed, threads, &work.fixed_trust);
    work.rate = cost_transfer_rate(pipe->setup, &work.rate_trust) / 1e9;
    work_wait_for(&work, pipe->last[PIPE_LAUNCH]);
    return work_put(pipe, &work, &pipe->at[pipe->layer].fetched, why);
}

/* The CPU waits for the numbers of the rows to fetch, gathers them and starts copies. */
static bool fetch_copied(struct pipe *pipe, struct error *why)
{
    const struct ledger_row *row = pipe_row(pipe, pipe->layer);
    struct pipe_layer *at = &pipe->at[pipe->layer];
    at->fetched = ENGINE_NONE;
    bool asked = fetch_sync(pipe, pipe->layer, why);
    at->looked_up = pipe->last[PIPE_LAUNCH];
    return asked &&
           (row->missed == 0 || (miniature_gather(pipe, why) &&
                                 work_put_call(pipe, PART_LAUNCH, CURVE_HOST_COPY_CALL,
                                               row->fetching_heads, ENGINE_NONE, NULL, why) &&
                                 put_rows(pipe, false, why)));
}

/* All kernels are launched before the fetch: the CPU sees a flag, stores rows, and sets a kernel's flag. */
static bool fetch_polled(struct pipe *pipe, struct error *why)
{
    const struct ledger_row *row = pipe_row(pipe, pipe->layer);
    struct pipe_layer *at = &pipe->at[pipe->layer];
    engine_task_id await, attention;
    at->fetched = ENGINE_NONE;
    return work_launch(pipe, 1, &await, why) &&
           work_launch(pipe, ATTENTION_KERNELS, &attention, why) &&
           work_put_flag(pipe, at->selected, &at->selected, why) &&
           miniature_wait(pipe, at->selected, why) &&
           (row->missed == 0 || put_rows(pipe, true, why)) &&
           miniature_wait(pipe, at->fetched, why) &&
           work_put_flag(pipe, pipe->last[PIPE_LAUNCH], &at->fetched, why) &&
           work_put_launched(pipe, PART_SYNC, kernel_none, 1, await, ENGINE_NONE, NULL, why) &&
           attend_launched(pipe, row->wanted, attention, at->fetched, why);
}

/* ---- the programs ---- */

/* clang-format off */
enum miniature_stage {
    END, ASK, SYNC, LOOK_UP, GATHER, NUMBERS, TRANSFER, PLACE, UPDATE, ATTEND_WANTED, ATTEND_HITS, ATTEND_MISSED,
    ATTEND_WHOLE, POOL_WANTED, POOL_MISSED, QUERY_OUT, MERGE_ANSWER, WAIT_MAIN, STREAM, ASK_OWN, ASK_NEXT,
    FETCH_COPIED, FETCH_POLLED
};

/* By default the CPU manages, launches each kernel, and waits; transfers run in the main stream. */
static const struct miniature_program {
    enum miniature_stage stages[9]; /* of a layer, up to END */
    enum transfer transfer;
    enum manager manager;
    enum sync sync;
    enum launch launch;
    bool streams; /* whole layers, in a stream of their own */
    bool makes;   /* K and V of half the tokens */
} programs[MINIATURE_COUNT] = {
    [MINIATURE_MANAGER] = {{LOOK_UP, UPDATE}},
    [MINIATURE_GATHER] = {{GATHER}},
    [MINIATURE_CPU_ATTENTION] = {{POOL_WANTED}},
    [MINIATURE_FETCH] = {{GATHER, TRANSFER, ATTEND_WANTED, WAIT_MAIN}},
    [MINIATURE_LRU] = {{LOOK_UP, GATHER, TRANSFER, ATTEND_WANTED, WAIT_MAIN, UPDATE}},
    [MINIATURE_LRU_OVERLAPPED] = {{LOOK_UP, GATHER, TRANSFER, ATTEND_WANTED, UPDATE, WAIT_MAIN}},
    [MINIATURE_LRU_SPLIT] = {{LOOK_UP, ATTEND_HITS, GATHER, TRANSFER, WAIT_MAIN, ATTEND_MISSED, WAIT_MAIN, UPDATE}},
    [MINIATURE_HYBRID] = {{ATTEND_HITS, POOL_MISSED, WAIT_MAIN}},
    [MINIATURE_QSAC] = {{LOOK_UP /* compares labels */, GATHER, TRANSFER, ATTEND_WANTED, WAIT_MAIN, UPDATE}},
    [MINIATURE_STREAM] = {{STREAM}, .streams = true},
    [MINIATURE_GPU_FULL] = {{ATTEND_WHOLE}},
    [MINIATURE_GPU_FULL_GRAPH] = {{ATTEND_WHOLE}, .launch = LAUNCH_GRAPH},
    [MINIATURE_GPU_LRU_COPY] = {{ASK, SYNC, LOOK_UP, GATHER, TRANSFER, PLACE, ATTEND_WANTED, UPDATE},
                                TRANSFER_GATHER_COPY},
    [MINIATURE_GPU_LRU_LOADS] = {{ASK, SYNC, LOOK_UP, NUMBERS, TRANSFER, ATTEND_WANTED, UPDATE},
                                 TRANSFER_SM_ZERO_COPY},
    [MINIATURE_GPU_LRU_KERNELS] = {{ASK, LOOK_UP, TRANSFER, ATTEND_WANTED},
                                   TRANSFER_SM_ZERO_COPY, MANAGER_GPU, SYNC_GPU},
    [MINIATURE_GPU_LRU_GRAPH] = {{ASK, LOOK_UP, TRANSFER, ATTEND_WANTED},
                                 TRANSFER_SM_ZERO_COPY, MANAGER_GPU, SYNC_GPU, LAUNCH_GRAPH},
    [MINIATURE_GPU_STREAM] = {{STREAM}, .streams = true},
    [MINIATURE_GPU_STREAM_PAGEABLE] = {{STREAM}, TRANSFER_PAGEABLE, .streams = true},
    [MINIATURE_GPU_ACTIVATIONS] = {{STREAM}, .streams = true, .makes = true},
    [MINIATURE_GPU_HYBRID] = {{QUERY_OUT, ATTEND_HITS, SYNC, POOL_MISSED, MERGE_ANSWER}},
    [MINIATURE_GPU_QSAC_COPY] = {{ASK_OWN, FETCH_COPIED, ASK_NEXT, ATTEND_WANTED},
                                 TRANSFER_GATHER_COPY, MANAGER_GPU},
    [MINIATURE_GPU_QSAC_STORE] = {{ASK_OWN, ASK_NEXT, FETCH_POLLED},
                                  TRANSFER_CPU_STORE, MANAGER_GPU, SYNC_GPU, LAUNCH_GRAPH},
};
/* clang-format on */

static bool put_stage(struct pipe *pipe, bool gpu, enum miniature_stage stage, struct error *why)
{
    const struct model *model = &pipe->setup->model;
    uint32_t layer = pipe->layer;
    struct pipe_layer *at = &pipe->at[layer];
    const struct ledger_row *row = pipe_row(pipe, layer);
    double missed = (double)row->missed * pipe->head_bytes, ctas = MINIATURE_CTAS;
    switch (stage) {
    case END:
        break;
    case ASK: /* what a layer wants is known when the layer before is done */
        at->selected = pipe->last[PIPE_MAIN];
        break;
    case SYNC:
        return fetch_sync(pipe, layer, why);
    case LOOK_UP:
        at->selected =
            pipe->mechanisms->manager == MANAGER_CPU ? pipe->last[PIPE_LAUNCH] : at->selected;
        return fetch_lookup(pipe, layer, why);
    case GATHER:
        return miniature_gather(pipe, why);
    case NUMBERS: /* of missed rows, for keys and for values */
        return put_copy_in(pipe, 2.0 * sizeof(uint32_t) * (double)row->missed, why);
    case TRANSFER:
        return fetch_transfer(pipe, layer, why) && (gpu || miniature_wait(pipe, at->fetched, why));
    case PLACE: /* a kernel moves the copied rows to their places in the cache */
        return work_put_kernel(
            pipe, PART_MERGE,
            kernel_cta_copy(&pipe->setup->profile, missed, missed, ctas * pipe->plan->kv_heads), 1,
            at->fetched, NULL, why);
    case UPDATE:
        at->looked_up = pipe->last[PIPE_LAUNCH];
        return fetch_update(pipe, layer, why) && miniature_wait(pipe, at->updated, why);
    case ATTEND_WANTED:
        return miniature_attend(pipe, gpu, row->wanted, at->fetched, why);
    case ATTEND_HITS:
        return miniature_attend(pipe, gpu, row->hit, at->fetched, why);
    case ATTEND_MISSED:
        return miniature_attend(pipe, gpu, row->missed, at->fetched, why);
    case ATTEND_WHOLE:
        return miniature_attend(pipe, gpu, whole_tokens(pipe), at->fetched, why);
    case POOL_WANTED:
        return pool_attend(pipe, row->wanted, why);
    case POOL_MISSED:
        return pool_attend(pipe, row->missed, why);
    case QUERY_OUT: /* queries go to the host; the pool's part of the output comes back */
        return work_put_call(pipe, PART_LAUNCH, CURVE_HOST_COPY_CALL, 1, ENGINE_NONE, NULL, why) &&
               work_put_copy_out(pipe, QUERY_BYTES * model->query_heads * model->head_dim,
                                 &at->selected, why);
    case MERGE_ANSWER:
        return put_copy_in(pipe, output_bytes(pipe, 1), why) &&
               work_put_kernel(pipe, PART_MERGE, kernel_none, 1, ENGINE_NONE, NULL, why);
    case WAIT_MAIN:
        return miniature_wait(pipe, pipe->last[PIPE_MAIN], why);
    case STREAM:
        return put_stream(pipe, gpu, why);
    case ASK_OWN: /* rows are asked for in the layer before; the first layer asks for its own, too */
        return layer > 0 || put_ask(pipe, layer, why);
    case ASK_NEXT:
        return layer + 1 == pipe->plan->layers || put_ask(pipe, layer + 1, why);
    case FETCH_COPIED:
        return fetch_copied(pipe, why);
    case FETCH_POLLED:
        return fetch_polled(pipe, why);
    }
    return true;
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

/* Set a curve of one point, whose value outlives the profile. */
static void set_figure(struct profile *profile, enum curve_id id, double *figure, double value)
{
    static double size = 0;
    *figure = value;
    profile->curves[id] =
        (struct curve){.count = 1, .size = &size, .value = figure, .least = 1, .most = 1};
}

/* The manager is Spillway's own LRU. Where it was not measured, the systems' figure stands. */
static void set_manager(struct profile *profile, enum curve_id systems, enum curve_id own)
{
    if (profile->curves[own].count > 0) {
        profile->curves[systems] = profile->curves[own];
    }
}

/* On a GPU a bare launch replaces a framework's; on a host the stand-ins those of a link and a GPU. */
static void set_stand_ins(struct profile *profile, enum miniature_id id,
                          const struct miniature_stand_ins *stand_ins, double figures[4])
{
    struct trust trust = work_trust;
    bool whole = programs[id].streams;
    set_manager(profile, CURVE_HOST_LOOKUP, CURVE_HOST_LRU_LOOKUP);
    set_manager(profile, CURVE_HOST_UPDATE, CURVE_HOST_LRU_UPDATE);
    if (miniature_kinds[id].site == MINIATURE_GPU) {
        set_figure(profile, CURVE_HOST_LAUNCH, figures, stand_ins->launch);
        return;
    }
    set_figure(profile, CURVE_LINK_IN, figures,
               whole ? stand_ins->copies_whole : stand_ins->copies_rows);
    set_figure(profile, CURVE_LINK_COPY_LATENCY, figures + 1,
               2 * profile_value(profile, CURVE_HOST_POOL_WAKE, 1, &trust));
    set_figure(profile, CURVE_HOST_COPY_CALL, figures + 2, 0);
    if (whole) {
        set_figure(profile, CURVE_HOST_ATTENTION, figures + 3, stand_ins->attends_whole);
    }
}

static struct mechanisms mechanisms_of(const struct miniature *miniature, enum miniature_id id)
{
    const struct miniature_program *program = &programs[id];
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

bool miniature_predict(const struct miniature *miniature, enum miniature_id id,
                       const struct profile *profile, const struct miniature_stand_ins *stand_ins,
                       const struct ledger *ledger, double *layer_ns, struct error *why)
{
    if (!miniature_knows(profile, id, why)) {
        return false;
    }
    uint32_t one = 1;
    double figures[4];
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
    pipe.stage = miniature_kinds[id].name;
    pipe.moved = arrays_add(&pipe.arrays, (size_t)plan.steps + 1, sizeof *pipe.moved, why);
    bool gpu = miniature_kinds[id].site == MINIATURE_GPU;
    bool good = offloaded != NULL && pipe_layers(&pipe, why) && pipe.moved != NULL &&
                (gpu ? machine_add : add_host)(&pipe, why);
    for (pipe.step = 1; good && pipe.step <= plan.steps; pipe.step++) {
        pipe.layer = 0;
        if (programs[id].launch == LAUNCH_GRAPH) {
            good = work_put_call(&pipe, PART_LAUNCH, CURVE_HOST_GRAPH_LAUNCH, 1, ENGINE_NONE,
                                 &pipe.graph, why);
        }
        for (; good && pipe.layer < plan.layers; pipe.layer++) {
            for (int i = 0; good && programs[id].stages[i] != END; i++) {
                good = put_stage(&pipe, gpu, programs[id].stages[i], why);
            }
        }
        /* The CPU sees the step's last kernel. */
        good = good && (!gpu || work_put_call(&pipe, PART_SYNC, CURVE_HOST_SYNC, 1,
                                              pipe.last[PIPE_MAIN], NULL, why));
    }
    good = good && engine_run(pipe.engine, NULL, why);
    *layer_ns = good ? (double)engine_now(pipe.engine) / miniature->steps / miniature->layers : 0;
    pipe_release(&pipe);
    free(offloaded);
    return good;
}
