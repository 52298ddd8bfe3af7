#include "study/plan/reachable.h"

#include <math.h>

static bool reachable_meets(const struct search *search, const struct target *target)
{
    bool met = false;
    for (uint32_t i = 0; i < search->grid.count && !met; i++) {
        met = grid_tried(&search->grid, i) && target_violation(target, &search->results[i]) == 0;
    }
    return met;
}

void reachable_targets(const struct search *search, const struct targets *all, struct targets *out)
{
    out->count = 0;
    for (uint32_t i = 0; i < all->count; i++) {
        if (reachable_meets(search, &all->all[i])) {
            out->all[out->count++] = all->all[i];
        }
    }
}

void reachable_open(const struct planning *planning, const struct targets *all, struct targets *out)
{
    out->count = 0;
    for (uint32_t i = 0; i < all->count; i++) {
        bool met = false;
        for (uint32_t j = 0; j < planning->count && !met; j++) {
            met = reachable_meets(&planning->searches[j], &all->all[i]);
        }
        if (!met) {
            out->all[out->count++] = all->all[i];
        }
    }
}

uint32_t reachable_nearest(const struct search *search, const struct targets *all)
{
    struct targets reachable;
    uint32_t nearest = grid_nearest(&search->grid);
    double least = INFINITY;
    if (search->grid.load) {
        return nearest;
    }
    reachable_targets(search, all, &reachable);
    for (uint32_t i = 0; reachable.count > 0 && i < search->grid.count; i++) {
        double violation = search->grid.violation[i];
        if (grid_tried(&search->grid, i) && violation < least &&
            targets_violation(&reachable, &search->results[i]) == 0) {
            least = violation;
            nearest = i;
        }
    }
    return nearest;
}
