/* A step in which each layer waits for its own KV, which arrives layer by layer; or, the mirror
 * image, in which each layer's KV leaves as soon as it is computed.
 *
 *     link     |1|2|3|4|              |--1--|--2--|--3--|--4--|
 *     GPU        |--1--|--2--|--3--|--4--|  |1|   |2|   |3|   |4|
 *
 * With equal layers the step ends at the later of two times: the first layer's load and then all
 * computation, or all loads and then the last layer's computation. Waiting for any layer between
 * gives a time between the two.
 */
#pragma once

#include <stdint.h>

/* Time in ns of a step of `layers` (at least 1) layers, which together compute for `compute_ns` and
 * load for `load_ns`. */
double layered_ns(double compute_ns, double load_ns, uint32_t layers);
