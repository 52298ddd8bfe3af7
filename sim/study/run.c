/* One run, start to end: heads of the trace, plan, replay, schedule. */
#include "study/run.h"

#include "base/array.h"
#include "study/hashes.h"
#include "study/mass.h"
#include "study/outcome.h"
#include "trace/stats.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What one setup goes through; released whole. */
struct course {
    const struct setup *setup;
    double *head_cosine; /* of the trace's heads; NULL when nothing asks for them */
    struct plan plan;
    struct ledger ledger;
    const struct ledger *used; /* the ledger, or NULL when nothing is offloaded */
    struct trust trust;
};

static bool needs_cosines(const struct setup *setup)
{
    return setup->trace != NULL && trace_header(setup->trace)->has_queries &&
           setup->mechanisms.policy->needs_queries;
}

static bool course_plan(struct course *course, uint32_t threads, struct error *why)
{
    const struct setup *setup = course->setup;
    if (needs_cosines(setup)) {
        const struct trace_header *header = trace_header(setup->trace);
        course->head_cosine =
            array_zeroed((size_t)header->layers * header->kv_heads, sizeof(double), why);
        if (course->head_cosine == NULL ||
            !trace_head_cosine(setup->trace, threads, course->head_cosine, why)) {
            return false;
        }
    }
    return plan_resolve(setup, course->head_cosine, &course->plan, &course->trust, why);
}

/* What hits of everything where no trace has to be asked: what the cache holds. */
static double fixed_hit(const struct course *course)
{
    const struct mechanisms *m = &course->setup->mechanisms;
    double outside = (double)(course->plan.context - m->sinks - setup_recent(course->setup));
    return fmin((double)course->plan.cache_tokens / outside, 1);
}

static bool course_replay(struct course *course, uint32_t threads, struct error *why)
{
    const struct setup *setup = course->setup;
    struct ledger *ledger = &course->ledger;
    if (plan_offloaded_heads(&course->plan) == 0) {
        return true;
    }
    struct replay_plan plan = plan_replay(setup, &course->plan);
    bool good = !setup_asks_trace(setup)
                    ? replay_assumed(fixed_hit(course), 0, setup->seed, &plan, ledger, why)
                : setup->trace != NULL ? replay_run(setup->trace, &plan, threads, ledger, why)
                                       : replay_assumed(setup->assumed_hit, setup->assumed_spread,
                                                        setup->seed, &plan, ledger, why);
    course->used = good ? ledger : NULL;
    return good;
}

static void course_init(struct course *course, const struct setup *setup)
{
    memset(course, 0, sizeof *course);
    course->setup = setup;
    course->trust = (struct trust){BASIS_MEASURED, false};
    ledger_init(&course->ledger);
}

static void course_release(struct course *course)
{
    free(course->head_cosine);
    plan_release(&course->plan);
    ledger_release(&course->ledger);
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

static bool course_mass(struct course *course, uint32_t threads, struct result *result,
                        struct error *why)
{
    bool known;
    double recall;
    if (!mass_recall(course->setup, &course->plan, course->used, threads, &known, &recall, why)) {
        return false;
    }
    if (known) {
        result_real(result, COLUMN_MASS_RECALL, recall);
    }
    return true;
}

static bool course_time(struct course *course, struct result *result, struct error *why)
{
    const struct setup *setup = course->setup;
    struct timing timing;
    if (!pipeline_run(setup, &course->plan, course->used, &timing, why)) {
        return false;
    }
    outcome_cache(course->used, result);
    bool good = outcome_time(setup, &course->plan, course->used, &timing, result, why) &&
                outcome_trust(setup, &timing, course->trust, result, why);
    timing_release(&timing);
    return good;
}

static bool course_run(struct course *course, uint32_t threads, struct result *result,
                       struct error *why)
{
    result_init(result);
    bool good = course_plan(course, threads, why) && write_identity(course, result, why) &&
                outcome_identity(course->setup, result, why) &&
                outcome_memory(course->setup, &course->plan, result, why);
    if (good && course->plan.fits) {
        good = course_replay(course, threads, why) && course_mass(course, threads, result, why) &&
               course_time(course, result, why);
    }
    if (!good) {
        result_release(result);
    }
    return good;
}

bool run_setup(const struct setup *setup, uint32_t threads, struct result *result,
               struct error *why)
{
    struct course course;
    course_init(&course, setup);
    bool good = course_run(&course, threads, result, why);
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

bool run_setup_ranges(const struct setup *setup, uint32_t threads, struct result *result,
                      struct run_range **ranges, uint32_t *count, struct error *why)
{
    struct course course;
    course_init(&course, setup);
    *count = 0;
    *ranges = array_zeroed(CURVE_COUNT, sizeof **ranges, why);
    bool good = *ranges != NULL && course_run(&course, threads, result, why);
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
    struct course course;
    course_init(&course, setup);
    bool good = course_plan(&course, 0, why);
    if (good && !course.plan.fits) {
        good =
            error_set(why, NULL, 0, "the setup does not fit in memory: there is no step to draw");
        error_expect(why, "a batch of at most %u", course.plan.max_batch);
    }
    good = good && course_replay(&course, 0, why) &&
           pipeline_timeline(setup, &course.plan, course.used, 0, out, why);
    course_release(&course);
    return good;
}
