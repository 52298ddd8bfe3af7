/* Why a step takes as long as it does, and what would change that.
 *
 * Every figure of the machine that the run reads is made 10 % less and 10 % more, one at a time,
 * and the schedule timed again: what was planned and replayed stays. A figure that moves the step
 * much is worth improving, or, where it is only assumed, worth measuring first.
 */
#ifndef STUDY_SWEEP_EXPLAIN_H
#define STUDY_SWEEP_EXPLAIN_H

#include "hardware/profile.h"
#include "result/result.h"
#include "run/context.h"
#include "scenario/point.h"

/* What one figure does. */
struct explain_figure {
    enum curve_id curve;
    enum basis basis;
    double better; /* the step's change with the figure 10 % to its better side: -0.03; at most 0 */
    double worse;  /* and to its worse side */
    bool is_more;  /* its better side is more of it */
};

struct explanation {
    struct result result;           /* of the run as it is */
    struct explain_figure *figures; /* those that move the step, the most telling first */
    uint32_t count;
};

/* Run `setup`, which has no workload, and explain it. A run that does not fit has no figures. The
 * caller releases `out`. */
bool explain_run(const struct point *point, const struct run_context *context,
                 struct explanation *out, struct error *why);
void explanation_release(struct explanation *explanation);

#endif
