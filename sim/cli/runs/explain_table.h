/* `simulate --explain`: one paragraph per run; for a server, a table of its memory as well. */
#pragma once

#include <stdio.h>

#include "predict/decode/context.h"
#include "predict/scenario/scenario.h"
#include "study/sweep/explain.h"

/* Explain every point of the scenario; `results` are the points' own and are moved; points
 * without a status are left out. NULL: each is run first. */
bool explain_print(const struct scenario *scenario, struct result *results,
                   const struct run_context *runs, struct error *why);

/* Print a point as a JSON object on a line, for other programs: the run's own, with a member 'explain'.
 * `result` is the point's. */
bool explain_print_json(const struct scenario *scenario, uint32_t index,
                        const struct result *result, const struct run_context *runs, FILE *out,
                        struct error *why);

/* Sentences about figures of a machine, for steps and servers. Internal to explain*.c and `advise`. */

/* Smaller effects, as shares of a time, are not mentioned. */
#define EXPLAIN_TOLD 0.001

/* Figures that a list names. */
enum { EXPLAIN_SHOWN = 3 };

/* " What would help most: 10 % more gpu.hbm_bandwidth: 7.7 % off the step, 28.2 ms; then ..." `of`:
 * "", or the time's name if there are several. */
void explain_helps(const struct explanation *explanation, const struct explain_time *time,
                   const char *of, FILE *out);

/* A figure that was not measured, and the effect of a 10 % error, whichever way it goes, on the
 * time that it changes most. */
struct explain_guess {
    enum curve_id curve;
    enum basis basis;
    double effect;
};

/* List those with an effect worth mentioning, the largest first. Returns how many. */
uint32_t explain_guesses(const struct explanation *explanation,
                         struct explain_guess guesses[CURVE_COUNT]);

/* " To measure first (effect of a 10 % error on the step): ..." The figures that were not measured,
 * by their largest effect on any of the times, which `on` names; at most `most` of them. */
void explain_measure_first(const struct explanation *explanation, const char *on, uint32_t most,
                           FILE *out);

/* Explain a run and print what `write` says of it as a paragraph, after its name; "": without. */
typedef void explain_writer(const struct explanation *explanation, FILE *out);
bool explain_paragraph(const struct point *point, const char *name, struct result *result,
                       const struct run_context *runs, explain_writer *write, FILE *out,
                       struct error *why);

/* ---- servers: explain_server.c ---- */

/* Write the memory of a GPU of `point`'s servers line by line, what limits the requests that run
 * together, and where the time goes. `point` has a workload; `name` is what the paragraph on time
 * calls the run, "" for nothing. `*shown` is the memory that the run before wrote, or NULL: the
 * same is not written again. It is replaced, and the caller frees it. */
bool explain_server_write(const struct point *point, const char *name, struct result *result,
                          const struct run_context *runs, char **shown, FILE *out,
                          struct error *why);
