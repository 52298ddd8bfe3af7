/* A results file from elsewhere is data: nothing in it may run. Private to this folder.
 *
 * A trigger or a view is a program that the file brings along; an index, a virtual table or a
 * changed column of one of spillway's tables can make a stored row vanish. SQLite is told to run
 * none of them (https://www.sqlite.org/security.html), and a file that holds one is refused by
 * its name, so that nobody takes an empty answer for a stored one. Plain tables that the user
 * made beside spillway's may stay: no statement of this program names them. */
#pragma once

#include <sqlite3.h>

#include "store/store.h"

/* Prepare an open connection before its first statement. Cannot fail. */
void guard_begin(struct store *store);

/* Compare what the file holds with what spillway makes: fails, naming the object, at the first one
 * that is not spillway's, and if it should be `whole` at a table that is missing. Columns may be missing
 * or be those of another version. Changes nothing. */
bool guard_check(struct store *store, bool whole, struct error *why);
