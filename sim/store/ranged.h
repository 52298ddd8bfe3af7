/* The SQL function ranged(VALUE, LOW, HIGH, BESIDE): a figure with its range as tables print it,
 * "94 (85–96)" (result/range.h). Without a range, or with one that has no width: VALUE as it is, or
 * with three digits if BESIDE is not 0, because its column has ranges in other rows. */
#ifndef STORE_RANGED_H
#define STORE_RANGED_H

#include "store/store.h"

bool ranged_function(struct store *store, struct error *why);

#endif
