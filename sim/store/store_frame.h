/* Frames in the results file: the rows of a study, in the table that has the frame's columns. */
#pragma once

#include "tables/frame.h"
#include "store/store.h"

struct store_frame {
    const char
        *table; /* its columns are those of the frame that have a key, in order, and `version`
                        * if it names its program */
    const struct frame *frame;
    bool is_nameless;  /* the table does not name its program */
    const char *whole; /* a column: what is stored of its values is deleted first. NULL: nothing */
};

/* Put all rows in one transaction; rows with the key of a stored one replace it. Cells that are not
 * set become null. */
bool store_put_frames(struct store *store, const struct store_frame *frames, uint32_t count,
                      struct error *why);
