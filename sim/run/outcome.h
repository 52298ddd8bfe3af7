/* Writing what was planned, replayed and timed into a result's columns. */
#ifndef RUN_OUTCOME_H
#define RUN_OUTCOME_H

#include "decode/plan/plan.h"
#include "decode/time/pipeline.h"
#include "result/result.h"
#include "run/run.h"

/* What the setup says, and the hash of its plan, before anything ran. */
bool outcome_setup(const struct setup *setup, const struct plan *plan, struct result *result,
                   struct error *why);

/* The columns of outcome_setup() that need no plan. */
bool outcome_names(const struct setup *setup, struct result *result, struct error *why);

/* Memory, and whether it fits; without it a message says what is short. */
bool outcome_memory(const struct setup *setup, const struct plan *plan, struct result *result,
                    struct error *why);

/* Hits; nothing when `ledger` is NULL. */
void outcome_cache(const struct ledger *ledger, struct result *result);

/* What the CPU attends to; nothing where it attends to nothing. */
void outcome_kept(const struct setup *setup, const struct plan *plan, const struct ledger *ledger,
                  struct result *result);

/* Times, parts, layers and steps. Means are whole nanoseconds; parts are rounded by largest
 * remainder, so that they add up to the step. */
bool outcome_time(const struct setup *setup, const struct plan *plan, const struct ledger *ledger,
                  const struct timing *timing, struct result *result, struct error *why);

/* Time to the first token of a whole batch, and the rate of output tokens over prefill and decode,
 * where an output is said. Behind outcome_time(). */
void outcome_prefill(const struct setup *setup, const struct plan *plan, int64_t prefill_ns,
                     struct result *result);

/* What one step takes. `trust` is what the plan rests on. */
void outcome_step(const struct setup *setup, const struct timing *timing, struct trust trust,
                  struct step_answer *answer);

/* The setup's trace in words, at its own context: "SmolLM2-135M-Instruct 3840 tokens"; "" if hits
 * rest on no trace. */
void outcome_trace_source(const struct setup *setup, char *text, size_t size);

/* What the result rests on. */
bool outcome_trust(const struct setup *setup, const struct timing *timing, struct trust trust,
                   struct result *result, struct error *why);

#endif
