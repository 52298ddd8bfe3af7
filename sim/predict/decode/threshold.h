/* QSAC's eta of a run that says how many sets shall be reused (policy: {name: qsac, reuse:
 * 0.7}). */
#pragma once

#include "decode/plan/plan.h"
#include "predict/decode/context.h"

/* Does the setup say so, and has it a trace by which eta can be chosen? */
bool threshold_is_chosen(const struct setup *setup);

/* Set eta in `values`, the setup's parameters of the policy, such that the share is reused by all
 * heads of the longest context together, were all of them offloaded. So eta does not depend on
 * which heads stay in HBM, which depends on eta. `plan` is resolved with any eta. */
bool threshold_choose(const struct setup *setup, const struct plan *plan,
                      const struct run_context *context, double *values, struct error *why);
