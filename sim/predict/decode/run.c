/* One run, start to end: heads of the trace, plan, replay, schedule. */
#include "predict/decode/run.h"

#include "core/array.h"
#include "core/parallel.h"
#include "decode/plan/mass.h"
#include "decode/time/prefill.h"
#include "machine/profile.h"
#include "predict/decode/outcome.h"
#include "predict/decode/outcome_notes.h"
#include "predict/decode/replays.h"
#include "predict/decode/shared.h"
#include "predict/decode/threshold.h"

#include <math.h>
#include <stdlib.h>

/* The state of one setup's run; released as a whole. */
struct run_course {
    const struct setup *setup;
    struct setup own; /* with the policy's parameters that were chosen, if they were */
    const struct run_context *context;
    struct shared_entry *held; /* the shared replay in use */
    double *cosines;           /* of the trace's heads, owned; NULL: not needed */
    struct plan plan;
    struct ledger sum;         /* over several cohorts, or without what HBM holds */
    const struct ledger *used; /* the sum or the replay; NULL if nothing is offloaded */
    struct trust trust;
};

/* ---- values that runs share ---- */

/* A trace whose heads are compared. */
struct run_heads {
    const struct trace *trace;
    struct replay_means means;
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
    if (cosines != NULL && !replay_cosines_kept(heads->trace, &heads->means, cosines, why)) {
        free(cosines);
        return NULL;
    }
    return cosines;
}

static const struct shared_kind cosines_kind = {make_cosines, free};

/* ---- the course ---- */

static bool needs_cosines(const struct setup *setup)
{
    return setup->trace != NULL && trace_header(setup->trace)->has_queries &&
           setup->mechanisms.policy->needs_queries;
}

static uint32_t sequences_text(const struct setup *setup)
{
    uint32_t sequences = 0;
    for (uint32_t i = 0; i < setup_cohort_count(setup); i++) {
        sequences += setup_cohort(setup, i).sequences;
    }
    return sequences;
}

/* Add the cosines of a cohort's trace, weighted by the cohort's share of the batch: the heads that
 * stay in HBM are chosen once for all sequences. */
static bool add_cosines(struct run_course *course, struct setup_cohort cohort, struct error *why)
{
    struct run_heads heads = {cohort.trace, run_means(course->context)};
    struct shared_entry *entry;
    uint64_t key;
    if (!trace_hash(cohort.trace, &key, why)) {
        return false;
    }
    const double *cosines =
        shared_get(course->context->shared, &cosines_kind, key, &heads, &entry, why);
    double share = (double)cohort.sequences / sequences_text(course->setup);
    for (size_t i = 0; cosines != NULL && i < head_count(cohort.trace); i++) {
        course->cosines[i] += share * cosines[i];
    }
    shared_release(course->context->shared, entry);
    return cosines != NULL;
}

static bool course_cosines(struct run_course *course, struct error *why)
{
    const struct setup *setup = course->setup;
    if (!needs_cosines(setup)) {
        return true;
    }
    course->cosines = array_zeroed(head_count(setup->trace), sizeof *course->cosines, why);
    bool good = course->cosines != NULL;
    for (uint32_t i = 0; good && i < setup_cohort_count(setup); i++) {
        good = add_cosines(course, setup_cohort(setup, i), why);
    }
    return good;
}

static bool run_resolve(struct run_course *course, struct error *why)
{
    return plan_resolve(course->setup, course->cosines, &course->plan, &course->trust, why);
}

/* Choose the policy's parameters that follow from the trace, and plan again with them. */
static bool course_choose(struct run_course *course, struct error *why)
{
    double *values = course->own.mechanisms.policy_values;
    course->own = *course->setup;
    bool good = threshold_choose(course->setup, &course->plan, course->context, values, why);
    plan_release(&course->plan);
    course->setup = &course->own;
    return good && run_resolve(course, why);
}

static bool course_plan(struct run_course *course, struct error *why)
{
    return course_cosines(course, why) && run_resolve(course, why) &&
           (!threshold_is_chosen(course->setup) || course_choose(course, why));
}

/* The request for a cohort's replay. */
struct cohort_replay {
    struct setup setup; /* at its context, with its trace */
    struct replay_plan plan;
    struct replay_request request; /* points to these two */
};

/* The hit share of setups whose hits need no trace: the share of tokens that the cache holds. */
static double fixed_hit(const struct setup *setup, const struct head_sizes *sizes)
{
    double outside = (double)(setup->context - setup->mechanisms.sinks - setup_recent(setup));
    return fmin((double)sizes->cache_tokens / outside, 1);
}

static void run_ask_for(const struct run_course *course, uint32_t cohort, struct cohort_replay *out)
{
    out->setup = setup_at(course->setup, course->plan.cohorts[cohort].context);
    out->setup.trace = setup_cohort(course->setup, cohort).trace;
    out->plan = plan_replay(&out->setup, &course->plan, cohort);
    out->request = (struct replay_request){
        &out->setup, &out->plan, fixed_hit(&out->setup, &course->plan.cohorts[cohort].sizes)};
}

/* The ledger of a cohort, valid until `entry` is given back. */
static const struct ledger *replay_cohort(const struct run_course *course, uint32_t cohort,
                                          struct shared_entry **entry, struct error *why)
{
    struct cohort_replay replay;
    run_ask_for(course, cohort, &replay);
    return replays_get(course->context, &replay.request, entry, why);
}

/* Sum the ledgers of several cohorts, holding one at a time. */
static bool sum_replays(struct run_course *course, struct error *why)
{
    const struct plan *plan = &course->plan;
    bool good =
        ledger_reserve_sum(&course->sum, plan->steps, plan->layers, plan->cohort_count, why);
    for (uint32_t i = 0; good && i < plan->cohort_count; i++) {
        struct shared_entry *entry = NULL;
        bool some = plan->cohorts[i].sequences > 0;
        const struct ledger *ledger = some ? replay_cohort(course, i, &entry, why) : NULL;
        if (ledger != NULL) {
            ledger_set(&course->sum, i, ledger);
        }
        shared_release(course->context->shared, entry);
        good = !some || ledger != NULL;
    }
    course->used = &course->sum;
    return good;
}

/* A replay of one cohort is shared as it is; what stays in HBM is taken off a sum. */
static bool course_replay(struct run_course *course, struct error *why)
{
    double stays = course->plan.resident_share;
    if (plan_offloaded_heads(&course->plan) == 0) {
        return true;
    }
    if (course->plan.cohort_count == 1 && stays == 0) {
        course->used = replay_cohort(course, 0, &course->held, why);
        return course->used != NULL;
    }
    if (!sum_replays(course, why)) {
        return false;
    }
    if (stays > 0) {
        ledger_keep(&course->sum, stays);
    }
    return true;
}

static struct run_course course_begin(const struct setup *setup, const struct run_context *context)
{
    return (struct run_course){
        .setup = setup,
        .context = context,
        .trust = {.basis = BASIS_MEASURED},
    };
}

static void course_release(struct run_course *course)
{
    shared_release(course->context->shared, course->held);
    ledger_release(&course->sum);
    plan_release(&course->plan);
    free(course->cosines);
}

bool run_plan(const struct setup *setup, const struct run_context *context, struct plan *plan,
              struct error *why)
{
    struct run_course course = course_begin(setup, context);
    bool good = course_plan(&course, why);
    free(course.cosines);
    *plan = course.plan;
    return good;
}

bool run_expect(const struct setup *setup, const struct run_context *context, struct error *why)
{
    struct run_course course = course_begin(setup, context);
    bool good = course_plan(&course, why);
    bool asks = good && course.plan.fits && plan_offloaded_heads(&course.plan) > 0;
    for (uint32_t i = 0; asks && good && i < course.plan.cohort_count; i++) {
        struct cohort_replay replay;
        run_ask_for(&course, i, &replay);
        good = replay.plan.batch == 0 || replays_expect(context->expected, &replay.request, why);
    }
    course_release(&course);
    return good;
}

static bool course_mass(struct run_course *course, struct result *result, struct error *why)
{
    struct mass mass;
    struct replay_means means = run_means(course->context);
    means.meter = NULL; /* counts expected replays only */
    if (!mass_recall(course->setup, &course->plan, course->used, &means, &mass, why)) {
        return false;
    }
    outcome_mass(course->setup, &course->plan, &mass, result);
    mass_release(&mass);
    return true;
}

/* Time the prefill of the scenario's prompt, if it sets one. `exact` is cleared if it is not. */
static bool course_prefill(const struct run_course *course, struct trust *trust, bool *exact,
                           struct result *result, struct error *why)
{
    const struct setup *setup = course->setup;
    struct prefill_time time;
    if (setup->prompt == 0) {
        return true;
    }
    if (!prefill_run(setup, &course->plan, course->used, course->context->stop, &time, why)) {
        return false;
    }
    *exact = *exact && time.exact;
    trust_add(trust, time.trust);
    outcome_prefill(setup, &course->plan, time.ns, result);
    return true;
}

static bool course_time(struct run_course *course, struct result *result, struct error *why)
{
    const struct setup *setup = course->setup;
    struct trust trust = course->trust;
    struct timing timing;
    if (!pipeline_run(setup, &course->plan, course->used, course->context->stop, &timing, why)) {
        return false;
    }
    outcome_cache(course->used, result);
    outcome_note_window(setup, &course->plan, course->used, result);
    outcome_kept(setup, &course->plan, course->used, result);
    outcome_union(setup, &course->plan, course->used, result);
    bool good = outcome_time(setup, &course->plan, course->used, &timing, result, why) &&
                course_prefill(course, &trust, &timing.exact, result, why) &&
                outcome_trust(setup, &course->plan, &timing, trust, result, why);
    if (good && !timing.exact) {
        result_note(result, note_plain(NOTE_unsteady));
    }
    timing_release(&timing);
    return good;
}

static bool course_run(struct run_course *course, struct result *result, struct error *why)
{
    result_init(result);
    bool good = course_plan(course, why) &&
                outcome_setup(course->setup, &course->plan, result, why) &&
                outcome_memory(course->setup, &course->plan, result, why);
    if (good && course->plan.fits) {
        good = course_replay(course, why) && course_time(course, result, why) &&
               course_mass(course, result, why);
    }
    if (!good) {
        result_release(result);
    }
    return good;
}

bool run_setup(const struct setup *setup, const struct run_context *context, struct result *result,
               struct error *why)
{
    struct run_course course = course_begin(setup, context);
    bool good = course_run(&course, result, why);
    course_release(&course);
    return good;
}

/* ---- a single step ---- */

/* Steps differ only in the misses that a trace gives them. */
static bool steps_are_equal(const struct run_course *course)
{
    return course->setup->trace == NULL || course->used == NULL;
}

bool run_step(const struct setup *setup, const struct run_context *context,
              struct step_answer *answer, struct error *why)
{
    struct run_course course = course_begin(setup, context);
    struct timing timing;
    bool good = course_plan(&course, why) && course_replay(&course, why);
    if (good && steps_are_equal(&course)) {
        course.plan.steps = 1;
    }
    good = good && pipeline_run(setup, &course.plan, course.used, context->stop, &timing, why);
    if (good) {
        outcome_step(setup, &course.plan, &timing, course.trust, answer);
        timing_release(&timing);
    }
    course_release(&course);
    return good;
}

/* ---- timing again ---- */

struct run {
    struct run_course course;
};

struct run *run_open(const struct setup *setup, const struct run_context *context,
                     struct result *result, struct error *why)
{
    struct run *run = array_zeroed(1, sizeof *run, why);
    if (run == NULL) {
        return NULL;
    }
    run->course = course_begin(setup, context);
    if (!course_run(&run->course, result, why)) {
        run_close(run);
        return NULL;
    }
    return run;
}

void run_close(struct run *run)
{
    if (run != NULL) {
        course_release(&run->course);
        free(run);
    }
}

bool run_again(const struct run *run, const struct setup *setup, struct result *result,
               struct error *why)
{
    struct run_course course = run->course; /* a shallow copy: the run keeps ownership */
    course.setup = setup;
    result_init(result);
    bool good = course_time(&course, result, why);
    if (!good) {
        result_release(result);
    }
    return good;
}

/* ---- ranges ---- */

/* The ends of the change: the figure's own range if `by` is 0 (false if it has none), otherwise
 * smaller and larger by `by`. */
static bool range_of(const struct curve *curve, double by, double ends[2])
{
    ends[0] = by > 0 ? 1 - by : curve->least;
    ends[1] = by > 0 ? 1 + by : curve->most;
    return ends[0] != 1 || ends[1] != 1;
}

struct ranges_work {
    const struct run_course *course;
    struct run_ranges *ranges;
    double by;
};

/* Time the run with one figure scaled to an end of its range. */
static bool time_end(uint32_t index, uint32_t thread, void *context, struct error *why)
{
    const struct ranges_work *work = context;
    struct run_range *range = &work->ranges->all[index / 2];
    struct run_course course = *work->course; /* a shallow copy, which owns nothing */
    const struct profile *profile = &course.setup->profile;
    struct setup scaled = *course.setup;
    struct scaled_profile changed;
    double ends[2];
    (void)thread;
    range_of(&profile->curves[range->curve], work->by, ends);
    if (!stop_flag_check(course.context->stop, why) ||
        !scaled_profile_init_one(profile, range->curve, ends[index % 2], &changed, why)) {
        return false;
    }
    scaled.profile = changed.profile;
    course.setup = &scaled;
    bool good = course_time(&course, &range->ends[index % 2], why);
    scaled_profile_release(&changed);
    return good;
}

static bool course_ranges(const struct run_course *course, double by, struct run_ranges *ranges,
                          struct error *why)
{
    const struct setup *setup = course->setup;
    struct ranges_work work = {course, ranges, by};
    enum curve_id ids[CURVE_COUNT];
    double ends[2];
    size_t read = pipeline_curves(setup, (struct pipeline_beside){0}, ids);
    for (size_t i = 0; i < read; i++) {
        if (range_of(&setup->profile.curves[ids[i]], by, ends)) {
            ranges->all[ranges->count++].curve = ids[i];
        }
    }
    return parallel_for(2 * ranges->count, course->context->threads, time_end, &work, why);
}

bool run_setup_ranges(const struct setup *setup, double by, const struct run_context *context,
                      struct result *result, struct run_ranges *ranges, struct error *why)
{
    struct run_course course = course_begin(setup, context);
    *ranges = (struct run_ranges){array_zeroed(CURVE_COUNT, sizeof *ranges->all, why), 0};
    bool good = ranges->all != NULL && course_run(&course, result, why);
    if (good && course.plan.fits && !course_ranges(&course, by, ranges, why)) {
        result_release(result);
        good = false;
    }
    course_release(&course);
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
    free(ranges->all);
    *ranges = (struct run_ranges){NULL, 0};
}

/* Everything up to the ledger of a run that shall be shown, not counted. course_release() and
 * run_context_release() follow, also after a failure. */
static bool course_show(struct run_course *course, struct error *why)
{
    bool good = course_plan(course, why);
    if (good && !course->plan.fits) {
        good = error_set(why, NULL, 0, "the setup does not fit in memory, so there is no step");
        error_expect(why, "a batch of at most %u", course->plan.max_batch);
    }
    return good && course_replay(course, why);
}

bool run_timeline(const struct setup *setup, FILE *out, struct error *why)
{
    struct run_context context;
    if (!run_context_init(&context, 1, NULL, why)) {
        return false;
    }
    struct run_course course = course_begin(setup, &context);
    bool good = course_show(&course, why) &&
                pipeline_timeline(setup, &course.plan, course.used, 0, out, why);
    course_release(&course);
    run_context_release(&context);
    return good;
}

bool run_layer(const struct setup *setup, uint32_t layer, struct layer_schedule *out,
               struct error *why)
{
    struct run_context context;
    if (!run_context_init(&context, 1, NULL, why)) {
        return false;
    }
    struct run_course course = course_begin(setup, &context);
    bool good = course_show(&course, why);
    if (good && layer >= course.plan.layers) {
        good = error_usage(why, NULL, 0, "the model has no layer %u", layer);
        error_expect(why, "0 to %u", course.plan.layers - 1);
    }
    good = good && pipeline_layer(setup, &course.plan, course.used, 0, layer, out, why);
    course_release(&course);
    run_context_release(&context);
    return good;
}
