#include "study/ablate/ablation.h"

#include <math.h>

#define LEAST_MASS 0.001
#define LEAST_CHANGE 0.01 /* of other measures */

static double whole_of(const struct result *result, const struct column *column)
{
    const struct cell *cell = result_cell(result, column);
    return cell->set ? (double)cell->integer : NAN;
}

static void trade_fill(const struct result *result, double out[TRADE_MEASURES])
{
    const struct cell *mass = result_cell(result, COLUMN(mass_recall));
    out[TRADE_MASS] = mass->set ? mass->real : NAN;
    out[TRADE_HBM] = whole_of(result, COLUMN(hbm_bytes));
    out[TRADE_DRAM] = whole_of(result, COLUMN(dram_bytes));
    out[TRADE_CPU] = whole_of(result, COLUMN(cpu_us));
    out[TRADE_LINK] =
        whole_of(result, COLUMN(h2d_bytes_per_step)) + whole_of(result, COLUMN(d2h_bytes_per_step));
}

bool ablation_trade(const struct ablation *ablation, const struct ablation_row *row,
                    struct ablation_trade *out)
{
    int64_t ns;
    double times;
    if (!ablation_saves(ablation, row, &ns, &times)) {
        return false;
    }
    trade_fill(ablation_result(ablation, row->without), out->without);
    trade_fill(ablation_result(ablation, row->with), out->with);
    return true;
}

double trade_gain(const struct ablation_trade *trade, enum trade_measure measure)
{
    double without = trade->without[measure], with = trade->with[measure];
    bool mass = measure == TRADE_MASS;
    double gain = mass ? with - without : without - with;
    double least = mass ? LEAST_MASS : LEAST_CHANGE * fmax(without, with);
    return isfinite(gain) && fabs(gain) >= least ? gain : 0;
}

bool ablation_together(const struct ablation *ablation, const struct ablation_row *row, int64_t *ns)
{
    struct ablation_row all = *row;
    double times;
    all.with = difference_all(&ablation->difference);
    return row->kind == ABLATION_LEFT_OUT && row->others != 0 &&
           ablation_saves(ablation, &all, ns, &times);
}

bool ablation_costs(const struct ablation *ablation, const struct ablation_row *row)
{
    int64_t ns;
    double times;
    return ablation_saves(ablation, row, &ns, &times) && times < 1 - ABLATION_NOTICED;
}
