/* Plans are checked against the trace once. Layers replay in parallel, each into its target layers' rows. */

#include "decode/replay/replay.h"

#include <math.h>
#include <stdlib.h>

#include "core/parallel.h"
#include "decode/replay/replay_job.h"
#include "trace/generate/trace_profile.h"

struct replay_source replay_source(const struct trace_header *source,
                                   const struct replay_plan *plan, uint32_t layer, uint32_t head)
{
    struct mapping_size own = {source->layers, source->kv_heads};
    struct mapping_source read =
        mapping_source(own, (struct mapping_size){plan->layers, plan->kv_heads}, layer, head);
    return (struct replay_source){read.layer, read.head,
                                  (uint32_t)(read.reader * plan->steps / read.readers)};
}

void replay_load_whole(const struct replay_plan *plan, struct ledger *ledger)
{
    uint64_t wanted = plan->context - plan->sinks - plan->recent;
    uint64_t held = (uint64_t)llround(plan->capacity * (double)plan->context);
    ledger_load_whole(ledger, plan->whole_layers, wanted, held, plan->recomputed);
}

bool replay_check(const struct replay_plan *plan, struct error *why)
{
    bool good = plan->layers > 0 && plan->kv_heads > 0 && plan->batch > 0 && plan->context > 0 &&
                plan->steps > 0 && plan->selection > 0 && plan->selection <= 1 &&
                plan->capacity >= 0 && plan->manager_unit > 0 &&
                replay_all_sequences(plan) * plan->kv_heads <= UINT32_MAX;
    if (!good) {
        error_set(why, NULL, 0, "invalid plan: %u steps, batch %u, context %llu, selection %g",
                  plan->steps, plan->batch, (unsigned long long)plan->context, plan->selection);
        return error_expect(
            why, "all above 0, a selection of at most 1, a batch of fewer than 2^32 heads");
    }
    if (plan->block_span != BLOCK_UNIT && plan->policy->holds == NULL) {
        return error_set(why, NULL, 0, "policy '%s' does not admit and evict blocks one by one",
                         plan->policy->name);
    }
    return true;
}

uint32_t replay_units(const struct trace_header *header, double share)
{
    double units = fmin(share, 1) * header->units;
    return share > 0 && units < 1 ? 1 : (uint32_t)(units + 0.5);
}

bool replay_wanted(const struct trace *trace, double selection, uint32_t *wanted, struct error *why)
{
    const struct trace_header *header = trace_header(trace);
    *wanted = replay_units(header, selection);
    if (*wanted == header->keep + 1 && selection * header->units < *wanted) {
        *wanted = header->keep; /* the share exceeds the kept units by less than one unit */
    }
    struct demand_shape recorded = demand_shape(header, *wanted, header->sinks, header->recent);
    if (*wanted > header->keep && header->keep < recorded.end_unit - recorded.first_unit) {
        error_set(why, trace_path(trace), 0, "a selection of %.3g %% needs %u units a row",
                  100 * selection, *wanted);
        return error_expect(why, "at most %.3g %%: the trace keeps %u of %u units",
                            100.0 * header->keep / header->units, header->keep, header->units);
    }
    return true;
}

static bool check_steps(const struct trace *trace, const struct replay_plan *plan,
                        struct error *why)
{
    const struct trace_header *header = trace_header(trace);
    bool whole = (uint64_t)plan->warmup + plan->steps <= header->steps;
    if (whole && replay_steps_read(plan) <= header->steps) {
        return true;
    }
    error_set(why, trace_path(trace), 0,
              "%u steps of warm-up and %u to report, but only %u recorded", plan->warmup,
              plan->steps, header->steps);
    return error_expect(why, "at most %u steps", header->steps);
}

/* Fill the fields that all plans share. */
static bool job_describe(struct replay_job *job, const struct trace *trace,
                         const struct replay_plan *plan, struct error *why)
{
    const struct trace_header *header = trace_header(trace);
    uint32_t wanted = header->keep;
    if (!check_steps(trace, plan, why) ||
        (!plan->policy->chooses_own && !replay_wanted(trace, plan->selection, &wanted, why))) {
        return false;
    }
    double share = (double)plan->recent / (double)plan->context;
    uint32_t scaled = (uint32_t)llround(share * header->context);
    *job = (struct replay_job){
        .trace = trace,
        .header = header,
        .plan = plan,
        .shape =
            demand_shape(header, wanted, plan->sinks, plan->recent_scales ? scaled : plan->recent),
        .tokens = (double)header->unit_tokens * (double)plan->context / header->context,
    };
    job->shape.codes = demand_codes(plan->margin);
    job->shape = retrieval_shape(&job->shape, plan->errors[ASKS_OWN].page);
    return true;
}

static bool replay_add_part(struct replay_job *job, const struct replay_plan *plan,
                            struct ledger *ledger, struct error *why)
{
    uint32_t recorded = job->header->sequences, all = (uint32_t)replay_all_sequences(plan);
    struct replay_part *part = &job->parts[job->part_count];
    *part = (struct replay_part){
        .plan = plan,
        .ledger = ledger,
        .capacity = replay_units(job->header, plan->capacity),
        .sequences = all < recorded ? all : recorded,
    };
    job->part_count++;
    job->sequences = part->sequences > job->sequences ? part->sequences : job->sequences;
    return ledger_reserve(ledger, plan->steps, plan->layers, 0, why);
}

static uint64_t layer_work(const struct trace_header *header, const struct replay_plan *plan)
{
    return (uint64_t)header->kv_heads * header->units * (plan->warmup + plan->steps);
}

uint64_t replay_work(const struct trace_header *header, const struct replay_plan *plan)
{
    return header->layers * layer_work(header, plan);
}

static bool replay_run_layer(uint32_t index, uint32_t thread, void *context, struct error *why)
{
    const struct replay_job *job = context;
    bool units = job->plan->block_span == BLOCK_UNIT, good;
    (void)thread;
    good = (units ? replay_layer : replay_blocks)(job, index, why);
    if (job->meter != NULL) {
        atomic_fetch_add(&job->meter->done, layer_work(job->header, job->plan));
    }
    return good;
}

bool replay_run_many(const struct trace *trace, const struct replay_plan *plans, uint32_t count,
                     const struct replay_means *means, struct ledger *ledgers, struct error *why)
{
    struct replay_job job;
    for (uint32_t i = 0; i < count; i++) {
        if (!replay_check(&plans[i], why)) {
            return false;
        }
    }
    if (!job_describe(&job, trace, plans, why)) {
        return false;
    }
    job.meter = means->meter;
    job.parts = array_zeroed(count, sizeof *job.parts, why);
    bool good = job.parts != NULL;
    for (uint32_t i = 0; good && i < count; i++) {
        good = replay_add_part(&job, &plans[i], &ledgers[i], why);
    }
    good = good && parallel_for_on(means->cores, job.header->layers, means->threads,
                                   replay_run_layer, &job, why);
    for (uint32_t i = 0; good && i < count; i++) {
        replay_load_whole(&plans[i], &ledgers[i]);
    }
    free(job.parts);
    return good;
}

bool replay_run(const struct trace *trace, const struct replay_plan *plan, uint32_t threads,
                struct ledger *ledger, struct error *why)
{
    const struct replay_means means = {.threads = threads};
    return replay_run_many(trace, plan, 1, &means, ledger, why);
}
