/* The band is of rates; what is a time, or paid by time, goes the other way. */
#include "study/verdict.h"

static const struct {
    enum column column;
    bool rate;
} kinds[] = {
    {COLUMN_STEP, false},       {COLUMN_LAYER, false},    {COLUMN_TPOT, false},
    {COLUMN_TPOT_P50, false},   {COLUMN_TPOT_P99, false}, {COLUMN_COST, false},
    {COLUMN_DECODE_RATE, true}, {COLUMN_USER_RATE, true}, {COLUMN_GPU_RATE, true},
};

bool verdict_range(const struct target *target, const struct result *result, double *least,
                   double *most)
{
    const struct cell *cell = &result->cells[target->column];
    double low = 1 + result->band[0], high = 1 + result->band[1];
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (kinds[i].column == target->column && cell->set &&
            result->cells[COLUMN_ERROR_BAND].set && low > 0) {
            bool real = column_kinds[target->column].type == COLUMN_TYPE_REAL;
            double value = real ? cell->real : (double)cell->integer;
            *least = kinds[i].rate ? value * low : value / high;
            *most = kinds[i].rate ? value * high : value / low;
            return true;
        }
    }
    return false;
}

bool verdict_is_near(const struct target *target, const struct result *result)
{
    double least, most;
    return verdict_range(target, result, &least, &most) && target->bound > least &&
           target->bound < most;
}
