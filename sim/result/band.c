/* The band applies to rates. Times and costs use its reciprocal. */
#include "result/band.h"

struct band_kind {
    enum column column;
    bool time;          /* or a cost; else a rate */
    enum column server; /* whose band it is if a server was run; COLUMN_COUNT: none */
};

static const struct band_kind kinds[] = {
    {COLUMN_STEP, true, COLUMN_COUNT},           {COLUMN_LAYER, true, COLUMN_COUNT},
    {COLUMN_TPOT, true, COLUMN_TPOT_BAND},       {COLUMN_TPOT_P50, true, COLUMN_TPOT_BAND},
    {COLUMN_TPOT_P99, true, COLUMN_COUNT},       {COLUMN_TTFT, true, COLUMN_TTFT_BAND},
    {COLUMN_TTFT_P50, true, COLUMN_TTFT_BAND},   {COLUMN_COST, true, COLUMN_ERROR_BAND},
    {COLUMN_USER_RATE, false, COLUMN_COUNT},     {COLUMN_DECODE_RATE, false, COLUMN_ERROR_BAND},
    {COLUMN_GPU_RATE, false, COLUMN_ERROR_BAND}, {COLUMN_E2E_RATE, false, COLUMN_ERROR_BAND},
};

static const struct band_kind *kind_of(enum column column)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (kinds[i].column == column) {
            return &kinds[i];
        }
    }
    return NULL;
}

const double *band_of(const struct result *result, enum column column)
{
    const struct band_kind *kind = kind_of(column);
    if (kind == NULL || !result->cells[column].set) {
        return NULL;
    }
    enum column band = result->cells[COLUMN_REQUESTS].set ? kind->server : COLUMN_ERROR_BAND;
    bool known = band != COLUMN_COUNT && result->cells[band].set;
    return known ? result->band[band - COLUMN_ERROR_BAND] : NULL;
}

void band_ends(enum column column, const double band[2], double value, double *least, double *most)
{
    const struct band_kind *kind = kind_of(column);
    double low = 1 + band[0], high = 1 + band[1];
    bool time = kind != NULL && kind->time;
    *least = time ? value / high : value * low;
    *most = time ? value / low : value * high;
}

bool band_column(enum column column)
{
    return kind_of(column) != NULL;
}
