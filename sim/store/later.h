/* Tables that an older results file may lack: plans and plan_points. A writer creates them. For a
 * reader they are empty tables in its own memory, and the file stays as it is. They are not part of
 * the schema's hash in the file's header. A file in which one of them has other columns is still
 * refused.
 */
#ifndef STORE_LATER_H
#define STORE_LATER_H

#include "store/store.h"

bool later_tables_open(struct store *store, bool writable, struct error *why);

#endif
