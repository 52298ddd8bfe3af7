/* Find the best value of a grid that passes, by dividing the grid into sections.
 *
 * Values are numbered by preference; 0 is the best. A try of a value yields its violation: 0 if it
 * passes, infinity if the value is impossible. The search assumes that violations shrink along the
 * grid towards the first value that passes. Each round of tries then divides the remaining values
 * into sections. At the end, the value just before the one found has been tried and does not pass.
 * If no value passes, the rounds close in on the least violation. The search ends early if all
 * tries fall short equally, or are impossible, because further tries would teach nothing.
 *
 * Every try checks the assumption. Once tries contradict it, the search also tries values evenly,
 * about 32 over the grid, and finally the neighbours of the value found. A passing value between
 * two tried ones may still be missed. Trying all values would rule that out, but takes minutes if
 * each value is a server with thousands of requests.
 *
 * A search for a peak looks for the value with the most merit among those that pass, such as the batch with
 * the most tokens per second. It assumes that the merit rises up to the best value and falls after it, and
 * closes in on the best value tried from both sides. At the end, both neighbours of the value found have been
 * tried and are no better, or the tried values on both sides are as good but for GRID_AS_GOOD of the merit.
 * If no value passes, the rounds close in on the least violation.
 *
 * A search for a load may begin near a guess: then two or three rounds suffice, if
 * the guess is good. At the end the next tried value before the one found does not pass.
 *
 * For loads, the answer is the highest load below which every tried load passes: a load that passes
 * above one that does not is of no use. If the lowest load itself does not pass (a rate may have to
 * fill a server first), the answer is the best load that passes. */
#pragma once

#include <stdint.h>

#include "core/error.h"

#define GRID_NONE UINT32_MAX

/* Violations closer than this count as equal. */
#define GRID_EQUAL 1e-3

/* Merits closer than this share are as good: half of what ties (predict/result/tie.h). */
#define GRID_AS_GOOD 0.01

struct grid {
    uint32_t count;
    uint32_t tried;
    double *violation; /* [count], NaN: not tried; owned */
    double *merit;     /* [count] of a search for a peak: more is better; owned; else NULL */
    bool uneven;       /* tries contradicted the assumption */
    bool load;         /* set by the caller: values are loads */
    uint32_t guess;    /* where to begin; GRID_NONE: anywhere */
    uint32_t reach;    /* of the guess: values that the answer may lie off */
    uint32_t close;    /* how many values the one found and the one that fails may be apart */
    bool unordered;    /* set by the caller: neighbours are unrelated, so every value is tried */
};

bool grid_init(struct grid *grid, uint32_t count, struct error *why); /* count > 0 */
void grid_release(struct grid *grid);

/* Search for a peak, or a load near `guess`. To be called before the first try. */
bool grid_for_peak(struct grid *grid, struct error *why);
void grid_near(struct grid *grid, uint32_t guess, uint32_t reach, uint32_t close);

/* The next values to try: 1 to `most` (at least 2) of them, ascending, into `values`. Returns 0 if the search
 * has ended. The caller passes the violation of each to grid_put() before the next call. */
uint32_t grid_next(struct grid *grid, uint32_t most, uint32_t *values);
bool grid_tried(const struct grid *grid, uint32_t value);
void grid_put(struct grid *grid, uint32_t value, double violation);
void grid_put_merit(struct grid *grid, uint32_t value, double violation, double merit);

/* The best tried value that passes (of loads and peaks: see above), and the first with the least
 * violation; of loads the lowest, because what it misses no load meets. GRID_NONE if nothing
 * passes, or if every tried value is impossible. */
uint32_t grid_found(const struct grid *grid);
uint32_t grid_nearest(const struct grid *grid);

/* Have enough values been tried, and do all fall short by the same amount? */
bool grid_is_flat(const struct grid *grid);
