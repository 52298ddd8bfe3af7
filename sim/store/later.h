/* Tables that an older results file may lack: plans and plan_points. A writer creates them. For a
 * reader they are empty tables in its own memory, and the file stays as it is. They are not part of
 * the schema's hash in the file's header; guard.h refuses a file in which one has other columns.
 */
#ifndef STORE_LATER_H
#define STORE_LATER_H

#include "store/store.h"

#include <stddef.h>

/* Table number `index` from its name on, "plans (\n  plan TEXT, ..."; NULL after the last. */
const char *later_table(size_t index);

bool later_tables_open(struct store *store, bool writable, struct error *why);

#endif
