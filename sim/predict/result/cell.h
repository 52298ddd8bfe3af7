/* A cell as text: one spelling for the database, the JSON and the CSV.
 *
 *   text        as it is (JSON quotes and escapes it: cell_text() does not)
 *   whole       123
 *   number      the shortest decimals that read back as the same double: 0.931
 *   US, MS      exact decimals of whole nanoseconds: 1490.125 and 1.490125
 *   items       {"compute":1398.000,"link":92.125}, {"published":0.25,"assumed":0.75}
 *   a band      [-0.2,0.25]
 *   notes       [{"note":"refused","refused":3,...},...] (note.h)
 */
#pragma once

#include "predict/result/result.h"

#define CELL_SIZE 8192

/* The text of a cell, in `buffer` or the result's own; NULL when the cell is null. */
const char *cell_text(const struct result *result, const struct column *column,
                      char buffer[CELL_SIZE]);

/* Read the text of items, a band or notes back. Returns false for any other text,
 * which only a damaged database can hold. `names` has room for RESULT_MOST_ITEMS and holds the
 * items' names. */
bool cell_parse(struct result *result, const struct column *column, const char *text,
                char (*names)[RESULT_NAME]);

/* Convert a double in units of `scale` ns (1e3: microseconds) back to nanoseconds: exact below 2^51
 * of them, which is 26 days. Returns false past 64 bits. */
bool cell_read_ns(double value, double scale, int64_t *ns);
