/* A search for a load that begins where the answer is expected. Internal to grid*.c.
 *
 * It brackets the answer between a value that passes and a better one that does not: outwards from
 * the guess in strides that double, then by cutting the gap. It ends when the bracket is at most
 * `close` values wide, or at an end of the grid: so the last value, the lowest load, is tried
 * before the search finds nothing. If the first round is impossible, no load changes that. */
#pragma once

#include "study/plan/grid.h"

/* The value from which all tried values to the end pass; GRID_NONE if the last tried does not. */
uint32_t grid_holds(const struct grid *grid);

/* grid_next() of a search with a guess. */
uint32_t grid_next_near(const struct grid *grid, uint32_t most, uint32_t *values);
