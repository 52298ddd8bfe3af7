#include "study/plan/best.h"

#include "core/name.h"

#include <math.h>

/* Columns whose figures can be the best, the most or the least of something. */
static const char *best_name(size_t index)
{
    for (uint32_t i = 0; i < column_count; i++) {
        if (column_rows[i]->best != BEST_NONE && index-- == 0) {
            return column_rows[i]->name;
        }
    }
    return NULL;
}

const struct column *best_read(const char *key, const char *option, struct error *why)
{
    return name_find(key, best_name, "figure", option, 0, why) >= 0 ? column_find(key) : NULL;
}

double best_merit(const struct column *column, const struct result *result)
{
    double number = result_ok(result) ? result_number(result, column) : NAN;
    return column->best == BEST_LEAST ? -number : number;
}
