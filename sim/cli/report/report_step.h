/* What a report says of the best of a setting: its run, and those that it is held against. */
#ifndef CLI_REPORT_REPORT_STEP_H
#define CLI_REPORT_REPORT_STEP_H

#include "cli/report/report_table.h"

/* Runs of a row of plots/report/best.sql that have a sentence of their own. */
enum report_place { BEST, NEXT, LOSSLESS, QUICKEST, FRUGAL, REPORT_PLACES };

struct report_setting {
    const char *names[REPORT_PLACES]; /* the table's */
    bool differs[REPORT_PLACES];      /* there is one, and it is not the best */
    struct result runs[REPORT_PLACES];
};

/* Read the runs of row `row`. What was read is released with report_setting_release(). */
bool report_setting_read(struct store *store, const struct report_table *best, size_t row,
                         struct report_setting *out, struct error *why);
void report_setting_release(struct report_setting *setting);

/* Say how fast a step of the best is, why, and how sure that is; `chosen` where others could have
 * been. */
void report_say_step(const struct report_setting *setting, bool chosen, FILE *out);

/* An item of a list: how far such predictions were off, and what the best's time rests on. */
void report_say_trust(const struct report_setting *setting, FILE *out);

#endif
