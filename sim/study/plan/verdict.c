/* The band applies to rates. Times and costs use its reciprocal. */
#include "study/plan/verdict.h"

static const struct {
    enum column column;
    bool time;          /* or a cost; else a rate */
    enum column server; /* whose band it is if a server was run; COLUMN_COUNT: none */
} kinds[] = {
    {COLUMN_STEP, true, COLUMN_COUNT},           {COLUMN_LAYER, true, COLUMN_COUNT},
    {COLUMN_TPOT, true, COLUMN_TPOT_BAND},       {COLUMN_TPOT_P50, true, COLUMN_TPOT_BAND},
    {COLUMN_TPOT_P99, true, COLUMN_COUNT},       {COLUMN_TTFT, true, COLUMN_TTFT_BAND},
    {COLUMN_TTFT_P50, true, COLUMN_TTFT_BAND},   {COLUMN_COST, true, COLUMN_ERROR_BAND},
    {COLUMN_USER_RATE, false, COLUMN_COUNT},     {COLUMN_DECODE_RATE, false, COLUMN_ERROR_BAND},
    {COLUMN_GPU_RATE, false, COLUMN_ERROR_BAND}, {COLUMN_E2E_RATE, false, COLUMN_ERROR_BAND},
};

const double *verdict_band(const struct target *target, const struct result *result)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        enum column band = result->cells[COLUMN_REQUESTS].set ? kinds[i].server : COLUMN_ERROR_BAND;
        if (kinds[i].column == target->column && result->cells[target->column].set) {
            bool known = band != COLUMN_COUNT && result->cells[band].set;
            return known ? result->band[band - COLUMN_ERROR_BAND] : NULL;
        }
    }
    return NULL;
}

static bool is_time(enum column column)
{
    bool time = false;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        time = time || (kinds[i].column == column && kinds[i].time);
    }
    return time;
}

bool verdict_range(const struct target *target, const struct result *result, double *least,
                   double *most)
{
    const struct cell *cell = &result->cells[target->column];
    const double *band = verdict_band(target, result);
    if (band == NULL) {
        return false;
    }
    bool real = column_kinds[target->column].type == COLUMN_TYPE_REAL;
    double value = real ? cell->real : (double)cell->integer, low = 1 + band[0], high = 1 + band[1];
    *least = is_time(target->column) ? value / high : value * low;
    *most = is_time(target->column) ? value / low : value * high;
    return true;
}

bool verdict_is_near(const struct target *target, const struct result *result)
{
    double least, most;
    return verdict_range(target, result, &least, &most) && target->bound > least &&
           target->bound < most;
}
