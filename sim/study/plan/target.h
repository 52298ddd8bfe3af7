/* Targets: the bounds that a plan has to meet, and how far a run falls short of them.
 *
 *     KEY<=NUMBER or KEY>=NUMBER, separated by commas
 *
 * KEY is a numeric key of a result (columns.def). A bare NUMBER is in the unit of the key:
 * milliseconds for tpot_ms, bytes, a share. NUMBER may also say its unit: step_us<=40ms,
 * hbm_bytes<=40GiB, hit_ratio>=90%. A violation is a share of the bound, so that milliseconds and
 * tokens per second compare. The violation of several targets is the largest; 0 means all are met.
 * A run that does not fit, or fails, has an infinite violation. */
#pragma once

#include "predict/result/result.h"
#include "predict/server/stream_question.h"

enum { TARGETS_MOST = 16, TARGET_TEXT = 64, TARGETS_TEXT = TARGETS_MOST * (TARGET_TEXT + 2) };

struct target {
    const struct column *column;
    bool at_most;
    double bound;            /* in the unit of the column */
    char text[TARGET_TEXT];  /* as it was typed, */
    char typed[TARGET_TEXT]; /* and its NUMBER alone: "40ms" */
};

struct targets {
    struct target all[TARGETS_MOST];
    uint32_t count;
};

/* Read `text`. Unknown keys, keys without a number and bounds that contradict each other are usage errors. */
bool targets_parse(const char *text, struct targets *out, struct error *why);

double target_violation(const struct target *target, const struct result *result);
double targets_violation(const struct targets *targets, const struct result *result);

/* By which share of its bound a run meets an upper bound on a time; NaN for other targets. */
double target_margin(const struct target *target, const struct result *result);

/* Does it meet each by TARGET_AMPLE or more? */
#define TARGET_AMPLE 0.1
bool targets_ample(const struct targets *targets, const struct result *result);

/* The targets as a question to a server in steady state, of at most so many requests. */
struct stream_question targets_question(const struct targets *targets, uint64_t most);

/* All targets as they were typed, separated by ", ". Returns `text`. */
const char *targets_text(const struct targets *targets, char text[TARGETS_TEXT]);

/* The figure that a target judges, as a person reads it: "63.28"; "-" if the run has none. */
const char *target_format(const struct target *target, const struct result *result,
                          char text[TARGET_TEXT]);

/* The same for a value in the result's stored unit. */
const char *target_format_value(const struct target *target, double value, char text[TARGET_TEXT]);

/* Does the target judge a figure that only runs with a workload have? */
bool target_serves(const struct target *target);

/* Does any target judge this column? */
bool targets_judge(const struct targets *targets, const struct column *column);

/* Does any bound a time? */
bool targets_limit_times(const struct targets *targets);

/* Add what a server has to meet whatever was asked for, unless targets judge it: it must answer every
 * request, and if it is `timed` keep its queue bounded. Requests that arrive faster than they are answered
 * can meet every other target if there are few of them, and a full batch has the most tokens a second. */
bool targets_add_service(bool timed, struct targets *targets, struct error *why);

/* How certain it is that a run meets or misses a target: a run's error band puts its figure into a
 * range (predict/result/tie.h). If the bound lies in it, the real system may be on either side. */

/* Is any of that range on the other side of the bound than the run's figure? Once a run of one's own
 * server is known, all of it can be. */
bool target_is_near(const struct target *target, const struct result *result);

/* The targets that are near so. */
void targets_open(const struct targets *targets, const struct result *result, struct targets *out);

/* The figure by which runs are compared when the best one is wanted, such as the batch with the
 * most tokens per second. predict/result/tie.h says when two are too close to call. */

/* Read the key of a result; NULL for keys of which neither end is better. `option` is for messages. */
const struct column *best_read(const char *key, const char *option, struct error *why);

/* How good a run is: more is better. NaN if it did not succeed or has no such figure. */
double best_merit(const struct column *column, const struct result *result);
