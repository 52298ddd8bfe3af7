/* The best value of a grid that passes, found by sections.
 *
 * Values are numbered from the one that is liked best, 0. Trying one says by how much it falls
 * short: 0 passes, infinity cannot be at all. Where shortfalls shrink along the grid towards the
 * first value that passes, each round of tries cuts what is left in as many sections; in the end
 * the value before the one found was tried, and does not pass. Where none passes, rounds close in
 * on the least shortfall, and where all tries fall short alike, or cannot be, there is no more to
 * learn from others.
 *
 * Every try checks that assumption. Once tries contradict it, values are tried evenly as well, some
 * 32 of them over the grid, and in the end the neighbours of the one found. What no try has shown
 * cannot be known: values between those tried may hide one that passes. To try them all would show
 * it, and takes minutes where a value is a server's thousands of requests.
 *
 * Of a load it is no use that it passes where a lower one does not: the best that passes is then
 * the last up to which, from the one liked least, all that were tried pass. Where that one does not
 * pass itself, as of a rate that has to fill a server, it is the best that passes of all.
 */
#ifndef STUDY_PLAN_SEARCH_H
#define STUDY_PLAN_SEARCH_H

#include "base/error.h"

#include <stdint.h>

#define SEARCH_NONE UINT32_MAX

/* Shortfalls closer than this are taken as equal. */
#define SEARCH_EQUAL 1e-3

struct search {
    uint32_t count;
    uint32_t tried;
    double *shortfall; /* [count], NaN: not tried; owned */
    bool uneven;       /* tries contradicted the assumption */
    bool load;         /* set by the caller: values are loads */
    bool unordered;    /* set by the caller: neighbours have nothing in common, so all are tried */
};

bool search_init(struct search *search, uint32_t count, struct error *why); /* count > 0 */
void search_release(struct search *search);

/* What to try next: 1 to `most` (2 or more) values, ascending, into `values`; 0: the search has
 * ended. Each that is handed out comes back with search_put() before the next call. */
uint32_t search_next(struct search *search, uint32_t most, uint32_t *values);
void search_put(struct search *search, uint32_t value, double shortfall);

/* The best value tried that passes, and the first of those least short; SEARCH_NONE where
 * nothing passes, or nothing was tried that can be. */
uint32_t search_found(const struct search *search);
uint32_t search_nearest(const struct search *search);

/* Do all that were tried, not few of them, fall short by as much? */
bool search_is_flat(const struct search *search);

#endif
