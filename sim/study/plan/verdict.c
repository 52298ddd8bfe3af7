/* The band applies to rates. Times and costs use its reciprocal. */
#include "study/plan/verdict.h"

#include <math.h>

enum kind { TIME, RATE, REQUESTS };

static const struct {
    enum column column;
    enum kind kind;
} kinds[] = {
    {COLUMN_STEP, TIME},        {COLUMN_LAYER, TIME},       {COLUMN_TPOT, TIME},
    {COLUMN_TPOT_P50, TIME},    {COLUMN_TPOT_P90, TIME},    {COLUMN_TPOT_P99, TIME},
    {COLUMN_TTFT, TIME},        {COLUMN_TTFT_P50, TIME},    {COLUMN_TTFT_P90, TIME},
    {COLUMN_TTFT_P99, TIME},    {COLUMN_QUEUE, TIME},       {COLUMN_QUEUE_P50, TIME},
    {COLUMN_QUEUE_P90, TIME},   {COLUMN_QUEUE_P99, TIME},   {COLUMN_E2E, TIME},
    {COLUMN_E2E_P50, TIME},     {COLUMN_E2E_P90, TIME},     {COLUMN_E2E_P99, TIME},
    {COLUMN_COST, TIME},        {COLUMN_DECODE_RATE, RATE}, {COLUMN_USER_RATE, RATE},
    {COLUMN_GPU_RATE, RATE},    {COLUMN_E2E_RATE, RATE},    {COLUMN_RATE_OUT, REQUESTS},
    {COLUMN_GOODPUT, REQUESTS},
};

/* A faster server still answers no more requests than arrive. */
static double most_requests(double value, double most, const struct cell *come)
{
    return come->set ? fmax(value, fmin(most, come->real)) : most;
}

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
            *least = kinds[i].kind == TIME ? value / high : value * low;
            *most = kinds[i].kind == TIME ? value / low : value * high;
            if (kinds[i].kind == REQUESTS) {
                *most = most_requests(value, *most, &result->cells[COLUMN_RATE_IN]);
            }
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
