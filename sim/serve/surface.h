/* A function of two whole numbers that is dear to compute, asked for often: computed where it
 * bends, interpolated elsewhere.
 *
 * The domain is a rectangle that is cut in four, at the geometric middle of its sides, wherever
 * interpolation (linear along each side) misses a value at that middle by more than the tolerance,
 * a share of the first value; a part is looked at when a point in it is first asked for. So knees
 * are found where they are met, and what is linear costs a dozen points.
 */
#ifndef SERVE_SURFACE_H
#define SERVE_SURFACE_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Values of a point. The first ones are held to the tolerance; the others, parts of what these are,
 * are interpolated beside them. */
enum { SURFACE_HELD = 2, SURFACE_VALUES = 24 };

/* Compute the values at (x, y), not negative; they come as 0. */
typedef bool (*surface_compute)(void *context, uint64_t x, uint64_t y,
                                double values[SURFACE_VALUES], struct error *why);

struct surface_domain {
    uint64_t least_x, most_x, least_y, most_y; /* at least 1 */
};

struct surface;

/* Nothing is computed yet. `tolerance` is a share of the first value. NULL when memory is out. */
struct surface *surface_create(const struct surface_domain *domain, double tolerance,
                               surface_compute compute, void *context, struct error *why);
void surface_destroy(struct surface *surface); /* NULL is fine */

/* The values at (x, y), which are moved into the domain where they are out of it. */
bool surface_read(struct surface *surface, uint64_t x, uint64_t y, double values[SURFACE_VALUES],
                  struct error *why);

/* Points that were computed so far. */
uint32_t surface_points(const struct surface *surface);

#endif
