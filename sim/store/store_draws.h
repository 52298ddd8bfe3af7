/* Replications in the results file: a row of `replications` each. */
#ifndef STORE_STORE_DRAWS_H
#define STORE_STORE_DRAWS_H

#include "store/store.h"

/* Add those of a run that are not there, within a transaction. For the files of this folder. */
bool store_insert_draws(struct store *store, const char *run, const struct result_draws *draws,
                        struct error *why);

/* Add those that `from` has of a run, within a transaction. What both have must be the same. For
 * the files of this folder. */
bool store_join_draws(struct store *into, struct store *from, const char *run, struct error *why);

/* Read those of a run that were drawn from `draws->ranges`: from the first one on, as many as
 * follow each other. */
bool store_get_draws(struct store *store, const char *run, struct result_draws *draws,
                     struct error *why);

#endif
