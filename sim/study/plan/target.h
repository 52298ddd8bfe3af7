/* Targets: what a plan has to meet, and by how much a run falls short of it.
 *
 *     KEY<=NUMBER or KEY>=NUMBER, several with commas between
 *
 * KEY is a result's key that has a number (columns.def). A bare NUMBER is in the key's own unit:
 * the milliseconds of tpot_ms, bytes, a share; or it says its unit, as in step_us<=40ms,
 * hbm_bytes<=40GiB, hit_ratio>=90%. A shortfall is a share of the bound, so that milliseconds and
 * tokens a second compare; of several targets the largest counts, and 0 is met. That of a run that
 * does not fit, or fails, is infinite.
 */
#ifndef STUDY_PLAN_TARGET_H
#define STUDY_PLAN_TARGET_H

#include "result/result.h"

enum { TARGETS_MOST = 16, TARGET_TEXT = 64, TARGETS_TEXT = TARGETS_MOST * (TARGET_TEXT + 2) };

struct target {
    enum column column;
    bool at_most;
    double bound;           /* as the result stores it: times in ns */
    char text[TARGET_TEXT]; /* as it was typed */
};

struct targets {
    struct target all[TARGETS_MOST];
    uint32_t count;
};

/* Read `text`. A key that is none, or has no number, and bounds that contradict each other are
 * usage errors. */
bool targets_parse(const char *text, struct targets *out, struct error *why);

double target_shortfall(const struct target *target, const struct result *result);
double targets_shortfall(const struct targets *targets, const struct result *result);

/* All of them as they were typed, with ", " between; returns `text`. */
const char *targets_text(const struct targets *targets, char text[TARGETS_TEXT]);

/* The figure that a target judges, where draws have it (result/drawn.def); or DRAWN_COUNT. */
enum drawn target_drawn(const struct target *target);

/* How many of a run's draws meet all targets. What is not drawn, such as memory, is the run's own.
 */
uint32_t targets_count_met(const struct targets *targets, const struct result *result);

/* The value that a target judges, as a person reads it: "63.28"; "-" where the run has none. */
const char *target_format(const struct target *target, const struct result *result,
                          char text[TARGET_TEXT]);

/* The same of a value as results store it. */
const char *target_format_value(const struct target *target, double value, char text[TARGET_TEXT]);

/* Is it a figure that only runs with a workload have? */
bool target_serves(const struct target *target);

/* Does any target judge this column? */
bool targets_judge(const struct targets *targets, enum column column);

#endif
