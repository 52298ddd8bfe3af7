/* The result of a report's query (names of columns, and texts), and its form as an HTML table.
 *
 * A column whose values are all numbers is aligned right, with three digits. A column without any
 * value is left out. If there are too many rows, a line says how many.
 */
#pragma once

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

/* Run the query plots/report/NAME.sql on `store`, after the files of `begin` (ends with NULL). In a
 * query with `pivot`, the last two columns are a name and a value: rows that agree in the other
 * columns become one row, and each name becomes a column. */
bool report_table_read(struct store *store, const char *const *begin, const char *name, bool pivot,
                       struct report_table *out, struct error *why);
void report_table_release(struct report_table *table);

/* A cell; "" if it is null, or if there is no such column. */
const char *report_table_text(const struct report_table *table, size_t row, const char *column);

/* Write the first `most` rows, under `caption`. */
void report_table_write(const struct report_table *table, const char *caption, size_t most,
                        FILE *out);
