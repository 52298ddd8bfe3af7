/* Check the values that a user typed for the axis of a plan. A value that is invalid for every
 * candidate is a mistake.
 *
 * For KEY=[A, B] every value is checked; for KEY=FROM:TO only the two ends, because nobody typed
 * the values between. A value is accepted if one candidate can have it, even if it does not fit.
 */
#ifndef STUDY_PLAN_TYPED_VALUES_H
#define STUDY_PLAN_TYPED_VALUES_H

#include "study/plan/planning.h"

/* Check the axes of the searches that began. An invalid value is a usage error with its reason. */
bool typed_values_check(const struct planning *planning, const char *axis, struct error *why);

#endif
