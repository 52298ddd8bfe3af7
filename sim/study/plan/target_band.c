/* How certain it is that a run meets or misses a target. */
#include "study/plan/target.h"

#include "result/band.h"

const double *target_band(const struct target *target, const struct result *result)
{
    return band_of(result, target->column);
}

bool target_range(const struct target *target, const struct result *result, double *least,
                  double *most)
{
    const struct cell *cell = &result->cells[target->column];
    const double *band = band_of(result, target->column);
    if (band == NULL) {
        return false;
    }
    bool real = column_kinds[target->column].type == COLUMN_TYPE_REAL;
    band_ends(target->column, band, real ? cell->real : (double)cell->integer, least, most);
    return true;
}

bool target_is_near(const struct target *target, const struct result *result)
{
    double least, most;
    return target_range(target, result, &least, &most) && target->bound > least &&
           target->bound < most;
}

void targets_open(const struct targets *targets, const struct result *result, struct targets *out)
{
    out->count = 0;
    for (uint32_t i = 0; i < targets->count; i++) {
        if (target_is_near(&targets->all[i], result)) {
            out->all[out->count++] = targets->all[i];
        }
    }
}
