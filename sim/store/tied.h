/* The SQL function tied(RUN, RUN, COLUMN): why two runs of the database tie in a column
 * (result/tie.h), "at most 2 % apart"; null if they differ, or if one of them is not there. */
#ifndef STORE_TIED_H
#define STORE_TIED_H

#include "store/store.h"

bool tied_function(struct store *store, struct error *why);

#endif
