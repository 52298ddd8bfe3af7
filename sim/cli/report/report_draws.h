/* What a report says of replications: of each run the mean of its draws, with the interval in which
 * the true mean surely lies (study/sweep/interval.h), and what nine of ten draws span. */
#ifndef CLI_REPORT_REPORT_DRAWS_H
#define CLI_REPORT_REPORT_DRAWS_H

#include "cli/report/report.h"

/* Sentences of the answer; the first few, where there are many. */
bool report_say_draws(const struct report *report, struct error *why);

/* The table, a row a run. */
bool report_write_draws(const struct report *report, struct error *why);

#endif
