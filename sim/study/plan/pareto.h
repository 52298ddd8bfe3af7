/* The Pareto front: the points that no other point beats. A point beats another if it is at least
 * as good in every figure and better in one. Equal points are on the front together. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { PARETO_FIGURES = 4 };

struct pareto_point {
    double figures[PARETO_FIGURES]; /* higher is better; none is NaN */
};

/* Mark the points that are on the Pareto front. `on_front` has `count` elements. */
void pareto_front(const struct pareto_point *points, uint32_t count, bool *on_front);
