#include "study/plan/best.h"

#include "base/name.h"

#include <math.h>

static const struct {
    enum column column;
    bool least;
} kinds[] = {
    {COLUMN_DECODE_RATE, false}, {COLUMN_GPU_RATE, false},    {COLUMN_USER_RATE, false},
    {COLUMN_E2E_RATE, false},    {COLUMN_GOODPUT, false},     {COLUMN_RATE_OUT, false},
    {COLUMN_HIT_RATIO, false},   {COLUMN_MASS_RECALL, false}, {COLUMN_COST, true},
    {COLUMN_STEP, true},         {COLUMN_TPOT, true},         {COLUMN_TPOT_P99, true},
    {COLUMN_TTFT, true},         {COLUMN_TTFT_P99, true},     {COLUMN_E2E, true},
    {COLUMN_E2E_P99, true},      {COLUMN_HBM_BYTES, true},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static const char *best_kind_name(size_t index)
{
    return index < KINDS ? column_kinds[kinds[index].column].name : NULL;
}

bool best_read(const char *key, const char *option, enum column *out, struct error *why)
{
    int index = name_find(key, best_kind_name, "figure", option, 0, why);
    *out = index >= 0 ? kinds[index].column : COLUMN_COUNT;
    return index >= 0;
}

bool best_is_least(enum column column)
{
    bool least = false;
    for (int i = 0; i < KINDS; i++) {
        least = least || (kinds[i].column == column && kinds[i].least);
    }
    return least;
}

double best_merit(enum column column, const struct result *result)
{
    double number = result_ok(result) ? result_number(result, column) : NAN;
    return best_is_least(column) ? -number : number;
}
