/* Runs in the results file, with their replications, and the rows of studies. */
#pragma once

#include "store/store.h"
#include "tables/frame.h"

/* Read the replications of a run drawn from `draws->ranges`: the first and those behind it without a gap. */
bool store_get_draws(struct store *store, const char *run, struct result_draws *draws,
                     struct error *why);

/* Frames in the results file: the rows of a study, in the table that has the frame's columns. */

struct store_frame {
    /* Its columns are those of the frame that have a key, in order, and maybe `version`. */
    const char *table;
    const struct frame *frame;
};

/* Put all rows in one transaction; rows with a stored key replace it. Cells that are not set become null. */
bool store_put_frames(struct store *store, const struct store_frame *frames, uint32_t count,
                      struct error *why);
