/* A step whose layers wait each for its own KV, which arrives layer after layer; or whose KV leaves
 * layer after layer, each when it has been computed, which is the same the other way round.
 *
 *     link     |1|2|3|4|              |--1--|--2--|--3--|--4--|
 *     GPU        |--1--|--2--|--3--|--4--|  |1|   |2|   |3|   |4|
 *
 * With equal layers the last one ends when the first has arrived and all have been computed, or
 * when the last has arrived and been computed, whichever is later: what lies between is a mean of
 * the two.
 */
#ifndef SERVE_LAYERED_H
#define SERVE_LAYERED_H

#include <stdint.h>

/* Of `layers` (at least 1) that compute in `compute_ns` and load in `load_ns`, all together. */
double layered_ns(double compute_ns, double load_ns, uint32_t layers);

#endif
