/* An expensive function of two whole numbers that is read often: computed where it bends,
 * interpolated elsewhere.
 *
 * The domain is a rectangle. Along x it is made of octaves, 1, 2, 3 to 4, 5 to 8 and so on, which
 * share no points: what jumps does so past a power of two (tiles of a product, sizes of a graph).
 * Inside an octave, a cell is cut in two at the geometric middle of a side if bilinear
 * interpolation misses a value at a middle by more than the tolerance, a share of the first value:
 * the side that bends more. A cell is examined when a point in it is first read. So bends are found
 * where they matter, and an octave in which the function is linear costs nine points. */
#pragma once

#include "core/error.h"

#include <stdint.h>

/* Values of a point. SURFACE_HELD of them keep the tolerance; the others, parts of these, follow. */
enum { SURFACE_HELD = 2, SURFACE_VALUES = 24 };

/* Compute the values at (x, y), none negative; they are 0 before the call. */
typedef bool (*surface_compute)(void *context, uint64_t x, uint64_t y,
                                double values[SURFACE_VALUES], struct error *why);

struct surface_domain {
    uint64_t least_x, most_x, least_y, most_y; /* at least 1 */
};

struct surface;

/* A surface with no point computed. `tolerance` is a share of the first value. NULL when memory is out. */
struct surface *surface_create(const struct surface_domain *domain, double tolerance,
                               surface_compute compute, void *context, struct error *why);
void surface_destroy(struct surface *surface); /* NULL is fine */

/* The values at (x, y), or at the nearest point of the domain. */
bool surface_read(struct surface *surface, uint64_t x, uint64_t y, double values[SURFACE_VALUES],
                  struct error *why);
