/* One run, start to end: heads of the trace, plan, replay, schedule. */
#include "study/run.h"

#include "base/array.h"
#include "decode/prefill.h"
#include "study/hashes.h"
#include "study/mass.h"
#include "study/outcome.h"
#include "study/serving.h"
#include "study/replays.h"
#include "trace/stats.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What one setup goes through; released whole. */
struct course {
    const struct setup *setup;
    uint32_t threads;
    struct shared *shared;
    struct shared_entry *cosines, *replay; /* what is held of it */
    struct plan plan;
    const struct ledger *used; /* the replay's, or NULL when nothing is offloaded */
    struct trust trust;
};

/* ---- what runs share ---- */

/* Of the trace's heads, as trace_head_cosine() says them. */
static void *make_cosines(void *context, struct error *why)
{
    const struct course *course = context;
    const struct trace *trace = course->setup->trace;
    const struct trace_header *header = trace_header(trace);
    double *cosines = array_zeroed((size_t)header->layers * header->kv_heads, sizeof *cosines, why);
    if (cosines != NULL && !trace_head_cosine(trace, course->threads, cosines, why)) {
        free(cosines);
        return NULL;
    }
    return cosines;
}

static const struct shared_kind cosines_kind = {make_cosines, free};

/* What hits of everything where no trace has to be asked: what the cache holds. */
static double fixed_hit(const struct course *course)
{
    const struct mechanisms *m = &course->setup->mechanisms;
    double outside = (double)(course->plan.context - m->sinks - setup_recent(course->setup));
    return fmin((double)course->plan.cache_tokens / outside, 1);
}

/* ---- the course ---- */

static bool needs_cosines(const struct setup *setup)
{
    return setup->trace != NULL && trace_header(setup->trace)->has_queries &&
           setup->mechanisms.policy->needs_queries;
}

static bool course_plan(struct course *course, struct error *why)
{
    const double *cosines = NULL;
    if (needs_cosines(course->setup)) {
        uint64_t key;
        if (!trace_hash(course->setup->trace, &key, why)) {
            return false;
        }
        cosines = shared_get(course->shared, &cosines_kind, key, course, &course->cosines, why);
        if (cosines == NULL) {
            return false;
        }
    }
    return plan_resolve(course->setup, cosines, &course->plan, &course->trust, why);
}

static bool course_replay(struct course *course, struct error *why)
{
    if (plan_offloaded_heads(&course->plan) == 0) {
        return true;
    }
    struct replay_plan plan = plan_replay(course->setup, &course->plan);
    struct replay_request request = {course->setup, &plan, fixed_hit(course)};
    course->used =
        replays_get(course->shared, &request, course->threads, &course->replay, why);
    return course->used != NULL;
}

static struct course course_begin(const struct setup *setup, uint32_t threads,
                                  struct shared *shared)
{
    return (struct course){
        .setup = setup,
        .threads = threads,
        .shared = shared,
        .trust = {BASIS_MEASURED, false},
    };
}

static void course_release(struct course *course)
{
    shared_release(course->shared, course->cosines);
    shared_release(course->shared, course->replay);
    plan_release(&course->plan);
}

bool run_plan(const struct setup *setup, uint32_t threads, struct shared *shared,
              struct plan *plan, struct error *why)
{
    struct course course = course_begin(setup, threads, shared);
    bool good = course_plan(&course, why);
    shared_release(shared, course.cosines);
    *plan = course.plan;
    return good;
}

bool run_expect(const struct setup *setup, uint32_t threads, struct shared *shared,
                struct replays *replays, struct error *why)
{
    struct course course = course_begin(setup, threads, shared);
    bool good = course_plan(&course, why);
    if (good && course.plan.fits && plan_offloaded_heads(&course.plan) > 0) {
        struct replay_plan plan = plan_replay(setup, &course.plan);
        struct replay_request request = {setup, &plan, fixed_hit(&course)};
        good = replays_expect(replays, &request, why);
    }
    course_release(&course);
    return good;
}

static bool write_identity(const struct course *course, struct result *result, struct error *why)
{
    struct run_hashes hashes;
    if (!run_hashes(course->setup, &hashes, why)) {
        return false;
    }
    memcpy(result->scenario_hash, hashes.scenario, sizeof hashes.scenario);
    memcpy(result->profile_hash, hashes.profile, sizeof hashes.profile);
    memcpy(result->trace_hash, hashes.trace, sizeof hashes.trace);
    snprintf(result->plan_hash, sizeof result->plan_hash, "%016" PRIx64,
             plan_hash(course->setup, &course->plan));
    int length = snprintf(result->scenario, sizeof result->scenario, "%s", course->setup->scenario);
    if (length < 0 || (size_t)length >= sizeof result->scenario) {
        return error_set(why, NULL, 0, "the scenario is longer than %zu bytes when resolved",
                         sizeof result->scenario);
    }
    return result_text(result, COLUMN_RUN, hashes.run, why);
}

static bool course_mass(struct course *course, struct result *result, struct error *why)
{
    bool known;
    double recall;
    if (!mass_recall(course->setup, &course->plan, course->used, course->threads, &known, &recall,
                     why)) {
        return false;
    }
    if (known) {
        result_real(result, COLUMN_MASS_RECALL, recall);
    }
    return true;
}

/* The prefill of the scenario's prompt, if it says one. */
static bool course_prefill(const struct course *course, struct trust *trust, struct result *result,
                           struct error *why)
{
    const struct setup *setup = course->setup;
    int64_t ns;
    if (setup->prompt == 0) {
        return true;
    }
    if (!prefill_run(setup, &course->plan, course->used, &ns, trust, why)) {
        return false;
    }
    outcome_prefill(setup, &course->plan, ns, result);
    return true;
}

static bool course_time(struct course *course, struct result *result, struct error *why)
{
    const struct setup *setup = course->setup;
    struct trust trust = course->trust;
    struct timing timing;
    if (!pipeline_run(setup, &course->plan, course->used, &timing, why)) {
        return false;
    }
    outcome_cache(course->used, result);
    bool good = outcome_time(setup, &course->plan, course->used, &timing, result, why) &&
                course_prefill(course, &trust, result, why) &&
                outcome_trust(setup, &timing, trust, result, why);
    timing_release(&timing);
    return good;
}

static bool course_run(struct course *course, struct result *result, struct error *why)
{
    result_init(result);
    bool serves = course->setup->workload.path[0] != '\0';
    bool good = course_plan(course, why) && write_identity(course, result, why) &&
                outcome_identity(course->setup, result, why) &&
                (serves || outcome_memory(course->setup, &course->plan, result, why));
    if (good && serves) {
        good = serving_run(course->setup, course->threads, course->shared, result, why);
    } else if (good && course->plan.fits) {
        good = course_replay(course, why) && course_mass(course, result, why) &&
               course_time(course, result, why);
    }
    if (!good) {
        result_release(result);
    }
    return good;
}

bool run_setup(const struct setup *setup, uint32_t threads, struct shared *shared,
               struct result *result, struct error *why)
{
    struct course course = course_begin(setup, threads, shared);
    bool good = course_run(&course, result, why);
    course_release(&course);
    return good;
}

/* ---- ranges ---- */

/* Time the course with one figure scaled. No share goes past the whole. */
static bool time_scaled(struct course *course, enum curve_id id, double scale,
                        struct result *result, struct error *why)
{
    const struct setup *setup = course->setup;
    struct setup scaled = *setup;
    struct curve *curve = &scaled.profile.curves[id];
    double *values = array_zeroed(curve->count, sizeof *values, why);
    if (values == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < curve->count; i++) {
        double value = scale * curve->value[i];
        values[i] = curve_kinds[id].unit == UNIT_SHARE ? fmin(value, 1) : value;
    }
    curve->value = values;
    course->setup = &scaled;
    bool good = course_time(course, result, why);
    course->setup = setup;
    free(values);
    return good;
}

static bool course_ranges(struct course *course, struct run_range *ranges, uint32_t *count,
                          struct error *why)
{
    const struct setup *setup = course->setup;
    enum curve_id ids[CURVE_COUNT];
    size_t read = pipeline_curves(setup, ids);
    for (size_t i = 0; i < read; i++) {
        const struct curve *curve = &setup->profile.curves[ids[i]];
        if (curve->least == 1 && curve->most == 1) {
            continue;
        }
        struct run_range *range = &ranges[(*count)++];
        range->curve = ids[i];
        if (!time_scaled(course, ids[i], curve->least, &range->ends[0], why) ||
            !time_scaled(course, ids[i], curve->most, &range->ends[1], why)) {
            return false;
        }
    }
    return true;
}

bool run_setup_ranges(const struct setup *setup, uint32_t threads, struct shared *shared,
                      struct result *result, struct run_range **ranges, uint32_t *count,
                      struct error *why)
{
    struct course course = course_begin(setup, threads, shared);
    *count = 0;
    *ranges = array_zeroed(CURVE_COUNT, sizeof **ranges, why);
    bool good = *ranges != NULL && course_run(&course, result, why);
    if (good && course.plan.fits && !course_ranges(&course, *ranges, count, why)) {
        result_release(result);
        good = false;
    }
    course_release(&course);
    if (!good) {
        run_ranges_release(*ranges, *count);
    }
    return good;
}

void run_ranges_release(struct run_range *ranges, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        result_release(&ranges[i].ends[0]);
        result_release(&ranges[i].ends[1]);
    }
    free(ranges);
}

bool run_timeline(const struct setup *setup, FILE *out, struct error *why)
{
    struct shared *shared = shared_create(1, why);
    struct course course = course_begin(setup, 0, shared);
    bool good = shared != NULL && course_plan(&course, why);
    if (good && !course.plan.fits) {
        good =
            error_set(why, NULL, 0, "the setup does not fit in memory: there is no step to draw");
        error_expect(why, "a batch of at most %u", course.plan.max_batch);
    }
    good = good && course_replay(&course, why) &&
           pipeline_timeline(setup, &course.plan, course.used, 0, out, why);
    course_release(&course);
    shared_destroy(shared);
    return good;
}
