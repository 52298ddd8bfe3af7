/* Why a run does not meet its targets, in words. */
#pragma once

#include "study/plan/target.h"

enum { VIOLATION_TEXT = 1024 };

/* Write "misses tpot_ms<=20 by 15 % (23.1)" for each target that a run misses; or why it has no
 * figures: "has no hit_ratio", "failed (...)". `compared` is the figure by which runs are compared
 * (a planning's `best`), NULL for none. "" if the run misses nothing. */
void violation_describe(const struct targets *targets, const struct column *compared,
                        const struct result *result, char text[VIOLATION_TEXT]);
