/* Why a step takes as long as it does, and what would change that.
 *
 * Every figure of the machine that the run reads is made 10 % smaller and 10 % larger, one at a
 * time, and the schedule is timed again. The plan and the replay stay. A figure that changes the
 * step much is worth improving; if it is only assumed, it is worth measuring first.
 */
#ifndef STUDY_SWEEP_EXPLAIN_H
#define STUDY_SWEEP_EXPLAIN_H

#include "hardware/profile.h"
#include "result/result.h"
#include "run/context.h"
#include "scenario/point.h"

/* The effect of one figure. */
struct explain_figure {
    enum curve_id curve;
    enum basis basis;
    double better; /* change of the step if the figure is 10 % better: -0.03 is -3 %; at most 0 */
    double worse;  /* and if it is 10 % worse */
    bool is_more;  /* larger is better */
};

struct explanation {
    struct result result;           /* the run, unchanged */
    struct explain_figure *figures; /* those that change the step, largest effect first; owned */
    uint32_t count;
};

/* Run `point`, which has no workload, and explain it. A run that does not fit has no figures. The
 * caller releases `out`. */
bool explain_run(const struct point *point, const struct run_context *context,
                 struct explanation *out, struct error *why);
void explanation_release(struct explanation *explanation);

#endif
