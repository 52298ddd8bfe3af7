/* The inputs of a report's parts, and the parts that have a file of their own. */
#pragma once

#include "cli/frame/question.h"
#include "cli/report/plot_statement.h"
#include "cli/report/report_table.h"
#include "store/store.h"
#include "tables/frame.h"

/* The page of one question: a verdict first, then the page of its runs. */

struct report_answer {
    const char *title;           /* of the page */
    struct store *store;         /* with the question's runs, and others perhaps */
    const struct frame *verdict; /* cli/advise/advise.h */
    const char *run;             /* the advised one; NULL: nothing is advised */
    const char *targets;         /* "tpot_ms<=50ms, ...": the limits that it met */
    const char *database;        /* its file; NULL: none */
};

/* Write the page to `path`. */
bool report_answer(const struct report_answer *answer, const char *path, struct error *why);

/* The inputs of the page's parts. */
struct report {
    struct store *store;
    const char *database; /* as the user named it; NULL: none is kept */
    const char *path;     /* of the page */
    size_t heading;       /* which of the page's */
    bool pictures;
    char note[DATABASE_NOTE]; /* on the programs whose results it has; "": nothing to say */
    struct report_table best; /* the best run of each setting (plots/report/best.sql) */
    const struct report_answer *answer; /* NULL: no question was asked */
    FILE *out;
};

/* Write the runs for the page's script to move through; nothing for a single run. */
bool report_write_explore(const struct report *report, struct error *why);

/* Write the script (page.js and what follows it in plots/report). plots/report/policy.txt has its hash. */
bool report_write_script(FILE *out, struct error *why);

/* Write every picture whose rows the database has; for a picture that would be too full, how to
 * draw less. */
bool report_write_pictures(const struct report *report, struct error *why);
