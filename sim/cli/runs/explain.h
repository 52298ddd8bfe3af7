/* `simulate --explain`: one paragraph per run; for a server, a table of its memory as well. */
#pragma once

#include "predict/decode/context.h"
#include "predict/scenario/scenario.h"

#include <stdio.h>

/* Explain every point of the scenario. */
bool explain_print(const struct scenario *scenario, const struct run_context *runs,
                   struct error *why);

/* Print every point as a JSON object on a line, for other programs: the run's own, with a member
 * 'explain' (explain_json.c). */
bool explain_print_json(const struct scenario *scenario, const struct run_context *runs, FILE *out,
                        struct error *why);
