/* The stage table: the program of a layer, for every system.
 *
 * A stage reads the mechanisms and puts its tasks, or none. */

#include "decode/time/stages.h"

#include <math.h>

#include "decode/time/fetch.h"
#include "decode/time/hybrid.h"

/* Two buffers for weights and two for KV, and the copies that fill them. */

engine_task_id stream_weights(const struct pipe *pipe)
{
    return pipe->stream.weights[pipe->stream.weights_now % 2];
}

engine_task_id stream_kv(const struct pipe *pipe)
{
    return pipe->stream.loaded[pipe->stream.slot_now % 2];
}

void stream_attended(struct pipe *pipe, engine_task_id attended)
{
    struct pipe_stream *stream = &pipe->stream;
    stream->attended[stream->slot_now++ % 2] = attended;
}

/* ---- weights ---- */

/* The half, or whole, layer that passes next, and its layer. */
static enum stage_half next_halves(const struct pipe *pipe, uint32_t *layer)
{
    *layer = pipe->layer;
    if (pipe->halves == HALF_ATTENTION) {
        return HALF_FFN;
    }
    *layer = (pipe->layer + 1) % pipe->plan->layers;
    return pipe->halves == HALF_FFN ? HALF_ATTENTION : HALF_BOTH;
}

/* Copy `bytes` of weights from host memory, once `after` has brought them there. */
static bool put_weights(struct pipe *pipe, double bytes, engine_task_id after, engine_task_id *out,
                        struct error *why)
{
    struct work work = work_over(pipe, PART_WEIGHTS, WAY_IN, bytes);
    struct trust trust = work_trust;
    engine_task_id started = pipe->graph;
    bool graph = pipe->mechanisms->launch == LAUNCH_GRAPH;
    double call = graph ? 0 : cost_copy_call(pipe->setup, false, work.bytes, &trust);
    if (call > 0 && !work_put_thread(pipe, PART_WEIGHTS, call, ENGINE_NONE, trust, &started, why)) {
        return false;
    }
    work.rate /= cost_uplink_sharers(pipe->setup, &work.rate_trust);
    work_wait_for(&work, started);
    work_wait_for(&work, after);
    work_wait_for(&work, pipe->stream.weights_freed);
    return work_put(pipe, &work, out, why);
}

/* Read from the disk what lies in a row there, once the buffer is free. */
static bool put_read(struct pipe *pipe, double bytes, engine_task_id freed, engine_task_id *out,
                     struct error *why)
{
    return disk_put_read(pipe, bytes, fmin(bytes, DISK_PIECE), ENGINE_NONE, freed, out, why);
}

/* What lies in host memory crosses while the rest is read. */
static bool put_weights_of_tiers(struct pipe *pipe, double bytes, engine_task_id *out,
                                 struct error *why)
{
    double disk = bytes * pipe->mechanisms->disk_weights;
    engine_task_id read, buffer = *out; /* the load before last has left the buffer */
    return (disk == bytes || put_weights(pipe, bytes - disk, ENGINE_NONE, out, why)) &&
           (disk == 0 ||
            (put_read(pipe, disk, buffer, &read, why) && put_weights(pipe, disk, read, out, why)));
}

bool stream_put_weights(struct pipe *pipe, uint32_t layer, struct error *why)
{
    const struct mechanisms *m = pipe->mechanisms;
    struct pipe_stream *stream = &pipe->stream;
    if (m->weights >= 1 || (pipe->micro_batch > 0 && !m->weights_spread)) {
        return true;
    }
    if (pipe->micro_batch == 0) {
        stream->weights_now++;
        stream->weights_freed = pipe->last[PIPE_MAIN]; /* the last pass that reads the buffer */
    }
    double parts = m->weights_spread ? pipe->plan->micro_batches.whole : 1;
    enum stage_half halves = next_halves(pipe, &layer);
    return put_weights_of_tiers(pipe, streamed_weight_bytes(pipe->setup, layer, halves) / parts,
                                &stream->weights[(stream->weights_now + 1) % 2], why);
}

/* ---- KV ---- */

/* The slot after the current one. Returns whether its KV starts to cross in the current pass: that
 * of the next layer starts with the last micro-batch, in the pass over its FFN. */
static bool next_slot(const struct pipe *pipe, uint32_t *layer, uint32_t *micro_batch)
{
    bool last = pipe->micro_batch + 1 == pipe->plan->micro_batches.count;
    *layer = last ? (pipe->layer + 1) % pipe->plan->layers : pipe->layer;
    *micro_batch = last ? 0 : pipe->micro_batch + 1;
    return last ? (pipe->halves & HALF_FFN) != 0 : (pipe->halves & HALF_ATTENTION) != 0;
}

/* Bytes that cross for one sequence of a cohort, in a layer that is loaded whole. */
static double sequence_bytes(const struct pipe *pipe, uint32_t cohort, uint32_t layer)
{
    const struct ledger_row *part = pipe_part(pipe, cohort, layer);
    double kv = (double)(part->missed / part->offloaded_heads) * pipe->link_bytes;
    return kv * pipe->plan->offloaded[layer] +
           (double)pipe->plan->cohorts[cohort].sizes.split.act_host *
               (double)model_activation_bytes(&pipe->setup->model);
}

/* What lies in host memory crosses while the rest is read. `worst` is of the head with most. */
static bool put_kv_of_tiers(struct pipe *pipe, double bytes, double worst, engine_task_id freed,
                            engine_task_id *out, struct error *why)
{
    double share = pipe->mechanisms->disk_kv, disk = bytes * share;
    engine_task_id read = ENGINE_NONE, buffer = *out; /* the load before last has left the buffer */
    const struct fetch_part host = {bytes - disk, worst * (1 - share), ENGINE_NONE, freed, false};
    if ((disk < bytes && !fetch_put_transfer(pipe, &host, out, why)) ||
        (disk > 0 && !put_read(pipe, disk, buffer, &read, why))) {
        return false;
    }
    const struct fetch_part rest = {disk, worst * share, read, freed, true};
    return disk == 0 || fetch_put_transfer(pipe, &rest, out, why);
}

/* For attention on the CPU: a copy by the launch thread, if memory is pageable, and what is read. */
static bool put_kv_for_cpu(struct pipe *pipe, double bytes, engine_task_id freed,
                           engine_task_id *out, struct error *why)
{
    const struct mechanisms *m = pipe->mechanisms;
    double disk = bytes * m->disk_kv;
    struct trust trust = work_trust;
    bool copies = m->transfer == TRANSFER_PAGEABLE && disk < bytes;
    double ns = copies ? cost_copy_call(pipe->setup, true, bytes - disk, &trust) : 0;
    *out = ENGINE_NONE;
    return (!copies || work_put_thread(pipe, PART_GATHER, ns, freed, trust, out, why)) &&
           (disk == 0 || put_read(pipe, disk, freed, out, why));
}

/* A stage: start to load the next slot's KV, if its layer is loaded whole. */
static bool stream_put_kv(struct pipe *pipe, uint32_t layer, struct error *why)
{
    struct pipe_stream *stream = &pipe->stream;
    uint32_t micro_batch, next = stream->slot_now + ((pipe->halves & HALF_ATTENTION) != 0);
    if (pipe->mechanisms->prefetch == PREFETCH_WHOLE_HEAD ||
        !next_slot(pipe, &layer, &micro_batch) || !setup_loads_whole(pipe->setup, layer) ||
        pipe_row(pipe, layer) == NULL) {
        return true;
    }
    const uint32_t *cohorts = packing_of(&pipe->plan->micro_batches, micro_batch);
    double all = 0, longest = 0;
    for (uint32_t i = 0; i < pipe->plan->cohort_count; i++) {
        double bytes = cohorts[i] > 0 ? sequence_bytes(pipe, i, layer) : 0;
        all += bytes * cohorts[i];
        longest = fmax(longest, bytes);
    }
    if (cpu_attends_whole(pipe->setup, layer)) {
        return put_kv_for_cpu(pipe, all, stream->attended[next % 2], &stream->loaded[next % 2],
                              why);
    }
    return all == 0 || put_kv_of_tiers(pipe, all, longest / pipe->plan->offloaded[layer],
                                       stream->attended[next % 2], &stream->loaded[next % 2], why);
}

/* Start to load a head of this layer into the buffer of the next slot. */
static bool put_head_kv(struct pipe *pipe, uint32_t layer, struct error *why)
{
    struct pipe_stream *stream = &pipe->stream;
    uint32_t next = stream->slot_now + 1;
    double all = 0, longest = 0;
    for (uint32_t i = 0; i < pipe->plan->cohort_count; i++) {
        double bytes = sequence_bytes(pipe, i, layer) / pipe->plan->offloaded[layer];
        all += bytes * pipe_cohorts(pipe)[i];
        longest = fmax(longest, bytes);
    }
    return all == 0 || put_kv_of_tiers(pipe, all, longest, stream->attended[next % 2],
                                       &stream->loaded[next % 2], why);
}

/* The next layer whose heads are loaded; after the last one, that of the next step. */
static uint32_t next_loaded(const struct pipe *pipe, uint32_t layer)
{
    do {
        layer = (layer + 1) % pipe->plan->layers;
    } while (pipe_row(pipe, layer) == NULL);
    return layer;
}

/* With `prefetch: whole-head` a slot is the attention of one head: attend to the layer's heads one after
 * the other, while the KV of the next head crosses. HeadInfer works this way.
 *
 *   in          |KV 0.1|KV 0.2|..|KV 1.0|
 *   main  |pre 0| 0.0  | 0.1  |..| 0.7  |post 0|
 */
static bool stream_attend_heads(struct pipe *pipe, uint32_t layer, struct error *why)
{
    uint32_t heads = pipe->plan->offloaded[layer];
    uint64_t kernels = (cost_stage_kernels(pipe->mechanisms, MODEL_ATTEND) + heads - 1) / heads;
    struct kernel head = pipe->kernels[MODEL_ATTEND][layer];
    head.ns /= heads;
    head.bytes /= heads;
    engine_task_id *attended = &pipe->at[layer].attended;
    for (uint32_t h = 0; h < heads; h++) {
        uint32_t next = h + 1 < heads ? layer : next_loaded(pipe, layer);
        if (!put_head_kv(pipe, next, why) ||
            !work_put_kernel(pipe, PART_COMPUTE, head, kernels, stream_kv(pipe), attended, why)) {
            return false;
        }
        stream_attended(pipe, *attended);
    }
    return true;
}

/* ---- the stages of a layer ---- */

static bool put_model_stage(struct pipe *pipe, enum model_stage stage, uint32_t layer,
                            engine_task_id after, struct error *why)
{
    size_t at = (size_t)layer * pipe->plan->micro_batches.count + pipe->micro_batch;
    return work_put_kernel(pipe, PART_COMPUTE, pipe->kernels[stage][at],
                           cost_stage_kernels(pipe->mechanisms, stage), after, NULL, why);
}

static bool emit_weights(struct pipe *pipe, uint32_t layer, struct error *why)
{
    return pipe->mechanisms->weights_at == WEIGHTS_AT_CPU || stream_put_weights(pipe, layer, why);
}

static bool emit_pre(struct pipe *pipe, uint32_t layer, struct error *why)
{
    return put_model_stage(pipe, MODEL_PRE, layer, stream_weights(pipe), why);
}

static bool stages_put_merge(struct pipe *pipe, uint32_t layer, size_t tokens, double ctas,
                             engine_task_id after, struct error *why)
{
    const struct ledger_row *row = pipe_row(pipe, layer);
    double bytes = row_amount(row, tokens) * pipe->head_bytes;
    double even = pipe_even(pipe, layer, tokens) * pipe->head_bytes;
    double all_ctas = ctas * row->offloaded_heads;
    return bytes == 0 ||
           work_put_kernel(pipe, PART_MERGE,
                           kernel_cta_copy(&pipe->setup->profile, bytes, even, all_ctas), 1, after,
                           NULL, why);
}

/* Copy hits into the execution buffer: launched before the CPU's gather, or beside the transfer. */
static bool stages_put_hits(struct pipe *pipe, uint32_t layer, bool before_gather,
                            struct error *why)
{
    const struct mechanisms *m = pipe->mechanisms;
    return !m->merge || (m->transfer == TRANSFER_GATHER_COPY) != before_gather ||
           stages_put_merge(pipe, layer, ROW_AMOUNT(hit),
                            fetch_hit_ctas(pipe, pipe_row(pipe, layer)), pipe->at[layer].looked_up,
                            why);
}

static bool emit_early_hits(struct pipe *pipe, uint32_t layer, struct error *why)
{
    return stages_put_hits(pipe, layer, true, why);
}

/* Misses are copied there, too, if the cache admits whole blocks (fetch_fill()). */
static bool emit_hits(struct pipe *pipe, uint32_t layer, struct error *why)
{
    const struct mechanisms *m = pipe->mechanisms;
    return stages_put_hits(pipe, layer, false, why) &&
           (!m->merge || m->block_span == BLOCK_UNIT ||
            stages_put_merge(pipe, layer, ROW_AMOUNT(missed), (double)m->admit_ctas,
                             pipe->at[layer].fetched, why));
}

/* Copy misses into the cache, too. */
static bool emit_admit(struct pipe *pipe, uint32_t layer, struct error *why)
{
    const struct mechanisms *m = pipe->mechanisms;
    return !m->merge || m->block_span != BLOCK_UNIT ||
           stages_put_merge(pipe, layer, ROW_AMOUNT(missed), (double)m->admit_ctas,
                            pipe->at[layer].updated, why);
}

/* Resident heads select with the true query, inside the layer. */
static bool emit_local(struct pipe *pipe, uint32_t layer, struct error *why)
{
    const struct mechanisms *m = pipe->mechanisms;
    double resident = pipe->plan->kv_heads - pipe->plan->offloaded[layer];
    double entries = 0, pairs = 0;
    for (uint32_t i = 0; setup_retrieves(pipe->setup) && i < pipe->plan->cohort_count; i++) {
        const struct cohort *cohort = &pipe->plan->cohorts[i];
        bool selects = !setup_attends_all(&pipe->setups[i], layer) &&
                       setup_selects_in(&pipe->setups[i], layer);
        double selecting = selects ? resident * cohort->sequences : 0;
        entries += (double)cohort->sizes.entries * selecting;
        pairs += selecting;
    }
    return entries == 0 ||
           work_put_kernel(pipe, PART_RETRIEVAL, retrieval_cost(pipe->setup, entries, pairs),
                           m->retrieval_kernels, ENGINE_NONE, NULL, why);
}

/* Compute K and V from activations or token ids; with `merge` copy the loaded ones into the same buffer. */
static bool emit_recompute(struct pipe *pipe, uint32_t layer, struct error *why)
{
    const struct setup *setup = pipe->setup;
    const uint32_t *cohorts = pipe_cohorts(pipe);
    struct remaking remaking = {0};
    double loaded = 0;
    for (uint32_t i = 0; pipe_row(pipe, layer) != NULL && i < pipe->plan->cohort_count; i++) {
        const struct split *split = &pipe->plan->cohorts[i].sizes.split;
        representation_add(setup, split, cohorts[i], &remaking);
        loaded += (double)split->kv * cohorts[i] * pipe->plan->offloaded[layer];
    }
    struct kernel kernel = representation_recompute(setup, &remaking);
    if (kernel.ns == 0) {
        return true;
    }
    if (!work_put_kernel(pipe, PART_RECOMPUTE, kernel, 1, stream_kv(pipe), NULL, why)) {
        return false;
    }
    return !pipe->mechanisms->merge || loaded == 0 ||
           work_put_kernel(pipe, PART_MERGE,
                           kernel_read(&setup->profile, 2 * loaded * pipe->head_bytes), 1,
                           ENGINE_NONE, NULL, why);
}

/* Make the keys of the pass whose values are fetched meanwhile. */
static bool emit_keys(struct pipe *pipe, uint32_t layer, struct error *why)
{
    const uint32_t *cohorts = pipe_cohorts(pipe);
    double tokens = 0, pairs = 0;
    for (uint32_t i = 0; pipe_row(pipe, layer) != NULL && i < pipe->plan->cohort_count; i++) {
        const struct ledger_row *part = pipe_part(pipe, i, layer);
        double asking = (double)cohorts[i] * pipe->plan->offloaded[layer];
        tokens += asking > 0 ? asking * (double)part->missed / part->offloaded_heads : 0;
        pairs += asking;
    }
    uint64_t kernels;
    struct kernel kernel = keys_make(pipe->setup, tokens, pairs, &kernels);
    bool whole = setup_loads_whole(pipe->setup, layer);
    return kernels == 0 ||
           work_put_kernel(pipe, PART_RECOMPUTE, kernel, kernels,
                           whole ? ENGINE_NONE : pipe->at[layer].looked_up, NULL, why);
}

bool stage_overhead(struct pipe *pipe, uint32_t layer, struct error *why)
{
    struct work work = work_of(PART_OVERHEAD, PIPE_MAIN);
    work.fixed_ns = (double)pipe->mechanisms->micro_batch_overhead;
    work.fixed_trust = (struct trust){BASIS_ASSUMED, false, "mechanisms.micro_batch_overhead"};
    (void)layer;
    return work.fixed_ns == 0 || work_put(pipe, &work, NULL, why);
}

/* In place, attention ends with its loads over the link, if they take longer than the rest. */
static bool emit_attend(struct pipe *pipe, uint32_t layer, struct error *why)
{
    engine_task_id *attended = &pipe->at[layer].attended, first, loads;
    if (cpu_attends_whole(pipe->setup, layer) && pipe_row(pipe, layer) != NULL) {
        return cpu_whole_attend(pipe, layer, why);
    }
    if (pipe->mechanisms->prefetch == PREFETCH_WHOLE_HEAD && pipe_row(pipe, layer) != NULL) {
        return stream_attend_heads(pipe, layer, why);
    }
    engine_task_id fetched =
        setup_loads_whole(pipe->setup, layer) ? stream_kv(pipe) : pipe->at[layer].fetched;
    size_t at = (size_t)layer * pipe->plan->micro_batches.count + pipe->micro_batch;
    uint64_t kernels = cost_stage_kernels(pipe->mechanisms, MODEL_ATTEND);
    if (!work_launch(pipe, kernels, &first, why) || !fetch_put_loads(pipe, first, &loads, why) ||
        !work_put_launched(pipe, PART_COMPUTE, pipe->kernels[MODEL_ATTEND][at], kernels, first,
                           fetched, attended, why) ||
        (loads != ENGINE_NONE && !work_put_event(pipe, PART_LINK, loads, why))) {
        return false;
    }
    *attended = loads != ENGINE_NONE ? pipe->last[PIPE_MAIN] : *attended;
    if (pipe->mechanisms->prefetch != PREFETCH_WHOLE_HEAD) { /* else only heads take slots */
        stream_attended(pipe, *attended);
    }
    return true;
}

static bool emit_post(struct pipe *pipe, uint32_t layer, struct error *why)
{
    engine_task_id after =
        pipe->halves == HALF_FFN ? stream_weights(pipe) : pipe->at[layer].updated;
    bool by_cpu = pipe->mechanisms->weights_at == WEIGHTS_AT_CPU;
    engine_task_id products;
    return (!by_cpu || hybrid_multiply(pipe, layer, &products, why)) &&
           put_model_stage(pipe, MODEL_POST, layer, after, why) &&
           (!by_cpu || hybrid_add_products(pipe, products, why));
}

static bool stages_put_exchanges(struct pipe *pipe, uint32_t layer, uint32_t sequences,
                                 engine_task_id *last, struct error *why)
{
    uint64_t kernels, queries = setup_queries(pipe->setup);
    struct model_rows rows = model_rows(&pipe->setup->model, sequences * queries);
    struct kernel kernel = cost_exchanges(pipe->setup, layer, rows, &kernels);
    return kernels == 0 ||
           work_put_kernel(pipe, PART_COLLECTIVE, kernel, kernels, ENGINE_NONE, last, why);
}

static bool emit_collective(struct pipe *pipe, uint32_t layer, struct error *why)
{
    return stages_put_exchanges(pipe, layer, pipe_sequences(pipe), NULL, why);
}

/* Bytes that a new token adds on the host for one pair: of KV and activations both, or their mean. */
static double stages_kept_bytes(const struct pipe *pipe, const struct split *split, uint32_t layer)
{
    double act = (double)model_activation_bytes(&pipe->setup->model) / pipe->plan->offloaded[layer];
    if (pipe->mechanisms->representation == REPRESENTATION_BOTH) {
        return pipe->head_bytes + act;
    }
    double kv_share = (double)split->kv / (double)(split->kv + split->act_host);
    return kv_share * pipe->head_bytes + (1 - kv_share) * act;
}

/* Bytes that leave HBM for one pair in this step: the new token's, or blocks of a window with averages. */
static double stages_leaving_bytes(const struct pipe *pipe, uint32_t cohort, uint32_t layer)
{
    const struct mechanisms *m = pipe->mechanisms;
    const struct split *split = &pipe->plan->cohorts[cohort].sizes.split;
    if (m->attention != ATTEND_HYBRID || !cpu_attends(pipe->setup, layer)) {
        return split->act_host > 0 ? stages_kept_bytes(pipe, split, layer) : pipe->link_bytes;
    }
    const struct cohort *of = &pipe->plan->cohorts[cohort];
    bool moved = pipe->step % m->granularity == 0 && of->context > of->sizes.cache_tokens;
    return moved ? (double)m->granularity * (pipe->head_bytes + CPU_AVERAGE_BYTES) : 0;
}

/* Copy new KV of the offloaded heads to the host, that of drafts before it is known which are accepted. */
static bool emit_writeback(struct pipe *pipe, uint32_t layer, struct error *why)
{
    uint32_t heads = pipe->plan->offloaded[layer];
    if (heads == 0 || mechanisms_drop(pipe->mechanisms)) {
        return true;
    }
    const uint32_t *cohorts = pipe_cohorts(pipe);
    double bytes = 0;
    for (uint32_t i = 0; i < pipe->plan->cohort_count; i++) {
        bytes +=
            stages_leaving_bytes(pipe, i, layer) * heads * cohorts[i] * setup_queries(pipe->setup);
    }
    engine_task_id left;
    return bytes == 0 || disk_put_leaving(pipe, bytes, &left, why);
}

/* The launch thread waits for all kernels, copies, reads and writes that it started. */
static bool emit_barrier(struct pipe *pipe, uint32_t layer, struct error *why)
{
    static const enum pipe_resource all[] = {PIPE_MAIN, PIPE_SIDE, PIPE_IN,
                                             PIPE_OUT,  PIPE_READ, PIPE_WRITE};
    bool last =
        pipe->micro_batch + 1 == pipe->plan->micro_batches.count && (pipe->halves & HALF_FFN) != 0;
    (void)layer;
    struct work work = work_of(PART_SYNC, PIPE_LAUNCH);
    if (pipe->mechanisms->barrier == BARRIER_NONE ||
        (pipe->mechanisms->barrier == BARRIER_LAYER && !last)) {
        return true;
    }
    work.fixed_ns = pipe_figure(pipe, CURVE_HOST_SYNC, 0, &work.fixed_trust);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        work_wait_for(&work, pipe->last[all[i]]);
    }
    return work_put(pipe, &work, NULL, why);
}

const struct stage layer_stages[] = {
    {"weights", false, HALF_BOTH, emit_weights},
    {"load", false, HALF_BOTH, stream_put_kv},
    {"pre", false, HALF_ATTENTION, emit_pre},
    {"overhead", false, HALF_ATTENTION, stage_overhead},
    {"index", true, HALF_ATTENTION, fetch_index},
    {"retrieve", true, HALF_ATTENTION, fetch_retrieve},
    {"diff", true, HALF_ATTENTION, fetch_diff},
    {"ids", true, HALF_ATTENTION, fetch_ids},
    {"sync", true, HALF_ATTENTION, fetch_sync},
    {"estimate", true, HALF_ATTENTION, fetch_estimate},
    {"lookup", true, HALF_ATTENTION, fetch_lookup},
    {"merge", true, HALF_ATTENTION, emit_early_hits},
    {"read", true, HALF_ATTENTION, disk_read_misses},
    {"gather", true, HALF_ATTENTION, fetch_gather},
    {"update", true, HALF_ATTENTION, fetch_update},
    {"transfer", true, HALF_ATTENTION, fetch_transfer},
    {"merge", true, HALF_ATTENTION, emit_hits},
    {"insert", true, HALF_ATTENTION, fetch_insert},
    {"fill", true, HALF_ATTENTION, fetch_fill},
    {"local", false, HALF_ATTENTION, emit_local},
    {"ask", false, HALF_ATTENTION, hybrid_ask},
    {"recompute", false, HALF_ATTENTION, emit_recompute},
    {"keys", false, HALF_ATTENTION, emit_keys},
    {"attend", false, HALF_ATTENTION, emit_attend},
    {"average", false, HALF_ATTENTION, hybrid_average},
    {"cpu-attend", false, HALF_ATTENTION, hybrid_attend},
    {"combine", false, HALF_ATTENTION, hybrid_combine},
    {"updated", true, HALF_ATTENTION, fetch_updated},
    {"admit", true, HALF_ATTENTION, emit_admit},
    {"answer", false, HALF_FFN, cpu_whole_answer},
    {"post", false, HALF_FFN, emit_post},
    {"collective", false, HALF_FFN, emit_collective},
    {"writeback", false, HALF_ATTENTION, emit_writeback},
    {"barrier", false, HALF_BOTH, emit_barrier},
    {NULL, false, HALF_BOTH, NULL},
};

/* Launch the step's graph; without one, kernels are launched one by one. */
bool stage_begin_step(struct pipe *pipe, struct error *why)
{
    pipe->stage = "graph";
    pipe->graph = ENGINE_NONE;
    return pipe->mechanisms->launch != LAUNCH_GRAPH ||
           work_put_call(pipe, PART_LAUNCH, CURVE_HOST_GRAPH_LAUNCH, 1, ENGINE_NONE, &pipe->graph,
                         why);
}

enum { EDGE_KERNELS = 3 }; /* after the last layer: norm, head and sampler */

/* The drafts of the next step. */
static bool stages_put_drafts(struct pipe *pipe, engine_task_id *last, struct error *why)
{
    struct drafting drafting = drafting_cost(pipe->setup, pipe->plan->batch);
    pipe->stage = "draft";
    return drafting.kernels == 0 || (work_put_kernel(pipe, PART_COMPUTE, drafting.compute,
                                                     drafting.kernels, ENGINE_NONE, last, why) &&
                                     (drafting.exchanged == 0 ||
                                      work_put_kernel(pipe, PART_COLLECTIVE, drafting.exchanges,
                                                      drafting.exchanged, ENGINE_NONE, last, why)));
}

/* Embedding, norm and head are one task. GPUs gather the logits, and the token reaches the CPU. */
bool stage_end_step(struct pipe *pipe, struct error *why)
{
    struct trust trust = work_trust;
    engine_task_id head;
    double sync = pipe_figure(pipe, CURVE_HOST_SYNC, 0, &trust);
    const struct drafts *drafts = &pipe->setup->drafts;
    double drafting = (double)drafts->overhead * drafts->count;
    double ns = sync + (double)pipe->mechanisms->step_overhead + drafting;
    if (trust.basis == BASIS_ASSUMED && ns > 2 * sync) {
        trust.assumed = 2 * drafting > ns ? "drafts.overhead" : "mechanisms.step_overhead";
    }
    pipe->stage = "head";
    if (!work_put_kernel(pipe, PART_COMPUTE, pipe->edge, EDGE_KERNELS, ENGINE_NONE, &head, why) ||
        !stages_put_exchanges(pipe, pipe->plan->layers, pipe->plan->batch, &head, why) ||
        !stages_put_drafts(pipe, &head, why)) {
        return false;
    }
    pipe->stage = "token";
    return work_put_thread(pipe, PART_OVERHEAD, ns, head, trust, NULL, why);
}
