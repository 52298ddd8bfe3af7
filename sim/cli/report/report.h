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

/* How to get it again: scenarios and commands. */
bool report_write_again(const struct report *report, struct error *why);

#endif
