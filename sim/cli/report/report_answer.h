/* The answer of a report, in sentences a person would write: the best run, how far ahead it is and
 * of what, what limits it, and how far predictions of its kind have been off. Where runs differ in
 * more than what can be chosen, each setting has a best run, and the answer is how often who wins.
 * Along an axis it is what `whatif` would say: no load is better for being lower.
 */
#ifndef CLI_REPORT_REPORT_ANSWER_H
#define CLI_REPORT_REPORT_ANSWER_H

#include "cli/report/report_table.h"

/* `best` is what plots/report/best.sql answered, `walks` what walks.sql did. */
bool report_answer_write(struct store *store, const struct report_table *best,
                         const struct report_table *walks, FILE *out, struct error *why);

/* Had any setting more than one run to choose from? */
bool report_has_choice(const struct report_table *best);

#endif
