/* Replications in the results file: one row of `replications` each. */
#pragma once

#include "store/store.h"

/* Add the replications of a run that are not stored yet, within the open transaction. Private to
 * this folder. */
bool store_insert_draws(struct store *store, const char *run, const struct result_draws *draws,
                        struct error *why);

/* Add the replications that `from` has of a run, within the open transaction. Those that both have
 * must be equal. Private to this folder. */
bool store_join_draws(struct store *into, struct store *from, const char *run, struct error *why);

/* Read the replications of a run that were drawn from `draws->ranges`: the first one and those that
 * follow it without a gap. */
bool store_get_draws(struct store *store, const char *run, struct result_draws *draws,
                     struct error *why);
