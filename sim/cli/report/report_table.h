/* What a query of a report answered, names of columns and texts, and how it stands as a table of
 * HTML: a column whose every value is a number to the right, its numbers with four digits; one
 * without any value not at all; and behind rows that are too many, how many there are.
 */
#ifndef CLI_REPORT_REPORT_TABLE_H
#define CLI_REPORT_REPORT_TABLE_H

#include "store/store.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { REPORT_MOST_COLUMNS = 40 };

struct report_row {
    char *texts[REPORT_MOST_COLUMNS]; /* owned; NULL: null */
};

struct report_table {
    char *names[REPORT_MOST_COLUMNS]; /* owned */
    uint32_t columns;
    struct report_row *rows; /* owned */
    size_t count, capacity;
};

/* Ask `store` what plots/report/NAME.sql asks, behind the files of `begin` (ends with NULL). Of a
 * query that is to be pivoted the last two columns are a name and a value: all that agree in the
 * others are a row, and each name is a column. */
bool report_table_read(struct store *store, const char *const *begin, const char *name, bool pivot,
                       struct report_table *out, struct error *why);
void report_table_release(struct report_table *table);

/* A cell; "" where it is null, or there is no such column. */
const char *report_table_text(const struct report_table *table, size_t row, const char *column);

/* Write the first `most` rows, under `caption`. */
void report_table_write(const struct report_table *table, const char *caption, size_t most,
                        FILE *out);

#endif
