/* The better side of a figure is the side that makes the step shorter. */
#include "study/sweep/explain.h"

#include "base/array.h"
#include "serving/answer.h"

#include <math.h>
#include <stdlib.h>

static const double by = 0.1;

static double change(const struct result *result, const struct result *scaled)
{
    double ns = (double)result->cells[COLUMN_STEP].integer;
    return (double)scaled->cells[COLUMN_STEP].integer / ns - 1;
}

static struct explain_figure read_figure(const struct setup *setup, const struct result *result,
                                         const struct run_range *range)
{
    double less = change(result, &range->ends[0]), more = change(result, &range->ends[1]);
    return (struct explain_figure){
        .curve = range->curve,
        .basis = setup->profile.curves[range->curve].basis,
        .better = fmin(fmin(less, more), 0),
        .worse = fmax(fmax(less, more), 0),
        .is_more = more < less,
    };
}

static int by_effect(const void *a, const void *b)
{
    const struct explain_figure *x = a, *y = b;
    if (x->better != y->better) {
        return x->better < y->better ? -1 : 1;
    }
    return (int)x->curve - (int)y->curve;
}

static bool read_figures(const struct setup *setup, const struct run_range *ranges, uint32_t count,
                         struct explanation *out, struct error *why)
{
    out->figures = array_zeroed(count, sizeof *out->figures, why);
    if (out->figures == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct explain_figure figure = read_figure(setup, &out->result, &ranges[i]);
        if (figure.better < 0 || figure.worse > 0) {
            out->figures[out->count++] = figure;
        }
    }
    qsort(out->figures, out->count, sizeof *out->figures, by_effect);
    return true;
}

bool explain_run(const struct point *point, const struct run_context *context,
                 struct explanation *out, struct error *why)
{
    struct run_ranges ranges;
    *out = (struct explanation){.count = 0};
    if (!answer_ranges(point, by, context, &out->result, &ranges, why)) {
        return false;
    }
    bool ok = read_figures(&point->setup, ranges.all, ranges.count, out, why);
    run_ranges_release(&ranges);
    if (!ok) {
        explanation_release(out);
    }
    return ok;
}

void explanation_release(struct explanation *explanation)
{
    result_release(&explanation->result);
    free(explanation->figures);
    *explanation = (struct explanation){.count = 0};
}
