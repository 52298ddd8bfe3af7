/* Values that a user typed for the axis of a plan: those that no candidate can have are mistakes.
 *
 * Of KEY=[A, B] each is looked at, of KEY=FROM:TO the two ends; what lies between them nobody
 * typed. One that a candidate can have, even if it does not fit there, can be meant.
 */
#ifndef STUDY_PLAN_TYPED_VALUES_H
#define STUDY_PLAN_TYPED_VALUES_H

#include "study/plan/planning.h"

/* Check the axes of quests that began; that a value cannot be is a usage error, and says why. */
bool typed_values_check(const struct planning *planning, const char *axis, struct error *why);

#endif
