/* `simulate --explain`: one paragraph per run; for a server, a table of its memory as well. */
#pragma once

#include <stdio.h>

#include "predict/decode/context.h"
#include "predict/scenario/scenario.h"
#include "study/sweep/explain.h"

/* Explain every point of the scenario; `results` are the points' own. Those without a status are left out. */
bool explain_print(const struct scenario *scenario, const struct result *results,
                   const struct run_context *runs, struct error *why);

/* Print a point as a JSON object on a line, for programs that judge the run: its own object, and a member
 * 'explain' with what its error is known for, and the run again with each figure of its machine that has a
 * range, at both ends of that. */
bool explain_print_json(const struct scenario *scenario, uint32_t index,
                        const struct result *result, const struct run_context *runs, FILE *out,
                        struct error *why);
