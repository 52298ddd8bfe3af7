#include "study/sweep/miss_curve.h"

#include "core/parallel.h"
#include "decode/replay/replay.h"
#include "decode/setup.h"
#include "policy/next_use.h"

#include <assert.h>
#include <stdlib.h>

enum { IDS_AT_ONCE = 256 };

void miss_curve_release(struct miss_curve *curve)
{
    free(curve->accesses);
    free(curve->misses);
    *curve = (struct miss_curve){0};
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

/* ---- a trace: a replay for each size, and for each head where heads have curves ---- */

struct size_replays {
    struct arrays arrays;
    struct replay_plan *plans; /* [count] */
    struct ledger *ledgers;    /* [count] */
    uint32_t count, heads;     /* replays; those of one size */
};

/* Each is of the trace's own layers, heads and sequences. */
static bool plan_replays(const struct trace_header *header, const struct miss_request *request,
                         struct size_replays *out, struct error *why)
{
    size_t pairs = (size_t)header->layers * header->kv_heads;
    out->heads = request->group == MISS_HEAD ? header->kv_heads : 1;
    out->count = request->count * out->heads;
    struct replay_head *heads = arrays_add(&out->arrays, out->heads * pairs, sizeof *heads, why);
    out->plans = arrays_add(&out->arrays, out->count, sizeof *out->plans, why);
    out->ledgers = arrays_add(&out->arrays, out->count, sizeof *out->ledgers, why);
    for (size_t i = 0; !out->arrays.failed && i < out->heads * pairs; i++) {
        bool own = out->heads == 1 || i % header->kv_heads == i / pairs;
        heads[i] = (struct replay_head){.offloaded = own, .importance = 1};
    }
    for (uint32_t i = 0; !out->arrays.failed && i < out->count; i++) {
        out->plans[i] = (struct replay_plan){
            .layers = header->layers,
            .kv_heads = header->kv_heads,
            .batch = header->sequences,
            .context = header->context,
            .heads = heads + i % out->heads * pairs,
            .policy = request->policy,
            .policy_values = request->values,
            .seed = SETUP_SEED,
            .order = request->order,
            .selection = request->selection,
            .capacity = (double)request->sizes[i / out->heads] / header->units,
            .sinks = header->sinks,
            .recent = header->recent,
            .starts_full = request->starts_full,
            .manager_unit = 1,
            .warmup = request->warmup,
            .steps = header->steps - request->warmup,
            .queries = 1,
        };
    }
    return !out->arrays.failed;
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
    const struct trace_header *header = trace_header(trace);
    struct size_replays all = {.count = 0};
    const struct replay_means means = {.threads = threads};
    bool good = check_misses(request->policy, why) && plan_replays(header, request, &all, why) &&
                miss_curve_reserve(curve, 1 + header->layers * all.heads, request->count, why) &&
                replay_run_many(trace, all.plans, all.count, &means, all.ledgers, why);
    for (uint32_t i = 0; !all.arrays.failed && i < all.count; i++) {
        if (good) {
            /* Rows count tokens, and curves units. */
            const struct ledger *ledger = &all.ledgers[i];
            uint32_t size = i / all.heads, head = i % all.heads;
            for (uint32_t r = 0; r < ledger->steps * ledger->layers; r++) {
                const struct ledger_row *row = &ledger->rows[r];
                uint32_t group = 1 + r % ledger->layers * all.heads + head;
                curve->accesses[group] += size == 0 ? row->wanted / header->unit_tokens : 0;
                miss_curve_group(curve, group)[size] += row->missed / header->unit_tokens;
            }
        }
        ledger_release(&all.ledgers[i]);
    }
    arrays_release(&all.arrays);
    if (good) {
        for (uint32_t group = 1; group < curve->groups; group++) {
            curve->accesses[0] += curve->accesses[group];
            for (uint32_t i = 0; i < curve->count; i++) {
                curve->misses[i] += miss_curve_group(curve, group)[i];
            }
        }
    }
    curve->groups = request->group == MISS_WHOLE ? 1 : curve->groups;
    return good;
}

/* ---- a plain stream, size by size ---- */

struct ids_job {
    const struct ids *ids;
    const struct miss_request *request;
    struct next_use future;
    struct miss_curve *curve;
};

/* The next ids as a demand. A policy handles the worst unit of a demand first, so they are reversed. */
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
