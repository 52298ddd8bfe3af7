/* The functions that SQL has here besides SQLite's own. Private to this folder.
 *
 *   quantity(TEXT)                   a scenario's size, share, multiple, time or rate as tables
 *                                    print it, "2.00 GiB" for 2147483648B; any other text as it is
 *   magnitude(TEXT)                  the same as a number in its base unit (bytes, nanoseconds,
 *                                    bytes a second), so that 7500ns is less than 15us; other
 *                                    values as SQLite casts them
 *   shell_word(TEXT)                 the text as one word of a shell (core/quote.h)
 *   ranged(VALUE, LOW, HIGH, BESIDE) a figure with its range as tables print it, "94 (85–96)"
 *                                    (predict/result/shown.h). Without a range, or with one that has no
 *                                    width: VALUE as it is, or with three digits if BESIDE is not
 *                                    0, because its column has ranges in other rows
 *   tied(RUN, RUN, COLUMN)           why two runs of the database tie in a column (predict/result/tie.h),
 *                                    "at most 2 % apart"; null if they differ, or if one is not
 *                                    there
 */
#pragma once

#include "store/store.h"

bool functions_create(struct store *store, struct error *why);
