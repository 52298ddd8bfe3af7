/* What a report says of runs along an axis, in the words of `whatif`, of which it has the knee and
 * the measure (plots/walked.sql). */
#ifndef CLI_REPORT_REPORT_WALKS_H
#define CLI_REPORT_REPORT_WALKS_H

#include "cli/report/report_table.h"

/* Say what each row of plots/report/walks.sql comes to, the first of them where they are many. */
void report_say_walks(const struct report_table *walks, FILE *out);

/* Of two lines or more, as those of a grid are: which does best, and where. */
void report_say_best(const struct report_table *walks, FILE *out);

#endif
