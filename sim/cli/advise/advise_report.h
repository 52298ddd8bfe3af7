/* Output of an advice: for people, as JSON, into the database. */
#ifndef CLI_ADVISE_ADVISE_REPORT_H
#define CLI_ADVISE_ADVISE_REPORT_H

#include "cli/advise/advise_verdict.h"

/* The verdict, the table below it, and the notes that the runs share. */
bool advise_report(const struct advice *advice, const struct advise_verdict *verdict, FILE *out,
                   struct error *why);

/* The table alone: systems by their rate, alike ones in one row, then what was tried with plain
 * vLLM. */
bool advise_table_print(const struct advice *advice, bool wide, FILE *out, struct error *why);

/* Print JSON objects, each on its own line: first the verdict, then one per system, form and change
 * that was tried:
 *
 *   verdict           its parts by name, each a text: run, fits, offload, instead, limit, sure, start
 *
 *   kind              system, form or change
 *   system hardware   as named
 *   change            fp8 KV, more GPUs, shorter context, fp8 weights; null for systems and forms
 *   servers gpus      servers, and GPUs of each
 *   available from    where one can run it
 *   advised           whether it is the answer
 *   left_out error    why it was not considered, or cannot run; or null
 *   tokens_per_s      of all servers together; null without a run
 *   times_plain       tokens_per_s over that of plain vLLM
 *   tie               whether it is too close to plain vLLM to call
 *   rate misses_at    with requests: the highest rate found, and the next one tried, which misses a
 *                     limit; both were simulated with the whole workload, as `run` says
 *   scenario          a scenario for 'simulate' that gives `run`; or null
 *   run               as 'simulate --json' prints it, at the best batch or rate; or null */
bool advise_print_json(const struct advice *advice, const struct advise_verdict *verdict, FILE *out,
                       struct error *why);

#endif
