/* The Pareto front: points that no other beats, where to beat is to be at least as good in
 * everything and better in something. Of points that are equal all are on it. */
#ifndef STUDY_PLAN_PARETO_H
#define STUDY_PLAN_PARETO_H

#include <stdbool.h>
#include <stdint.h>

enum { PARETO_FIGURES = 4 };

struct pareto_point {
    double figures[PARETO_FIGURES]; /* the more the better; none is NaN */
};

/* Which of the points are on the front. */
void pareto_front(const struct pareto_point *points, uint32_t count, bool *on_front);

#endif
