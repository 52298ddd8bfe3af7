/* Tables that a results file may lack, for it was written before there were any: plans and
 * plan_points. A writer makes them; to a reader they are empty tables in its own memory, and the
 * file stays as it is. They are no part of the schema's hash, which the file's header has; a file
 * in which one has other columns is refused all the same.
 */
#ifndef STORE_LATER_H
#define STORE_LATER_H

#include "store/store.h"

bool later_tables_open(struct store *store, bool writable, struct error *why);

#endif
