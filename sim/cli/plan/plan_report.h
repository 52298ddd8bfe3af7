/* A plan or a Pareto front: its question, and its output as tables, as JSON, into the database. */
#pragma once

#include "cli/runs/runs.h"
#include "study/plan/planning.h"
#include "study/plan/target.h"
#include "tables/frame.h"

/* For people: one row per candidate, the winner and how sure that is, or what limits the nearest. */
bool plan_report(const struct planning *planning, const struct table_view *view, FILE *out,
                 struct error *why);

/* The columns that a reader can choose in any plan, and in a Pareto front. */
const struct frame_column *plan_columns(uint32_t *count);
const struct frame_column *front_columns(uint32_t *count);

/* One row per candidate (tables/candidates.def). For people (`view`) without those that were left out, nor keys of
 * data. NULL with `why` if a row cannot be made. The caller frees it. */
struct frame *plan_frame(const struct planning *planning, const struct table_view *view,
                         struct error *why);

/* Find and print a Pareto front over these axes. With `json`: its runs as 'simulate --json'
 * prints them, then one line per candidate that has no runs: `system`, `hardware`, `left_out` and `error` as
 * above, and `run`, which is null. */
bool front_print(const struct scenario *scenario, const char *over,
                 const struct planning_options *with, const struct table_view *view, bool json,
                 struct error *why);

/* Print a line for each reason why systems were left out, with their names, or one with how many there are;
 * nothing if none was. */
void left_out_print(const struct candidate *candidates, uint32_t count, bool names, FILE *out);

/* Store a plan in the tables of plans.def and plan_points.def, so that a report can show the question and its
 * answer. The plan's name is a hash of the question, of the runs that answer it (these depend on the files
 * that the scenario names). The same plan made again replaces the first. */
bool plan_store(const struct planning *planning, struct store *store, struct error *why);

/* ---- below the table: how to run the winner, or what keeps the nearest from the targets ---- */

/* Write the winner's scenario to the file `path` (NULL: print it), and print the command that starts its
 * server, if it has one; write the files that start its servers into `folder` (deployment.h), if that is
 * not NULL. With `json` nothing is printed. The plan must have a winner. */
bool plan_winner_print(const struct planning *planning, const char *path, const char *folder,
                       bool json, struct error *why);

/* A plan in words: candidates, goal, and its answer in one sentence, for tables, reports and the database. */

enum { PLAN_ANSWER = 4096, PLAN_GOAL = 192 };

/* Do the candidates differ in their machine? It is then part of a candidate's name: "vllm on a40". */
bool plan_machines_differ(const struct planning *planning);

/* The last word of the axis' key. */
const char *plan_axis(const struct planning *planning);

void plan_goal(const struct planning *planning, char text[PLAN_GOAL]); /* "largest rate" */

/* Which candidate meets the targets with which value, which others reach the same, and what the next
 * better value misses. If none meets them, which comes nearest. */
void plan_answer(const struct planning *planning, char text[PLAN_ANSWER]);

/* Why a run does not meet its targets, in words. */

enum { VIOLATION_TEXT = 1024 };

/* Write "misses tpot_ms<=20: 23.1 (by 15 %)" for each target that a run misses; or why it has no
 * figures: "has no hit_ratio", "failed (...)". `compared` is the figure by which runs are compared
 * (a planning's `best`), NULL for none. "" if the run misses nothing. Returns `text`. */
const char *violation_describe(const struct targets *targets, const struct column *compared,
                               const struct result *result, char text[VIOLATION_TEXT]);

/* The same of a tried value of a search. If its run was brief, it is only known which targets it misses. */
const char *violation_of_value(const struct targets *targets, const struct column *compared,
                               const struct search *search, uint32_t value,
                               char text[VIOLATION_TEXT]);
