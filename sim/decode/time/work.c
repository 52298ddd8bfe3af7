/* Tasks, each with a mark by which timing.c reads the schedule. */
#include "decode/time/work.h"

#include "base/array.h"

#include <assert.h>
#include <math.h>

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
    if (pipe->setup->mechanisms.launch == LAUNCH_GRAPH) {
        *first = pipe->graph;
        return true;
    }
    struct trust trust = work_trust;
    double call = work_launch_ns(pipe, &trust);
    double rest = call * (double)(kernels - 1);
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

bool pipe_setups(struct pipe *pipe, struct error *why)
{
    pipe->setups = array_zeroed(pipe->plan->cohort_count, sizeof *pipe->setups, why);
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

/* The index of the current step and `layer` in a ledger. The step that fills the pipeline has the
 * row of the first reported step. */
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

double pipe_even(const struct pipe *pipe, uint32_t layer,
                 double (*of)(const struct ledger_row *row))
{
    const struct ledger_row *row = pipe_row(pipe, layer);
    assert(row != NULL); /* the layer is offloaded */
    double pairs = row->offloaded_heads, most = 0;
    for (uint32_t i = 0; i < pipe->plan->cohort_count; i++) {
        const struct ledger_row *part = pipe_part(pipe, i, layer);
        if (part->offloaded_heads > 0) {
            most = fmax(most, of(part) * (pairs / part->offloaded_heads));
        }
    }
    return most;
}
