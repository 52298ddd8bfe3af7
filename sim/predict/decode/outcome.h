/* Writes what was planned, replayed and timed into a result's columns. */
#pragma once

#include "decode/plan/mass.h"
#include "decode/plan/memory_plan.h"
#include "decode/time/pipeline.h"
#include "machine/profile.h"
#include "predict/decode/run.h"
#include "predict/result/result.h"

/* The columns that the setup gives, and the hash of its plan, before anything runs. */
bool outcome_setup(const struct setup *setup, const struct plan *plan, struct result *result,
                   struct error *why);

/* The columns of outcome_setup() that need no plan. */
bool outcome_names(const struct setup *setup, struct result *result, struct error *why);

/* Memory, and whether the setup fits; if not, a message says which memory is short. */
bool outcome_memory(const struct setup *setup, const struct plan *plan, struct result *result,
                    struct error *why);

/* Do hits depend on the trace? Where HBM has room for all KV, nothing is wanted over the link. */
bool outcome_asks_trace(const struct setup *setup, const struct plan *plan);

/* Hits; the part that the CPU attends to; what the queries of a verification want together. NULL: nothing. */
void outcome_ledger(const struct setup *setup, const struct plan *plan, const struct ledger *ledger,
                    struct result *result);

/* Attention mass, also of outcome_time()'s steps, if known. Notes tell a lower bound, and too short a run. */
void outcome_mass(const struct setup *setup, const struct plan *plan, const struct mass *mass,
                  struct result *result);

/* Times, parts, layers and steps. Means are whole nanoseconds; parts add up to the step. */
bool outcome_time(const struct setup *setup, const struct plan *plan, const struct ledger *ledger,
                  const struct timing *timing, struct result *result, struct error *why);

/* Median, 99th percentile and standard deviation of the time of a token, over the result's steps. */
bool outcome_spread(const struct setup *setup, struct result *result, struct error *why);

/* The time to a batch's first token and, with an output, the rate over prefill and decode. Call it last. */
void outcome_prefill(const struct setup *setup, const struct plan *plan, int64_t prefill_ns,
                     struct result *result);

/* The time of one step. `trust` is that of the plan. */
void outcome_step(const struct setup *setup, const struct plan *plan, const struct timing *timing,
                  struct trust trust, struct step_answer *answer);

/* The setup's trace: "SmolLM2-135M-Instruct 3840→131072 tokens", or "→4096…131072" (without `carrying` the
 * first context). A generated one is named as a recording's twin, or after its profile's basis. */
void outcome_trace_source(const struct setup *setup, bool carrying, char *text, size_t size);

/* The basis of the result. */
bool outcome_trust(const struct setup *setup, const struct plan *plan, const struct timing *timing,
                   struct trust trust, struct result *result, struct error *why);

/* Fill in the cost of output tokens: the price of a GPU hour over the tokens made in it, busy or not. It
 * stays null without a price, or if no token is made. */
void price_write(const struct profile *machine, struct result *result);

/* Which notes hold for a run (predict/result/notes.def has their words). */

/* What the machine lacks of what the setup asks for, with which the run goes on as an engine would. */
void outcome_note_machine(const struct setup *setup, struct result *result);

/* What may be wrong with the model: its class has no row, its files count other parameters. */
void outcome_note_reading(const struct model *model, struct result *result);

/* Of a plan that fits: contexts, model, choices that do not pay off, and what hits rest on. */
void outcome_note_plan(const struct setup *setup, const struct plan *plan, struct result *result);

/* Of one that does not: which memory is short, or why the engine does not start, in place of other notes. */
void outcome_note_short(const struct setup *setup, const struct plan *plan, struct result *result);
void outcome_note_refused(const struct setup *setup, struct result *result);

/* That the cache had not yet filled, if a hit ratio could change; or that what is wanted stays in HBM. */
void outcome_note_ledger(const struct setup *setup, const struct plan *plan,
                         const struct ledger *ledger, struct result *result);
