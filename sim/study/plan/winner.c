#include "study/plan/winner.h"

#include <math.h>
#include <string.h>

#include "predict/result/tie.h"
#include "study/plan/target.h"

static double whole_or(const struct cell *cell, double otherwise)
{
    return cell->set ? (double)cell->integer : otherwise;
}

static bool finds_budget(const struct search *search)
{
    return search->fixed != NULL || strcmp(search->axis.key, "mechanisms.budget") == 0;
}

enum { VALUE, HBM, E2E, TPOT, MECHANISMS, COSTS };

static double cost_of_value(const struct planning *planning, const struct search *search)
{
    double number = search_value(search, planning->maximise, search->found)->number;
    return planning->maximise ? -number : number;
}

/* The cost of a search's value, most important part first. Less is better. */
static void cost_of(const struct planning *planning, const struct search *search,
                    double costs[COSTS])
{
    const struct result *result = &search->results[search->found];
    const struct cell *cells = result->cells;
    double hbm = whole_or(&cells[COLUMN(hbm_bytes)->index], INFINITY);
    costs[VALUE] = planning->by_figure    ? -best_merit(planning->best, result)
                   : finds_budget(search) ? hbm
                                          : cost_of_value(planning, search);
    costs[HBM] = hbm;
    costs[E2E] = whole_or(&cells[COLUMN(e2e_ms)->index], INFINITY);
    costs[TPOT] = whole_or(&cells[COLUMN(tpot_ms)->index], INFINITY);
    costs[MECHANISMS] = search->candidate->mechanisms;
}

static bool winner_is_better(const struct planning *planning, const struct search *a,
                             const struct search *b)
{
    double x[COSTS], y[COSTS];
    cost_of(planning, a, x);
    cost_of(planning, b, y);
    for (int i = 0; i < COSTS; i++) {
        if (x[i] != y[i]) {
            return x[i] < y[i];
        }
    }
    return false;
}

bool winner_is(const struct planning *planning, const struct search *search)
{
    return planning->winner != PLANNING_NONE && search == &planning->searches[planning->winner];
}

bool winner_ties(const struct planning *planning, const struct search *search)
{
    const struct search *winner = &planning->searches[planning->winner];
    double x[COSTS], y[COSTS];
    if (search == winner || search->found == PLANNING_NONE) {
        return false;
    }
    if (planning->by_figure) {
        return result_tie(&winner->results[winner->found], &search->results[search->found],
                          planning->best) != TIE_NONE;
    }
    if (finds_budget(winner)) {
        return false;
    }
    cost_of(planning, winner, x);
    cost_of(planning, search, y);
    return x[VALUE] == y[VALUE];
}

static void find_winner(struct planning *planning)
{
    for (uint32_t i = 0; i < planning->count; i++) {
        const struct search *search = &planning->searches[i];
        if (search->found != PLANNING_NONE &&
            (planning->winner == PLANNING_NONE ||
             winner_is_better(planning, search, &planning->searches[planning->winner]))) {
            planning->winner = i;
        }
    }
}

static void winner_find_nearest(struct planning *planning)
{
    double least = INFINITY;
    for (uint32_t i = 0; i < planning->count; i++) {
        const struct search *search = &planning->searches[i];
        if (search->found == PLANNING_NONE && search->nearest != PLANNING_NONE &&
            search->grid.violation[search->nearest] < least) {
            least = search->grid.violation[search->nearest];
            planning->nearest = i;
        }
    }
}

void winner_find(struct planning *planning)
{
    find_winner(planning);
    winner_find_nearest(planning);
}

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
