/* Is each value in a results file what its column holds? SQLite lets a column of numbers hold texts
 * of any length, which cost a picture a minute. Private to this folder.
 */
#pragma once

#include "store/store.h"

#include <sqlite3.h>

/* What is wrong with the value at `column` of the row, "a text"; NULL if it is null, or of the type
 * that the table declares and not too long for a cell. */
const char *values_fault(sqlite3_stmt *row, int column);

/* Look at all values of all tables, before any statement computes with them. Fails at the first one
 * that is not what its column holds, naming its run (or curve, ...), table and column. */
bool values_check(struct store *store, struct error *why);
