/* One run, start to end: heads of the trace, plan, replay, schedule. */
#include "predict/decode/run.h"

#include "core/parallel.h"
#include "decode/mechanism_values.h"
#include "decode/plan/memory.h"
#include "decode/time/engine_step.h"
#include "decode/time/prefill.h"
#include "predict/decode/outcome.h"
#include "predict/decode/replays.h"
#include "trace/stats.h"

#include <math.h>
#include <stdlib.h>

/* The state of one setup's run; released as a whole. */
struct run {
    const struct setup *setup;
    const struct run_context *context;
    struct shared_entry *held; /* the shared replay in use */
    double *cosines;           /* of the trace's heads, owned; NULL: not needed */
    struct plan plan;
    struct plan rows;  /* of the batch as the engine's step computes it; batch 0: as `plan` */
    struct ledger sum; /* over several cohorts, or without what HBM holds */
    const struct ledger *used; /* the sum or the replay; NULL if nothing is offloaded */
    struct trust trust;
};

/* A trace whose heads are compared. */
struct run_heads {
    const struct trace *trace;
    uint32_t threads;
};

static size_t head_count(const struct trace *trace)
{
    const struct trace_header *header = trace_header(trace);
    return (size_t)header->layers * header->kv_heads;
}

/* The cosines of the trace's heads; see trace_head_cosine(). */
static void *make_cosines(void *context, struct error *why)
{
    const struct run_heads *heads = context;
    double *cosines = array_zeroed(head_count(heads->trace), sizeof *cosines, why);
    if (cosines != NULL && !trace_head_cosine(heads->trace, heads->threads, cosines, why)) {
        free(cosines);
        return NULL;
    }
    return cosines;
}

static const struct shared_kind cosines_kind = {make_cosines, free};

/* Add the cosines of a cohort's trace by its share of the batch: resident heads are chosen once for all. */
static bool add_cosines(struct run *run, struct setup_cohort cohort, struct error *why)
{
    struct run_heads heads = {cohort.trace, run->context->threads};
    struct shared_entry *entry;
    uint64_t key;
    if (!trace_hash(cohort.trace, &key, why)) {
        return false;
    }
    const double *cosines =
        shared_get(run->context->shared, &cosines_kind, key, &heads, &entry, why);
    uint32_t sequences = 0;
    for (uint32_t i = 0; i < setup_cohort_count(run->setup); i++) {
        sequences += setup_cohort(run->setup, i).sequences;
    }
    double share = (double)cohort.sequences / sequences;
    for (size_t i = 0; cosines != NULL && i < head_count(cohort.trace); i++) {
        run->cosines[i] += share * cosines[i];
    }
    shared_release(run->context->shared, entry);
    return cosines != NULL;
}

static bool run_make_plan(struct run *run, struct error *why)
{
    const struct setup *setup = run->setup;
    bool good = true;
    if (setup->trace != NULL && trace_header(setup->trace)->has_queries &&
        setup->mechanisms->policy->needs_queries) {
        run->cosines = array_zeroed(head_count(setup->trace), sizeof *run->cosines, why);
        good = run->cosines != NULL;
        for (uint32_t i = 0; good && i < setup_cohort_count(setup); i++) {
            good = add_cosines(run, setup_cohort(setup, i), why);
        }
    }
    return good && plan_resolve(setup, run->cosines, &run->plan, &run->trust, why);
}

/* The request for a cohort's replay. */
struct cohort_replay {
    struct setup setup; /* at its context, with its trace */
    struct replay_plan plan;
    struct replay_request request; /* points to these two */
};

static void run_ask_for(const struct run *run, uint32_t cohort, struct cohort_replay *out)
{
    out->setup = setup_at(run->setup, run->plan.cohorts[cohort].context);
    out->setup.trace = setup_cohort(run->setup, cohort).trace;
    out->plan = plan_replay(&out->setup, &run->plan, cohort);
    /* Where hits need no trace, their share is that of tokens that the cache holds. */
    const struct setup *setup = &out->setup;
    double outside = (double)(setup->context - setup->mechanisms->sinks - setup_recent(setup));
    double cached = (double)run->plan.cohorts[cohort].sizes.cache_tokens;
    out->request = (struct replay_request){setup, &out->plan, fmin(cached / outside, 1)};
}

/* The ledger of a cohort, valid until `entry` is given back. */
static const struct ledger *replay_cohort(const struct run *run, uint32_t cohort,
                                          struct shared_entry **entry, struct error *why)
{
    struct cohort_replay replay;
    run_ask_for(run, cohort, &replay);
    return replays_get(run->context, &replay.request, entry, why);
}

/* A replay of one cohort is shared as it is; of several, one at a time is held and summed. What stays in HBM
 * is taken off a sum. */
static bool run_replay(struct run *run, struct error *why)
{
    double stays = run->plan.resident_share;
    if (plan_offloaded_heads(&run->plan) == 0) {
        return true;
    }
    if (run->plan.cohort_count == 1 && stays == 0) {
        run->used = replay_cohort(run, 0, &run->held, why);
        return run->used != NULL;
    }
    const struct plan *plan = &run->plan;
    bool good = ledger_reserve(&run->sum, plan->steps, plan->layers, plan->cohort_count, why);
    for (uint32_t i = 0; good && i < plan->cohort_count; i++) {
        struct shared_entry *entry = NULL;
        bool some = plan->cohorts[i].sequences > 0;
        const struct ledger *ledger = some ? replay_cohort(run, i, &entry, why) : NULL;
        if (ledger != NULL) {
            ledger_set(&run->sum, i, ledger);
        }
        shared_release(run->context->shared, entry);
        good = !some || ledger != NULL;
    }
    run->used = &run->sum;
    if (good && stays > 0) {
        ledger_keep(&run->sum, stays);
    }
    return good;
}

static struct run run_begin(const struct setup *setup, const struct run_context *context)
{
    return (struct run){
        .setup = setup,
        .context = context,
        .trust = {.basis = BASIS_MEASURED},
    };
}

static void run_clear(struct run *run)
{
    shared_release(run->context->shared, run->held);
    ledger_release(&run->sum);
    plan_release(&run->plan);
    plan_release(&run->rows);
    free(run->cosines);
}

/* ---- the step of an engine ---- */

/* The setup whose pipeline is the GPU's work of an engine's step: the sequences fill the rows of a
 * CUDA graph, and all have the mean length. `own` holds its mechanisms. */
static struct setup run_rows_setup(const struct run *run, struct mechanisms *own)
{
    struct setup rows = *run->setup;
    *own = *run->setup->mechanisms;
    own->step_overhead = 0;
    rows.mechanisms = own;
    rows.unlimited_memory = true;
    if (run->rows.batch > 0) {
        rows = setup_at(&rows, run->rows.cohorts[0].context);
        rows.batch = run->rows.batch;
    }
    return rows;
}

/* Plan these rows, unless they are the batch. */
static bool run_plan_rows(struct run *run, struct error *why)
{
    const struct plan *plan = &run->plan;
    const struct setup *setup = run->setup;
    const struct cohort *longest = &plan->cohorts[plan->cohort_count - 1];
    uint32_t count = engine_step_rows(setup, plan->batch);
    bool same = count == plan->batch && plan->cohort_count == 1;
    if (!setup->engine.runs || !engine_step_pads(setup) || plan->batch == 0 || same) {
        return true;
    }
    double tokens =
        engine_step_tokens(setup, plan->batch, memory_mean_context(plan), (double)longest->context);
    uint64_t context = (uint64_t)llround(tokens) / count;
    struct setup rows = setup_at(setup, context > 0 ? context : 1);
    rows.batch = count;
    rows.unlimited_memory = true;
    return plan_resolve(&rows, NULL, &run->rows, &run->trust, why);
}

/* Time the pipeline, and what an engine adds to it. */
static bool run_pipeline(const struct run *run, struct timing *timing, struct error *why)
{
    const struct setup *setup = run->setup;
    const struct stop_flag *stop = run->context->stop;
    if (!setup->engine.runs) {
        return pipeline_run(setup, &run->plan, run->used, stop, timing, why);
    }
    struct mechanisms own;
    const struct setup rows = run_rows_setup(run, &own);
    const struct plan *plan = run->rows.batch > 0 ? &run->rows : &run->plan;
    bool good = pipeline_run(&rows, plan, run->used, stop, timing, why);
    if (good) {
        engine_step_add(setup, run->plan.batch, timing);
    }
    return good;
}

bool run_plan(const struct setup *setup, const struct run_context *context, struct plan *plan,
              struct error *why)
{
    const struct setup whole = setup_whole(setup);
    struct run run = run_begin(&whole, context);
    bool good = run_make_plan(&run, why);
    free(run.cosines);
    *plan = run.plan;
    return good;
}

bool run_expect(const struct setup *setup, const struct run_context *context, struct error *why)
{
    struct run run = run_begin(setup, context);
    if (setup_grows(setup)) {
        return true; /* each length asks when it runs */
    }
    bool good = run_make_plan(&run, why);
    bool asks = good && run.plan.fits && plan_offloaded_heads(&run.plan) > 0;
    for (uint32_t i = 0; asks && good && i < run.plan.cohort_count; i++) {
        struct cohort_replay replay;
        run_ask_for(&run, i, &replay);
        good = replay.plan.batch == 0 || replays_expect(context->expected, &replay.request, why);
    }
    run_clear(&run);
    return good;
}

static bool run_mass(struct run *run, struct result *result, struct error *why)
{
    struct mass mass;
    struct replay_means means = run_means(run->context);
    means.meter = NULL; /* counts expected replays only */
    if (!mass_recall(run->setup, &run->plan, run->used, &means, &mass, why)) {
        return false;
    }
    outcome_mass(run->setup, &run->plan, &mass, result);
    mass_release(&mass);
    return true;
}

static bool run_time(struct run *run, struct result *result, struct error *why)
{
    const struct setup *setup = run->setup;
    const struct plan *plan = &run->plan;
    struct prefill_time prefill = {.exact = true, .trust = run->trust};
    struct timing timing;
    if (!run_pipeline(run, &timing, why)) {
        return false;
    }
    outcome_ledger(setup, plan, run->used, result);
    bool good = outcome_time(setup, plan, run->used, &timing, result, why) &&
                (setup->prompt == 0 ||
                 prefill_run(setup, plan, run->used, run->context->stop, &prefill, why));
    if (good && setup->prompt > 0) {
        outcome_prefill(setup, plan, prefill.ns, result);
        trust_add(&prefill.trust, run->trust);
    }
    good = good && outcome_trust(setup, plan, &timing, prefill.trust, result, why);
    if (good && !(timing.exact && prefill.exact)) {
        result_note(result, note_plain(NOTE_unsteady));
    }
    timing_release(&timing);
    return good;
}

bool run_step(const struct setup *setup, const struct run_context *context,
              struct step_answer *answer, struct error *why)
{
    struct run run = run_begin(setup, context);
    struct timing timing;
    bool good = run_make_plan(&run, why) && run_replay(&run, why) && run_plan_rows(&run, why);
    /* Steps differ only in the misses that a trace gives them. */
    if (good && (setup->trace == NULL || run.used == NULL)) {
        run.plan.steps = run.rows.steps = 1;
    }
    good = good && run_pipeline(&run, &timing, why);
    if (good) {
        outcome_step(setup, &run.plan, &timing, run.trust, answer);
        timing_release(&timing);
    }
    run_clear(&run);
    return good;
}

/* ---- a whole run, and timing it again ---- */

struct run *run_open(const struct setup *setup, const struct run_context *context,
                     struct result *result, struct error *why)
{
    struct run *run = array_zeroed(1, sizeof *run, why);
    if (run == NULL) {
        return NULL;
    }
    *run = run_begin(setup, context);
    if (setup_grows(setup)) {
        if (!run_growth(setup, context, result, why)) {
            run_close(run);
            return NULL;
        }
        return run;
    }
    result_init(result);
    bool good = run_make_plan(run, why) && outcome_setup(run->setup, &run->plan, result, why) &&
                outcome_memory(run->setup, &run->plan, result, why);
    if (good && run->plan.fits) {
        good = run_replay(run, why) && run_plan_rows(run, why) && run_time(run, result, why) &&
               run_mass(run, result, why);
    }
    if (!good) {
        result_release(result);
        run_close(run);
        return NULL;
    }
    return run;
}

void run_close(struct run *run)
{
    if (run != NULL) {
        run_clear(run);
        free(run);
    }
}

bool run_again(const struct run *run, const struct setup *setup, struct result *result,
               struct error *why)
{
    if (setup_grows(setup)) {
        return run_growth(setup, run->context, result, why);
    }
    struct run again = *run; /* a shallow copy: the run keeps ownership */
    again.setup = setup;
    result_init(result);
    bool good = run_time(&again, result, why);
    if (!good) {
        result_release(result);
    }
    return good;
}

/* The ends of the change: the figure's range if `by` is 0 (false: none), else smaller and larger by `by`. */
static bool range_of(const struct curve *curve, double by, double ends[2])
{
    ends[0] = by > 0 ? 1 - by : curve->least;
    ends[1] = by > 0 ? 1 + by : curve->most;
    return ends[0] != 1 || ends[1] != 1;
}

struct ranges_work {
    const struct run *run;
    struct run_ranges *ranges;
    double by;
};

/* What one token takes changes as the step does. */
static bool time_one_step(const struct run *run, struct result *out, struct error *why)
{
    struct timing timing;
    result_init(out);
    if (!run_pipeline(run, &timing, why)) {
        return false;
    }
    result_integer(out, COLUMN(step_us), timing.step[0].ns);
    result_integer(out, COLUMN(tpot_ms), timing.step[0].ns);
    timing_release(&timing);
    return true;
}

/* Time the run with one figure scaled to an end of its range. */
static bool time_end(uint32_t index, uint32_t thread, void *context, struct error *why)
{
    const struct ranges_work *work = context;
    struct run_range *range = &work->ranges->all[index / 2];
    struct run run = *work->run; /* a shallow copy, which owns nothing */
    const struct profile *profile = &run.setup->profile;
    struct setup scaled = *run.setup;
    struct scaled_profile changed;
    double ends[2];
    (void)thread;
    range_of(&profile->curves[range->curve], work->by, ends);
    if (!stop_flag_check(run.context->stop, why) ||
        !scaled_profile_init_one(profile, range->curve, ends[index % 2], &changed, why)) {
        return false;
    }
    scaled.profile = changed.profile;
    run.setup = &scaled;
    struct result *end = &range->ends[index % 2];
    bool good = work->by > 0 ? time_one_step(&run, end, why) : run_time(&run, end, why);
    scaled_profile_release(&changed);
    return good;
}

static bool time_ends(struct ranges_work *work, struct error *why)
{
    const struct setup *setup = work->run->setup;
    struct run_ranges *ranges = work->ranges;
    enum curve_id ids[CURVE_COUNT];
    double ends[2];
    size_t read = pipeline_curves(setup, (struct pipeline_beside){0}, ids);
    for (size_t i = 0; i < read; i++) {
        if (range_of(&setup->profile.curves[ids[i]], work->by, ends)) {
            ranges->all[ranges->count++].curve = ids[i];
        }
    }
    return parallel_for(2 * ranges->count, work->run->context->threads, time_end, work, why);
}

static bool run_make_ranges(struct run *run, struct ranges_work *work, struct error *why)
{
    if (work->by <= 0) {
        return time_ends(work, why);
    }
    struct ledger one;      /* rows of a step whose misses are the median's */
    struct run step = *run; /* a shallow copy, which owns nothing */
    work->run = &step;
    step.plan.steps = step.rows.steps = 1;
    ledger_init(&one);
    bool good = run->used == NULL || ledger_middle_step(run->used, &one, why);
    step.used = run->used != NULL ? &one : NULL;
    good = good && time_one_step(&step, &work->ranges->base, why) && time_ends(work, why);
    ledger_release(&one);
    return good;
}

bool run_setup_ranges(const struct setup *setup, double by, const struct run_context *context,
                      struct run_ranges *ranges, struct error *why)
{
    const struct setup whole = setup_whole(setup);
    struct run run = run_begin(&whole, context);
    struct ranges_work work = {&run, ranges, by};
    *ranges = (struct run_ranges){.all = array_zeroed(CURVE_COUNT, sizeof *ranges->all, why)};
    result_init(&ranges->base);
    bool good = ranges->all != NULL && run_make_plan(&run, why);
    if (good && run.plan.fits) {
        good =
            run_replay(&run, why) && run_plan_rows(&run, why) && run_make_ranges(&run, &work, why);
    }
    run_clear(&run);
    if (!good) {
        run_ranges_release(ranges);
    }
    return good;
}

void run_ranges_release(struct run_ranges *ranges)
{
    for (uint32_t i = 0; i < ranges->count; i++) {
        result_release(&ranges->all[i].ends[0]);
        result_release(&ranges->all[i].ends[1]);
    }
    result_release(&ranges->base);
    free(ranges->all);
    *ranges = (struct run_ranges){.all = NULL};
}

/* The schedule of the run's pipeline. In an engine, `step_overhead` is what the GPU waits for. */
static bool run_show(struct run *run, FILE *out, struct error *why)
{
    struct mechanisms own;
    struct setup shown = run->setup->engine.runs ? run_rows_setup(run, &own) : *run->setup;
    const struct plan *plan = run->rows.batch > 0 ? &run->rows : &run->plan;
    run->plan.steps = run->rows.steps = 1;
    if (run->setup->engine.runs) {
        struct timing timing;
        if (!pipeline_run(&shown, plan, run->used, run->context->stop, &timing, why)) {
            return false;
        }
        int64_t gpu_ns = timing.step[0].ns;
        engine_step_add(run->setup, run->plan.batch, &timing);
        own.step_overhead = (uint64_t)(timing.step[0].ns - gpu_ns);
        timing_release(&timing);
    }
    return pipeline_timeline(&shown, plan, run->used, out, why);
}

bool run_timeline(const struct setup *setup, FILE *out, struct error *why)
{
    struct run_context context;
    if (!run_context_init(&context, 1, NULL, why)) {
        return false;
    }
    const struct setup whole = setup_whole(setup);
    struct run run = run_begin(&whole, &context);
    bool good = run_make_plan(&run, why);
    if (good && !run.plan.fits) {
        good = error_set(why, NULL, 0, "the setup does not fit in memory, so there is no step");
        error_expect(why, "a batch of at most %u", run.plan.max_batch);
    }
    good = good && run_replay(&run, why) && run_plan_rows(&run, why) && run_show(&run, out, why);
    run_clear(&run);
    run_context_release(&context);
    return good;
}
