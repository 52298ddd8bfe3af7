/* An expensive function of two whole numbers that is read often: computed where it bends,
 * interpolated elsewhere.
 *
 * The domain is a rectangle. A rectangle is cut in four at the geometric middle of its sides if
 * bilinear interpolation misses a value at that middle by more than the tolerance, a share of the
 * first value. A part is examined when a point in it is first read. So bends are found where they
 * matter, and a linear function costs a few dozen points.
 */
#ifndef SERVE_SURFACE_H
#define SERVE_SURFACE_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Values of a point. The first SURFACE_HELD keep the tolerance; the others are parts of these and
 * are interpolated with them. */
enum { SURFACE_HELD = 2, SURFACE_VALUES = 24 };

/* Compute the values at (x, y), none negative; they are 0 before the call. */
typedef bool (*surface_compute)(void *context, uint64_t x, uint64_t y,
                                double values[SURFACE_VALUES], struct error *why);

struct surface_domain {
    uint64_t least_x, most_x, least_y, most_y; /* at least 1 */
};

struct surface;

/* A surface with no point computed. `tolerance` is a share of the first value. NULL when memory is
 * out. */
struct surface *surface_create(const struct surface_domain *domain, double tolerance,
                               surface_compute compute, void *context, struct error *why);
void surface_destroy(struct surface *surface); /* NULL is fine */

/* The values at (x, y), or at the nearest point of the domain. */
bool surface_read(struct surface *surface, uint64_t x, uint64_t y, double values[SURFACE_VALUES],
                  struct error *why);

/* The number of points computed so far. */
uint32_t surface_points(const struct surface *surface);

#endif
