/* The trace is read once: each demand goes to the caches of all sizes. A thread does a layer of all
 * sequences and counts in that layer's groups, which no other thread writes. */
#include "study/sweep/miss_curve.h"

#include "core/array.h"
#include "core/parallel.h"
#include "decode/replay/replay.h"
#include "decode/replay/replay_job.h"
#include "decode/setup.h"
#include "policy/next_use.h"
#include "trace/demand.h"

#include <assert.h>
#include <stdlib.h>

enum { IDS_AT_ONCE = 256 };

void miss_curve_init(struct miss_curve *curve)
{
    *curve = (struct miss_curve){0};
}

void miss_curve_release(struct miss_curve *curve)
{
    free(curve->accesses);
    free(curve->misses);
    miss_curve_init(curve);
}

static bool miss_curve_reserve(struct miss_curve *curve, uint32_t groups, uint32_t count,
                               struct error *why)
{
    miss_curve_release(curve);
    curve->groups = groups;
    curve->count = count;
    curve->accesses = array_zeroed(groups, sizeof *curve->accesses, why);
    curve->misses = curve->accesses != NULL
                        ? array_zeroed((size_t)groups * count, sizeof *curve->misses, why)
                        : NULL;
    return curve->misses != NULL;
}

/* Add all other groups up in the first. */
static void miss_curve_sum(struct miss_curve *curve)
{
    for (uint32_t group = 1; group < curve->groups; group++) {
        curve->accesses[0] += curve->accesses[group];
        for (uint32_t i = 0; i < curve->count; i++) {
            curve->misses[i] += miss_curve_group(curve, group)[i];
        }
    }
}

/* ---- a trace, layer by layer ---- */

/* The buffers that a thread reads into. */
struct miss_curve_scratch {
    struct trace_frame frame;
    struct demand_buffer buffer;
    struct arrays arrays;
    uint32_t *fill_units; /* [units] what caches begin with */
    uint8_t *fill_mass;   /* [units] */
};

struct trace_job {
    const struct trace *trace;
    const struct trace_header *header;
    const struct miss_request *request;
    struct demand_shape shape;
    uint32_t *sizes;                    /* [count] the request's, at most all units */
    struct miss_curve_scratch *scratch; /* one per thread */
    struct miss_curve *curve;
};

/* The heads of one layer of one sequence. */
struct miss_curve_layer {
    const struct trace_job *job;
    uint32_t sequence, number;
    struct miss_curve_scratch *scratch;
    struct policy **caches;  /* [KV heads][sizes] */
    struct next_use *future; /* [KV heads] */
};

static uint32_t layer_group(const struct miss_curve_layer *layer, uint32_t head)
{
    const struct trace_job *job = layer->job;
    return 1 + (job->request->group == MISS_HEAD ? layer->number * job->header->kv_heads + head
                                                 : layer->number);
}

typedef bool (*demand_visit)(struct miss_curve_layer *layer, uint32_t head, uint32_t step,
                             const struct demand *demand, struct error *why);

static bool fills_caches(const struct miss_request *request)
{
    return request->starts_full && replay_can_fill(request->policy);
}

/* If caches are filled before this step: with this demand. */
static bool fills(const struct miss_curve_layer *layer, uint32_t step, const struct demand *demand,
                  struct demand *fill)
{
    const struct trace_job *job = layer->job;
    if (step > 0 || !fills_caches(job->request)) {
        return false;
    }
    *fill = replay_fill(demand, &job->shape, layer->scratch->fill_units, layer->scratch->fill_mass);
    return true;
}

static bool miss_curve_foresee_demand(struct miss_curve_layer *layer, uint32_t head, uint32_t step,
                                      const struct demand *demand, struct error *why)
{
    struct demand fill;
    if (fills(layer, step, demand, &fill) && !next_use_add(&layer->future[head], &fill, why)) {
        return false;
    }
    return next_use_add(&layer->future[head], demand, why);
}

static bool count_demand(struct miss_curve_layer *layer, uint32_t head, uint32_t step,
                         const struct demand *demand, struct error *why)
{
    (void)why;
    const struct miss_request *request = layer->job->request;
    struct miss_curve *curve = layer->job->curve;
    uint32_t group = layer_group(layer, head);
    struct demand fill;
    bool filled = fills(layer, step, demand, &fill);
    for (uint32_t i = 0; i < request->count; i++) {
        struct policy *cache = layer->caches[head * request->count + i];
        struct outcome outcome;
        if (filled) {
            policy_access(cache, &fill, &outcome);
        }
        policy_access(cache, demand, &outcome);
        miss_curve_group(curve, group)[i] += step >= request->warmup ? outcome.missed : 0;
    }
    curve->accesses[group] += step >= request->warmup ? demand->wanted : 0;
    return true;
}

static bool visit_demands(struct miss_curve_layer *layer, demand_visit visit, struct error *why)
{
    const struct trace_job *job = layer->job;
    struct trace_frame *frame = &layer->scratch->frame;
    for (uint32_t tile = 0; tile < trace_tiles(job->header); tile++) {
        if (!trace_read(job->trace, layer->sequence, tile, layer->number, frame, why)) {
            return false;
        }
        for (uint32_t i = 0; i < job->header->kv_heads * frame->steps; i++) {
            struct demand demand;
            uint32_t head = i / frame->steps, step = i % frame->steps;
            if (!demand_from_frame(job->header, frame, head, step, &job->shape,
                                   &layer->scratch->buffer, &demand, why) ||
                !visit(layer, head, frame->first_step + step, &demand, why)) {
                return false;
            }
        }
    }
    return true;
}

static bool foresee_layer(struct miss_curve_layer *layer, struct error *why)
{
    const struct trace_header *header = layer->job->header;
    bool good = visit_demands(layer, miss_curve_foresee_demand, why);
    for (uint32_t head = 0; good && head < header->kv_heads; head++) {
        good = next_use_resolve(&layer->future[head], header->units, why);
    }
    return good;
}

static bool start_caches(struct miss_curve_layer *layer, struct error *why)
{
    const struct trace_job *job = layer->job;
    const struct trace_header *header = job->header;
    struct policy_env env = {
        .blocks = header->units,
        .wanted = fills_caches(job->request) ? header->units : job->shape.wanted,
        .order = job->request->order,
        .sinks = job->shape.first_unit,
        .recent = header->units - job->shape.end_unit,
        .warmup = job->request->warmup,
        .query_heads = header->has_queries ? header->query_heads / header->kv_heads : 0,
        .head_dim = header->head_dim,
    };
    bool good = true;
    for (uint32_t head = 0; good && head < header->kv_heads; head++) {
        env.seed = replay_seed(SETUP_SEED, header, layer->sequence, layer->number, head);
        env.next_use = layer->future[head].access;
        for (uint32_t i = 0; good && i < job->request->count; i++) {
            struct policy **cache = &layer->caches[head * job->request->count + i];
            env.capacity = job->sizes[i];
            *cache = policy_create(job->request->policy, job->request->values, &env, why);
            good = *cache != NULL;
        }
    }
    return good;
}

static bool count_heads(struct miss_curve_layer *layer, struct error *why)
{
    const struct trace_job *job = layer->job;
    bool foresees = job->request->policy->needs_next_use;
    bool good = (!foresees || foresee_layer(layer, why)) && start_caches(layer, why) &&
                visit_demands(layer, count_demand, why);
    for (uint32_t i = 0; good && i < job->header->kv_heads * job->request->count; i++) {
        good = policy_check(layer->caches[i], why);
    }
    return good;
}

static bool count_layer(struct miss_curve_layer *layer, struct error *why)
{
    uint32_t heads = layer->job->header->kv_heads, count = heads * layer->job->request->count;
    layer->caches = array_zeroed(count, sizeof(struct policy *), why);
    layer->future = layer->caches ? array_zeroed(heads, sizeof *layer->future, why) : NULL;
    bool good = layer->future && count_heads(layer, why);
    for (uint32_t i = 0; layer->caches && i < count; i++) {
        policy_destroy(layer->caches[i]);
    }
    for (uint32_t head = 0; layer->future && head < heads; head++) {
        next_use_release(&layer->future[head]);
    }
    free(layer->caches);
    free(layer->future);
    return good;
}

/* An item of parallel_for(): a layer of every sequence. */
static bool curve_layer(uint32_t number, uint32_t thread, void *context, struct error *why)
{
    const struct trace_job *job = context;
    bool good = true;
    for (uint32_t sequence = 0; good && sequence < job->header->sequences; sequence++) {
        struct miss_curve_layer layer = {
            .job = job, .sequence = sequence, .number = number, .scratch = &job->scratch[thread]};
        good = count_layer(&layer, why);
    }
    return good;
}

static bool miss_curve_scratch_init(struct miss_curve_scratch *scratch, const struct trace_job *job,
                                    struct error *why)
{
    struct arrays *arrays = &scratch->arrays;
    trace_frame_init(&scratch->frame);
    demand_buffer_init(&scratch->buffer);
    scratch->fill_units = arrays_add(arrays, job->header->units, sizeof(uint32_t), why);
    scratch->fill_mass = arrays_add(arrays, job->header->units, sizeof(uint8_t), why);
    return !arrays->failed;
}

static void miss_curve_scratch_release(struct miss_curve_scratch *scratch)
{
    trace_frame_release(&scratch->frame);
    demand_buffer_release(&scratch->buffer);
    arrays_release(&scratch->arrays);
}

static bool miss_curve_run_layers(struct trace_job *job, uint32_t threads, struct error *why)
{
    bool good = true;
    for (uint32_t t = 0; t < threads; t++) {
        good = miss_curve_scratch_init(&job->scratch[t], job, why) && good;
    }
    good = good && parallel_for(job->header->layers, threads, curve_layer, job, why);
    for (uint32_t t = 0; t < threads; t++) {
        miss_curve_scratch_release(&job->scratch[t]);
    }
    return good;
}

static bool count_layers(const struct trace *trace, const struct miss_request *request,
                         uint32_t threads, struct miss_curve *curve, struct error *why)
{
    const struct trace_header *header = trace_header(trace);
    uint32_t heads = request->group == MISS_HEAD ? header->kv_heads : 1, wanted;
    if (!replay_wanted(trace, request->selection, &wanted, why) ||
        !miss_curve_reserve(curve, 1 + header->layers * heads, request->count, why)) {
        return false;
    }
    threads = parallel_threads(threads);
    struct trace_job job = {
        .trace = trace,
        .header = header,
        .request = request,
        .shape = demand_shape(header, wanted, header->sinks, header->recent),
        .sizes = array_zeroed(request->count, sizeof *job.sizes, why),
        .scratch = array_zeroed(threads, sizeof *job.scratch, why),
        .curve = curve,
    };
    for (uint32_t i = 0; job.sizes != NULL && i < request->count; i++) {
        job.sizes[i] = request->sizes[i] < header->units ? request->sizes[i] : header->units;
    }
    bool good = job.sizes && job.scratch && miss_curve_run_layers(&job, threads, why);
    miss_curve_sum(curve);
    curve->groups = request->group == MISS_WHOLE ? 1 : curve->groups;
    free(job.sizes);
    free(job.scratch);
    return good;
}

/* A policy that attends to its own choice misses nothing at any size. */
static bool check_misses(const struct policy_kind *policy, struct error *why)
{
    if (!policy->chooses_own) {
        return true;
    }
    error_usage(why, NULL, 0, "policy '%s' never misses: it attends to the blocks it holds",
                policy->name);
    return error_expect(why, "'simulate'; its mass_recall shows the attention mass left out");
}

bool miss_curve_of_trace(const struct trace *trace, const struct miss_request *request,
                         uint32_t threads, struct miss_curve *curve, struct error *why)
{
    return check_misses(request->policy, why) && count_layers(trace, request, threads, curve, why);
}

/* ---- a plain stream, size by size ---- */

struct ids_job {
    const struct ids *ids;
    const struct miss_request *request;
    struct next_use future;
    struct miss_curve *curve;
};

/* The next ids as a demand. A policy handles the worst unit of a demand first, so they are
 * reversed. */
static struct demand ids_demand(const struct ids *ids, uint32_t first, uint32_t *reversed)
{
    uint32_t most = ids->blocks < IDS_AT_ONCE ? ids->blocks : IDS_AT_ONCE;
    uint32_t count = ids->count - first < most ? ids->count - first : most;
    for (uint32_t i = 0; i < count; i++) {
        reversed[count - 1 - i] = ids->block[first + i];
    }
    return (struct demand){.units = reversed, .wanted = count};
}

static bool foresee_ids(const struct ids *ids, struct next_use *future, struct error *why)
{
    uint32_t reversed[IDS_AT_ONCE];
    struct demand demand;
    for (uint32_t at = 0; at < ids->count; at += demand.wanted) {
        demand = ids_demand(ids, at, reversed);
        if (!next_use_add(future, &demand, why)) {
            return false;
        }
    }
    return next_use_resolve(future, ids->blocks, why);
}

/* An item of parallel_for(): one size. */
static bool curve_size(uint32_t index, uint32_t thread, void *context, struct error *why)
{
    (void)thread;
    const struct ids_job *job = context;
    const struct miss_request *request = job->request;
    const struct ids *ids = job->ids;
    const struct policy_env env = {
        .blocks = ids->blocks,
        .capacity = request->sizes[index] < ids->blocks ? request->sizes[index] : ids->blocks,
        .wanted = ids->blocks < IDS_AT_ONCE ? ids->blocks : IDS_AT_ONCE,
        .order = POLICY_SEQUENTIAL,
        .next_use = job->future.access};
    struct policy *policy = policy_create(request->policy, request->values, &env, why);
    uint32_t reversed[IDS_AT_ONCE];
    struct demand demand;
    for (uint32_t at = 0; policy != NULL && at < ids->count; at += demand.wanted) {
        struct outcome outcome;
        demand = ids_demand(ids, at, reversed);
        policy_access(policy, &demand, &outcome);
        job->curve->misses[index] += outcome.missed;
    }
    bool good = policy != NULL && policy_check(policy, why);
    policy_destroy(policy);
    return good;
}

bool miss_curve_of_ids(const struct ids *ids, const struct miss_request *request, uint32_t threads,
                       struct miss_curve *curve, struct error *why)
{
    assert(request->group == MISS_WHOLE);
    if (!check_misses(request->policy, why) || !miss_curve_reserve(curve, 1, request->count, why)) {
        return false;
    }
    struct ids_job job = {.ids = ids, .request = request, .curve = curve};
    curve->accesses[0] = ids->count;
    bool good = (!request->policy->needs_next_use || foresee_ids(ids, &job.future, why)) &&
                parallel_for(request->count, threads, curve_size, &job, why);
    next_use_release(&job.future);
    return good;
}
