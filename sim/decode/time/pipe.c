/* Tasks, each with a mark by which timing.c reads the schedule. */

#include "decode/time/pipe.h"

#include <assert.h>
#include <math.h>

#include "decode/cost/attention.h"

const struct trust work_trust = {.basis = BASIS_MEASURED};

struct work work_of(enum part part, enum pipe_resource resource)
{
    return (struct work){
        .part = part, .resource = resource, .fixed_trust = work_trust, .rate_trust = work_trust};
}

void work_wait_for(struct work *work, engine_task_id task)
{
    if (task != ENGINE_NONE) {
        assert(work->after_count < WORK_MOST_AFTER);
        work->after[work->after_count++] = task;
    }
}

bool work_put(struct pipe *pipe, const struct work *work, engine_task_id *out, struct error *why)
{
    struct engine_task task = {
        .resource = pipe->resource[work->resource],
        .tag = (uint32_t)pipe->mark_count,
        .fixed_ns = llround(work->fixed_ns),
        .amount = work->bytes,
        .cap = work->rate,
        .route = pipe->route[work->route],
        .after = work->after,
        .after_count = work->after_count,
    };
    if (!array_reserve(&pipe->marks, &pipe->mark_capacity, pipe->mark_count + 1,
                       sizeof *pipe->marks, why)) {
        return false;
    }
    engine_task_id id = engine_submit(pipe->engine, &task, why);
    if (id == ENGINE_NONE) {
        return false;
    }
    pipe->marks[pipe->mark_count++] = (struct pipe_mark){
        .step = pipe->step,
        .layer = pipe->layer,
        .micro_batch = pipe->micro_batch,
        .halves = pipe->halves,
        .stage = pipe->stage,
        .part = work->part,
        .fixed_ns = task.fixed_ns,
        .fixed_trust = work->fixed_trust,
        .rate_trust = work->rate_trust,
        .alone_ns = task.fixed_ns + (work->bytes > 0 ? (int64_t)ceil(work->bytes / work->rate) : 0),
    };
    if (work->resource != PIPE_NO_QUEUE) {
        pipe->last[work->resource] = id;
    }
    if (out != NULL) {
        *out = id;
    }
    return true;
}

bool work_put_thread(struct pipe *pipe, enum part part, double ns, engine_task_id after,
                     struct trust trust, engine_task_id *out, struct error *why)
{
    struct work work = {
        .part = part, .resource = PIPE_LAUNCH, .fixed_ns = ns, .fixed_trust = trust};
    work_wait_for(&work, after);
    return work_put(pipe, &work, out, why);
}

bool work_put_call(struct pipe *pipe, enum part part, enum curve_id id, double times,
                   engine_task_id after, engine_task_id *out, struct error *why)
{
    struct trust trust = work_trust;
    double ns = times * pipe_figure(pipe, id, 0, &trust);
    return work_put_thread(pipe, part, ns, after, trust, out, why);
}

bool work_put_flag(struct pipe *pipe, engine_task_id after, engine_task_id *out, struct error *why)
{
    struct work work = work_of(PART_SYNC, PIPE_NO_QUEUE);
    work.fixed_ns = pipe_figure(pipe, CURVE_GPU_FLAG, 0, &work.fixed_trust);
    work_wait_for(&work, after);
    return work_put(pipe, &work, out, why);
}

bool work_put_event(struct pipe *pipe, enum part part, engine_task_id after, struct error *why)
{
    struct work work = work_of(part, PIPE_MAIN);
    work_wait_for(&work, after);
    return work_put(pipe, &work, NULL, why);
}

double work_launch_ns(const struct pipe *pipe, struct trust *trust)
{
    return pipe->mechanisms->launch_cost * pipe_figure(pipe, CURVE_HOST_LAUNCH, 0, trust);
}

bool work_launch(struct pipe *pipe, uint64_t kernels, engine_task_id *first, struct error *why)
{
    if (pipe->setup->mechanisms->launch == LAUNCH_GRAPH) {
        *first = pipe->graph;
        return true;
    }
    struct trust trust = work_trust;
    double call = work_launch_ns(pipe, &trust), rest = call * (double)(kernels - 1);
    return work_put_thread(pipe, PART_LAUNCH, call, ENGINE_NONE, trust, first, why) &&
           (kernels == 1 ||
            work_put_thread(pipe, PART_LAUNCH, rest, ENGINE_NONE, trust, NULL, why));
}

bool work_put_kernel(struct pipe *pipe, enum part part, struct kernel kernel, uint64_t kernels,
                     engine_task_id after, engine_task_id *out, struct error *why)
{
    engine_task_id first;
    kernels = kernels > 0 ? kernels : 1;
    return work_launch(pipe, kernels, &first, why) &&
           work_put_launched(pipe, part, kernel, kernels, first, after, out, why);
}

bool work_put_launched(struct pipe *pipe, enum part part, struct kernel kernel, uint64_t kernels,
                       engine_task_id first, engine_task_id after, engine_task_id *out,
                       struct error *why)
{
    kernel = cost_at_least(pipe->setup, kernel, kernels);
    struct work work = {
        .part = part,
        .resource = PIPE_MAIN,
        .route = ROUTE_KERNEL,
        .fixed_trust = kernel.trust,
        .rate_trust = kernel.trust,
    };
    if (kernel.bytes > 0) {
        work.bytes = kernel.bytes;
        work.rate = kernel.bytes / kernel.ns;
    } else {
        work.fixed_ns = kernel.ns;
    }
    work_wait_for(&work, first);
    work_wait_for(&work, after);
    return work_put(pipe, &work, out, why);
}

struct work work_over(struct pipe *pipe, enum part part, enum way_id way, double bytes)
{
    const struct profile *profile = &pipe->setup->profile;
    struct work work = work_of(part, way == WAY_IN ? PIPE_IN : PIPE_OUT);
    work.route = way == WAY_IN ? ROUTE_COPY_IN : ROUTE_COPY_OUT;
    work.bytes = bytes;
    work.rate = way_rate(profile, way, BY_ENGINE, bytes, &work.rate_trust) / 1e9;
    work.fixed_ns = way_start_ns(profile, way, BY_ENGINE, &work.fixed_trust);
    pipe->moved[pipe->step].moved[way] += llround(bytes);
    return work;
}

bool work_put_copy_out(struct pipe *pipe, double bytes, engine_task_id *out, struct error *why)
{
    struct work work = work_over(pipe, PART_LINK, WAY_OUT, bytes);
    work_wait_for(&work, pipe->last[PIPE_MAIN]);
    return work_put(pipe, &work, out, why);
}

void pipe_begin(struct pipe *pipe, const struct setup *setup, const struct plan *plan,
                const struct ledger *ledger, const struct stop_flag *stop)
{
    *pipe = (struct pipe){
        .setup = setup,
        .mechanisms = setup->mechanisms,
        .plan = plan,
        .ledger = ledger,
        .stop = stop,
        .head_bytes = (double)model_kv_head_bytes(&setup->model),
        .link_bytes = (double)model_kv_head_bytes(&setup->model) * keys_host_share(setup),
        .graph = ENGINE_NONE,
        .stream = {.weights = {ENGINE_NONE, ENGINE_NONE},
                   .loaded = {ENGINE_NONE, ENGINE_NONE},
                   .attended = {ENGINE_NONE, ENGINE_NONE}},
    };
    for (int i = 0; i < PIPE_RESOURCE_COUNT; i++) {
        pipe->last[i] = ENGINE_NONE;
    }
}

bool pipe_layers(struct pipe *pipe, struct error *why)
{
    pipe->at = arrays_add(&pipe->arrays, pipe->plan->layers, sizeof *pipe->at, why);
    for (uint32_t l = 0; pipe->at != NULL && l < pipe->plan->layers; l++) {
        pipe->at[l] =
            (struct pipe_layer){ENGINE_NONE, ENGINE_NONE, ENGINE_NONE, ENGINE_NONE, ENGINE_NONE,
                                ENGINE_NONE, ENGINE_NONE, ENGINE_NONE, ENGINE_NONE};
    }
    return pipe->at != NULL;
}

bool pipe_setups(struct pipe *pipe, struct error *why)
{
    pipe->setups = arrays_add(&pipe->arrays, pipe->plan->cohort_count, sizeof *pipe->setups, why);
    for (uint32_t i = 0; pipe->setups != NULL && i < pipe->plan->cohort_count; i++) {
        pipe->setups[i] = setup_at(pipe->setup, pipe->plan->cohorts[i].context);
    }
    return pipe->setups != NULL;
}

const uint32_t *pipe_cohorts(const struct pipe *pipe)
{
    return packing_of(&pipe->plan->micro_batches, pipe->micro_batch);
}

uint32_t pipe_sequences(const struct pipe *pipe)
{
    const uint32_t *cohorts = pipe_cohorts(pipe);
    uint32_t sequences = 0;
    for (uint32_t i = 0; i < pipe->plan->cohort_count; i++) {
        sequences += cohorts[i];
    }
    return sequences;
}

/* The index of the current step and `layer` in a ledger. That which fills the pipeline has the first row. */
static size_t row_at(const struct pipe *pipe, uint32_t layer)
{
    uint32_t step = pipe->step > 0 ? pipe->step - 1 : 0;
    return (size_t)step * pipe->ledger->layers + layer;
}

const struct ledger_row *pipe_row(const struct pipe *pipe, uint32_t layer)
{
    bool none = pipe->ledger == NULL || pipe->plan->offloaded[layer] == 0;
    return none ? NULL : &pipe->ledger->rows[row_at(pipe, layer)];
}

const struct ledger_row *pipe_part(const struct pipe *pipe, uint32_t cohort, uint32_t layer)
{
    return &ledger_part(pipe->ledger, cohort)[row_at(pipe, layer)];
}

double pipe_even(const struct pipe *pipe, uint32_t layer, size_t amount)
{
    const struct ledger_row *row = pipe_row(pipe, layer);
    assert(row != NULL); /* the layer is offloaded */
    double pairs = row->offloaded_heads, most = 0;
    for (uint32_t i = 0; i < pipe->plan->cohort_count; i++) {
        const struct ledger_row *part = pipe_part(pipe, i, layer);
        if (part->offloaded_heads > 0) {
            most = fmax(most, row_amount(part, amount) * (pairs / part->offloaded_heads));
        }
    }
    return most;
}

/* The curves that a setup reads. A profile that lacks one is refused before anything runs. */

/* The model's operators and its exchanges between GPUs, of a batch of one. */
static void needs_read_model(const struct setup *dry)
{
    const struct model *model = &dry->model;
    struct model_rows rows = model_rows(model, setup_queries(dry));
    rows.queries = setup_queries(dry);
    for (uint32_t layer = 0; layer <= model->layer_count; layer++) {
        uint64_t exchanges;
        bool repeats = layer < model->layer_count && model_layer_repeats(model, layer);
        for (int stage = 0; !repeats && stage < MODEL_STAGE_COUNT; stage++) {
            cost_row_stage(dry, layer, (enum model_stage)stage, rows, 1, 1);
        }
        cost_exchanges(dry, layer, model_rows(model, 1), &exchanges);
    }
}

/* Which curves kernels read follows from a dry run, because a profile may state one or another. */
static void read_kernels(const struct setup *setup, bool prompts, struct profile_reads *reads)
{
    struct setup dry = *setup;
    dry.profile.reads = reads;
    needs_read_model(&dry);
    if (prompts) {
        /* Attention of a prompt in each layer; k-means of its keys is a product in bf16. */
        const struct model *model = &dry.model;
        for (uint32_t layer = 0; layer < model->layer_count; layer++) {
            struct prompt_attention work = {.waits = dry.mechanisms->prompt_waits};
            prompt_attention_add(&work, model, layer, 0, 1);
            kernel_prompt_attention(&dry.profile, &work);
        }
        kernel_product(&dry.profile, 1, 1, 1, DTYPE_BF16);
    }
    if (dry.mechanisms->representation != REPRESENTATION_KV) {
        kernel_product(&dry.profile, 1, 1, 1, dry.model.weights);
    }
    uint64_t unused;
    keys_make(&dry, 1, 1, &unused);
    if (setup_retrieves(&dry)) {
        retrieval_cost(&dry, 1, 1);
    }
}

/* A tier below host memory, and its ways. */
static void add_below(const struct setup *setup, enum tier_id tier, bool capacity,
                      struct profile_reads *reads)
{
    const struct tier_kind *kind = &tier_kinds[tier];
    const struct way_kind *in = &way_kinds[way_between(tier, TIER_HOST)];
    const struct way_figures *there = &in->by[BY_ENGINE],
                             *back = &way_kinds[in->back].by[BY_ENGINE];
    const enum curve_id needed[] = {there->rate, there->start, back->rate, back->start};
    const enum curve_id stated[] = {kind->read_one, kind->bandwidth};
    reads->of[kind->capacity] = capacity;
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        reads->of[needed[i]] = true;
    }
    for (size_t i = 0; i < sizeof stated / sizeof *stated; i++) {
        if (stated[i] != CURVE_COUNT && profile_states(&setup->profile, stated[i])) {
            reads->of[stated[i]] = true;
        }
    }
}

static void add_tiers(const struct setup *setup, struct pipeline_beside beside,
                      struct profile_reads *reads)
{
    for (enum tier_id tier = TIER_HOST + 1; tier < TIER_COUNT; tier++) {
        bool decode = tier == TIER_DISK && mechanisms_use_disk(setup->mechanisms);
        if (decode || beside.below[tier]) {
            add_below(setup, tier, decode || setup->room[tier] == 0, reads);
        }
    }
}

static void read_machine(const struct setup *setup, struct pipeline_beside beside,
                         struct profile_reads *reads)
{
    const struct mechanisms *m = setup->mechanisms;
    bool offload = mechanisms_offload(m), graph = m->launch == LAUNCH_GRAPH;
    bool gathers = offload && m->transfer == TRANSFER_GATHER_COPY;
    bool stores = offload && m->transfer == TRANSFER_CPU_STORE;
    bool in_place = mechanisms_attend_in_place(m);
    bool loads = offload && m->transfer == TRANSFER_SM_ZERO_COPY, streams = m->weights < 1;
    bool link = offload || streams;
    bool copies = (offload && !stores && !loads && !in_place) || streams || m->retrieval_stream ||
                  (offload && m->block_span != BLOCK_UNIT);
    bool pageable = (offload || mechanisms_host_prefixes(m)) && m->transfer == TRANSFER_PAGEABLE;
    bool hybrid = m->attention == ATTEND_HYBRID || mechanisms_cpu_selects(m);
    bool by_cpu = m->attention == ATTEND_CPU, multiplies = m->weights_at == WEIGHTS_AT_CPU;
    bool pool = (offload && m->manager == MANAGER_CPU) || hybrid || by_cpu || multiplies;
    bool trains = index_build_by_cpu(setup), on_node = m->pool_of == POOL_OF_NODE;
    bool thread_copies = (hybrid && m->sync == SYNC_CPU) || by_cpu || multiplies;
    *reads = (struct profile_reads){
        .of = {
            [CURVE_GPU_HBM_CAPACITY] = true,
            [CURVE_GPU_HBM_BANDWIDTH] = true,
            [CURVE_GPU_HBM_SHARE] = true,
            [CURVE_GPU_CTA_BANDWIDTH] = offload && m->merge,
            [CURVE_GPU_SMS] = link,
            [CURVE_GPU_SM_THREADS] = link,
            [CURVE_GPU_SECTOR] = offload && m->manager != MANAGER_CPU,
            [CURVE_GPU_KERNEL_FLOOR] = !graph,
            [CURVE_GPU_GRAPH_NODE] = graph,
            [CURVE_GPU_FLAG] = offload && (m->sync == SYNC_GPU || stores),
            [CURVE_LINK_IN] = link || beside.copies,
            [CURVE_LINK_OUT] = link || beside.copies,
            [CURVE_LINK_DUPLEX] = link || beside.copies,
            [CURVE_LINK_COPY_LATENCY] = link || beside.copies,
            [CURVE_LINK_ROUND_TRIP] = loads || in_place || hybrid,
            [CURVE_LINK_ZERO_COPY] = loads || in_place || hybrid,
            [CURVE_LINK_CTA_IN_FLIGHT] = loads,
            [CURVE_LINK_CPU_STORE] = stores,
            [CURVE_LINK_GPUS_PER_UPLINK] = link || beside.copies,
            [CURVE_HOST_LAUNCH] = !graph || beside.launches,
            [CURVE_HOST_GRAPH_LAUNCH] = graph,
            [CURVE_HOST_COPY_CALL] = (copies || thread_copies) && !graph,
            [CURVE_HOST_SYNC] = true,
            [CURVE_HOST_DRAM_CAPACITY] = setup->room[TIER_HOST] == 0,
            [CURVE_HOST_DRAM_BANDWIDTH] = link,
            [CURVE_HOST_CORES] = gathers || stores || trains || (pool && !on_node),
            [CURVE_HOST_NODE_THREADS] = pool && on_node,
            [CURVE_HOST_POOL_WAKE] = pool,
            [CURVE_HOST_LOOKUP] = offload && m->manager == MANAGER_CPU,
            [CURVE_HOST_UPDATE] = offload && m->manager != MANAGER_GPU,
            [CURVE_HOST_PAGEABLE] = pageable,
            [CURVE_HOST_GATHER] = gathers,
            [CURVE_HOST_GATHER_SPAN] = gathers,
            [CURVE_HOST_ATTENTION] = hybrid || by_cpu || multiplies,
            [CURVE_HOST_KMEANS] = trains || multiplies || (by_cpu && setup_queries(setup) > 1),
        }};
}

size_t pipeline_curves(const struct setup *setup, struct pipeline_beside beside, enum curve_id *ids)
{
    struct profile_reads reads;
    read_machine(setup, beside, &reads);
    add_tiers(setup, beside, &reads);
    read_kernels(setup, setup->prompt > 0 || beside.prompts, &reads);
    for (enum curve_id id = 0; id < CURVE_COUNT; id++) {
        bool left_out = !profile_states(&setup->profile, id) && curve_kinds[id].standard > 0;
        reads.of[id] = reads.of[id] && !left_out;
    }
    return profile_reads_list(&reads, ids);
}
