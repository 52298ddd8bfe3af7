/* From a setup to its schedule, all steps of a run in one call. */
#ifndef MAKE_TIMING_H
#define MAKE_TIMING_H

#include "make_setup.h"

#include "decode/time/pipe.h"
#include "trace/stats.h"

/* Everything of a run, which points into itself: never copied. `used` is the ledger, or NULL when
 * nothing is offloaded. */
struct course {
    const struct setup *setup;
    double *head_cosine;
    struct plan plan;
    struct ledger ledger;
    const struct ledger *used;
    struct pipe pipe;
    struct timing timing;
};

static inline bool course_cosines(struct course *course, struct error *why)
{
    const struct trace *trace = course->setup->trace;
    if (trace == NULL || !course->setup->mechanisms.policy->needs_queries) {
        return true;
    }
    const struct trace_header *header = trace_header(trace);
    course->head_cosine = calloc((size_t)header->layers * header->kv_heads, sizeof(double));
    assert_non_null(course->head_cosine);
    return trace_head_cosine(trace, 1, course->head_cosine, why);
}

static inline bool replay_cohort(const struct course *course, uint32_t cohort,
                                 struct ledger *ledger, struct error *why)
{
    struct setup own = setup_at(course->setup, course->plan.cohorts[cohort].context);
    struct replay_plan plan = plan_replay(&own, &course->plan, cohort);
    struct trace *trace = setup_cohort(course->setup, cohort).trace;
    return trace != NULL && setup_asks_trace(&own)
               ? replay_run(trace, &plan, 1, ledger, why)
               : replay_assumed(own.assumed_hit, own.assumed_spread, own.seed, &plan, ledger, why);
}

/* The sum of several cohorts', or the one there is. */
static inline bool course_ledger(struct course *course, struct error *why)
{
    const struct plan *plan = &course->plan;
    bool good = true;
    if (plan_offloaded_heads(plan) == 0) {
        return true;
    }
    course->used = &course->ledger;
    if (plan->cohort_count == 1) {
        return replay_cohort(course, 0, &course->ledger, why);
    }
    good = ledger_reserve_sum(&course->ledger, plan->steps, plan->layers, plan->cohort_count, why);
    for (uint32_t i = 0; good && i < plan->cohort_count; i++) {
        struct ledger own;
        ledger_init(&own);
        good = replay_cohort(course, i, &own, why);
        if (good) {
            ledger_lay(&course->ledger, i, &own);
        }
        ledger_release(&own);
    }
    return good;
}

static inline void course_release(struct course *course)
{
    timing_release(&course->timing);
    pipe_release(&course->pipe);
    ledger_release(&course->ledger);
    plan_release(&course->plan);
    free(course->head_cosine);
}

/* Plan, ledger and schedule of `setup`, which stays the caller's. What does not fit in memory is
 * timed like everything else. After a failure there is nothing to release. */
static inline bool try_course(const struct setup *setup, struct course *course, struct error *why)
{
    struct trust trust = {BASIS_MEASURED, false};
    *course = (struct course){.setup = setup};
    ledger_init(&course->ledger);
    bool good = course_cosines(course, why) &&
                plan_resolve(setup, course->head_cosine, &course->plan, &trust, why) &&
                course_ledger(course, why) &&
                pipe_build(&course->pipe, setup, &course->plan, course->used, why) &&
                timing_read(&course->pipe, &course->timing, why);
    if (!good) {
        course_release(course);
    }
    return good;
}

static inline void make_course(const struct setup *setup, struct course *course)
{
    struct error why;
    if (!try_course(setup, course, &why)) {
        fail_msg("%s", message_of(&why));
    }
}

#endif
