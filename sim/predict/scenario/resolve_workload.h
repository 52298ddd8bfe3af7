/* The keys of a scenario about a server and its requests. */
#pragma once

#include "predict/scenario/scenario.h"
#include "server/requests/requests.h"
#include "server/workload.h"

/* Read the keys of a server, and its requests through `out->sources`. Without a workload these keys
 * are an error. */
bool resolve_workload(const struct scenario *scenario, struct point *out, struct error *why);

/* What the engine adds to a step, and its memory; and the limits of a step and `hbm_usable` where the
 * scenario leaves them open. Call it when the machine is known. */
bool resolve_engine(const struct scenario *scenario, struct point *out, struct error *why);

/* The requests of a scenario: a file's, or made up from its keys, and the context that stands for
 * them. */

/* If the scenario has a workload, set the context that stands for its requests: the mean number of
 * tokens that they attend to during decode. A scenario with another context is an error. A scenario
 * with `rate` or `clients` and no workload gets one, of requests with its `prompt` and `output`. */
bool requests_set_context(struct scenario *scenario, struct error *why);
