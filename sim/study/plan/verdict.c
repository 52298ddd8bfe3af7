/* The band applies to rates. Times and costs use its reciprocal. */
#include "study/plan/verdict.h"

static const struct {
    enum column column;
    bool time; /* or a cost; else a rate */
} kinds[] = {
    {COLUMN_STEP, true},       {COLUMN_LAYER, true},        {COLUMN_TPOT, true},
    {COLUMN_TPOT_P50, true},   {COLUMN_TPOT_P99, true},     {COLUMN_COST, true},
    {COLUMN_USER_RATE, false}, {COLUMN_DECODE_RATE, false}, {COLUMN_GPU_RATE, false},
    {COLUMN_E2E_RATE, false},
};

bool verdict_range(const struct target *target, const struct result *result, double *least,
                   double *most)
{
    const struct cell *cell = &result->cells[target->column];
    double low = 1 + result->band[0], high = 1 + result->band[1];
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (kinds[i].column == target->column && cell->set &&
            result->cells[COLUMN_ERROR_BAND].set) {
            bool real = column_kinds[target->column].type == COLUMN_TYPE_REAL;
            double value = real ? cell->real : (double)cell->integer;
            *least = kinds[i].time ? value / high : value * low;
            *most = kinds[i].time ? value / low : value * high;
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
