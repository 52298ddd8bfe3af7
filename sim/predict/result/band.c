#include "predict/result/band.h"

const double *band_of(const struct result *result, const struct column *column)
{
    const struct column *const bands[COLUMN_BANDS] = {COLUMN(error_band), COLUMN(ttft_band),
                                                      COLUMN(tpot_band)};
    bool served = result_cell(result, COLUMN(requests))->set;
    int band =
        (int)(served || column->band == BANDED_NOT ? column->band : BANDED_RATE) - (int)BANDED_RATE;
    bool known = column->holds == HOLDS_VALUE && result_cell(result, column)->set && band >= 0 &&
                 result_cell(result, bands[band])->set;
    return known ? result->band[band] : NULL;
}

void band_ends(const struct column *column, const double band[2], double value, double *least,
               double *most)
{
    double low = 1 + band[0], high = 1 + band[1];
    bool rate = column->unit == UNIT_PER_S;
    *least = rate ? value * low : value / high;
    *most = rate ? value * high : value / low;
}
