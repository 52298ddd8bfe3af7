/* The best run of a setting in a report, and the runs that it is compared with. */
#ifndef CLI_REPORT_REPORT_STEP_H
#define CLI_REPORT_REPORT_STEP_H

#include "cli/report/report_table.h"

/* The runs in a row of plots/report/best.sql that have a sentence of their own. */
enum report_place { BEST, NEXT, LOSSLESS, QUICKEST, FRUGAL, REPORT_PLACES };

struct report_setting {
    const char *names[REPORT_PLACES]; /* the table's */
    bool differs[REPORT_PLACES];      /* the run exists, and is not the best */
    struct result runs[REPORT_PLACES];
};

/* Read the runs of row `row`. Release them with report_setting_release(). */
bool report_setting_read(struct store *store, const struct report_table *best, size_t row,
                         struct report_setting *out, struct error *why);
void report_setting_release(struct report_setting *setting);

/* Write how fast a step of the best is, why, and how sure that is; `chosen`: there were others to
 * choose from. */
void report_say_step(const struct report_setting *setting, bool chosen, FILE *out);

/* Write a list item: how far such predictions were off, and the bases of the best run's time. */
void report_say_trust(const struct report_setting *setting, FILE *out);

#endif
