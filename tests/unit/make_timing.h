/* From a setup to its schedule, all steps of a run in one call. */
#ifndef MAKE_TIMING_H
#define MAKE_TIMING_H

#include "make_setup.h"

#include "decode/pipe.h"
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

static inline bool course_ledger(struct course *course, struct error *why)
{
    const struct setup *setup = course->setup;
    struct replay_plan plan = plan_replay(setup, &course->plan);
    uint32_t offloaded = 0;
    for (uint32_t l = 0; l < course->plan.layers; l++) {
        offloaded += course->plan.offloaded[l];
    }
    course->used = offloaded > 0 ? &course->ledger : NULL;
    return offloaded == 0 ||
           (setup->trace != NULL && setup_asks_trace(setup)
                ? replay_run(setup->trace, &plan, 1, &course->ledger, why)
                : replay_assumed(setup->assumed_hit, setup->assumed_spread, setup->seed, &plan,
                                 &course->ledger, why));
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
