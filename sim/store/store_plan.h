/* Plans in the results file: the question, the outcome of each candidate (plans.def), and which of
 * the tried values meet which target (plan_points.def); their runs are in `runs`. */
#ifndef STORE_STORE_PLAN_H
#define STORE_STORE_PLAN_H

#include "store/store.h"

#include <stdint.h>

/* A NULL text becomes null. */
#define PLAN_TEXT const char *
#define PLAN_INTEGER int64_t
struct store_plan {
#define COLUMN(name, type, what) PLAN_##type name;
#include "answer/plans.def"
#undef COLUMN
};
struct store_plan_point {
#define COLUMN(name, type, what) PLAN_##type name;
#include "answer/plan_points.def"
#undef COLUMN
};

/* Put a plan's candidates and points in one transaction; rows that are already stored are
 * replaced. */
bool store_put_plan(struct store *store, const struct store_plan *rows, uint32_t count,
                    const struct store_plan_point *points, uint32_t point_count, struct error *why);

#endif
