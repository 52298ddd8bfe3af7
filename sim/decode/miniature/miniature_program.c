/* What a program consists of: the pipeline's own stages, and a few that only a miniature has.
 *
 * On a host a program uses these resources of the pipeline: the launch thread (the caller), the pool,
 * and the copy engine and the main stream (the two stand-ins).
 *
 * On a GPU, attention is two kernels: one reads KV and writes the outputs of its parts, one merges
 * them. If the CPU manages the cache there is a single stream: copies, and kernels that load, run in
 * order with the other kernels. */
#include "decode/miniature/miniature_program.h"

#include "decode/plan/memory_plan.h"
#include "decode/time/fetch.h"
#include "decode/time/hybrid.h"

#include <math.h>

/* ---- stages that the pipeline has, with a wait or a hand-off that it does not have ---- */

/* The launch thread blocks until `task` ends. */
static bool miniature_wait(struct pipe *pipe, engine_task_id task, struct error *why)
{
    return work_put_thread(pipe, PART_SYNC, 0, task, work_trust, NULL, why);
}

static bool wait_main(struct pipe *pipe, uint32_t layer, struct error *why)
{
    (void)layer;
    return miniature_wait(pipe, pipe->last[PIPE_MAIN], why);
}

static bool look_up(struct pipe *pipe, uint32_t layer, struct error *why)
{
    pipe->at[layer].selected = pipe->last[PIPE_LAUNCH];
    return fetch_lookup(pipe, layer, why);
}

/* A gather with its hand-off. The pipeline's gathers have none, because in profiles that were not
 * measured the gather's rate includes it. */
static bool miniature_gather(struct pipe *pipe, uint32_t layer, struct error *why)
{
    engine_task_id all;
    return manager_hand_over(pipe, pipe->last[PIPE_LAUNCH], &pipe->at[layer].at_hand, &all, why) &&
           fetch_gather(pipe, layer, why);
}

static bool miniature_update(struct pipe *pipe, uint32_t layer, struct error *why)
{
    pipe->at[layer].looked_up = pipe->last[PIPE_LAUNCH];
    return fetch_update(pipe, layer, why) && miniature_wait(pipe, pipe->at[layer].updated, why);
}

/* The pool attends to `tokens`; the head that misses most decides. */
static bool pool_attend(struct pipe *pipe, uint32_t layer, uint64_t tokens, struct error *why)
{
    struct ledger_row row = *pipe_row(pipe, layer);
    row.for_cpu = row.for_cpu_padded = tokens;
    row.for_cpu_worst = row.missed_worst;
    pipe->at[layer].selected = pipe->last[PIPE_LAUNCH];
    return hybrid_put_attention(pipe, layer, &row, pipe->plan->cpu_threads, why) &&
           miniature_wait(pipe, pipe->at[layer].answered, why);
}

static bool pool_wanted(struct pipe *pipe, uint32_t layer, struct error *why)
{
    return pool_attend(pipe, layer, pipe_row(pipe, layer)->wanted, why);
}

static bool pool_missed(struct pipe *pipe, uint32_t layer, struct error *why)
{
    return pool_attend(pipe, layer, pipe_row(pipe, layer)->missed, why);
}

static uint64_t whole_tokens(const struct pipe *pipe)
{
    return pipe->setup->context * pipe->plan->kv_heads;
}

/* ---- stand-ins of a host ---- */

/* The GPU's stand-in attends to `tokens`, each K and V of one KV head. It is woken, and wakes the caller. */
static bool put_stand_in(struct pipe *pipe, uint64_t tokens, struct error *why)
{
    struct work work = work_of(PART_COMPUTE, PIPE_MAIN);
    work.route = ROUTE_CPU_READ;
    work.bytes = (double)tokens * pipe->head_bytes;
    work.fixed_ns = 2 * pipe_figure(pipe, CURVE_HOST_POOL_WAKE, 1, &work.fixed_trust);
    work.rate = pipe_figure(pipe, CURVE_HOST_ATTENTION, 1, &work.rate_trust) / 1e9;
    work_wait_for(&work, pipe->last[PIPE_LAUNCH]);
    return work_put(pipe, &work, NULL, why);
}

static bool stand_in_wanted(struct pipe *pipe, uint32_t layer, struct error *why)
{
    return put_stand_in(pipe, pipe_row(pipe, layer)->wanted, why);
}

static bool stand_in_hits(struct pipe *pipe, uint32_t layer, struct error *why)
{
    return put_stand_in(pipe, pipe_row(pipe, layer)->hit, why);
}

static bool stand_in_missed(struct pipe *pipe, uint32_t layer, struct error *why)
{
    return put_stand_in(pipe, pipe_row(pipe, layer)->missed, why);
}

/* The other stand-in copies misses, which were gathered, to their places. */
static bool stand_in_copy(struct pipe *pipe, uint32_t layer, struct error *why)
{
    return fetch_transfer(pipe, layer, why) && miniature_wait(pipe, pipe->at[layer].fetched, why);
}

/* All KV of a layer is copied. */
static bool stand_in_load(struct pipe *pipe, engine_task_id *loaded, struct error *why)
{
    double bytes = (double)whole_tokens(pipe) * pipe->head_bytes;
    const struct fetch_part whole = {bytes, bytes, pipe->last[PIPE_LAUNCH], ENGINE_NONE, false};
    return fetch_put_transfer(pipe, &whole, loaded, why);
}

static bool is_first(const struct pipe *pipe)
{
    return pipe->step == 1 && pipe->layer == 0;
}

static bool is_last(const struct pipe *pipe)
{
    return pipe->step == pipe->plan->steps && pipe->layer + 1 == pipe->plan->layers;
}

/* The next layer's copy runs during this one's attention, into the other buffer. The first has no overlap. */
static bool stand_in_stream(struct pipe *pipe, uint32_t layer, struct error *why)
{
    engine_task_id copied = ENGINE_NONE;
    if (is_first(pipe) &&
        (!stand_in_load(pipe, &copied, why) || !miniature_wait(pipe, copied, why))) {
        return false;
    }
    return (is_last(pipe) || stand_in_load(pipe, &copied, why)) &&
           put_stand_in(pipe, whole_tokens(pipe), why) && miniature_wait(pipe, copied, why) &&
           wait_main(pipe, layer, why);
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

static bool miniature_attend(struct pipe *pipe, uint64_t tokens, engine_task_id after,
                             struct error *why)
{
    engine_task_id first;
    return work_launch(pipe, ATTENTION_KERNELS, &first, why) &&
           attend_launched(pipe, tokens, first, after, why);
}

static bool attend_whole(struct pipe *pipe, uint32_t layer, struct error *why)
{
    (void)layer;
    return miniature_attend(pipe, whole_tokens(pipe), ENGINE_NONE, why);
}

static bool attend_wanted(struct pipe *pipe, uint32_t layer, struct error *why)
{
    return miniature_attend(pipe, pipe_row(pipe, layer)->wanted, ENGINE_NONE, why);
}

static bool attend_hits(struct pipe *pipe, uint32_t layer, struct error *why)
{
    return miniature_attend(pipe, pipe_row(pipe, layer)->hit, ENGINE_NONE, why);
}

/* What a layer wants is known when the layer before is done. */
static bool miniature_ask(struct pipe *pipe, uint32_t layer, struct error *why)
{
    (void)why;
    pipe->at[layer].selected = pipe->last[PIPE_MAIN];
    return true;
}

/* A kernel moves the copied rows to their places in the cache. */
static bool place_rows(struct pipe *pipe, uint32_t layer, struct error *why)
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

/* The numbers of missed rows, for keys and for values. */
static bool copy_numbers(struct pipe *pipe, uint32_t layer, struct error *why)
{
    return put_copy_in(pipe, 2.0 * sizeof(uint32_t) * (double)pipe_row(pipe, layer)->missed, why);
}

/* Queries go to the host; the pool's part of the output comes back. */
static bool query_out(struct pipe *pipe, uint32_t layer, struct error *why)
{
    const struct model *model = &pipe->setup->model;
    double bytes = (double)model->query_heads * model->head_dim * QUERY_BYTES;
    return work_put_call(pipe, PART_LAUNCH, CURVE_HOST_COPY_CALL, 1, ENGINE_NONE, NULL, why) &&
           work_put_copy_out(pipe, bytes, &pipe->at[layer].selected, why);
}

static bool merge_answer(struct pipe *pipe, uint32_t layer, struct error *why)
{
    (void)layer;
    return put_copy_in(pipe, output_bytes(pipe, 1), why) &&
           work_put_kernel(pipe, PART_MERGE, kernel_none, 1, ENGINE_NONE, NULL, why);
}

/* ---- whole layers that cross to the GPU ---- */

static bool makes(const struct pipe *pipe)
{
    return pipe->mechanisms->representation != REPRESENTATION_KV;
}

static struct split split_of(const struct pipe *pipe)
{
    double share = makes(pipe) ? pipe->mechanisms->representation_share : 0;
    return representation_split(pipe->setup, pipe->setup->context, 0, share);
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

/* Load a whole layer, K and V of all tokens or activations of some of them, into the buffer that
 * attention last used two layers before it. */
static bool load_whole(struct pipe *pipe, engine_task_id *copied, struct error *why)
{
    struct split split = split_of(pipe);
    double bytes = (double)split.kv * pipe->plan->kv_heads * pipe->head_bytes +
                   (double)split.act_host * (double)model_activation_bytes(&pipe->setup->model);
    uint32_t layers = pipe->plan->layers, before = (pipe->layer + layers - 1) % layers;
    engine_task_id freed = is_first(pipe) ? ENGINE_NONE : pipe->at[before].attended;
    const struct fetch_part whole = {bytes, bytes, ENGINE_NONE, freed, false};
    return pipe->mechanisms->transfer == TRANSFER_PAGEABLE
               ? put_staged(pipe, bytes, freed, copied, why)
               : fetch_put_transfer(pipe, &whole, copied, why);
}

/* Each layer starts the copy of the next; the very first also starts its own. */
static bool miniature_stream(struct pipe *pipe, uint32_t layer, struct error *why)
{
    struct pipe_layer *at = pipe->at;
    if (is_first(pipe) && !load_whole(pipe, &at[layer].fetched, why)) {
        return false;
    }
    engine_task_id mine = at[layer].fetched;
    return (is_last(pipe) ||
            load_whole(pipe, &at[(layer + 1) % pipe->plan->layers].fetched, why)) &&
           (!makes(pipe) || put_making(pipe, mine, why)) &&
           miniature_attend(pipe, whole_tokens(pipe), mine, why);
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
static bool put_rows(struct pipe *pipe, uint32_t layer, bool stores, struct error *why)
{
    const struct ledger_row *row = pipe_row(pipe, layer);
    enum curve_id fixed = stores ? CURVE_HOST_POOL_WAKE : CURVE_LINK_COPY_LATENCY;
    double threads = (double)pipe->mechanisms->transfer_threads;
    struct work work = work_of(PART_LINK, stores ? PIPE_STORES : PIPE_IN);
    work.route = ROUTE_COPY_IN;
    work.bytes = (double)row->missed * pipe->head_bytes;
    work.fixed_ns = (stores ? threads : row->fetching_heads) *
                    pipe_figure(pipe, fixed, threads, &work.fixed_trust);
    work.rate = cost_transfer_rate(pipe->setup, &work.rate_trust) / 1e9;
    work_wait_for(&work, pipe->last[PIPE_LAUNCH]);
    return work_put(pipe, &work, &pipe->at[layer].fetched, why);
}

static bool put_copies(struct pipe *pipe, uint32_t layer, struct error *why)
{
    double calls = pipe_row(pipe, layer)->fetching_heads;
    pipe->at[layer].looked_up = pipe->last[PIPE_LAUNCH];
    return miniature_gather(pipe, layer, why) &&
           work_put_call(pipe, PART_LAUNCH, CURVE_HOST_COPY_CALL, calls, ENGINE_NONE, NULL, why) &&
           put_rows(pipe, layer, false, why);
}

/* The CPU waits for the numbers of the rows to fetch, gathers them and starts copies. */
static bool fetch_copied(struct pipe *pipe, uint32_t layer, struct error *why)
{
    pipe->at[layer].fetched = ENGINE_NONE;
    return fetch_sync(pipe, layer, why) &&
           (pipe_row(pipe, layer)->missed == 0 || put_copies(pipe, layer, why));
}

/* A layer's rows are asked for in the layer before; the first layer asks for its own, too. */
static bool ask_for_own(struct pipe *pipe, uint32_t layer, struct error *why)
{
    return layer > 0 || put_ask(pipe, layer, why);
}

static bool ask_for_next(struct pipe *pipe, uint32_t layer, struct error *why)
{
    return layer + 1 == pipe->plan->layers || put_ask(pipe, layer + 1, why);
}

static bool attend_fetched(struct pipe *pipe, uint32_t layer, struct error *why)
{
    return miniature_attend(pipe, pipe_row(pipe, layer)->wanted, pipe->at[layer].fetched, why);
}

/* All kernels are launched before the fetch: the CPU sees a flag, stores rows, and sets a kernel's flag. */
static bool fetch_polled(struct pipe *pipe, uint32_t layer, struct error *why)
{
    struct pipe_layer *at = &pipe->at[layer];
    engine_task_id await, attention;
    at->fetched = ENGINE_NONE;
    return work_launch(pipe, 1, &await, why) &&
           work_launch(pipe, ATTENTION_KERNELS, &attention, why) &&
           work_put_flag(pipe, at->selected, &at->selected, why) &&
           miniature_wait(pipe, at->selected, why) &&
           (pipe_row(pipe, layer)->missed == 0 || put_rows(pipe, layer, true, why)) &&
           miniature_wait(pipe, at->fetched, why) &&
           work_put_flag(pipe, pipe->last[PIPE_LAUNCH], &at->fetched, why) &&
           work_put_launched(pipe, PART_SYNC, kernel_none, 1, await, ENGINE_NONE, NULL, why) &&
           attend_launched(pipe, pipe_row(pipe, layer)->wanted, attention, at->fetched, why);
}

/* ---- the programs ---- */

static const miniature_stage manage[] = {look_up, miniature_update, NULL};
static const miniature_stage only_gather[] = {miniature_gather, NULL};
static const miniature_stage only_attend[] = {pool_wanted, NULL};
static const miniature_stage fetch[] = {miniature_gather, stand_in_copy, stand_in_wanted, wait_main,
                                        NULL};
static const miniature_stage lru[] = {look_up,   miniature_gather, stand_in_copy, stand_in_wanted,
                                      wait_main, miniature_update, NULL};
static const miniature_stage overlapped[] = {
    look_up, miniature_gather, stand_in_copy, stand_in_wanted, miniature_update, wait_main, NULL};
static const miniature_stage split[] = {look_up,       stand_in_hits,    miniature_gather,
                                        stand_in_copy, wait_main,        stand_in_missed,
                                        wait_main,     miniature_update, NULL};
static const miniature_stage hybrid[] = {stand_in_hits, pool_missed, wait_main, NULL};
static const miniature_stage whole_copied[] = {stand_in_stream, NULL};
static const miniature_stage full[] = {attend_whole, NULL};
static const miniature_stage lru_copied[] = {miniature_ask,    fetch_sync,       look_up,
                                             miniature_gather, fetch_transfer,   place_rows,
                                             attend_wanted,    miniature_update, NULL};
static const miniature_stage lru_loaded[] = {
    miniature_ask,  fetch_sync,    look_up,          copy_numbers,
    fetch_transfer, attend_wanted, miniature_update, NULL};
static const miniature_stage lru_kernels[] = {miniature_ask, fetch_lookup, fetch_transfer,
                                              attend_wanted, NULL};
static const miniature_stage whole_loaded[] = {miniature_stream, NULL};
static const miniature_stage merged[] = {query_out,   attend_hits,  fetch_sync,
                                         pool_missed, merge_answer, NULL};
static const miniature_stage qsac_told[] = {ask_for_own, fetch_copied, ask_for_next, attend_fetched,
                                            NULL};
static const miniature_stage qsac_polled[] = {ask_for_own, ask_for_next, fetch_polled, NULL};

const struct miniature_program miniature_programs[MINIATURE_COUNT] = {
    [MINIATURE_MANAGER] = {manage},
    [MINIATURE_GATHER] = {only_gather},
    [MINIATURE_CPU_ATTENTION] = {only_attend},
    [MINIATURE_FETCH] = {fetch},
    [MINIATURE_LRU] = {lru},
    [MINIATURE_LRU_OVERLAPPED] = {overlapped},
    [MINIATURE_LRU_SPLIT] = {split},
    [MINIATURE_HYBRID] = {hybrid},
    [MINIATURE_QSAC] = {lru}, /* comparing labels is its lookup */
    [MINIATURE_STREAM] = {whole_copied, .streams = true},
    [MINIATURE_GPU_FULL] = {full},
    [MINIATURE_GPU_FULL_GRAPH] = {full, .launch = LAUNCH_GRAPH},
    [MINIATURE_GPU_LRU_COPY] = {lru_copied, TRANSFER_GATHER_COPY},
    [MINIATURE_GPU_LRU_LOADS] = {lru_loaded, TRANSFER_SM_ZERO_COPY},
    [MINIATURE_GPU_LRU_KERNELS] = {lru_kernels, TRANSFER_SM_ZERO_COPY, MANAGER_GPU, SYNC_GPU},
    [MINIATURE_GPU_LRU_GRAPH] = {lru_kernels, TRANSFER_SM_ZERO_COPY, MANAGER_GPU, SYNC_GPU,
                                 LAUNCH_GRAPH},
    [MINIATURE_GPU_STREAM] = {whole_loaded, .streams = true},
    [MINIATURE_GPU_STREAM_PAGEABLE] = {whole_loaded, TRANSFER_PAGEABLE, .streams = true},
    [MINIATURE_GPU_ACTIVATIONS] = {whole_loaded, .streams = true, .makes = true},
    [MINIATURE_GPU_HYBRID] = {merged},
    [MINIATURE_GPU_QSAC_COPY] = {qsac_told, TRANSFER_GATHER_COPY, MANAGER_GPU},
    [MINIATURE_GPU_QSAC_STORE] = {qsac_polled, TRANSFER_CPU_STORE, MANAGER_GPU, SYNC_GPU,
                                  LAUNCH_GRAPH},
};
