/* Compares every pair of points: a study has hundreds, and each took milliseconds to simulate. */
#include "study/plan/pareto.h"

static bool beats(const struct pareto_point *a, const struct pareto_point *b)
{
    bool better = false;
    for (int i = 0; i < PARETO_FIGURES; i++) {
        if (a->figures[i] < b->figures[i]) {
            return false;
        }
        better = better || a->figures[i] > b->figures[i];
    }
    return better;
}

void pareto_front(const struct pareto_point *points, uint32_t count, bool *on_front)
{
    for (uint32_t i = 0; i < count; i++) {
        on_front[i] = true;
        for (uint32_t j = 0; j < count && on_front[i]; j++) {
            on_front[i] = !beats(&points[j], &points[i]);
        }
    }
}
