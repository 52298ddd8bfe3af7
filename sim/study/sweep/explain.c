/* The better side of a figure is the side that makes the time shorter. */
#include "study/sweep/explain.h"

#include "predict/answer.h"
#include "predict/server/serving_load.h"

#include <math.h>
#include <stdlib.h>

static const double by = 0.1;

static double change(const struct result *result, const struct result *scaled,
                     const struct column *column)
{
    return result_number(scaled, column) / result_number(result, column) - 1;
}

static int explain_by_effect(const void *a, const void *b)
{
    const struct explain_figure *x = a, *y = b;
    int order = (x->better > y->better) - (x->better < y->better);
    return order != 0 ? order : (int)x->curve - (int)y->curve;
}

/* A time is made of sums and maxima of its parts: what shortens it when it is better lengthens it as much, or
 * more, when it is worse. Of few requests, what goes one way only is chance. An untried end is NaN. */
static bool explain_read_time(const struct setup *setup, const struct run_ranges *ranges,
                              const struct column *column, struct explanation *out,
                              struct error *why)
{
    struct explain_time *time = &out->times[out->count++];
    *time = (struct explain_time){.column = column};
    time->figures = array_zeroed(ranges->count, sizeof *time->figures, why);
    if (time->figures == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < ranges->count; i++) {
        double less = change(&ranges->base, &ranges->all[i].ends[0], column);
        double more = change(&ranges->base, &ranges->all[i].ends[1], column);
        double better = fmin(fmin(less, more), 0), worse = fmax(fmax(less, more), 0);
        enum curve_id id = ranges->all[i].curve;
        struct explain_figure figure = {id, setup->profile.curves[id].basis, better, worse,
                                        .is_more = !(more >= less)};
        figure.better = column == COLUMN(step_us) ? better : fmax(better, -worse);
        if (figure.better < 0 || figure.worse > 0) {
            time->figures[time->count++] = figure;
        }
    }
    qsort(time->figures, time->count, sizeof *time->figures, explain_by_effect);
    return true;
}

bool explain_run(const struct point *point, const struct run_context *context,
                 const struct result *result, struct explanation *out, struct error *why)
{
    const struct column *const columns[] = {COLUMN(step_us), COLUMN(ttft_ms), COLUMN(tpot_ms)};
    struct run_ranges ranges;
    bool ok = true;
    bool whole = result != NULL && (!point_serves(point) || result->request_count > 0);
    *out = (struct explanation){.result = whole ? result : &out->own};
    if (!whole && !answer_run(point, context, &out->own, why)) {
        return false;
    }
    if (!answer_ranges(point, by, context, out->result, &ranges, why)) {
        explanation_release(out);
        return false;
    }
    for (size_t i = 0; ok && i < sizeof columns / sizeof *columns; i++) {
        /* Where the queue grows, TTFT is only the length of the run. */
        bool queued = columns[i] == COLUMN(ttft_ms) && serving_grows(out->result);
        bool has = !queued && result_number(out->result, columns[i]) > 0;
        ok = !has || explain_read_time(&point->setup, &ranges, columns[i], out, why);
    }
    run_ranges_release(&ranges);
    if (!ok) {
        explanation_release(out);
    }
    return ok;
}

void explanation_release(struct explanation *explanation)
{
    result_release(&explanation->own);
    for (uint32_t i = 0; i < explanation->count; i++) {
        free(explanation->times[i].figures);
    }
    *explanation = (struct explanation){.count = 0};
}
