/* What the parts of a report are written from, and those that have a file of their own. */
#ifndef CLI_REPORT_REPORT_H
#define CLI_REPORT_REPORT_H

#include "cli/report/report_table.h"

/* What the parts of the page are made from. */
struct report {
    struct store *store;
    const char *database; /* as the user named it */
    const char *path;     /* of the page */
    size_t heading;       /* which of the page's */
    bool pictures;
    struct report_table best;
    FILE *out;
};

/* Every picture whose rows the database has; of one that would be too full, how to draw less. */
bool report_write_pictures(const struct report *report, struct error *why);

/* The answer, in sentences a person would write: the best run, how far ahead it is and of what,
 * what limits it, and how far predictions of its kind have been off. Where runs differ in more than
 * what can be chosen, each setting has a best run, and the answer is how often who wins. Along an
 * axis it is what `whatif` would say: no load is better for being lower. `best` is what
 * plots/report/best.sql answered, `walks` what walks.sql did. */
bool report_answer_write(struct store *store, const struct report_table *best,
                         const struct report_table *walks, FILE *out, struct error *why);

/* Had any setting more than one run to choose from? */
bool report_has_choice(const struct report_table *best);

/* Replications: of each run the mean of its draws, with the interval in which the true mean surely
 * lies (study/sweep/interval.h), and what nine of ten draws span. Sentences of the answer, the
 * first few where there are many; and the table, a row a run. */
bool report_say_draws(const struct report *report, struct error *why);
bool report_write_draws(const struct report *report, struct error *why);

/* How to get it again: scenarios and commands. */
bool report_write_again(const struct report *report, struct error *why);

#endif
