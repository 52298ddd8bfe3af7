/* The stages of hybrid attention, and of a cache of the CPU. Each waits for a task that is in pipe->at. */

#include "decode/time/hybrid.h"

#include <math.h>

#include "decode/time/fetch.h"
#include "decode/time/stages.h"
#include "model/sharding.h"

#define QUERY_BYTES 2.0   /* of a number of Q or of the output: bf16 */
#define SUM_BYTES 4.0     /* of a log-sum-exp: fp32 */
#define WEIGHT_BYTES 2.0  /* of an attention weight: bf16 */
#define COMBINE_KERNELS 1 /* reads, merges and writes */

/* (sequence, head) pairs, each with its selections, for each of the threads. */
static uint64_t tasks_each(const struct pipe *pipe, uint64_t pairs, uint32_t threads)
{
    return cpu_heads_each((uint64_t)((double)pairs * cpu_selections(pipe->setup)), threads);
}

/* Bytes of queries, and of the CPU's answers, for `pairs` (sequence, KV head) pairs. MLA's are latent. */
static double hybrid_query_bytes(const struct model *model, uint64_t pairs)
{
    uint32_t width = model->kv_lora > 0 ? model->kv_lora + model->rope_dim : model->head_dim;
    return (double)pairs * model_query_group(model) * width * QUERY_BYTES;
}

static double hybrid_answer_bytes(const struct model *model, uint64_t pairs)
{
    uint32_t width = model->kv_lora > 0 ? model->kv_lora : model->head_dim;
    return (double)pairs * model_query_group(model) * (width * QUERY_BYTES + SUM_BYTES);
}

/* Pairs of the pass, and the tokens of all and of the longest task: what HBM lacks, of each selection. */
static struct ledger_row pass_row(const struct pipe *pipe, uint32_t layer, uint32_t threads)
{
    const uint32_t *cohorts = pipe_cohorts(pipe);
    struct ledger_row row = {0};
    for (uint32_t i = 0; i < pipe->plan->cohort_count; i++) {
        uint64_t pairs = (uint64_t)cohorts[i] * pipe->plan->offloaded[layer];
        const struct ledger_row *part = pipe_part(pipe, i, layer);
        bool selected = cpu_attends_selected(pipe->setup, layer); /* by each pair its own */
        uint64_t tokens = pairs > 0 ? part->missed / part->offloaded_heads : 0;
        uint64_t worst = selected ? part->missed_worst : tokens;
        row.offloaded_heads += (uint32_t)pairs;
        row.for_cpu_padded += selected ? part->missed : pairs * tokens;
        row.for_cpu_worst = worst > row.for_cpu_worst ? worst : row.for_cpu_worst;
    }
    row.for_cpu = row.for_cpu_padded;
    row.for_cpu_worst *= tasks_each(pipe, row.offloaded_heads, threads);
    return row;
}

/* What the CPU attends to in a layer beside the GPU, of a number of pairs; `for_cpu` is 0 if nothing. */
static struct ledger_row row_for_cpu(const struct pipe *pipe, uint32_t layer)
{
    const struct ledger_row *row = cpu_attends(pipe->setup, layer) ? pipe_row(pipe, layer) : NULL;
    return row == NULL ? (struct ledger_row){0}
           : cpu_attends_selected(pipe->setup, layer)
               ? pass_row(pipe, layer, pipe->plan->cpu_threads)
               : *row;
}

static bool put_copy(struct pipe *pipe, enum way_id way, double bytes, engine_task_id after,
                     engine_task_id *out, struct error *why)
{
    struct work work = work_over(pipe, PART_SYNC, way, bytes);
    engine_task_id started;
    if (!work_put_call(pipe, PART_LAUNCH, CURVE_HOST_COPY_CALL, 1, after, &started, why)) {
        return false;
    }
    work.resource = way == WAY_IN ? PIPE_NO_QUEUE : work.resource; /* between parts of weights */
    work.rate /= cost_uplink_sharers(pipe->setup, &work.rate_trust);
    work_wait_for(&work, started);
    work_wait_for(&work, way == WAY_OUT ? pipe->last[PIPE_MAIN] : ENGINE_NONE);
    return work_put(pipe, &work, out, why);
}

/* Move Q to the host: by a copy, or by the kernel's own stores and a flag. */
bool hybrid_ask(struct pipe *pipe, uint32_t layer, struct error *why)
{
    const struct ledger_row row = row_for_cpu(pipe, layer);
    if (row.for_cpu == 0) {
        return true;
    }
    bool selected = cpu_attends_selected(pipe->setup, layer);
    double bytes = hybrid_query_bytes(&pipe->setup->model, row.offloaded_heads) +
                   (selected ? fetch_id_bytes(pipe, layer) : 0);
    if (selected && !fetch_retrieve(pipe, layer, why)) {
        return false;
    }
    if (pipe->mechanisms->sync == SYNC_CPU) {
        return put_copy(pipe, WAY_OUT, bytes, ENGINE_NONE, &pipe->at[layer].selected, why);
    }
    struct work work = work_over(pipe, PART_SYNC, WAY_OUT, bytes);
    work_wait_for(&work, pipe->last[PIPE_MAIN]);
    work.resource = PIPE_NO_QUEUE;
    work.fixed_trust = work_trust;
    work.fixed_ns = pipe_figure(pipe, CURVE_GPU_FLAG, 0, &work.fixed_trust);
    return work_put(pipe, &work, &pipe->at[layer].selected, why);
}

/* Average the window's attention weights: those of every query head are read, each average is updated. */
bool hybrid_average(struct pipe *pipe, uint32_t layer, struct error *why)
{
    bool hybrid = pipe->mechanisms->attention == ATTEND_HYBRID;
    if (!hybrid || !cpu_attends(pipe->setup, layer) || pipe_row(pipe, layer) == NULL) {
        return true;
    }
    double entries = 0;
    for (uint32_t i = 0; i < pipe->plan->cohort_count; i++) {
        entries += (double)pipe->plan->cohorts[i].sizes.cache_tokens *
                   pipe_part(pipe, i, layer)->offloaded_heads;
    }
    double bytes =
        entries * (WEIGHT_BYTES * model_query_group(&pipe->setup->model) + 2 * CPU_AVERAGE_BYTES);
    return work_put_kernel(pipe, PART_UPDATE, kernel_read(&pipe->setup->profile, bytes), 1,
                           ENGINE_NONE, NULL, why);
}

/* Arithmetic of several queries over the same KV, as the CPU's matrix products: of one, its curve has it. */
static double queries_ns(struct pipe *pipe, double bytes, double threads, struct trust *trust)
{
    const struct model *model = &pipe->setup->model;
    uint32_t queries = setup_queries(pipe->setup);
    if (queries == 1) {
        return 0;
    }
    double flops =
        2 * bytes / (double)dtype_bytes(model->kv, 2) * 2 * queries * model_query_group(model);
    return flops * 1e9 / pipe_figure(pipe, CURVE_HOST_KMEANS, threads, trust);
}

/* Let the pool read `bytes` for `pairs` pairs, `worst` in the longest task, waking a thread for each task. */
static bool put_pool_read(struct pipe *pipe, enum part part, uint64_t pairs, uint32_t most_threads,
                          double bytes, double worst, engine_task_id after, engine_task_id *out,
                          struct error *why)
{
    struct work work = work_of(part, PIPE_POOL);
    work.route = ROUTE_CPU_READ;
    work.bytes = bytes;
    struct trust all_trust = work_trust, worst_trust = work_trust;
    double sharers = cost_uplink_sharers(pipe->setup, &all_trust);
    double each = (double)tasks_each(pipe, pairs, most_threads);
    double threads = ceil((double)pairs * cpu_selections(pipe->setup) / each);
    double rate = pipe_figure(pipe, CURVE_HOST_ATTENTION, threads * sharers, &all_trust) / sharers;
    double all_ns = bytes * 1e9 / rate;
    double worst_ns = worst * 1e9 / pipe_figure(pipe, CURVE_HOST_ATTENTION, 1, &worst_trust);
    all_ns = fmax(all_ns, queries_ns(pipe, bytes, threads, &all_trust));
    work.rate = bytes / fmax(all_ns, worst_ns);
    work.rate_trust = all_ns >= worst_ns ? all_trust : worst_trust;
    work.fixed_ns = threads * pipe_figure(pipe, CURVE_HOST_POOL_WAKE, threads, &work.fixed_trust);
    work_wait_for(&work, after);
    return work_put(pipe, &work, out, why);
}

/* The pool searches the index for each selection. */
static bool put_search(struct pipe *pipe, uint32_t layer, const struct ledger_row *row,
                       uint32_t most_threads, struct error *why)
{
    double entries = 0;
    for (uint32_t i = 0; i < pipe->plan->cohort_count; i++) {
        entries += (double)pipe->plan->cohorts[i].sizes.entries *
                   pipe_part(pipe, i, layer)->offloaded_heads;
    }
    double bytes = entries * retrieval_entry_bytes(pipe->setup) * pipe->mechanisms->retrieval_read *
                   cpu_selections(pipe->setup);
    engine_task_id *selected = &pipe->at[layer].selected;
    return pipe->mechanisms->retrieval_on == RETRIEVAL_ON_GPU || bytes == 0 ||
           put_pool_read(pipe, PART_RETRIEVAL, row->offloaded_heads, most_threads, bytes, 0,
                         *selected, selected, why);
}

bool hybrid_put_attention(struct pipe *pipe, uint32_t layer, const struct ledger_row *row,
                          uint32_t most_threads, struct error *why)
{
    double bytes = (double)row->for_cpu_padded * pipe->head_bytes * cpu_selections(pipe->setup);
    double worst = (double)row->for_cpu_worst * pipe->head_bytes;
    struct pipe_layer *at = &pipe->at[layer];
    return put_search(pipe, layer, row, most_threads, why) &&
           put_pool_read(pipe, PART_CPU_ATTENTION, row->offloaded_heads, most_threads, bytes, worst,
                         at->selected, &at->answered, why);
}

/* The launch thread hands Q to the pool and waits; or polling threads take it, and the GPU polls. */
bool hybrid_attend(struct pipe *pipe, uint32_t layer, struct error *why)
{
    const struct mechanisms *m = pipe->mechanisms;
    const struct ledger_row row = row_for_cpu(pipe, layer);
    struct pipe_layer *at = &pipe->at[layer];
    at->answered = ENGINE_NONE;
    if (row.for_cpu == 0) {
        return true;
    }
    if (m->sync == SYNC_CPU) {
        return work_put_call(pipe, PART_SYNC, CURVE_HOST_SYNC, (double)m->syncs, at->selected,
                             &at->selected, why) &&
               hybrid_put_attention(pipe, layer, &row, pipe->plan->cpu_threads, why) &&
               work_put_thread(pipe, PART_CPU_ATTENTION, 0, at->answered, work_trust, NULL, why);
    }
    return hybrid_put_attention(pipe, layer, &row, pipe->plan->cpu_threads, why) &&
           work_put_flag(pipe, at->answered, &at->answered, why);
}

/* Merge both parts: one kernel on the main stream, which loads the CPU's part over the link. */
bool hybrid_combine(struct pipe *pipe, uint32_t layer, struct error *why)
{
    const struct ledger_row row = row_for_cpu(pipe, layer);
    struct work work = work_of(PART_MERGE, PIPE_MAIN);
    work.route = ROUTE_ZERO_COPY;
    engine_task_id launched;
    if (row.for_cpu == 0) {
        return true;
    }
    work.bytes = hybrid_answer_bytes(&pipe->setup->model, row.offloaded_heads);
    /* Bytes a second that the SMs load over one GPU's share of the link. */
    const struct profile *profile = &pipe->setup->profile;
    double link = way_rate(profile, WAY_IN, BY_ENGINE, 0, &work.rate_trust) /
                  cost_uplink_sharers(pipe->setup, &work.rate_trust);
    work.rate = fmin(link, way_rate(profile, WAY_IN, BY_KERNEL, 0, &work.rate_trust)) / 1e9;
    double moves = work.bytes / work.rate;
    double starts = pipe_figure(pipe, CURVE_LINK_ROUND_TRIP, 0, &work.fixed_trust);
    struct kernel least = cost_at_least(pipe->setup, kernel_none, COMBINE_KERNELS);
    if (least.ns > starts + moves) {
        starts = least.ns - moves;
        work.fixed_trust = least.trust;
    }
    work.fixed_ns = starts;
    pipe->moved[pipe->step].moved[WAY_IN] += llround(work.bytes);
    if (!work_launch(pipe, COMBINE_KERNELS, &launched, why)) {
        return false;
    }
    work_wait_for(&work, launched);
    work_wait_for(&work, pipe->at[layer].answered);
    return work_put(pipe, &work, NULL, why);
}

/* The thread waits for the query, and for the KV to be in host memory. */
static bool put_waits(struct pipe *pipe, engine_task_id query, engine_task_id *out,
                      struct error *why)
{
    return work_put_call(pipe, PART_SYNC, CURVE_HOST_SYNC, 1, query, out, why) &&
           work_put_thread(pipe, PART_DISK, 0, stream_kv(pipe), work_trust, out, why);
}

/* Copy the CPU's share to the GPU, whose main stream waits for it. */
static bool hybrid_put_answer(struct pipe *pipe, uint64_t asked, engine_task_id answered,
                              struct error *why)
{
    double bytes = hybrid_answer_bytes(&pipe->setup->model, asked);
    engine_task_id answer;
    return put_copy(pipe, WAY_IN, bytes, answered, &answer, why) &&
           work_put_event(pipe, PART_CPU_ATTENTION, answer, why);
}

static double states_bytes(const struct pipe *pipe)
{
    return QUERY_BYTES * pipe_sequences(pipe) * setup_queries(pipe->setup) *
           (double)pipe->setup->model.hidden;
}

/* All GPUs share the CPU. */
bool hybrid_multiply(struct pipe *pipe, uint32_t layer, engine_task_id *out, struct error *why)
{
    const struct model *model = &pipe->setup->model;
    uint64_t rows = (uint64_t)pipe_sequences(pipe) * setup_queries(pipe->setup);
    struct weights_read read = cost_weights_read(pipe->setup, layer, model_rows(model, rows));
    struct work work = work_of(PART_WEIGHTS, PIPE_POOL);
    double threads = cost_pool_threads(pipe->setup, &work.rate_trust), gpus = model_gpus(model);
    double reads = pipe_figure(pipe, CURVE_HOST_ATTENTION, threads, &work.rate_trust) / gpus;
    double counts = pipe_figure(pipe, CURVE_HOST_KMEANS, threads, &work.rate_trust) / gpus;
    engine_task_id states;
    work.route = ROUTE_CPU_READ;
    work.bytes = read.cpu_bytes + read.down_bytes;
    double seconds = fmax(read.cpu_bytes / reads, read.cpu_flops / counts) +
                     fmax(read.down_bytes / reads, read.down_flops / counts);
    work.rate = work.bytes > 0 ? work.bytes / seconds / 1e9 : 0;
    work.fixed_ns = threads * pipe_figure(pipe, CURVE_HOST_POOL_WAKE, threads, &work.fixed_trust) +
                    pipe_figure(pipe, CURVE_HOST_SYNC, 0, &work.fixed_trust);
    if (!put_copy(pipe, WAY_OUT, states_bytes(pipe), ENGINE_NONE, &states, why)) {
        return false;
    }
    work_wait_for(&work, states);
    return work_put(pipe, &work, out, why);
}

bool hybrid_add_products(struct pipe *pipe, engine_task_id products, struct error *why)
{
    engine_task_id copied;
    return put_copy(pipe, WAY_IN, states_bytes(pipe), products, &copied, why) &&
           work_put_event(pipe, PART_WEIGHTS, copied, why);
}

static bool alternates(const struct pipe *pipe)
{
    return pipe->mechanisms->micro_batch == MICRO_BATCH_ALTERNATING;
}

static uint64_t asked_pairs(const struct pipe *pipe, uint32_t layer)
{
    return (uint64_t)pipe_sequences(pipe) * pipe->plan->offloaded[layer] *
           setup_queries(pipe->setup);
}

bool cpu_whole_answer(struct pipe *pipe, uint32_t layer, struct error *why)
{
    return !alternates(pipe) || !cpu_attends_whole(pipe->setup, layer) ||
           pipe_row(pipe, layer) == NULL ||
           hybrid_put_answer(pipe, asked_pairs(pipe, layer), pipe->answers[pipe->micro_batch], why);
}

/* The GPU attends to what stays in HBM under pressure, before it gets the CPU's share, and merges both. */
static bool put_resident_attention(struct pipe *pipe, uint32_t layer, struct error *why)
{
    const uint32_t *cohorts = pipe_cohorts(pipe);
    uint64_t kernels = cost_stage_kernels(pipe->mechanisms, MODEL_ATTEND), tokens = 0;
    for (uint32_t i = 0; i < pipe->plan->cohort_count; i++) {
        const struct ledger_row *part = pipe_part(pipe, i, layer);
        tokens += part->offloaded_heads > 0 ? cohorts[i] * (part->hit / part->offloaded_heads) : 0;
    }
    struct kernel kernel = cost_stage(pipe->setup, layer, MODEL_ATTEND, pipe_sequences(pipe),
                                      tokens, kernels + COMBINE_KERNELS);
    return tokens == 0 || work_put_kernel(pipe, PART_COMPUTE, kernel, kernels + COMBINE_KERNELS,
                                          ENGINE_NONE, NULL, why);
}

bool cpu_whole_attend(struct pipe *pipe, uint32_t layer, struct error *why)
{
    const struct model *model = &pipe->setup->model;
    struct pipe_layer *at = &pipe->at[layer];
    struct trust trust = work_trust;
    uint32_t threads = cpu_whole_threads(pipe->setup, &trust);
    struct ledger_row row = pass_row(pipe, layer, threads);
    uint64_t asked = asked_pairs(pipe, layer);
    engine_task_id query;
    if (!put_copy(pipe, WAY_OUT, hybrid_query_bytes(model, asked), ENGINE_NONE, &query, why) ||
        !put_resident_attention(pipe, layer, why) || !put_waits(pipe, query, &at->selected, why) ||
        !hybrid_put_attention(pipe, layer, &row, threads, why) ||
        (!alternates(pipe) && !hybrid_put_answer(pipe, asked, at->answered, why))) {
        return false;
    }
    if (alternates(pipe)) {
        pipe->answers[pipe->micro_batch] = at->answered;
    }
    at->attended = pipe->last[PIPE_MAIN];
    stream_attended(pipe, at->answered);
    return true;
}

/* ---- what a layer needs ---- */

/* Time of one unit. It depends on how many units a head wants. */
static double manager_unit_ns(const struct pipe *pipe, const struct ledger_row *row,
                              enum curve_id unit_cost, struct trust *trust)
{
    double wanted =
        fmax((double)row->lookups, (double)(row->updates + row->inserts)) / row->offloaded_heads;
    return pipe_figure(pipe, unit_cost, wanted, trust);
}

/* The jobs of a layer take this long side by side: whole heads alike, or one of the busiest sequences. */
static double jobs_ns(const struct pipe *pipe, uint32_t layer, size_t units,
                      enum curve_id unit_cost, struct trust *trust)
{
    const struct ledger_row *row = pipe_row(pipe, layer);
    double heads = row->offloaded_heads, least = (double)pipe->mechanisms->pool_heads;
    double jobs = fmax(1, fmin(cost_pool_threads(pipe->setup, trust), ceil(heads / least)));
    double units_of_job =
        fmax(row_amount(row, units) * ceil(heads / jobs), pipe_even(pipe, layer, units));
    return units_of_job / heads * manager_unit_ns(pipe, row, unit_cost, trust);
}

/* An admission into a cache of pages also evicts, and gives back and takes each page in a hash set.
 * With RetroInfer's structures on one core, 256 heads in turn, that took as long as four promotions
 * a page: 734 + 203 ns for 2.5 pages, 92 ns for a promotion. A unit of host.update is the mean of
 * that cache, with pages of half a cluster and 92 % of hits. */
static double updates_ns(const struct pipe *pipe, uint32_t layer, struct trust *trust)
{
    const double promotions = 4, pages = mechanisms_pages(pipe->mechanisms);
    const double mean = 0.92 + 0.08 * promotions * 2.54;
    double moved = jobs_ns(pipe, layer, ROW_AMOUNT(updates), CURVE_HOST_UPDATE, trust);
    double admitted = jobs_ns(pipe, layer, ROW_AMOUNT(inserts), CURVE_HOST_UPDATE, trust);
    return pages == 0 ? moved + admitted : (moved + promotions * pages * admitted) / mean;
}

/* ---- hand-offs ---- */

/* The thread that hands over: the launch thread, or one that does nothing else. */
static enum pipe_resource caller(const struct pipe *pipe)
{
    return pipe->mechanisms->sync == SYNC_CPU ? PIPE_LAUNCH : PIPE_NO_QUEUE;
}

/* On `resource`, wake so many of the pool's threads, after `after`. */
static bool put_waking(struct pipe *pipe, enum pipe_resource resource, double woken,
                       engine_task_id after, engine_task_id *out, struct error *why)
{
    struct work work = work_of(PART_HANDOFF, resource);
    double threads = cost_pool_threads(pipe->setup, &work.fixed_trust);
    work.fixed_ns = woken * pipe_figure(pipe, CURVE_HOST_POOL_WAKE, threads, &work.fixed_trust);
    work_wait_for(&work, after);
    return work_put(pipe, &work, out, why);
}

/* The jobs, whose last one wakes the caller. */
static bool put_jobs(struct pipe *pipe, enum part part, double ns, struct trust trust,
                     engine_task_id after, engine_task_id *out, struct error *why)
{
    struct work work = work_of(part, PIPE_POOL);
    work.fixed_ns = ns;
    work.fixed_trust = trust;
    work_wait_for(&work, after);
    return work_put(pipe, &work, out, why) && put_waking(pipe, PIPE_NO_QUEUE, 1, *out, out, why);
}

/* The end of both, on `resource`. */
static bool put_end(struct pipe *pipe, enum part part, enum pipe_resource resource,
                    engine_task_id waking, engine_task_id jobs, engine_task_id *out,
                    struct error *why)
{
    struct work work = work_of(part, resource);
    work_wait_for(&work, waking);
    work_wait_for(&work, jobs);
    return work_put(pipe, &work, out, why);
}

bool manager_hand_over(struct pipe *pipe, engine_task_id after, engine_task_id *first,
                       engine_task_id *all, struct error *why)
{
    struct trust trust = work_trust;
    double threads = cost_pool_threads(pipe->setup, &trust);
    engine_task_id begun;
    return put_end(pipe, PART_HANDOFF, caller(pipe), after, ENGINE_NONE, &begun, why) &&
           put_waking(pipe, caller(pipe), threads, begun, all, why) &&
           put_waking(pipe, PIPE_POOL, 1, begun, first, why);
}

bool manager_look_up(struct pipe *pipe, uint32_t layer, engine_task_id after, engine_task_id *out,
                     struct error *why)
{
    struct trust trust = work_trust;
    double ns = jobs_ns(pipe, layer, ROW_AMOUNT(lookups), CURVE_HOST_LOOKUP, &trust);
    engine_task_id all, first, jobs;
    return manager_hand_over(pipe, after, &first, &all, why) &&
           put_jobs(pipe, PART_LOOKUP, ns, trust, first, &jobs, why) &&
           put_end(pipe, PART_LOOKUP, caller(pipe), all, jobs, out, why);
}

bool manager_insert(struct pipe *pipe, uint32_t layer, struct error *why)
{
    const struct ledger_row *row = pipe_row(pipe, layer);
    struct trust trust = work_trust;
    double units = (double)(row->updates + row->inserts);
    double ns = units * manager_unit_ns(pipe, row, CURVE_HOST_UPDATE, &trust);
    return work_put_thread(pipe, PART_UPDATE, ns, ENGINE_NONE, trust, NULL, why);
}

bool manager_update(struct pipe *pipe, uint32_t layer, engine_task_id after, engine_task_id *out,
                    struct error *why)
{
    struct trust trust = work_trust;
    double others = cost_pool_threads(pipe->setup, &trust) - 1;
    double ns = updates_ns(pipe, layer, &trust);
    engine_task_id begun, all, first, jobs;
    return put_waking(pipe, caller(pipe), 1, after, &begun, why) &&
           put_waking(pipe, PIPE_NO_QUEUE, others, begun, &all, why) &&
           put_waking(pipe, PIPE_POOL, fmin(others, 1), begun, &first, why) &&
           put_jobs(pipe, PART_UPDATE, ns, trust, first, &jobs, why) &&
           put_end(pipe, PART_UPDATE, PIPE_NO_QUEUE, all, jobs, out, why);
}
