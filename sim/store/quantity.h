/* The SQL function quantity(TEXT): prints a scenario's size, share, multiple, time or rate as
 * tables do, "2.00 GiB" for 2147483648B and "3.00 x" for 3x. Any other text is returned as it
 * is. magnitude(TEXT): the same as a number in its base unit (bytes, nanoseconds, bytes a second), so
 * that 7500ns is less than 15us; other values as SQLite casts them. */
#ifndef STORE_QUANTITY_H
#define STORE_QUANTITY_H

#include "store/store.h"

/* Give both to a database. */
bool quantity_function(struct store *store, struct error *why);

#endif
